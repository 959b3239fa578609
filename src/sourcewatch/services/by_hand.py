"""Keep what a person read: judged by the same rules as what the machine reads, and marked as theirs everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from .. import __version__
from ..analysis import alarms
from ..analysis.address import host, registrable_domain, same_document
from ..analysis.judge import Task, makers
from ..domain.brought import Brought, NotUsable
from ..domain.capture import Capture, Deferred, Failure, Request
from ..domain.check import Finding, Judgement
from ..domain.document import pack
from ..domain.errors import UnreadableError
from ..domain.kept import HAND, Kept, Part, Stored
from ..domain.source import FetchPolicy, Source, SourceKind
from ..domain.standing import CLOCKS_APART, Recall
from ..domain.verdict import Verdict
from .keep import facts_of, meta_of
from .ports import Clock, Judge, Ledger, Snapshots, Web
from .threads import Threads

RULE = "by-hand"


@dataclass(frozen=True, slots=True)
class KeptByHand:
    """What was kept: its place, the date that is the person's, and what the judge found.

    *stored* is None where the newest version has these very bytes: then a row alone says that a person saw it again.
    """

    stored: Stored | None
    at: datetime
    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Hand:
    """Keeps captures by hand. The caller holds the run lock."""

    ledger: Ledger
    snapshots: Snapshots
    judge: Judge
    threads: Threads
    policy: FetchPolicy
    clock: Clock

    async def fetch(self, web: Web, url: str) -> Brought:
        """Another address of the page, such as a print view or an archive's copy. Raises NotUsable."""
        fetched = await web.fetch(Request(url, expect="any", max_bytes=self.policy.max_bytes), fresh=True)
        if isinstance(fetched, Deferred):
            raise NotUsable(f"{url} asks to be left alone until {fetched.until_at:%Y-%m-%d %H:%M} UTC")
        if isinstance(fetched, Failure):
            raise NotUsable(f"{url} cannot be read: {fetched.word}, {fetched.detail}")
        return Brought("address", fetched.exchanges, "", name=url, said_url=url, dated_at=fetched.captured_at)

    async def keep(self, source: Source, brought: Brought, by: str, reason: str, at: datetime) -> KeptByHand:
        """Judge it, write the snapshot, then the row. Raises NotUsable (and then keeps nothing) and StorageError."""
        at = at.astimezone(UTC).replace(microsecond=0)
        recall = await self.threads.rows(self.ledger.recall, source.id, self.clock())
        _check_date(at, recall, self.clock())
        if brought.kind != "address":
            _check_address(source, brought)
        judgement = await self._judged(source, brought, recall, at)
        if not judgement.verdict.accessed or judgement.document is None:
            verdict = judgement.verdict
            words = f"{brought.name or brought.kind} does not show the page: {verdict.word} ({verdict.rule})"
            raise NotUsable(f"{words}: {verdict.evidence}" if verdict.evidence else words)
        answer, memory = brought.exchanges[-1], recall.memory
        again = memory is not None and memory.body_sha256 == answer.body_sha256
        evidence = f"{by}: {reason} ({brought.kind}; judged by {judgement.verdict.rule})"
        whole = replace(
            judgement,
            verdict=Verdict(judgement.verdict.word, RULE, evidence),
            changed=not again,  # a person's evidence is kept whole, even where it says nothing new
            change=None if again else judgement.change,
            packed=b"" if again else judgement.packed or pack(judgement.document),
            reread=None,
        )
        capture = Capture(at, brought.exchanges)
        facts = _facts(brought, by, reason)
        seen = memory.version if again and memory is not None else None
        finding = Finding(source.id, at, capture, whole, 0.0, unchanged_of=seen)
        stored = None if again else await self.threads.files(self._write, source, finding, brought, facts)
        kept = Kept(
            finding=finding,
            status=answer.status,
            url=source.url or "",
            final_url=capture.final_url,
            body_sha256=answer.body_sha256,
            stored=stored,
            facts=facts_of(finding) | facts,
            messages=alarms.of_check(source, finding, source.url or "", recall),
        )
        await self.threads.rows(self._row, kept)
        return KeptByHand(stored, at, whole)

    async def _judged(self, source: Source, brought: Brought, recall: Recall, at: datetime) -> Judgement:
        """The same judge; a file without an answer is read as if it had come with status 200."""
        read = tuple(e if e.status else replace(e, status=200) for e in brought.exchanges)
        # a rule reads what the machine asks, not what a person saw
        known = replace(source, url=read[0].url, read=None, headers=(), reader=None)
        memory, before = recall.memory, None
        earlier: tuple[bytes, ...] = ()
        if memory is not None and memory.maker not in makers(known):
            with suppress(UnreadableError):  # a lost snapshot costs the comparison under new rules, not the capture
                before = await self.threads.files(self.snapshots.exchange, memory.path, memory.offset)
            earlier = await self.threads.rows(self.ledger.earlier_documents, source.id, memory.version)
        expect = "figure" if source.kind is SourceKind.FIGURE else "document"
        task = Task(known, Capture(at, read), self.policy.max_bytes, expect, memory, before, None, earlier)
        outcome = await self.judge(task)
        if isinstance(outcome, Judgement):
            return outcome
        raise NotUsable(f"{brought.name or brought.kind} cannot be read: {outcome.reason}")

    def _write(self, source: Source, finding: Finding, brought: Brought, facts: Mapping[str, Any]) -> Stored:
        parts = [Part(source.id, finding.fetched, {"verdict": finding.judgement.verdict.word, **_noted(facts)})]
        if brought.original is not None:
            whole = Capture(finding.checked_at, (brought.original,))
            parts.append(Part(f"{source.id}: as brought", whole, _noted(facts)))
        meta = {**meta_of(source, finding, None), **facts, "asked": finding.fetched.exchanges[0].url}
        document = finding.judgement.document
        text = document.text if document is not None and source.kind is SourceKind.PAGE else None
        return self.snapshots.keep(source.id, finding.checked_at, parts, text, meta)[source.id]

    def _row(self, kept: Kept) -> None:
        run = self.ledger.begin_run(self.clock(), HAND, __version__)
        self.ledger.keep(run, [[kept]])
        self.ledger.end_run(run, self.clock())


