"""Keep what a check found: the file first, then one transaction. A crash leaves waste, never a row without a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ..analysis import cadence
from ..domain.capture import Capture, Certificate, Failure
from ..domain.change import sighting_facts
from ..domain.check import Finding, Span
from ..domain.kept import Kept, Part, Stored
from ..domain.source import Source
from ..domain.standing import Standing
from ..domain.verdict import VerdictClass
from .check import Checked
from .ports import Cron, Ledger, Snapshots
from .threads import Threads
from .writer import Writer

EVIDENCE = (VerdictClass.WALLED, VerdictClass.GONE, VerdictClass.FAILED, VerdictClass.MOVED)


@dataclass(frozen=True, slots=True)
class Keeper:
    """Writes findings. *cron* answers when a cron line is next due."""

    ledger: Ledger
    snapshots: Snapshots
    threads: Threads
    timezone: str
    cron: Cron

    async def keep(self, writer: Writer, checked: Checked) -> tuple[list[int | None], dict[str, Stored]]:
        """The versions that the page and its figures saw, and where new snapshots lie. Raises StorageError."""
        stored = await self.threads.files(self._files, checked, checked.recall.last)
        for figure in checked.figures:
            if not figure.known:
                await self.threads.rows(self.ledger.declare_figure, figure.source, checked.page.checked_at)
        rows = [self._kept(checked.source, checked.page, stored, checked.recall.standing, checked)]
        rows += [self._kept(f.source, f.finding, stored, None, None) for f in checked.figures]
        return await writer.keep(rows), stored

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
            meta = _meta(checked.source, page)
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
        meta = _meta(checked.source, page) | {
            "figures": [_meta(f.source, f.finding) | {"alt": f.embed.alt} for f in checked.figures]
        }
        return dict(self.snapshots.keep(checked.source.id, page.checked_at, parts, text, meta))

    def _kept(
        self,
        source: Source,
        finding: Finding,
        stored: Mapping[str, Stored],
        standing: Standing | None,
        checked: Checked | None,
    ) -> Kept:
        exchanges = finding.fetched.exchanges
        answer = exchanges[-1] if exchanges else None
        facts = _facts(finding)
        if checked is not None and checked.figures:
            facts["embeds"] = [
                {"id": f.source.id, "url": f.embed.url, "alt": f.embed.alt, "verdict": f.finding.judgement.verdict.word}
                for f in checked.figures
            ]
        if (evidence := stored.get(f"refused:{source.id}")) is not None:
            facts["evidence_path"] = evidence.path
        return Kept(
            finding=finding,
            status=answer.status if answer and isinstance(finding.fetched, Capture) else 0,
            url=source.url or "",
            final_url=answer.url if answer else source.address or "",
            body_sha256=answer.body_sha256 if answer and answer.body else "",
            stored=stored.get(source.id),
            next_check_at=self._next(source, finding, standing) if standing is not None else None,
            facts=facts,
        )

    def _next(self, source: Source, finding: Finding, standing: Standing) -> datetime:
        verdict, now = finding.judgement.verdict, finding.checked_at
        waiting = finding.judgement.change is not None and bool(finding.judgement.change.told)
        if source.cron and verdict.accessed and not waiting:
            return self.cron(source.cron, self.timezone, now)
        return cadence.next_check(source.id, source.every_s, now, verdict, standing, unconfirmed=waiting)


def _kept_today(last: Span | None, page: Finding) -> bool:
    return (
        last is not None
        and last.verdict.word == page.judgement.verdict.word
        and last.last_at.date() == page.checked_at.date()
        and "evidence_path" in last.facts
    )


def _meta(source: Source, finding: Finding) -> dict[str, Any]:
    """The `.json` beside a snapshot: enough for a person to read, and for the database to be made again."""
    judgement, fetched = finding.judgement, finding.fetched
    meta: dict[str, Any] = {
        "source": source.id,
        "kind": source.kind,
        "title": source.title,
        "cited": source.url,
        "checked_at": finding.checked_at.isoformat().replace("+00:00", "Z"),
        "verdict": judgement.verdict.word,
        "rule": judgement.verdict.rule,
        "evidence": judgement.verdict.evidence,
        "payload_sha256": judgement.payload_sha256,
        "changed": judgement.changed,
        "maker": judgement.maker,
        **_facts(finding),
    }
    if isinstance(fetched, Capture):
        answer = fetched.answer
        meta |= {"final_url": answer.url, "status": answer.status, "content_type": answer.header("content-type")}
    if judgement.document is not None:
        document = judgement.document
        meta |= {"document_title": document.title, "text_sha256": document.text_sha256, "form": document.form}
        meta |= {"notes": list(document.notes)} if document.notes else {}
    if judgement.sightings:
        meta["sightings"] = [
            {"quote": s.quote, "sighting": s.kind, "score": s.score, **sighting_facts(s)} for s in judgement.sightings
        ]
    return meta


def _facts(finding: Finding) -> dict[str, Any]:
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
    if finding.judgement.events:
        facts["events"] = list(finding.judgement.events)
    if finding.attempts > 1:
        facts["attempts"] = finding.attempts
    return facts


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
