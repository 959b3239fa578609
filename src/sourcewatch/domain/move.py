"""Where a source seems to have moved: a proposal with its evidence, until an editor decides."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Lead(StrEnum):
    """Who names the new address: a permanent redirect, the page's own rel=canonical, GitHub, a DOI, the site's map."""

    REDIRECT = "redirect"
    CANONICAL = "canonical"
    GITHUB = "github"
    DOI = "doi"
    SITEMAP = "sitemap"


@dataclass(frozen=True, slots=True)
class Evidence:
    """One lead, and its words for an editor."""

    lead: Lead
    words: str


@dataclass(frozen=True, slots=True)
class Likeness:
    """How what stands at the new address is like the last accepted version.

    *verdict* is the word of what was read there. *kept* is the share of the old text that stands there (0–1), None
    where no version was ever accepted; *held* of *sought* quotes stand there.
    """

    verdict: str
    title: str
    title_before: str
    kept: float | None
    held: int
    sought: int

    @property
    def same_title(self) -> bool:
        return bool(self.title) and " ".join(self.title.split()) == " ".join(self.title_before.split())


@dataclass(frozen=True, slots=True)
class Move:
    """A proposal: *source*, cited at *url*, may be found at *to_url*. Times are UTC; *id* is 0 until it is kept."""

    source: str
    url: str
    to_url: str
    proposed_at: datetime
    evidence: tuple[Evidence, ...]
    likeness: Likeness
    id: int = 0
    decision: str | None = None
    decided_at: datetime | None = None
    decided_by: str = ""
