"""Make the database again out of the archive, or bring in what a crash left without a row.

Nothing is fetched, nobody is told anything; verdicts stay what they were, texts and quotes are read by today's rules.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Protocol

from .. import __version__
from ..analysis.alarms import of_check
from ..analysis.judge import MAKER, Task
from ..domain.capture import Capture, Exchange, View
from ..domain.check import Finding, Judgement, Memory
from ..domain.errors import UnreadableError
from ..domain.kept import Kept, Stored
from ..domain.reading import Fault
from ..domain.recorded import Recorded
from ..domain.source import Settings, Source, SourceKind
from ..domain.verdict import Verdict
from .check import was_picture
from .ports import Clock, Died, Ledger, Snapshots
from .threads import Threads, first_of
from .writer import Writer

WINDOW = 20_000  # checks that are sorted by their sources at a time: a source is remembered, not looked up again
TOGETHER = 32  # sources at a time: two workers read, one thread writes, the others wait for them


class Archive(Protocol):
    """The snapshots' folder, day by day. Raises StorageError; what it cannot read is in *lost*."""

    lost: list[tuple[str, str]]

    def days(self) -> Sequence[date]: ...
    def groups(self, day: date) -> Sequence[tuple[Recorded, ...]]: ...
    def voids(self, day: date) -> set[int]: ...


class Reread(Protocol):
    """Reads an accepted version again somewhere safe."""

    async def __call__(self, task: tuple[Task, Verdict]) -> Judgement | Fault | Died: ...


@dataclass(slots=True)
class Rebuilt:
    """What was brought in, and what could not be: (path, sentence)."""

    versions: int = 0
    checks: int = 0
    lost: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Rebuilder:
    """*known* maps the record ids of versions that the ledger has to their rows; it grows as versions come in.

    *until*: when the ledger's newest check of each source was. The checks of each are kept in their order, so that what
    came before is there, however an earlier rebuild or pass ended.
    """

    settings: Settings
    ledger: Ledger
    snapshots: Snapshots
    archive: Archive
    reread: Reread
    threads: Threads
    clock: Clock
    known: dict[str, int]
    until: Mapping[str, datetime]
    told: Callable[[date, Rebuilt], None] = lambda day, so_far: None
    _sources: dict[str, Source] = field(default_factory=dict)
    _seen: dict[str, str] = field(default_factory=dict)
    _memories: dict[str, Memory] = field(default_factory=dict)  # of the window that is being read

    def __post_init__(self) -> None:
        self._sources = {s.id: s for s in self.settings.sources}

    async def rebuild(self, *, messages: bool = False) -> Rebuilt:
        """Bring in everything that the ledger does not know: versions, and of each source the checks after its newest.

        *messages*: versions that come in are told to the editors, as the pass that a kill cut short would have done.

        The caller holds the run lock. Raises StorageError when the storage fails; a second time goes on.
        """
        rows, now, done = self.threads.rows, self.clock(), Rebuilt()
        await rows(self.ledger.sync, self.settings.sources, now)
        void = await rows(self.ledger.begin_run, now, "rebuild", __version__)  # for failures of our own network
        run = await rows(self.ledger.begin_run, now, "rebuild", __version__)
        writers = (
            Writer(self.ledger, self.snapshots, self.threads, run),
            Writer(self.ledger, self.snapshots, self.threads, void),
        )
        window: list[tuple[Recorded, ...]] = []
        voids: set[int] = set()
        days = await self.threads.files(self.archive.days)
        for day in days:
            window += [g for g in await self.threads.files(self.archive.groups, day) if self._unknown(g)]
            voids |= await self.threads.files(self.archive.voids, day)
            if len(window) >= WINDOW or day == days[-1]:
                await self._window(writers, window, voids, done, messages=messages)
                window, self._memories = [], {}
                self.told(day, done)
        done.lost += self.archive.lost
        await rows(self.ledger.sync, self.settings.sources, now)  # who is not cited any more is retired again
        await rows(self.ledger.end_run, void, self.clock(), "rebuild 0 0")
        await rows(self.ledger.end_run, run, self.clock())
        return done

    async def _window(
        self,
        writers: tuple[Writer, Writer],
        window: Iterable[tuple[Recorded, ...]],
        voids: set[int],
        done: Rebuilt,
        *,
        messages: bool,
    ) -> None:
        slots = asyncio.Semaphore(TOGETHER)
        try:
            async with asyncio.TaskGroup() as tasks:
                for of_one in _by_page(window):
                    tasks.create_task(self._source(writers, of_one, voids, slots, done, messages))
        except BaseExceptionGroup as errors:
            raise first_of(errors) from None

    def _unknown(self, group: Sequence[Recorded]) -> bool:
        if any(one.new is not None and one.new.record_id not in self.known for one in group):
            return True
        until = self.until.get(group[0].source)  # a figure's own: its note may be cut off from its page's
        return all(one.new is None for one in group) and (until is None or group[0].at > until)

    async def _source(
        self,
        writers: tuple[Writer, Writer],
        groups: Iterable[tuple[Recorded, ...]],
        voids: set[int],
        slots: asyncio.Semaphore,
        done: Rebuilt,
        messages: bool,
    ) -> None:
        """One page's checks of a window, in their order."""
        async with slots:
            for group in groups:
                rows = [(one, found) for one in group if (found := await self._kept(one, done, messages)) is not None]
                if rows:
                    versions = await writers[group[0].run in voids].keep([found for _, found in rows])
                    for (one, kept), version in zip(rows, versions, strict=True):
                        done.checks += 1
                        if one.new is not None and version is not None:
                            done.versions += 1
                            self.known[one.new.record_id] = version
                            self._memories[one.source] = _memory(kept, version)

    async def _kept(self, one: Recorded, done: Rebuilt, messages: bool) -> Kept | None:
        source = await self._declared(one)
        if one.new is not None:
            return None if one.new.record_id in self.known else await self._version(source, one, done, messages)
        if not one.verdict.accessed:
            return _row(one, _finding(one, Judgement(one.verdict, maker=MAKER)))
        version = self.known.get(one.saw)
        if version is None:
            done.lost.append(
                (one.where, f"the version of {one.source} that was seen on {one.at:%Y-%m-%d} is not there")
            )
            return None
        return _row(one, replace(_finding(one, Judgement(one.verdict, maker=MAKER)), unchanged_of=version))

    async def _version(self, source: Source, one: Recorded, done: Rebuilt, messages: bool) -> Kept | None:
        lies = one.new
        assert lies is not None
        try:
            exchange = await self.threads.files(self.snapshots.exchange, lies.path, lies.offset)
        except UnreadableError as error:
            done.lost.append((lies.path, str(error)))
            return None
        recall = None
        if messages or (memory := self._memories.get(source.id)) is None:
            recall = await self.threads.rows(self.ledger.recall, source.id)
            memory = recall.memory
        if memory is not None and memory.captured_at >= lies.captured_at:
            done.lost.append(
                (lies.path, f"newer versions of {source.id} are known; delete the database to rebuild all")
            )
            return None
        capture = Capture(lies.captured_at, (exchange,), one.seconds)
        expect = "figure" if source.kind is SourceKind.FIGURE else "document"
        task = Task(replace(source, headers=()), capture, self.settings.fetch.max_bytes, expect, memory)
        if memory is not None and was_picture(source, memory):
            with suppress(UnreadableError):  # then its bytes alone say whether it is another picture
                task = replace(task, seen=await self.threads.files(self.snapshots.exchange, memory.path, memory.offset))
        if source.watch == "picture":
            task = await self._with_looks(task, lies.path)
        found = await self.reread((task, one.verdict))
        if not isinstance(found, Judgement):
            words = found.evidence if isinstance(found, Fault) else found.reason
            done.lost.append((lies.path, f"the version of {source.id} cannot be read again: {words}"))
            return None
        stored = Stored(
            path=lies.path,
            record_id=lies.record_id,
            offset=lies.offset,
            captured_at=lies.captured_at,
            url=one.asked,
            final_url=exchange.url,
            status=exchange.status,
            media_type=exchange.media_type,
            body_sha256=exchange.body_sha256,
            etag=exchange.header("etag"),
            last_modified=exchange.header("last-modified"),
            size_bytes=len(exchange.body),
        )
        finding = replace(_finding(one, found), fetched=capture)
        wanted = messages and recall is not None and expect == "document"
        told = of_check(source, finding, exchange.url, recall) if wanted and recall is not None else ()
        return replace(_row(one, finding), stored=stored, body_sha256=exchange.body_sha256, messages=told)

    async def _with_looks(self, task: Task, path: str) -> Task:
        """The task with the screenshots of both versions, so far as they are kept."""
        with suppress(UnreadableError):  # then its text alone says what changed
            shot = await self.threads.files(self.snapshots.screenshot, path)
            task = replace(task, capture=replace(task.capture, view=View("", screenshot=shot)))
            if task.memory is not None:
                task = replace(task, shot=await self.threads.files(self.snapshots.screenshot, task.memory.path))
        return task

    async def _declared(self, one: Recorded) -> Source:
        """The source as sources.toml has it, or as the archive knew it: a figure, or one that is not cited any more."""
        known = self._sources.get(one.source)
        if known is not None and known.kind is SourceKind.PAGE:
            return known
        parent = self._sources.get(one.parent or "")
        seen = replace(known, url=one.cited) if known else Source(
            one.source, parent.tier if parent else "", one.title, one.cited or None, kind=one.kind, parent=one.parent,
            alt=one.alt,
        )  # fmt: skip
        if self._seen.get(seen.id) != one.cited:
            await self.threads.rows(self.ledger.declare_figure, seen, one.at)
            self._seen[seen.id] = one.cited
        return seen


