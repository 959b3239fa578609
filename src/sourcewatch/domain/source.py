"""What an editor declares: the site, its tiers, its sources, the quotes it relies on and the claims they carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Literal

from .copies import OutsideArchive
from .reader import Reader
from .save import SavePolicy


class SourceKind(StrEnum):
    """A page is read for its text, a figure (an embedded picture, poster or frame) for its bytes."""

    PAGE = "page"
    FIGURE = "figure"


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence or figure that the site relies on: a W3C TextQuoteSelector and where the site uses it.

    *figure* names the picture (its address, or words of its alt text) that is the quote's only evidence.
    """

    exact: str
    prefix: str = ""
    suffix: str = ""
    carries: tuple[str, ...] = ()
    cited_on: tuple[str, ...] = ()
    figure: str = ""

    @property
    def key(self) -> str:
        """Stable name of this quote within its source: 12 hex digits of what is searched for."""
        return sha256("\0".join((self.exact, self.prefix, self.suffix, self.figure)).encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Header:
    """A request header of one source; *secret* values came from the environment and are never stored or logged."""

    name: str
    value: str = field(repr=False)
    secret: bool = False


@dataclass(frozen=True, slots=True)
class Mirror:
    """A second-hand copy: evidence about itself, never an access to the original."""

    url: str
    kind: str = "text"


@dataclass(frozen=True, slots=True)
class Rest:
    """An editor's decision about one source, with its end (UTC) and its reason: pause (not asked), mute (not told)."""

    until_at: datetime
    reason: str


@dataclass(frozen=True, slots=True)
class Source:
    """One cited address. Without *url* it is unlocated: listed, never fetched, never dated.

    *formerly* are the addresses that it was cited at before, oldest first.
    *read* is what is fetched where it differs from what is cited. *every_s* is the interval in seconds; while nothing
    changes it grows up to *slowest_s*, where given. *alt* binds a declared figure to a picture of its parent page whose
    address is not known beforehand. *watch* "picture": how the page looks is compared too.
    *reader* is the rule by which it is read, where one knows this kind of address.
    """

    id: str
    tier: str
    title: str
    url: str | None = None
    read: str | None = None
    language: str = ""
    publisher: str = ""
    kind: SourceKind = SourceKind.PAGE
    every_s: float = 86_400.0
    cron: str | None = None
    parent: str | None = None
    alt: str = ""
    quotes: tuple[Quote, ...] = ()
    mirrors: tuple[Mirror, ...] = ()
    mirror_of: str | None = None
    cited_on: tuple[str, ...] = ()
    headers: tuple[Header, ...] = ()
    select: str = ""
    ignore: tuple[str, ...] = ()
    render: Literal["never", "auto", "always"] = "never"
    embeds: Literal["all", "none"] = "all"
    robots_override: str = ""
    dates: tuple[tuple[str, str], ...] = ()
    notes: str = ""
    slowest_s: float | None = None
    pause: Rest | None = None
    mute: Rest | None = None
    watch: Literal["text", "picture"] = "text"
    reader: Reader | None = None
    formerly: tuple[str, ...] = ()

    @property
    def address(self) -> str | None:
        """What is fetched."""
        return self.read or self.url

    @property
    def called(self) -> str:
        """A figure's own words for what it shows, as far as it has any."""
        return self.alt or self.title or self.id

    @property
    def by_itself(self) -> bool:
        """Whether it has a turn of its own: figures are read with their pages, mirrors in place of their sources."""
        return self.kind is SourceKind.PAGE and self.mirror_of is None

    @property
    def unlisted(self) -> bool:
        """A mirror that has no row of its own in sources.toml: its source's `mirrors` name it."""
        return self.mirror_of is not None and self.id.startswith(f"{self.mirror_of}{MIRROR}")


MIRROR = "--mirror-"


def with_mirrors(declared: Sequence[Source]) -> tuple[Source, ...]:
    """The declared sources, and behind them a source for each mirror that one of them names.

    A mirror is looked through for its source's quotes, too, and is read for its text alone.
    """
    by_id = {s.id: s for s in declared}
    rows = [_as_mirror(s, by_id[s.mirror_of]) if s.mirror_of in by_id else s for s in declared]
    for source in declared:
        for mirror in source.mirrors:
            id_ = f"{source.id}{MIRROR}{sha256(mirror.url.encode()).hexdigest()[:8]}"
            if id_ not in by_id:
                named = Source(
                    id_, source.tier, source.title, mirror.url, language=source.language, mirror_of=source.id
                )
                rows.append(_as_mirror(replace(named, every_s=source.every_s, cited_on=source.cited_on), source))
    return tuple(rows)


def _as_mirror(mirror: Source, source: Source) -> Source:
    known = {q.key for q in mirror.quotes}
    quotes = [q for q in source.quotes if not q.figure and q.key not in known]
    return replace(mirror, quotes=(*mirror.quotes, *quotes), embeds="none")


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement that has no address of its own; its carriers are the sources whose text holds it (tier B)."""

    id: str
    tier: str
    text: str
    carriers: tuple[str, ...] = ()
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Tier:
    """A layer of weight: A official, B official but not verifiable, C named second-hand, D community, and others."""

    id: str
    title: str
    every_s: float = 86_400.0
    cron: str | None = None
    slowest_s: float | None = None


@dataclass(frozen=True, slots=True)
class Site:
    """The citing site; *language* is the language of reports (zh-CN or en), *timezone* an IANA name."""

    name: str
    url: str = ""
    timezone: str = "UTC"
    language: str = "en"


@dataclass(frozen=True, slots=True)
class FetchPolicy:
    """How requests are made. Durations in seconds, sizes in bytes; *deadline_s* bounds one whole fetch."""

    contact: str = ""
    allow_networks: tuple[str, ...] = ()
    ca_bundle: str = ""
    max_bytes: int = 20_000_000
    deadline_s: float = 60.0
    connect_s: float = 10.0
    read_s: float = 20.0
    respect_robots: bool = True
    concurrency: int = 32


@dataclass(frozen=True, slots=True)
class RenderPolicy:
    """How pages are read that need a browser: *browser*, a path ("" is the system's Chromium), and whether a
    *screenshot* is kept."""

    browser: str = ""
    screenshot: bool = True


@dataclass(frozen=True, slots=True)
class HostPolicy:
    """Manners towards one host: seconds between two requests (one is in flight at a time)."""

    delay_s: float = 2.0


@dataclass(frozen=True, slots=True)
class Retention:
    """How long things are kept, in seconds; None is for ever. What a published date, a quote or a revisit relies on is
    kept whatever this says."""

    versions_s: float | None = None
    refused_s: float | None = None
    checks_s: float | None = None


@dataclass(frozen=True, slots=True)
class Proof:
    """Who else vouches for a day's manifest: an RFC 3161 authority (*tsa*, an address; *tsa_ca*, its root, a PEM file)
    and a command (*hook*) that gets the manifest's path, such as OpenTimestamps' `ots stamp`."""

    tsa: str = ""
    tsa_ca: str = ""
    hook: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Editor:
    """Who is told what. *variables* name the environment's variables that hold Apprise addresses: secrets stay there.

    *tiers* empty: all of them. *at_once* are the kinds of messages that do not wait for the digest, which is sent at
    *digest_at* ("08:30", the site's zone), on Mondays where it is weekly.
    """

    name: str
    variables: tuple[str, ...]
    language: str = "en"
    tiers: tuple[str, ...] = ()
    at_once: tuple[str, ...] = ("quote", "dead", "figure")
    digest: Literal["daily", "weekly", "none"] = "daily"
    digest_at: str = "08:30"


@dataclass(frozen=True, slots=True)
class Settings:
    """The whole of sources.toml; *sources* hold the mirrors that a row names, too (`with_mirrors`).

    *public_url* is where readers reach `serve`, with a slash at its end, or "". *storage* is where `snapshots/` lies:
    another folder, or "s3://bucket/prefix"; "" is the data folder. *look_for_moved*: a daemon looks by itself for where
    sources went.
    """

    site: Site
    fetch: FetchPolicy
    hosts: Mapping[str, HostPolicy]
    tiers: Mapping[str, Tier]
    sources: tuple[Source, ...]
    claims: tuple[Claim, ...] = ()
    retention: Mapping[str, Retention] = field(default_factory=dict)
    proof: Proof = Proof()
    editors: tuple[Editor, ...] = ()
    render: RenderPolicy = RenderPolicy()
    public_url: str = ""
    storage: str = ""
    archives: tuple[OutsideArchive, ...] = ()
    save: SavePolicy | None = None
    look_for_moved: bool = True
