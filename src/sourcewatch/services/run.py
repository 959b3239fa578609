"""One pass over the sources that are due: host by host, many hosts at once."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from .. import __version__
from ..analysis import incidents
from ..analysis.address import host_key
from ..domain.capture import Capture, Deferred
from ..domain.change import Sighting, SightingKind
from ..domain.errors import StorageError
from ..domain.kept import Stored
from ..domain.source import Settings, Source, SourceKind
from ..domain.standing import Standing, after
from .check import Checked, Checker
from .keep import Keeper
from .notes import void_note
from .ports import Clock, Ledger
from .writer import Writer

DEFECT_RESTS = timedelta(hours=1)
PER_HOST = 4  # the host's gate lets one request through at a time; the others judge, or wait for figures elsewhere
OUR_OWN = frozenset({"dns_not_found", "connect_timeout", "connect_refused", "network_auth", "tls_unknown_ca"})
HOSTS_ALIKE = 3
SHARE_ALIKE = 0.8

Progress = Callable[[Mapping[str, Any]], None]


@dataclass(slots=True)
class Tally:
    """What a run did: words and their number, new versions, hosts and the word that each gave."""

    checked: int = 0
    deferred: int = 0
    new_versions: int = 0
    defects: list[str] = field(default_factory=list)
    words: Counter[str] = field(default_factory=Counter)
    hosts: dict[str, list[str]] = field(default_factory=dict)
    void_reason: str | None = None


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs passes. The caller holds the run lock."""

    settings: Settings
    ledger: Ledger
    checker: Checker
    keeper: Keeper
    clock: Clock

    async def run(
        self,
        only: Sequence[str] = (),
        *,
        all_of_them: bool = False,
        trigger: str = "run",
        told: Progress = lambda line: None,
    ) -> Tally:
        """Check what is due. Raises StorageError when the storage fails; what was kept before stays kept."""
        rows, started = self.checker.threads.rows, self.clock()
        await rows(self.ledger.sync, self.settings.sources, started)
        pages = {s.id: s for s in self.settings.sources if s.address and s.kind is SourceKind.PAGE}
        wanted = [i for i in only if i in pages] if only else list(pages)
        last = await rows(self.ledger.last_run)
        ahead = last is not None and last.started_at > started  # the clock was ahead: due times cannot be trusted
        due = await rows(self.ledger.due, started, wanted, all_of_them=all_of_them or bool(only) or ahead)
        run = await rows(self.ledger.begin_run, started, trigger, __version__)
        tally = Tally()
        writer = Writer(self.ledger, self.checker.snapshots, self.checker.threads, run)
        slots = asyncio.Semaphore(self.settings.fetch.concurrency)
        try:
            async with asyncio.TaskGroup() as hosts:
                for group in _by_host(pages[i] for i in due):
                    hosts.create_task(self._host(writer, group, slots, tally, told))
        except BaseExceptionGroup as errors:
            raise _first(errors) from None
        tally.void_reason, ended = our_own_fault(tally.hosts), self.clock()
        if tally.void_reason is not None:
            await self.checker.threads.files(
                self.checker.snapshots.note, [void_note(run, started, ended, tally.void_reason)]
            )
        await rows(self.ledger.end_run, run, ended, tally.void_reason, incidents.settle)
        return tally

    async def _host(
        self, writer: Writer, sources: Sequence[Source], slots: asyncio.Semaphore, tally: Tally, told: Progress
    ) -> None:
        waiting = iter(sources)

        async def lane() -> None:
            for source in waiting:
                async with slots:
                    line = await self._contained(writer, source, tally)
                told(line)

        async with asyncio.TaskGroup() as lanes:
            for _ in range(min(PER_HOST, len(sources))):
                lanes.create_task(lane())

    async def _contained(self, writer: Writer, source: Source, tally: Tally) -> Mapping[str, Any]:
        """A defect of ours in one source is told, and costs the others nothing; the storage's failure ends the run."""
        try:
            return await self._one(writer, source, tally)
        except StorageError:
            raise
        except Exception as error:
            logging.getLogger(__name__).exception("a defect while checking %s", source.id)
            tally.defects.append(source.id)
            await self.checker.threads.rows(self.ledger.put_off, source.id, self.clock() + DEFECT_RESTS)
            return {"source": source.id, "url": source.url, "defect": f"{type(error).__name__}: {error}"}

    async def _one(self, writer: Writer, source: Source, tally: Tally) -> Mapping[str, Any]:
        declared = [s for s in self.settings.sources if s.parent == source.id and s.kind is SourceKind.FIGURE]
        checked = await self.checker.check(source, declared)
        if isinstance(checked, Deferred):
            tally.deferred += 1
            await self.checker.threads.rows(self.ledger.put_off, source.id, checked.until_at)
            return {
                "source": source.id,
                "url": source.url,
                "deferred_until": stamp(checked.until_at),
                "reason": checked.reason,
            }
        versions, stored = await self.keeper.keep(writer, checked)
        verdict = checked.page.judgement.verdict
        standing = after(checked.recall.standing, verdict, checked.page.checked_at, versions[0], final_url_of(checked))
        tally.checked += 1
        tally.words[verdict.word] += 1
        tally.new_versions += checked.page.judgement.changed
        tally.hosts.setdefault(host_key(source.address or ""), []).append(verdict.word)
        return as_line(checked, standing, versions[0], stored)


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one error to tell: a storage failure before all others, which mostly follow from it."""
    leaves: list[BaseException] = []
    for error in errors.exceptions:
        leaves.append(_first(error) if isinstance(error, BaseExceptionGroup) else error)
    return next((e for e in leaves if isinstance(e, StorageError)), leaves[0])


def _by_host(sources: Iterable[Source]) -> list[list[Source]]:
    groups: dict[str, list[Source]] = {}
    for source in sources:
        groups.setdefault(host_key(source.address or ""), []).append(source)
    return list(groups.values())


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


def stamp(at: datetime) -> str:
    """ISO 8601 in UTC with Z, whole seconds."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def final_url_of(checked: Checked) -> str:
    """Where the way ended, or the address itself when there was no answer at all."""
    exchanges = checked.page.fetched.exchanges
    return exchanges[-1].url if exchanges else checked.source.address or ""


