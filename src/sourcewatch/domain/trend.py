"""How a site's sources fared over time, as numbers, before they are drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from .change import Significance


@dataclass(frozen=True, slots=True)
class Reach:
    """A stretch of checks of one source that ended alike: *accessed* or not, from *first_at* to *last_at* (UTC)."""

    source: str
    tier: str
    first_at: datetime
    last_at: datetime
    accessed: bool


@dataclass(frozen=True, slots=True)
class Survival:
    """Of a tier's sources, at each moment: how many could be read by their newest check, of how many known then."""

    tier: str
    points: tuple[tuple[datetime, int, int], ...]


@dataclass(frozen=True, slots=True)
class Week:
    """Changes that were first seen in the week that begins on *monday* (the site's zone), by significance."""

    monday: date
    changes: Mapping[Significance, int]

    @property
    def total(self) -> int:
        return sum(self.changes.values())


@dataclass(frozen=True, slots=True)
class Day:
    """Of one day (the site's zone): sources that were certainly read, and sources with a check that failed. One may be
    both. *between*: sources whose checks before and after that day all read them, asked on the day itself or not."""

    day: date
    read: int
    failed: int
    between: int = 0


@dataclass(frozen=True, slots=True)
class Failing:
    """Sources of one host that cannot be read now, by verdict."""

    host: str
    words: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.words.values())


@dataclass(frozen=True, slots=True)
class Trends:
    """Everything that the overview plots show; each is empty where nothing is known yet."""

    survival: tuple[Survival, ...] = ()
    weeks: tuple[Week, ...] = ()
    days: tuple[Day, ...] = ()
    hosts: tuple[Failing, ...] = ()
