"""What a day's file says of a check that brought no new version: the proof of "last accessed" that needs no database.

Once a source, day and verdict: where the check before it was of the same UTC day and came to the same verdict, a note
or the version that it brought has said so already.
"""

from __future__ import annotations

from datetime import UTC, datetime

from ..domain.capture import Capture, Exchange
from ..domain.check import Finding, Memory
from ..domain.kept import Note, Revisit
from ..domain.source import Source
from ..domain.standing import Recall


def note_of(source: Source, finding: Finding, recall: Recall, run: int) -> Note | None:
    """The note of one finding; None where none is due. The caller leaves out what has a file of its own."""
    if finding.judgement.changed or _said_today(finding, recall):
        return None
    return Note(
        url=source.address or source.url or "",
        at=finding.checked_at,
        facts=_facts(source, finding, recall.memory, run),
        revisit=_revisit(finding, recall.memory),
    )


def _said_today(finding: Finding, recall: Recall) -> bool:
    last = recall.last
    return (
        last is not None
        and not last.by_hand  # what a person read proves nothing of what the machine does
        and last.verdict.word == finding.judgement.verdict.word
        and last.last_at.astimezone(UTC).date() == finding.checked_at.astimezone(UTC).date()
    )


def _revisit(finding: Finding, memory: Memory | None) -> Revisit | None:
    """Only where the very bytes of the version came again, or the server said so: the same text is not enough."""
    if memory is None or not finding.judgement.verdict.accessed or not isinstance(finding.fetched, Capture):
        return None
    answer = finding.fetched.answer
    same = answer.status == 304 or (answer.status, answer.body_sha256) == (memory.status, memory.body_sha256)
    return Revisit(answer, memory.record_id, memory.final_url, memory.captured_at, memory.body_sha256) if same else None


def _facts(source: Source, finding: Finding, memory: Memory | None, run: int) -> dict[str, str]:
    verdict = finding.judgement.verdict
    last = finding.fetched.exchanges[-1] if finding.fetched.exchanges else None
    facts = {
        "sourcewatch-check": "1",
        "source": source.id,
        "kind": source.kind.value,
        "parent": source.parent or "",
        "title": source.title if source.parent else "",  # a page's title is in sources.toml
        "alt": source.alt,
        "cited-url": source.url or "",
        "final-url": last.url if last else "",
        "checked-at": iso(finding.checked_at),
        "run": str(run),
        "verdict": verdict.word,
        "rule": verdict.rule,
        "evidence": verdict.evidence,
        "status": str(_status(finding, last)),
        "accessed": "yes" if verdict.accessed else "no",
        "attempts": str(finding.attempts),
        "ms": str(round(finding.seconds * 1000)),
    }
    if verdict.accessed and memory is not None:
        facts |= {
            "version-record": memory.record_id,
            "version-path": memory.path,
            "version-date": iso(memory.captured_at),
        }
    return facts


def _status(finding: Finding, last: Exchange | None) -> int:
    return last.status if last and isinstance(finding.fetched, Capture) else 0


def void_note(run: int, started: datetime, ended: datetime, reason: str) -> Note:
    """That the failures which a run noted prove nothing: *reason* says how our own network was at fault."""
    facts = {"sourcewatch-void": "1", "run": str(run), "started-at": iso(started), "ended-at": iso(ended)}
    return Note(f"urn:sourcewatch:run:{run}", ended, facts | {"reason": reason})


def iso(at: datetime) -> str:
    """ISO 8601 in UTC with Z, as fine as it is known."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
