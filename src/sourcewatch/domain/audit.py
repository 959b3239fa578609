"""What a verification looked at and what it found wrong, where, and since when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum


class FlawKind(StrEnum):
    """What is wrong with a part of the archive."""

    MISSING = "missing"  # named by a manifest or a row, and not there
    ALTERED = "altered"  # other bytes than the manifest vouches for
    DAMAGED = "damaged"  # a torn file, or a record whose digest does not hold
    DANGLING = "dangling"  # a revisit of something that is not there
    CHAIN = "chain"  # a manifest that is not the one that the next was chained to
    TIMESTAMP = "timestamp"  # a token that does not vouch for its manifest
    ROW = "row"  # a row that says something else than its file
    ORPHAN = "orphan"  # a snapshot that no row knows
    UNNAMED = "unnamed"  # an old file that no manifest vouches for


@dataclass(frozen=True, slots=True)
class Flaw:
    """One thing that is wrong. *path* is relative to the data folder; *good_at* is when it was last known to be right
    (a manifest's day or an earlier verification), *changed_at* when the disk says that it was written (UTC)."""

    kind: FlawKind
    path: str
    words: str
    good_at: datetime | None = None
    changed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Audit:
    """One verification: of everything, or of a *sample*. *notes* say what is to be known and is no flaw."""

    at: datetime
    sample: bool
    files: int
    records: int
    flaws: tuple[Flaw, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Inspected:
    """What one WARC file holds: response ids with (offset, payload digest), and revisits with the id that they name and
    the path that their note gives for it. *faults* are sentences."""

    records: int
    responses: Mapping[str, tuple[int, str]]
    revisits: Mapping[str, tuple[str, str]]
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Vouched:
    """What a manifest says of a file: its sha256 (hex) on a day (UTC)."""

    sha256: str
    day: date


@dataclass(frozen=True, slots=True)
class Chain:
    """The manifests: what they say of each *files*' path, (path, sentence) for each of their *breaks*, and their own
    *digests* (sha256, hex; "" for one that cannot be read) by path."""

    files: Mapping[str, Vouched]
    breaks: Sequence[tuple[str, str]]
    digests: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Noted:
    """A manifest or a note of a removal as the database noted it at *at*: its *sha256* (hex) when it was written, or
    when the database first met it."""

    path: str
    sha256: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Place:
    """Where a version's row says that it lies, and what should be there."""

    source: str
    path: str
    record_id: str
    offset: int
    body_sha256: str
    text_sha256: str
    dropped: bool
    captured_at: datetime | None = None
    url: str = ""
    final_url: str = ""
    status: int = 0
    maker: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """A check as a file (*where*) tells it: *accessed* says whether the source itself was read."""

    source: str
    at: datetime
    word: str
    accessed: bool
    where: str


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A row of checks, from its first to its last. *evidence* is where a refusal's page lies, or ""; *dropped*: the
    files of the version that it brought are gone by rule."""

    source: str
    first_at: datetime
    last_at: datetime
    word: str
    accessed: bool
    by_hand: bool
    evidence: str
    dropped: bool


@dataclass(frozen=True, slots=True)
class TextRow:
    """A version's text as the database holds it (*packed*: `document.unpack`; None: it is not there), by whom."""

    source: str
    path: str
    text_sha256: str
    packed: bytes | None
    maker: str


@dataclass(frozen=True, slots=True)
class Gap:
    """The append-only guards of *tables* were found missing at *at*, and put back."""

    tables: Sequence[str]
    at: datetime

    @property
    def words(self) -> str:
        return f"the append-only guards on {', '.join(self.tables)} were missing on {self.at:%Y-%m-%dT%H:%M:%SZ}"
