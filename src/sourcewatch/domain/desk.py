"""What the editors' desk shows, as values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from .change import Part, Sighting
from .document import Label
from .kept import ChangeRow


@dataclass(frozen=True, slots=True)
class OpenChange:
    """A change with the times (UTC) of its two versions; *record* names the newer one, *media_type* is its label."""

    row: ChangeRow
    from_at: datetime
    to_at: datetime
    record: str
    media_type: str = ""


@dataclass(frozen=True, slots=True)
class Sighted:
    """How a version that was captured at *at* (UTC) holds a quote."""

    version: int
    at: datetime
    sighting: Sighting


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of a compared text: what became of it, and whether it belongs to a quote."""

    part: Part
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Compared:
    """A block of two compared versions. *how*: same, replaced, deleted, inserted or moved.

    *old* and *new* are its two sides, *inline* both in one; *rule* names the noise rule that hides it, or is "".
    """

    how: str
    label: Label
    old: tuple[Stretch, ...] = ()
    new: tuple[Stretch, ...] = ()
    inline: tuple[Stretch, ...] = ()
    rule: str = ""
