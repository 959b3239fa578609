"""What editors decide about a version of a source: who, when, why, and which decision holds after it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from .change import Sighting, SightingKind


class Decision(StrEnum):
    """REVIEWED: somebody has looked. ACCEPTED: the site cites this version from now on. UNIMPORTANT: the change means
    nothing. FIX: the site must be mended. UNDONE takes the decision before it back."""

    REVIEWED = "reviewed"
    ACCEPTED = "accepted"
    UNIMPORTANT = "unimportant"
    FIX = "fix"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class Subject:
    """What is decided about: a version of a source, by the record id of its response; "" for a source never read.

    A change is named by the version that it brought.
    """

    source: str
    record: str


@dataclass(frozen=True, slots=True)
class Review:
    """One decision. *key* names it (and its file), *after* the one about the same subject that it follows, or "".

    *holds* is what holds after it: the decision itself, or what an undoing left; None for nothing. *at* is UTC.
    """

    key: str
    subject: Subject
    at: datetime
    by: str
    decision: Decision
    holds: Decision | None
    after: str = ""
    note: str = ""
    version: int | None = None

    def __post_init__(self) -> None:
        if not self.by.strip():
            raise ValueError("a decision has a name")


@dataclass(frozen=True, slots=True)
class Overtaken:
    """The decision was not taken: *newest* came in between, and whoever decides must have seen it."""

    newest: Review | None


def holding(history: Sequence[Review]) -> Decision | None:
    """Which decision holds after a subject's history, oldest first: an undoing takes back the newest that held."""
    stack: list[Decision] = []
    for review in history:
        if review.decision is Decision.UNDONE:
            del stack[-1:]
        else:
            stack.append(review.decision)
    return stack[-1] if stack else None


@dataclass(frozen=True, slots=True)
class Desk:
    """What holds now. *newest* is each subject's newest decision; *accepted* each source's newest accepted one, with
    the sightings that the accepted version has (by quote)."""

    newest: dict[Subject, Review] = field(default_factory=dict)
    accepted: dict[str, Review] = field(default_factory=dict)
    sighted: dict[str, dict[str, Sighting]] = field(default_factory=dict)

    def covers(self, source: str, sighting: Sighting, version: int | None) -> bool:
        """Whether an editor has accepted the quote as it is seen now.

        What only a picture shows is accepted for that very picture; a text for as long as it says the same.
        """
        review = self.accepted.get(source)
        if review is None:
            return False
        if sighting.kind is SightingKind.UNVERIFIED or review.version == version:
            return review.version is not None and review.version == version
        then = self.sighted.get(source, {}).get(sighting.quote)
        return then is not None and (then.kind, then.found) == (sighting.kind, sighting.found)


def settled(reviews: Iterable[Review]) -> tuple[dict[Subject, Review], dict[str, Review]]:
    """Each subject's newest decision, and each source's newest one that accepts; *reviews* are oldest first."""
    newest: dict[Subject, Review] = {}
    for review in reviews:
        newest[review.subject] = review
    accepted: dict[str, Review] = {}
    for review in sorted(newest.values(), key=lambda r: (r.at, r.key)):
        if review.holds is Decision.ACCEPTED:
            accepted[review.subject.source] = review
    return newest, accepted