def _facts(brought: Brought, by: str, reason: str) -> dict[str, Any]:
    told = {"kind": brought.kind, "name": brought.name, "sha256": brought.sha256, "said_url": brought.said_url}
    return {"by": by, "reason": reason, "brought": {key: value for key, value in told.items() if value}}


def _noted(facts: Mapping[str, Any]) -> dict[str, str]:
    """The same as fields of the WARC's metadata record."""
    noted = {"by-hand": str(facts["by"]), "by-hand-reason": str(facts["reason"])}
    return noted | {f"brought-{key.replace('_', '-')}": str(value) for key, value in facts["brought"].items()}


def _check_date(at: datetime, recall: Recall, now: datetime) -> None:
    """The ledger goes forward in time: what is older than the newest version could only be told as a change back."""
    if at > now + CLOCKS_APART:
        raise NotUsable(f"{at:%Y-%m-%dT%H:%M:%SZ} lies in the future")
    known = (recall.memory.captured_at if recall.memory else None, recall.standing.last_accessed)
    newest = max((moment for moment in known if moment is not None and moment <= now + CLOCKS_APART), default=None)
    if newest is not None and at < newest.replace(microsecond=0):
        raise NotUsable(
            f"{at:%Y-%m-%dT%H:%M:%SZ} is before the newest reading of this source, {newest:%Y-%m-%dT%H:%M:%SZ}; "
            "a capture by hand is for what was read since"
        )


def _check_address(source: Source, brought: Brought) -> None:
    """A file that names its address must name one of the source's own site."""
    said = brought.said_url
    own = [url for url in (source.url, source.read) if url]
    if not said or any(same_document(said, url) for url in own):
        return
    sites = {registrable_domain(host(url)) for url in own}
    if registrable_domain(host(said)) not in sites:
        raise NotUsable(f"{brought.name} says that it is a page of {host(said)}, not of {', '.join(sorted(sites))}")
