"""Keep what a check found: the file first, then one transaction. A crash leaves waste, never a row without a file."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar

from ..analysis import alarms, cadence
from ..domain.capture import Capture, Certificate, Failure, View
from ..domain.change import sighting_facts
from ..domain.check import Finding, Memory, Span
from ..domain.errors import TakenError
from ..domain.kept import Claim, Kept, Part, Stored
from ..domain.source import Source
from ..domain.standing import Recall
from ..domain.verdict import VerdictClass
from .check import Checked
from .notes import iso, note_of
from .ports import Cron, Ledger, Snapshots, Strays
from .threads import Threads
from .writer import Writer

_T = TypeVar("_T")
EVIDENCE = (VerdictClass.WALLED, VerdictClass.GONE, VerdictClass.FAILED, VerdictClass.MOVED)


class Waits(Protocol):
    """Does some work with the storage, perhaps again and again until the storage is back. Raises StorageError."""

    async def __call__(self, work: Callable[[], Awaitable[_T]], /) -> _T: ...


async def at_once(work: Callable[[], Awaitable[_T]]) -> _T:
    """Waits for no storage."""
    return await work()


@dataclass(frozen=True, slots=True)
class Keeper:
    """Writes findings. *cron* answers when a cron line is next due; *waits* what to do while the storage fails.

    Where checks are given out to many, *strays* are files that others may have left.
    """

    ledger: Ledger
    snapshots: Snapshots
    threads: Threads
    timezone: str
    cron: Cron
    waits: Waits = at_once
    strays: Strays | None = None

    async def keep(
        self, writer: Writer, checked: Checked, claim: Claim | None = None
    ) -> tuple[list[int | None], dict[str, Stored]]:
        """The versions that the page and its figures saw, and where new snapshots lie.

        A mirror is kept after its source, as a source of its own; the source's claim was good for both.
        Raises StorageError, and TakenError when the *claim* under which this was checked holds no more.
        """
        if claim is not None:
            await self._make_sure(checked, claim)
        stored = await self.waits(lambda: self.threads.files(self._files, checked, checked.recall.last))
        await self.waits(lambda: self._declare(checked))
        turn = checked if checked.source.mirror_of is None else None  # a mirror has none, and nobody is told of it
        page = self._kept(checked.source, checked.page, checked.recall, stored, writer.run, turn)
        rows = [replace(page, claim=claim)]
        rows += [self._kept(f.source, f.finding, f.recall, stored, writer.run) for f in checked.figures]
        try:
            versions = await self.waits(lambda: writer.keep(rows))
        except TakenError:
            await self._discard(stored, checked.page.checked_at)
            raise
        for mirror in checked.mirrors:
            stored |= (await self.keep(writer, mirror))[1]
        return versions, stored

    async def _make_sure(self, checked: Checked, claim: Claim) -> None:
        """Before a file is written: that its row will be, as far as anybody can tell, and that it is the only one."""
        strays, new = self.strays, [checked.page, *(figure.finding for figure in checked.figures)]
        if any(finding.judgement.changed for finding in new):
            await self.waits(lambda: self.threads.rows(self.ledger.make_sure, claim))
            if strays is not None:
                await self.waits(lambda: self.threads.files(strays.clear, claim, checked.page.checked_at))

    async def _discard(self, stored: Mapping[str, Stored], at: datetime) -> None:
        """Files of ours that no row will name."""
        strays, paths = self.strays, {where.path for where in stored.values()}
        if strays is not None and paths:
            await self.waits(lambda: self.threads.files(strays.discard, paths, at))

    async def _declare(self, checked: Checked) -> None:
        for figure in checked.figures:
            if not figure.known:
                await self.threads.rows(self.ledger.declare_figure, figure.source, checked.page.checked_at)

    def _files(self, checked: Checked, last: Span | None) -> dict[str, Stored]:
        """A snapshot for what is new, or evidence of a refusal, once a day and verdict."""
        page, judgement = checked.page, checked.page.judgement
        new = [f for f in checked.figures if f.finding.judgement.changed]
        if judgement.changed or new:
            return self._snapshot(checked, [f.source.id for f in new])
        refused = not judgement.verdict.accessed and judgement.verdict.klass in EVIDENCE
        if refused and isinstance(page.fetched, Capture) and not _kept_today(last, page):
            part = Part(checked.source.id, page.fetched, {"verdict": judgement.verdict.word})
            text = judgement.document.text if judgement.document else None
            meta = meta_of(checked.source, page, checked.memory)
            kept = self.snapshots.keep(checked.source.id, page.checked_at, [part], text, meta, refused=True)
            return {f"refused:{name}": where for name, where in kept.items()}
        return {}

    def _snapshot(self, checked: Checked, new: list[str]) -> dict[str, Stored]:
        page, changed = checked.page, checked.page.judgement.changed
        parts = [Part(checked.source.id, page.fetched, {"verdict": page.judgement.verdict.word})] if changed else []
        for figure in checked.figures:
            fetched = figure.finding.fetched
            if figure.source.id in new or isinstance(fetched, Failure):
                via = {"via": page.fetched.exchanges[-1].url, "hopsFromSeed": "E"} if page.fetched.exchanges else {}
                parts.append(Part(figure.source.id, fetched, {"verdict": figure.finding.judgement.verdict.word, **via}))
        document = page.judgement.document
        text = document.text if changed and document else None
        meta = meta_of(checked.source, page, checked.memory) | {
            "figures": [meta_of(f.source, f.finding, f.recall.memory) | {"alt": f.embed.alt} for f in checked.figures]
        }
        return dict(self.snapshots.keep(checked.source.id, page.checked_at, parts, text, meta))

    def _kept(
        self,
        source: Source,
        finding: Finding,
        recall: Recall,
        stored: Mapping[str, Stored],
        run: int,
        page: Checked | None = None,
    ) -> Kept:
        """A row and, unless the check has a file of its own, its note. *page*: not of a figure, nor of a mirror."""
        exchanges = finding.fetched.exchanges
        answer = exchanges[-1] if exchanges else None
        facts = facts_of(finding)
        if page is not None and page.figures:
            facts["embeds"] = [
                {"id": f.source.id, "url": f.embed.url, "alt": f.embed.alt, "verdict": f.finding.judgement.verdict.word}
                for f in page.figures
            ]
        if (evidence := stored.get(f"refused:{source.id}")) is not None:
            facts["evidence_path"] = evidence.path
        elif recall.last is not None and _kept_today(recall.last, finding):
            facts["evidence_path"] = recall.last.facts["evidence_path"]
        return Kept(
            finding=finding,
            status=answer.status if answer and isinstance(finding.fetched, Capture) else 0,
            url=source.url or "",
            final_url=answer.url if answer else source.address or "",
            body_sha256=answer.body_sha256 if answer and answer.body else "",
            stored=stored.get(source.id),
            next_check_at=self._next(page) if page is not None else None,
            facts=facts,
            note=note_of(source, finding, recall, run) if evidence is None else None,
            messages=alarms.of_check(source, finding, answer.url if answer else "", recall) if page is not None else (),
        )

    def _next(self, checked: Checked) -> datetime:
        source, finding, recall = checked.source, checked.page, checked.recall
        verdict, now, change = finding.judgement.verdict, finding.checked_at, finding.judgement.change
        if source.cron:
            usual_at = self.cron(source.cron, self.timezone, now)
        else:
            stood = now - recall.memory.captured_at if recall.memory and not finding.judgement.changed else timedelta()
            usual_at = now + cadence.interval(source.id, source.every_s, source.slowest_s, stood)
        unconfirmed = (change is not None and bool(change.told)) or _figure_lost(checked)
        return cadence.next_check(now, usual_at, verdict, recall.standing, unconfirmed=unconfirmed)


def _figure_lost(checked: Checked) -> bool:
    """Whether a figure could not be read that nobody knew to be failing: the next reading has to confirm it."""
    return any(
        not f.finding.judgement.verdict.accessed and f.recall.standing.failing_since is None for f in checked.figures
    )


def _kept_today(last: Span | None, page: Finding) -> bool:
    return (
        last is not None
        and last.verdict.word == page.judgement.verdict.word
        and last.last_at.date() == page.checked_at.date()
        and "evidence_path" in last.facts
    )


def meta_of(source: Source, finding: Finding, memory: Memory | None) -> dict[str, Any]:
    """The `.json` beside a snapshot: enough for a person to read, and for the database to be made again."""
    judgement, fetched = finding.judgement, finding.fetched
    meta: dict[str, Any] = {
        "source": source.id,
        "kind": source.kind,
        "parent": source.parent,
        "title": source.title,
        "cited": source.url,
        "asked": source.address,
        "reader": source.reader.tag if source.reader else None,
        "checked_at": iso(finding.checked_at),
        "ms": round(finding.seconds * 1000),
        "verdict": judgement.verdict.word,
        "accessed": judgement.verdict.accessed,
        "rule": judgement.verdict.rule,
        "evidence": judgement.verdict.evidence,
        "payload_sha256": judgement.payload_sha256,
        "changed": judgement.changed,
        "maker": judgement.maker,
        **facts_of(finding),
    }
    if source.mirror_of is not None:
        meta["mirror_of"] = source.mirror_of
    if isinstance(fetched, Capture):
        answer = fetched.answer
        meta |= {"final_url": answer.url, "status": answer.status, "content_type": answer.header("content-type")}
    if judgement.verdict.accessed and not judgement.changed and memory is not None:
        meta["saw"] = {"record_id": memory.record_id, "path": memory.path, "captured_at": iso(memory.captured_at)}
    if judgement.document is not None:
        document = judgement.document
        meta |= {"document_title": document.title, "text_sha256": document.text_sha256, "form": document.form}
        meta |= {"notes": list(document.notes)} if document.notes else {}
    if judgement.sightings:
        meta["sightings"] = [
            {"quote": s.quote, "sighting": s.kind, "score": s.score, **sighting_facts(s)} for s in judgement.sightings
        ]
    return meta


def facts_of(finding: Finding) -> dict[str, Any]:
    """What the wire showed: hops, address, seconds, protection, and the certificate that failed."""
    fetched = finding.fetched
    facts: dict[str, Any] = {"hops": [{"url": e.url, "status": e.status} for e in fetched.exchanges]}
    if fetched.exchanges:
        last = fetched.exchanges[-1]
        seconds = {
            name: round(value, 4)
            for name in ("dns_s", "connect_s", "tls_s", "first_byte_s", "total_s")
            if (value := getattr(last.timing, name)) is not None
        }
        facts |= {"address": last.address, "timing": seconds}
        if last.tls is not None:
            facts["tls"] = {"version": last.tls.version, "cipher": last.tls.cipher, **_leaf(last.tls.certificate)}
    if isinstance(fetched, Failure):
        facts["failed_url"] = fetched.url
        if fetched.certificate is not None:
            facts["certificate"] = _leaf(fetched.certificate)
    if isinstance(fetched, Capture) and fetched.view is not None:
        facts["browser"] = view_facts(fetched.view)
    if finding.judgement.events:
        facts["events"] = list(finding.judgement.events)
    if finding.attempts > 1:
        facts["attempts"] = finding.attempts
    return facts


def view_facts(view: View) -> dict[str, Any]:
    """What is kept of a view beside the snapshot: which browser read it, and what it could not show."""
    return {
        "read_by": view.browser,
        "ms": round(view.seconds * 1000),
        "unloaded": [{"url": u.url, "kind": u.kind, "code": u.code} for u in view.unloaded],
        "broken": [{"url": b.url, "alt": b.alt, "code": b.code} for b in view.broken],
        "errors": list(view.errors),
        "notes": list(view.notes),
    }


def _leaf(certificate: Certificate | None) -> dict[str, Any]:
    if certificate is None:
        return {}
    return {
        "subject": certificate.subject,
        "issuer": certificate.issuer,
        "not_before": certificate.not_before.isoformat(),
        "not_after": certificate.not_after.isoformat(),
        "sha256": certificate.sha256,
        "names": list(certificate.names[:20]),
    }
