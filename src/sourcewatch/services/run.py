"""One pass over the sources that are due: host by host, many hosts at once."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from .. import __version__
from ..analysis import incidents
from ..analysis.address import host_key
from ..domain.capture import Deferred
from ..domain.errors import StorageError, TakenError
from ..domain.kept import Claim
from ..domain.source import Settings, Source, SourceKind
from ..domain.standing import after
from .check import Checker
from .desk import Desk, Work
from .keep import Keeper
from .notes import void_note
from .outcomes import as_deferred, as_line, final_url_of, in_words
from .ports import Clock, Ledger
from .threads import first_of
from .writer import Writer

DEFECT_RESTS = timedelta(hours=1)
LANES = 4  # the host's gate lets one request through at a time; the others judge, or wait for figures elsewhere
OUR_OWN = frozenset({"dns_not_found", "connect_timeout", "connect_refused", "network_auth", "tls_unknown_ca"})
HOSTS_ALIKE = 3
SHARE_ALIKE = 0.8
WITNESSES = 4  # hosts that are asked early when a run of one or two hosts failed as our own network would
WITNESSES_WITHIN = timedelta(days=7)

Progress = Callable[[Mapping[str, Any]], None]

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Tally:
    """What a run did: words and their number, new versions, hosts and the word that each gave."""

    run: int = 0
    checked: int = 0
    deferred: int = 0
    taken: int = 0
    new_versions: int = 0
    defects: list[str] = field(default_factory=list)
    words: Counter[str] = field(default_factory=Counter)
    hosts: dict[str, list[str]] = field(default_factory=dict)
    void_reason: str | None = None


@dataclass(slots=True)
class Runner:
    """Runs passes over what *desk* hands out. The caller holds the run lock."""

    settings: Settings
    ledger: Ledger
    desk: Desk
    checker: Checker
    keeper: Keeper
    clock: Clock
    pages: dict[str, Source] = field(init=False)
    figures: dict[str, list[Source]] = field(init=False)
    mirrors: dict[str, list[Source]] = field(init=False)

    def __post_init__(self) -> None:
        self.pages = {s.id: s for s in self.settings.sources if s.address and s.by_itself}
        self.figures, self.mirrors = {}, {}
        for source in self.settings.sources:
            if source.parent and source.kind is SourceKind.FIGURE:
                self.figures.setdefault(source.parent, []).append(source)
            if source.mirror_of and source.address:
                self.mirrors.setdefault(source.mirror_of, []).append(source)

    async def run(
        self,
        only: Sequence[str] = (),
        *,
        all_of_them: bool = False,
        trigger: str = "run",
        told: Progress = lambda line: None,
    ) -> Tally:
        """One pass over all that is due: these sources (paused or not), or all of them, due or not.

        Raises StorageError when the storage fails; what was kept before stays kept.
        """
        rows, started = self.desk.threads.rows, self.clock()
        last = await rows(self.ledger.last_run)
        if only:
            await rows(self.desk.queue.advance, started, only)
        elif all_of_them or (last is not None and last.started_at > started):
            await rows(self.desk.queue.advance, started)  # also when the clock was ahead: due times lie in its future

        async def more() -> Work:
            return await self.desk.take(self.clock(), due_by=started, among=only or None)

        return await self.work(await more(), more, trigger=trigger, told=told, witnessed=not only)

    async def work(
        self,
        work: Work,
        more: Callable[[], Awaitable[Work]] | None = None,
        *,
        trigger: str,
        told: Progress = lambda line: None,
        witnessed: bool = True,
    ) -> Tally:
        """A run over *work*, and over what *more* gives whenever a host is done. Raises StorageError."""
        started = self.clock()
        try:
            run = await self.desk.threads.rows(self.ledger.begin_run, started, trigger, __version__)
        except BaseException:
            self.desk.drop(work)
            raise
        this = Pass(self, Writer(self.ledger, self.checker.snapshots, self.checker.threads, run), Tally(run), told)
        await this.over(work, more)
        if witnessed and needs_witnesses(this.tally.hosts):
            soon = self.clock() + WITNESSES_WITHIN
            work = await self.desk.take(self.clock(), due_by=soon, hosts=WITNESSES, per_host=1, apart_from=this.hosts)
            await this.over(work)
        await self.end(run, started, this.tally)
        return this.tally

    async def end(self, run: int, started: datetime, tally: Tally) -> None:
        """Say what a run proved, and settle its incidents. Raises StorageError."""
        tally.void_reason, ended = our_own_fault(tally.hosts), self.clock()
        if tally.void_reason is not None:
            note = void_note(run, started, ended, tally.void_reason)
            await self.desk.threads.files(self.checker.snapshots.note, [note])
        await self.desk.threads.rows(self.ledger.end_run, run, ended, tally.void_reason, incidents.settle)
        counts = f"{tally.checked} checked, {tally.new_versions} new versions, {tally.deferred} put off"
        void = f"; void: {tally.void_reason}" if tally.void_reason else ""
        _log.info("run %d ended: %s%s", run, counts, void, extra={"run": run})


@dataclass(slots=True)
class Pass:
    """One run at work: its hosts side by side, a few lanes for each."""

    runner: Runner
    writer: Writer
    tally: Tally
    told: Progress
    hosts: set[str] = field(default_factory=set)
    begun: Work = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    rolling: bool = True
    claims: dict[str, Claim] = field(default_factory=dict)

    async def over(self, work: Work, more: Callable[[], Awaitable[Work]] | None = None) -> None:
        """Raises StorageError; what was not begun is given back."""
        done: asyncio.Queue[str] = asyncio.Queue()
        try:
            async with asyncio.TaskGroup() as group:
                while work or self.begun:
                    for host, ids in work.items():
                        self.begun[host] = ids
                        group.create_task(self._host(host, ids, done))
                    host = await done.get()
                    del self.begun[host]
                    self.runner.desk.done(host)
                    work = await self._next(more) if more else {}
        except BaseExceptionGroup as errors:
            raise first_of(errors) from None
        finally:
            self.runner.desk.drop(self.begun)  # whatever stopped us: some of it was not even begun

    async def _next(self, more: Callable[[], Awaitable[Work]]) -> Work:
        """More work, unless this pass has had it: when the clock is set back, what is done may look due again."""
        work = await more() if self.rolling else {}
        again = {i for ids in work.values() for i in ids} & self.seen
        self.rolling = self.rolling and not again
        self.runner.desk.owed.extend(again)
        return {host: [i for i in ids if i not in again] for host, ids in work.items()}

    async def _host(self, host: str, ids: Sequence[str], done: asyncio.Queue[str]) -> None:
        await self.host(host, ids)
        done.put_nowait(host)

    async def host(self, host: str, ids: Sequence[str]) -> None:
        """Check these sources of one host. Raises StorageError, perhaps in a group."""
        desk, waiting = self.runner.desk, iter(ids)
        self.hosts.add(host)
        self.seen.update(ids)

        async def lane() -> None:
            for id_ in waiting:
                source = None if desk.closing else self.runner.pages.get(id_)
                if source is None:
                    desk.owed.append(id_)
                else:
                    self.told(await self._contained(source))

        async with asyncio.TaskGroup() as lanes:
            for _ in range(min(LANES, len(ids))):
                lanes.create_task(lane())

    async def _contained(self, source: Source) -> Mapping[str, Any]:
        """A defect of ours in one source is told, and costs the others nothing; the storage's failure ends the run."""
        of = {"run": self.tally.run, "source": source.id}
        try:
            line = await self._one(source)
        except StorageError:
            raise
        except TakenError:
            self.tally.taken += 1
            _log.info("%s was given to another worker meanwhile; nothing of it is kept here", source.id, extra=of)
            return {"source": source.id, "url": source.url, "taken": True}
        except Exception as error:
            _log.exception("a defect while checking %s", source.id, extra=of)
            self.tally.defects.append(source.id)
            with suppress(TakenError):
                await self._put_off(source, self.runner.clock() + DEFECT_RESTS)
            return {"source": source.id, "url": source.url, "defect": f"{type(error).__name__}: {error}"}
        loud = not line.get("accessed") or line["new_version"]
        _log.log(logging.INFO if loud else logging.DEBUG, "%s: %s", source.id, in_words(line), extra=of)
        return line

    async def _one(self, source: Source) -> Mapping[str, Any]:
        runner = self.runner
        figures, mirrors = runner.figures.get(source.id, ()), runner.mirrors.get(source.id, ())
        checked = await runner.keeper.waits(lambda: runner.checker.check(source, figures, mirrors))
        if isinstance(checked, Deferred):
            self.tally.deferred += 1
            await self._put_off(source, checked.until_at)
            return as_deferred(source, checked)
        versions, stored = await self.runner.keeper.keep(self.writer, checked, self.claims.get(source.id))
        verdict = checked.page.judgement.verdict
        standing = after(checked.recall.standing, verdict, checked.page.checked_at, versions[0], final_url_of(checked))
        self.tally.checked += 1
        self.tally.words[verdict.word] += 1
        self.tally.new_versions += checked.page.judgement.changed
        self.tally.hosts.setdefault(host_key(source.address or ""), []).append(verdict.word)
        return as_line(checked, standing, versions[0], stored)

    async def _put_off(self, source: Source, until: datetime) -> None:
        rows, claim = self.runner.desk.threads.rows, self.claims.get(source.id)
        await self.runner.keeper.waits(lambda: rows(self.runner.ledger.put_off, source.id, until, claim))


def needs_witnesses(hosts: Mapping[str, Sequence[str]]) -> bool:
    """Whether all that a run asked failed in a way that our own network fails, on too few hosts to conclude anything.

    Then a few other sources are asked a little early: they tell whose fault it is.
    """
    return 0 < len(hosts) < HOSTS_ALIKE and all(word in OUR_OWN for words in hosts.values() for word in words)


def our_own_fault(hosts: Mapping[str, Sequence[str]]) -> str | None:
    """Why a run proves nothing about its sources: most hosts failed alike, in a way that our own network fails.

    Three words: the verdict, how many hosts, of how many. None when the run proves something.
    """
    if len(hosts) < HOSTS_ALIKE:
        return None
    alike = Counter(words[0] for words in hosts.values() if len(set(words)) == 1 and words[0] in OUR_OWN)
    if not alike:
        return None
    word, failing = alike.most_common(1)[0]
    if failing < HOSTS_ALIKE or failing < SHARE_ALIKE * len(hosts):
        return None
    return f"{word} {failing} {len(hosts)}"