def as_line(checked: Checked, standing: Standing, version: int | None, stored: Mapping[str, Stored]) -> dict[str, Any]:
    """The object that `run --json` prints for one check."""
    source, finding, judgement = checked.source, checked.page, checked.page.judgement
    verdict, change = judgement.verdict, judgement.change
    where = stored.get(source.id)
    told = change if change is not None and change.told else None
    return {
        "source": source.id,
        "parent": source.parent,
        "url": source.url,
        "final_url": final_url_of(checked),
        "checked_at": stamp(finding.checked_at),
        "verdict": verdict.word,
        "class": verdict.klass,
        "accessed": verdict.accessed,
        "rule": verdict.rule,
        "evidence": verdict.evidence,
        "status": finding.fetched.answer.status if isinstance(finding.fetched, Capture) else 0,
        "new_version": judgement.changed,
        "change": None
        if told is None
        else {
            "from": checked.memory.version if checked.memory else None,
            "to": version,
            "edits": len(told.told),
            "suppressed": len(told.edits) - len(told.told),
            "kept": round(told.drift.kept, 4),
            "novelty": round(told.drift.novelty, 4),
            "extent": told.drift.extent,
        },
        "confirmed": None if told is None else False,
        "significance": told.significance if told else None,
        "sightings": [{"quote": s.quote, "sighting": s.kind, "score": round(s.score, 3)} for s in _sightings(checked)],
        "last_accessed": stamp(standing.last_accessed) if standing.last_accessed else None,
        "failing_since": stamp(standing.failing_since) if standing.failing_since else None,
        "strikes": standing.strikes,
        "embeds": [{"url": f.embed.url, "verdict": f.finding.judgement.verdict.word} for f in checked.figures],
        "snapshot": where.path if where else None,
        "text_path": where.text_path if where else None,
        "ms": round(finding.seconds * 1000),
    }


def _sightings(checked: Checked) -> Sequence[Sighting]:
    """Those of this check, or of the version still shown; a figure's quotes are unverified while it is unread."""
    found = checked.page.judgement.sightings or (checked.memory.sightings if checked.memory else ())
    if found or checked.source.kind is not SourceKind.FIGURE:
        return found
    return [Sighting(q.key, SightingKind.UNVERIFIED) for q in checked.source.quotes]
