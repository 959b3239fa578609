"""Taking decisions: which version a decision is about, and when it cannot be taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from ..analysis.learn import safe_rule
from ..domain.change import unpack_edits
from ..domain.document import unpack
from ..domain.kept import ChangeRow, VersionRow
from ..domain.review import Decision, Overtaken, Review, Subject
from ..domain.source import Source
from .ports import Ledger

MOST_NAME_CHARS = 120
MOST_NOTE_CHARS = 2_000


class Reviews(Protocol):
    """Keeps decisions. Raises StorageError."""

    def decide(
        self, subject: Subject, decision: Decision, by: str, at: datetime, *, note: str = "", seen: str | None = None
    ) -> Review | Overtaken: ...
    def history(self, source: str, record: str | None = None) -> list[Review]: ...


@dataclass(frozen=True, slots=True)
class Refused:
    """A decision that cannot be taken; *why* is the key of the sentence that says so."""

    why: str


def subject_of(source: str, version: VersionRow | None) -> Subject:
    return Subject(source, version.record_id if version else "")


def decide(
    reviews: Reviews,
    subject: Subject,
    decision: Decision,
    by: str,
    at: datetime,
    note: str = "",
    seen: str | None = None,
) -> Review | Overtaken | Refused:
    """Take a decision, or say why not. *seen*: the key of the newest decision that was seen, "" for none."""
    by, note = " ".join(by.split()), note.strip()
    if not by:
        return Refused("r_no_name")
    if len(by) > MOST_NAME_CHARS or len(note) > MOST_NOTE_CHARS:
        return Refused("r_too_long")
    if decision is Decision.ACCEPTED and not subject.record:
        return Refused("r_no_version")
    if decision is Decision.UNDONE:
        history = reviews.history(subject.source, subject.record)
        if not history or history[-1].holds is None:
            return Refused("r_nothing")
        seen = history[-1].key if seen is None else seen
    return reviews.decide(subject, decision, by, at, note=note, seen=seen)


def rule_for(ledger: Ledger, source: Source, change: ChangeRow) -> str:
    """A CSS selector for `ignore` that would have kept this change out of reports and can hide no quote, or ""."""
    old, new = (unpack(ledger.packed_document(v)) for v in (change.from_version, change.to_version))
    edits, _ = unpack_edits(change.packed)
    return safe_rule([e for e in edits if not e.suppressed_by], old, new, source.quotes)


def changed_into(changes: Sequence[ChangeRow], version: VersionRow | None) -> ChangeRow | None:
    """The change that brought a version."""
    return next((c for c in changes if version is not None and c.to_version == version.id), None)
