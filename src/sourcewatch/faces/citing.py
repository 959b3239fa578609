"""What the site cites, read from disk and over the guarded web, and rows written: `wiring` for these commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from ..adapters import site_files, sources_file
from ..adapters.guard import Resolve
from ..adapters.hosts import Hosts
from ..adapters.http import Web
from ..analysis import citing, citing_records, naming
from ..analysis.cited import Comparison, compare
from ..analysis.decode import characters
from ..domain.errors import ConfigError
from ..domain.mention import Mention, NewSource, NotRead
from ..domain.source import HostPolicy, Settings
from ..services import publish, site_pages
from .wiring import House, now, read_settings, user_agent

OWN_DELAY_S = 0.2  # between requests to the site that asks: its own; [hosts] of the configuration outranks it
MOST_PLACES = 5  # of one address, in `cited_on`


@dataclass(slots=True)
class Reading:
    """What was read of the site: *files* and *pages* are counts, *left* pages were known and not read."""

    mentions: list[Mention] = field(default_factory=list)
    not_read: list[NotRead] = field(default_factory=list)
    files: int = 0
    pages: int = 0
    left: int = 0


async def read(
    settings: Settings,
    where: Sequence[str],
    most_pages: int,
    told: Callable[[str], None] = lambda url: None,
    resolve: Resolve | None = None,
) -> Reading:
    """Paths from disk, addresses over the web; a sitemap on disk names pages to be fetched."""
    found = Reading()
    online = [w for w in where if w.lower().startswith(("http://", "https://"))]
    named = _files(found, [Path(w) for w in where if w not in online])
    starts: list[tuple[str, list[str]]] = [(url, []) for url in online]
    starts += [(pages[0], pages[1:]) for pages in named]
    if starts:
        hosts = Hosts(_policies(settings, [url for url, _ in starts]), respect_robots=settings.fetch.respect_robots)
        agent = user_agent(settings)
        async with Web(settings.fetch, hosts, user_agent=agent, clock=now, resolve=resolve) as web:
            for start, more in starts:
                part = await site_pages.read(web, start, named=more, most_pages=most_pages - found.pages, told=told)
                found.mentions += part.mentions
                found.not_read += part.not_read
                found.pages += part.pages
                found.left += part.left
    return found


def _files(found: Reading, paths: Sequence[Path]) -> list[list[str]]:
    """Read the files; the pages of each sitemap among them."""
    sitemaps = []
    for one in site_files.read(paths, citing.SUFFIXES):
        if isinstance(one, NotRead):
            found.not_read.append(one)
            continue
        place, data = one
        text = characters(data).text
        found.files += 1
        if place.lower().endswith(".xml") and (pages := citing_records.sitemap(text)):
            sitemaps.append(pages)
            continue
        mentions, not_read = citing.read(place, text)
        found.mentions += mentions
        found.not_read += not_read
    return sitemaps


def _policies(settings: Settings, starts: Sequence[str]) -> dict[str, HostPolicy]:
    own = {urlsplit(url).hostname or "": HostPolicy(OWN_DELAY_S) for url in starts}
    return own | dict(settings.hosts)


def text_of(path: Path) -> str:
    """A file to import. Raises ConfigError where it cannot be read."""
    for one in site_files.read([path], ()):
        if isinstance(one, NotRead):
            raise ConfigError([str(one)])
        return characters(one[1]).text
    raise ConfigError([f"{path}: a folder, not a file"])


def compared(house: House, mentions: Sequence[Mention]) -> Comparison:
    """Against sources.toml, and what the ledger knows of addresses that moved."""
    seen = publish.view(house.settings, house.ledger, now())
    lines = [seen.line(s) for s in house.settings.sources if s.url]
    moved = {x.source.id: x.standing.final_url for x in lines if publish.moved(x)}
    return compare(mentions, house.settings.sources, moved, house.settings.site.url)


def new_rows(missing: Comparison) -> list[NewSource]:
    """A row for each address that is cited and not declared, with the places that cite it."""
    rows = []
    for cited in missing.missing:
        places = dict.fromkeys(p.place for p in cited.places)
        rows.append(NewSource(cited.url, cited.title, cited_on=tuple(places)[:MOST_PLACES]))
    return rows


def tier_of(settings: Settings, wanted: str) -> str:
    """The tier of new rows: *wanted*, or the one that most rows are in. Raises ConfigError where there is none."""
    if wanted and wanted not in settings.tiers:
        raise ConfigError([f"no [tiers.{wanted}] in this file; there are: {', '.join(settings.tiers) or 'none'}"])
    if not settings.tiers:
        raise ConfigError(["this file has no tiers; write one first, e.g. [tiers.A]"])
    rows = [s.tier for s in settings.sources]
    return wanted or max(settings.tiers, key=rows.count)


def add(path: Path, settings: Settings, rows: Sequence[NewSource], tier: str) -> list[NewSource]:
    """Write the rows into sources.toml, whole or not at all; as they were written. Raises ConfigError, StorageError."""
    taken = {s.id for s in settings.sources} | {c.id for c in settings.claims}
    whole = naming.named([replace(row, tier=row.tier or tier) for row in rows], taken)
    if whole:
        sources_file.add(path, whole, read_settings)
    return whole
