"""Asks archives that others keep for the copy closest to the version that the site cites, reads it, and judges it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Protocol

from ..analysis import mementos
from ..analysis.answers import text_of
from ..analysis.drift import drift
from ..analysis.judge import Task
from ..domain.capture import Capture, Deferred, Failure, Request
from ..domain.change import held
from ..domain.check import Judgement
from ..domain.copies import OutsideArchive, OutsideCopy
from ..domain.document import unpack
from ..domain.kept import VersionRow
from ..domain.review import Desk
from ..domain.source import FetchPolicy, Header, Source
from .ports import Clock, Judge, Ledger, Web
from .threads import Threads

MOST_TIMEMAP_BYTES = 8_000_000


class Copies(Protocol):
    """Keeps what was found. Raises StorageError."""

    def keep(self, copy: OutsideCopy) -> None: ...


@dataclass(slots=True)
class Asked:
    """What archives have of one source; *none*: an archive's name and why nothing came of it."""

    source: Source
    copies: list[OutsideCopy] = field(default_factory=list)
    none: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Librarian:
    """Asks outside archives, through the same web as everything else."""

    web: Web
    judge: Judge
    ledger: Ledger
    copies: Copies
    threads: Threads
    policy: FetchPolicy
    clock: Clock
    archives: Sequence[OutsideArchive]

    async def ask(self, source: Source, desk: Desk) -> Asked:
        """Ask each archive once. Raises StorageError."""
        cited = cited_version(await self.threads.rows(self.ledger.versions, source.id), source.id, desk)
        original, at = (cited.url, cited.captured_at) if cited else (source.url or "", self.clock())
        asked = Asked(source)
        for archive in self.archives:
            found = await self._of(archive, source, original, at, cited)
            if isinstance(found, str):
                asked.none.append((archive.name, found))
            else:
                await self.threads.rows(self.copies.keep, found)
                asked.copies.append(found)
        return asked

    async def _of(
        self, archive: OutsideArchive, source: Source, original: str, at: datetime, cited: VersionRow | None
    ) -> OutsideCopy | str:
        """The archive's copy closest to a time, whatever stands in it; or why there is none."""
        where = await self._closest(archive, original, at)
        if isinstance(where, str):
            return where
        return await self.read(archive.name, source, original, where, cited)

    async def read(
        self, archive: str, source: Source, original: str, where: tuple[datetime, str], cited: VersionRow | None
    ) -> OutsideCopy | str:
        """What stands at a memento's time and address; or why it cannot be read."""
        memento_at, url = where
        shown = await self.web.fetch(Request(mementos.raw(url), expect="any"), fresh=True)
        if not _is_memento(shown) and mementos.raw(url) != url:
            shown = await self.web.fetch(Request(url, expect="any"), fresh=True)
        if not isinstance(shown, Capture) or not _is_memento(shown):
            return f"its copy of {memento_at:%Y-%m-%d} cannot be read: {_why(shown)}"
        answer = shown.answer
        said = mementos.moment(answer.header("memento-datetime")) or mementos.stamped(answer.url) or memento_at
        there = replace(source, url=original, read=None, headers=())
        capture = Capture(shown.captured_at, (replace(answer, url=original),), shown.seconds)
        outcome = await self.judge(Task(there, capture, self.policy.max_bytes))
        if not isinstance(outcome, Judgement):
            return f"its copy of {said:%Y-%m-%d} cannot be read: {outcome.reason}"
        sought = {q.key for q in source.quotes if not q.figure}
        kept = None
        if cited is not None and outcome.document is not None:
            before = unpack(await self.threads.rows(self.ledger.packed_document, cited.id))
            kept = drift(before, outcome.document).kept
        return OutsideCopy(
            source=source.id,
            archive=archive,
            original=original,
            url=url,
            memento_at=said,
            asked_at=self.clock(),
            word=outcome.verdict.word,
            held=held(outcome.sightings, sought),
            sought=len(sought),
            kept=kept,
            evidence=outcome.verdict.evidence,
            cited_at=cited.captured_at if cited else None,
        )

    async def _closest(self, archive: OutsideArchive, original: str, at: datetime) -> tuple[datetime, str] | str:
        """The time and the address of the closest memento: by the TimeGate, else by the TimeMap."""
        why = "it has no copy"
        if archive.timegate:
            asks = Header("Accept-Datetime", format_datetime(at.astimezone(UTC), usegmt=True))
            gate = archive.timegate.replace("{url}", original)
            got = await self.web.fetch(Request(gate, headers=(asks,), expect="any"), fresh=True)
            if isinstance(got, Capture) and _is_memento(got):
                url = got.answer.header("content-location") or got.final_url
                url = url if url.startswith(("http://", "https://")) else got.final_url
                said = mementos.moment(got.answer.header("memento-datetime")) or mementos.stamped(url)
                if said is not None:
                    return said, url
            elif not isinstance(got, Capture) or got.answer.status != 404:
                why = f"it could not be asked: {_why(got)}"
        if archive.timemap:
            whole = archive.timemap.replace("{url}", original)
            got = await self.web.fetch(Request(whole, expect="any", max_bytes=MOST_TIMEMAP_BYTES), fresh=True)
            if isinstance(got, Capture) and got.answer.status == 200:
                listed = text_of(got.answer, most_bytes=MOST_TIMEMAP_BYTES, packed_files=True) or ""
                return mementos.closest(mementos.timemap(listed), at) or "it has no copy"
        return why


def cited_version(versions: Sequence[VersionRow], source: str, desk: Desk) -> VersionRow | None:
    """What the site relies on: the version that an editor accepted, else the first one."""
    accepted = desk.accepted.get(source)
    by_id = {v.id: v for v in versions}
    known = by_id.get(accepted.version or 0) if accepted is not None else None
    return known or (versions[0] if versions else None)


def _is_memento(fetched: Capture | Failure | Deferred) -> bool:
    """Whether an archive gave an archived answer, whatever its status, and not a word of its own."""
    return isinstance(fetched, Capture) and mementos.moment(fetched.answer.header("memento-datetime")) is not None


def _why(fetched: Capture | Failure | Deferred) -> str:
    if isinstance(fetched, Capture):
        return f"it answered {fetched.answer.status} without a Memento-Datetime"
    return fetched.word if isinstance(fetched, Failure) else fetched.reason
