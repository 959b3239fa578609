"""A memento: a version as anybody may ask for it, by address and time (RFC 7089)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from .kept import VersionRow
from .verdict import Verdict

STAMP = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True, slots=True)
class Memento:
    """An accepted version with the verdict of the check that brought it; *cited* is the address that the site cites.

    *hand* is `{"by": name, "reason": why}` where a person read it, else empty. *embeds* are the figures that the page
    showed then, each `{"id", "url", "alt", "verdict"}`.
    """

    version: VersionRow
    cited: str
    verdict: Verdict
    hand: Mapping[str, str] = field(default_factory=dict)
    embeds: tuple[Mapping[str, Any], ...] = ()

    @property
    def at(self) -> datetime:
        return self.version.captured_at

    @property
    def stamp(self) -> str:
        return f"{self.at.astimezone(UTC):{STAMP}}"


@dataclass(frozen=True, slots=True)
class Dropped:
    """A version whose files retention removed: when (UTC), and by which rule."""

    at: datetime
    rule: str


@dataclass(frozen=True, slots=True)
class VersionShown:
    """A version as lists of the site name it: when it was captured (UTC), and whether its files are gone."""

    captured_at: datetime
    gone: bool = False


@dataclass(frozen=True, slots=True)
class VersionListed:
    """One version in a source's list; *by_hand* names the person who read it, or is ""."""

    version: VersionRow
    by_hand: str = ""
    dropped: Dropped | None = None
