"""A change report as values, before it is Chinese or English, HTML or Markdown."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from .change import Drift, Edit, PictureChange, Sighting, Significance
from .copies import OutsideCopy
from .message import News
from .move import Move
from .review import Review
from .source import Claim, Quote, Site, Source
from .standing import Standing
from .trend import Trends


@dataclass(frozen=True, slots=True)
class SecondHand:
    """A mirror of a source that cannot be read: where it stands, and *held* of *sought* quotes that stand in it.

    *lacks* names the pictures that the source was seen to show: none is read second-hand. *known* is whether the source
    was ever read, so that its pictures are known.
    """

    mirror: Source
    standing: Standing
    held: int = 0
    sought: int = 0
    lacks: tuple[str, ...] = ()
    known: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A source and where it stands; *parent* is the page that shows it, when it is a figure, or that it is a copy of,
    when it is a mirror. *second_hand* is there only while the source cannot be read."""

    source: Source
    standing: Standing
    parent: Source | None = None
    next_check_at: datetime | None = None
    second_hand: tuple[SecondHand, ...] = ()


@dataclass(frozen=True, slots=True)
class QuoteLine:
    """A quote and how the newest version holds it. *stood_at*: when it last stood, None for never.

    *unread* is the standing of the figure that is the quote's only evidence, when that could not be read; *page* that
    of the page which shows the figure. *figure* is that figure, read or not. *by_hand* names the person whose reading
    this is, or is "". *second_hand* is a mirror that was read while the source could not be, and *there* how that holds
    the quote.
    """

    source: Source
    quote: Quote
    sighting: Sighting
    seen_at: datetime | None
    stood_at: datetime | None
    unread: Line | None = None
    page: Line | None = None
    by_hand: str = ""
    figure: Line | None = None
    second_hand: SecondHand | None = None
    there: Sighting | None = None


@dataclass(frozen=True, slots=True)
class QuoteGroup:
    """The quotes of one source that need somebody, together."""

    source: Source
    lines: tuple[QuoteLine, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A raster image as it was kept, small enough to be shown in a report."""

    media_type: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ChangeLine:
    """A change between two versions of one source, with its edits; of a figure the *pictures* before and after.

    *picture*: where they look different, when that was compared. *by_hand* names the person who read the newer version,
    or is "". *review* is the newest decision about it; *id* names it on the desk.
    """

    source: Source
    seen_at: datetime
    from_at: datetime
    to_at: datetime
    significance: Significance
    drift: Drift
    edits: tuple[Edit, ...]
    title: tuple[str, str] | None
    told: int
    suppressed: int
    confirmed: bool
    parent: Source | None = None
    pictures: tuple[Picture | None, Picture | None] = (None, None)
    by_hand: str = ""
    review: Review | None = None
    id: int = 0
    picture: PictureChange | None = None


@dataclass(frozen=True, slots=True)
class ClaimLine:
    """A claim and, for each carrier, where it stands and how many of the claim's quotes stand there (of how many)."""

    claim: Claim
    carriers: tuple[tuple[Line, int, int], ...]


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that a report says. Times are UTC; *since* bounds changes, recoveries and news (what was told).

    *outside*: sources that cannot be read, each with a copy in another archive that holds what is cited.
    *proposals*: sources that are gone or lead elsewhere, each with an address that nobody has decided about.
    *undelivered* messages were given up lately.
    """

    site: Site
    generated_at: datetime
    since: datetime | None
    quotes: tuple[QuoteGroup, ...] = ()
    unverified: tuple[QuoteGroup, ...] = ()
    dead: tuple[Line, ...] = ()
    moved: tuple[Line, ...] = ()
    changes: tuple[ChangeLine, ...] = ()
    unreadable: tuple[Line, ...] = ()
    recovered: tuple[Line, ...] = ()
    quiet: tuple[Line, ...] = ()
    unchecked: tuple[Line, ...] = ()
    unlocated: tuple[Source, ...] = ()
    claims: tuple[ClaimLine, ...] = ()
    tiers: tuple[tuple[str, str], ...] = ()
    last_run_at: datetime | None = None
    void_reason: str | None = None
    news: tuple[News, ...] = ()
    undelivered: int = 0
    trends: Trends = field(default_factory=Trends)
    outside: tuple[tuple[Line, OutsideCopy], ...] = ()
    proposals: tuple[tuple[Line, Move], ...] = ()
