"""A source as it is cited: which day the machine read it, and which version that reading saw."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from .source import Source


@dataclass(frozen=True, slots=True)
class Citation:
    """*accessed* is the day (in the site's zone) of the machine's last reading; None where it never read the source.

    *hand* is a person's reading that is newer than that, or the only one: who, and on which day. Nobody can repeat it,
    so that it is never the access date.
    *second_hand* is where a mirror was read, and on which day, since the source cannot be: never the access date.
    *outside* is a copy in another archive that holds the quotes, and when (UTC) it was archived.
    *copy_of* is what a mirror is a copy of, or "". *version_at* (UTC) is when the version that the reading saw was
    captured; *memento* is that version's address here, or "".
    """

    source: Source
    accessed: date | None = None
    hand: tuple[str, date] | None = None
    version_at: datetime | None = None
    memento: str = ""
    second_hand: tuple[str, date] | None = None
    copy_of: str = ""
    outside: tuple[str, datetime] | None = None