def _finding(one: Recorded, judgement: Judgement) -> Finding:
    """A check whose answer was not kept: the row asks for nothing of it but its address and status."""
    capture = Capture(one.at, (Exchange(one.final_url or one.asked, one.status, ()),), one.seconds)
    return Finding(one.source, one.at, capture, judgement, one.seconds, attempts=one.attempts)


def _memory(kept: Kept, version: int) -> Memory:
    """What a check after this one would recall of it."""
    stored, judgement = kept.stored, kept.finding.judgement
    assert stored is not None
    return Memory(
        version=version,
        captured_at=stored.captured_at,
        final_url=stored.final_url,
        status=stored.status,
        media_type=stored.media_type,
        body_sha256=stored.body_sha256,
        payload_sha256=judgement.payload_sha256,
        etag=stored.etag,
        last_modified=stored.last_modified,
        packed=judgement.packed,
        maker=judgement.maker,
        path=stored.path,
        offset=stored.offset,
        record_id=stored.record_id,
        sightings=judgement.sightings,
        history=judgement.history,
        last_verdict=judgement.verdict,
    )


def _row(one: Recorded, finding: Finding) -> Kept:
    return Kept(finding, one.status, one.cited, one.final_url, facts=one.facts)


def _by_page(groups: Iterable[tuple[Recorded, ...]]) -> list[list[tuple[Recorded, ...]]]:
    """Groups that must be written one after the other: those of a page and of its figures."""
    found: dict[str, list[tuple[Recorded, ...]]] = {}
    for group in groups:
        found.setdefault(group[0].parent or group[0].source, []).append(group)
    return list(found.values())
