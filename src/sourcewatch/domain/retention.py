"""What retention weighs: a version with the reason why it must stay, and a rule for rows of checks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class KeptVersion:
    """A version whose files are there; *relies* says what rests on it, or "" when nothing does."""

    id: int
    source: str
    tier: str
    captured_at: datetime
    path: str
    relies: str


@dataclass(frozen=True, slots=True)
class CheckRule:
    """Rows of checks of a tier that ended before a time (UTC) may go; *words* say by which rule."""

    tier: str
    before: datetime
    words: str


@dataclass(frozen=True, slots=True)
class Removal:
    """What retention would remove, or did: snapshot files by rule, evidence of refusals, rows of checks."""

    versions: tuple[KeptVersion, ...]
    refused: tuple[str, ...]
    checks: int
    size_bytes: int
    kept_back: tuple[KeptVersion, ...] = ()
