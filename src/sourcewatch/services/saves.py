"""Has an outside archive save each new version: asks for it, asks how it went, and reads what is said to be there.

Nothing waits for it: what fails is tried again, more and more rarely, and in the end told. Limits of the archive let
the queue rest and are no failures.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

from ..analysis import address, save_page_now
from ..analysis.answers import text_of
from ..analysis.save_page_now import Heard, Job, Pending, Refused, Rest, Saved
from ..domain.capture import Capture, Deferred, Failure, Request
from ..domain.copies import OutsideCopy
from ..domain.save import Save, SavePolicy, SaveState
from ..domain.source import Header, Source
from .copies import Librarian
from .ports import Clock, Web
from .threads import Threads

ARCHIVE = "save-page-now"  # among the copies: apart from what the same archive is found to hold when it is asked
MOST_BYTES = 1_000_000
MOST_A_TURN = 50
MOST_RETRY_AFTER_S = 6 * 3_600.0
DELAYS = tuple(timedelta(minutes=m) for m in (10, 60, 360, 1440))  # between five attempts
POLLS = tuple(timedelta(seconds=s) for s in (30, 30, 60, 120, 300, 600, 1200))  # the archive tells for an hour
LOOKS = tuple(timedelta(minutes=m) for m in (10, 60, 360, 1440))  # a new copy is not shown at once
MOST_LOST = 1
MANNERS = "an interface that is asked with the site's own key"

_OUR_OWN = (".local", ".localhost", ".internal", ".lan", ".home.arpa", ".intranet", ".corp")


class Saves(Protocol):
    """The queue. Raises StorageError."""

    def fill(self, sources: Collection[str], now: datetime) -> int: ...
    def due(self, now: datetime, most: int) -> list[Save]: ...
    def put(self, save: Save) -> None: ...
    def rest(self, until: datetime) -> None: ...
    def asked_since(self, since: datetime) -> list[datetime]: ...
    def all(self, source: str | None = None) -> list[Save]: ...


@dataclass(slots=True)
class Turn:
    """What a turn did: *found* new versions, and each save that moved; *rests*: why no more is asked for now."""

    found: int = 0
    moved: list[Save] = field(default_factory=list)
    rests: str = ""


@dataclass(frozen=True, slots=True)
class Saver:
    """*secret* is KEY:SECRET, or "" where the environment has none."""

    web: Web
    librarian: Librarian
    saves: Saves
    threads: Threads
    policy: SavePolicy
    clock: Clock
    secret: str = field(repr=False)

    async def turn(self, sources: Sequence[Source]) -> Turn:
        """Do what is due, within the limits of a minute and of a day. Raises StorageError."""
        wanted = {s.id: s for s in sources if sent(s, self.policy)}
        turn = Turn(await self.threads.rows(self.saves.fill, wanted, self.clock()))
        if not self.secret:
            turn.rests = f"the environment has no {self.policy.variable}"
            return turn
        room, why = await self._room()
        for save in await self.threads.rows(self.saves.due, self.clock(), MOST_A_TURN):
            if save.state is SaveState.WAITING:
                if turn.rests:
                    continue
                if why_not := _why_not(save, wanted):
                    await self._put(turn, save, state=SaveState.FAILED, why=why_not)
                    continue
                if room <= 0:
                    turn.rests = why
                    continue
                room -= 1
                await self._ask(turn, save)
            elif save.state is SaveState.ASKED:
                await self._poll(turn, save)
            else:
                await self._look(turn, save, wanted.get(save.source))
        return turn

    async def _room(self) -> tuple[int, str]:
        """How many more may be asked for now, and by which limit."""
        now = self.clock()
        asked = await self.threads.rows(self.saves.asked_since, now - timedelta(days=1))
        minute = self.policy.per_minute - sum(at > now - timedelta(minutes=1) for at in asked)
        day = self.policy.per_day - len(asked)
        if day < minute:
            return day, f"{self.policy.per_day} were asked for within a day"
        return minute, f"{self.policy.per_minute} were asked for within a minute"

    async def _ask(self, turn: Turn, save: Save) -> None:
        """The row first, the question second: whoever is killed in between asks once more, and says so."""
        now = self.clock()
        lost = int(save.facts.get("lost", 0)) + bool(save.facts.get("asking"))
        if lost > MOST_LOST:
            why = "it was asked twice, and the answer was lost both times"
            await self._put(turn, save, state=SaveState.FAILED, why=why, lost=lost, asking=None)
            return
        asks = [*save.facts.get("asks", ()), now.isoformat()]
        facts = {**save.facts, "asks": asks, "asking": True, "lost": lost, "rests": None}
        save = replace(save, attempts=save.attempts + 1, next_try_at=now, facts=facts)
        await self.threads.rows(self.saves.put, save)
        body = save_page_now.form(save.url, (now - save.captured_at).total_seconds())
        heard = await self._heard(f"{self.policy.address}/save", body)
        match heard:
            case Job(id):
                state, at = SaveState.ASKED, now + POLLS[0]
                await self._put(turn, save, state=state, at=at, job=id, asking=None, polls=0, why=None)
            case Rest():
                await self._rests(turn, replace(save, attempts=save.attempts - 1), heard)
            case Refused(why, for_good):
                await self._again(turn, save, why, for_good)
            case Saved():
                await self._is_saved(turn, save, heard)
            case Pending():
                await self._again(turn, save, "it says that it is at it, and gives no job")

    async def _poll(self, turn: Turn, save: Save) -> None:
        polls = int(save.facts.get("polls", 0)) + 1
        heard = await self._heard(f"{self.policy.address}/save/status/{save.facts.get('job', '')}", None)
        if isinstance(heard, Saved):
            await self._is_saved(turn, save, heard)
        elif isinstance(heard, Refused) and not heard.why.startswith("it "):
            await self._again(turn, save, heard.why, heard.for_good)
        elif isinstance(heard, Rest) and not heard.whole:
            await self._rests(turn, replace(save, state=SaveState.WAITING), heard)
        elif polls >= len(POLLS):
            await self._again(turn, save, "nothing was heard of its job within the hour")
        else:
            delay = timedelta(seconds=heard.seconds) if isinstance(heard, Rest) else POLLS[polls]
            why = "" if isinstance(heard, Pending | Job) else heard.why
            await self._put(turn, save, at=self.clock() + delay, polls=polls, why=why or None)

    async def _is_saved(self, turn: Turn, save: Save, saved: Saved) -> None:
        url = f"{self.policy.address}/web/{saved.stamp}/{saved.original}"
        more: dict[str, Any] = {"url": url, "saved_at": saved.at.isoformat(), "looks": 0}
        at = self.clock() + LOOKS[0]
        await self._put(turn, save, state=SaveState.SAVED, at=at, asking=None, why=None, **more)

    async def _look(self, turn: Turn, save: Save, source: Source | None) -> None:
        """Read the copy, and keep it among the copies when it is this very one, whatever stands in it."""
        if source is None:
            await self._put(turn, save, state=SaveState.UNREAD, why="its source is not cited any more, or not sent")
            return
        looks = int(save.facts.get("looks", 0)) + 1
        saved_at = datetime.fromisoformat(save.facts["saved_at"])
        versions = await self.threads.rows(self.librarian.ledger.versions, source.id)
        version = next((v for v in versions if v.id == save.version), None)
        found = await self.librarian.read(ARCHIVE, source, save.url, (saved_at, save.facts["url"]), version)
        if isinstance(found, OutsideCopy) and abs(found.memento_at - saved_at) > timedelta(minutes=1):
            found = f"it shows its copy of {found.memento_at:%Y-%m-%d %H:%M} instead"
        if isinstance(found, OutsideCopy):
            await self.threads.rows(self.librarian.copies.keep, found)
            await self._put(turn, save, state=SaveState.CHECKED, looks=looks, why=None)
        elif looks >= len(LOOKS):
            await self._put(turn, save, state=SaveState.UNREAD, looks=looks, why=found)
        else:
            await self._put(turn, save, at=self.clock() + LOOKS[looks], looks=looks, why=found)

    async def _heard(self, url: str, body: bytes | None) -> Heard:
        headers = (
            Header("Accept", "application/json"),
            Header("Authorization", f"LOW {self.secret}", secret=True),
        )
        request = Request(
            url,
            headers=headers,
            expect="any",
            robots_override=MANNERS,
            max_bytes=MOST_BYTES,
            method="GET" if body is None else "POST",
            body=body or b"",
        )
        fetched = await self.web.fetch(request, fresh=True)
        if isinstance(fetched, Deferred):
            return Rest((fetched.until_at - self.clock()).total_seconds(), fetched.reason)
        if isinstance(fetched, Failure):
            return Refused(f"it cannot be reached: {fetched.word}")
        return self._said(fetched)

    def _said(self, fetched: Capture) -> Heard:
        answer, asked = fetched.answer, None
        value = answer.header("retry-after").strip()
        if value.isascii() and value.isdigit():
            asked = min(float(value[:9]), MOST_RETRY_AFTER_S)
        return save_page_now.heard(answer.status, text_of(answer, most_bytes=MOST_BYTES) or "", asked)

    async def _rests(self, turn: Turn, save: Save, rest: Rest) -> None:
        until = self.clock() + timedelta(seconds=max(60.0, rest.seconds))
        if rest.whole:
            turn.rests = rest.why
            await self.threads.rows(self.saves.rest, until)
        rests = rest.why if rest.whole else None
        await self._put(turn, save, at=until, asking=None, why=rest.why, rests=rests)

    async def _again(self, turn: Turn, save: Save, why: str, for_good: bool = False) -> None:
        if for_good or save.attempts > len(DELAYS):
            await self._put(turn, save, state=SaveState.FAILED, asking=None, why=why)
        else:
            at = self.clock() + DELAYS[max(0, save.attempts - 1)]
            await self._put(turn, save, state=SaveState.WAITING, at=at, asking=None, why=why)

    async def _put(
        self, turn: Turn, save: Save, state: SaveState | None = None, at: datetime | None = None, **facts: Any
    ) -> None:
        known = {k: v for k, v in {**save.facts, **facts}.items() if v is not None}
        moved = replace(save, state=state or save.state, next_try_at=at or self.clock(), facts=known)
        await self.threads.rows(self.saves.put, moved)
        turn.moved.append(moved)


def sent(source: Source, policy: SavePolicy) -> bool:
    """Whether a third party may be told of a source: a declared page that needs no secret and that all may read."""
    if not source.by_itself or not source.url or source.tier not in policy.tiers or source.id in policy.excepted:
        return False
    if any(h.secret for h in source.headers):
        return False
    return _of_all(source.url) or not _of_all(policy.address)  # an archive in our own network may know of it


def _of_all(url: str) -> bool:
    """Whether an address looks like one of the public web; names are not asked for."""
    host = address.host(url)
    try:
        return ipaddress.ip_address(host.strip("[]")).is_global
    except ValueError:
        return "." in host.rstrip(".") and not host.rstrip(".").endswith(_OUR_OWN)


def _why_not(save: Save, wanted: Mapping[str, Source]) -> str:
    if save.newer:
        return "a newer version came first; the archive would save that one"
    if save.source not in wanted:
        return "its source is not cited any more, or not sent"
    if wanted[save.source].url != save.url:
        return "its source is cited at another address"
    return ""


def resting(saves: Sequence[Save], now: datetime) -> str:
    """Why the whole queue rests now, or ""."""
    return next((str(s.facts["rests"]) for s in saves if s.facts.get("rests") and s.next_try_at > now), "")
