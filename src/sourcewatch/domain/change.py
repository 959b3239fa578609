"""What differs between two neighbouring versions, and how a version holds a quote."""

from __future__ import annotations

import json
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any

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
class Region:
    """A box in a picture, in its pixels from the left and the top, and the share of it that differs (0–1)."""

    x: int
    y: int
    width: int
    height: int
    share: float


@dataclass(frozen=True, slots=True)
class PictureChange:
    """How two pictures look different: their sizes (width, height), the share of the newer one that differs (0–1) and
    where, the largest box first. No regions: they look the same."""

    old_size: tuple[int, int]
    new_size: tuple[int, int]
    share: float = 0.0
    regions: tuple[Region, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """The edits between two versions. *told* edits are those that no noise rule suppressed.

    *picture*: how the picture (of a figure, or of a whole page) differs, where it was compared.
    """

    edits: tuple[Edit, ...]
    significance: Significance
    drift: Drift
    differ: str = ""
    title: tuple[str, str] | None = None
    picture: PictureChange | None = None

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
    *context* is what stood around a quote that was given as text alone, when it was first found.
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
    context: tuple[str, str] = ("", "")

    @property
    def stands(self) -> bool:
        return self.kind in STANDS


def held(sightings: Iterable[Sighting], among: Collection[str]) -> int:
    """How many of the quotes that *among* names (by their keys) stand."""
    return sum(s.stands and s.quote in among for s in sightings)


def pack_change(change: Change) -> bytes:
    """A change's edits, title and picture as compressed JSON; `unpack_edits` and `unpack_picture` read it."""
    rows: dict[str, Any] = {
        "title": change.title,
        "edits": [
            (e.kind, e.old, e.new, [(int(p.op), p.text) for p in e.parts], e.label, e.suppressed_by)
            for e in change.edits
        ],
    }
    if (seen := change.picture) is not None:
        boxes = [(r.x, r.y, r.width, r.height, r.share) for r in seen.regions]
        rows["picture"] = (seen.old_size, seen.new_size, seen.share, boxes)
    return zlib.compress(json.dumps(rows, separators=(",", ":")).encode("ascii"), 6)


def unpack_edits(packed: bytes) -> tuple[tuple[Edit, ...], tuple[str, str] | None]:
    """The edits of a packed change, and the two titles when they differ."""
    rows = json.loads(zlib.decompress(packed))
    edits = tuple(
        Edit(EditKind(kind), old, new, tuple(Part(Op(op), text) for op, text in parts), Label(label), suppressed_by)
        for kind, old, new, parts, label, suppressed_by in rows["edits"]
    )
    return edits, (rows["title"][0], rows["title"][1]) if rows["title"] else None


def unpack_picture(packed: bytes) -> PictureChange | None:
    """How the picture of a packed change differs; None where no picture was compared."""
    row = json.loads(zlib.decompress(packed)).get("picture")
    if row is None:
        return None
    old, new, share, boxes = row
    return PictureChange((old[0], old[1]), (new[0], new[1]), share, tuple(Region(*box) for box in boxes))


def picture_facts(picture: PictureChange) -> dict[str, Any]:
    """A picture's change as JSON values."""
    boxes = [{"x": r.x, "y": r.y, "width": r.width, "height": r.height, "share": r.share} for r in picture.regions]
    return {"from": list(picture.old_size), "to": list(picture.new_size), "share": picture.share, "regions": boxes}


def sighting_facts(sighting: Sighting) -> dict[str, Any]:
    """All of a sighting but its key, kind and score, as JSON values, empty ones left out."""
    facts = {
        "layer": sighting.layer,
        "start": sighting.start,
        "end": sighting.end,
        "found": sighting.found,
        "parts": [(int(p.op), p.text) for p in sighting.parts],
        "numbers_old": list(sighting.numbers_old),
        "numbers_new": list(sighting.numbers_new),
        "negation_changed": sighting.negation_changed,
        "occurrences": sighting.occurrences,
        "reason": sighting.reason,
        "context": list(sighting.context) if any(sighting.context) else [],
    }
    return {key: value for key, value in facts.items() if value not in ("", None, [], False)}


def sighting_of(quote: str, kind: str, score: float, facts: Mapping[str, Any]) -> Sighting:
    return Sighting(
        quote=quote,
        kind=SightingKind(kind),
        score=score,
        layer=facts.get("layer", ""),
        start=facts.get("start"),
        end=facts.get("end"),
        found=facts.get("found", ""),
        parts=tuple(Part(Op(op), text) for op, text in facts.get("parts", ())),
        numbers_old=tuple(facts.get("numbers_old", ())),
        numbers_new=tuple(facts.get("numbers_new", ())),
        negation_changed=facts.get("negation_changed", False),
        occurrences=facts.get("occurrences", 0),
        reason=facts.get("reason", ""),
        context=tuple(facts.get("context", ("", ""))),
    )
