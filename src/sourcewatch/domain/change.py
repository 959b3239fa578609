"""What differs between two neighbouring versions, and how a version holds a quote."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from .document import Label


class Op(IntEnum):
    """diff-match-patch's own numbers."""

    DELETE = -1
    EQUAL = 0
    INSERT = 1


@dataclass(frozen=True, slots=True)
class Part:
    op: Op
    text: str


class EditKind(StrEnum):
    REPLACED = "replaced"
    DELETED = "deleted"
    INSERTED = "inserted"
    MOVED = "moved"


@dataclass(frozen=True, slots=True)
class Edit:
    """One block's change. *old* and *new* are indices into the two block lists, None where there is no block.

    *parts* spell the change in tokens (one CJK character, one Latin word, one whole number); *suppressed_by* names the
    noise rule that keeps it out of reports, or is "".
    """

    kind: EditKind
    old: int | None
    new: int | None
    parts: tuple[Part, ...] = ()
    label: Label = Label.MAIN
    suppressed_by: str = ""


class Significance(StrEnum):
    """How much a change matters, loudest first."""

    QUOTE = "quote"
    FIGURES = "figures"
    TEXT = "text"
    LINKS = "links"
    COSMETIC = "cosmetic"


class Extent(StrEnum):
    """How much of the old document is left, in a word (kept and novelty decide)."""

    SAME = "same"
    EDITED = "edited"
    GROWN = "grown"
    TRUNCATED = "truncated"
    REPLACED = "replaced"


@dataclass(frozen=True, slots=True)
class Drift:
    """*kept*: share of the old 4-token shingles still there; *novelty*: share of the new that are new. Both 0–1."""

    kept: float
    novelty: float
    extent: Extent


@dataclass(frozen=True, slots=True)
class Change:
    """The edits between two versions. *told* edits are those that no noise rule suppressed."""

    edits: tuple[Edit, ...]
    significance: Significance
    drift: Drift
    differ: str = ""
    title: tuple[str, str] | None = None

    @property
    def told(self) -> tuple[Edit, ...]:
        return tuple(e for e in self.edits if not e.suppressed_by)


class SightingKind(StrEnum):
    """How a version holds a quote, best first. "not found" is never written as "removed"."""

    VERBATIM = "verbatim"
    TYPOGRAPHIC = "typographic"
    VARIANT = "variant"
    NUMBERS_CHANGED = "numbers_changed"
    REWORDED = "reworded"
    DELETED_HERE = "deleted_here"
    NOT_FOUND = "not_found"
    UNVERIFIED = "unverified"


STANDS = (SightingKind.VERBATIM, SightingKind.TYPOGRAPHIC, SightingKind.VARIANT)


@dataclass(frozen=True, slots=True)
class Sighting:
    """Where and how a quote was seen. *score* 0–1; *start*, *end* count characters of the layer's text.

    *layer* says which text held it: visible, hidden, noscript, script, or figure. *reason* explains *unverified*.
    """

    quote: str
    kind: SightingKind
    score: float = 0.0
    layer: str = ""
    start: int | None = None
    end: int | None = None
    found: str = ""
    parts: tuple[Part, ...] = ()
    numbers_old: tuple[str, ...] = ()
    numbers_new: tuple[str, ...] = ()
    negation_changed: bool = False
    occurrences: int = 0
    reason: str = ""

    @property
    def stands(self) -> bool:
        return self.kind in STANDS
