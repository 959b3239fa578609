"""Where to look for what is gone: names in addresses, places on GitHub, DOIs, and whether a find is convincing."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

from ..domain.move import Lead, Likeness
from . import address

_WORD = re.compile(r"[^\W_]+")
_COMMON = frozenset(("html", "htm", "php", "asp", "aspx", "jsp", "index", "page", "default", "www", "the", "and"))
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s?#\"<>]+")
_VIEWS = re.compile(r"(?:\.pdf|/(?:pdf|epdf|full|abstract|fulltext|html?|meta))+$", re.I)
_SITEMAP = re.compile(r"^\s*sitemap\s*:\s*(\S+)", re.I | re.M)
ALIKE = 0.3  # share of the old name's letters that the name of a page worth a look has
MOST_RANKED = 8
# A server that says where a page went is believed sooner than a page of a similar name. Of another page 4–5 % of the
# 4-token shingles stand (see `drift`), of a page that was reworded all over 45–61 %.
SAME, RELATED = 0.5, 0.25


def named_alike(gone: str, title: str, pages: Iterable[str]) -> list[str]:
    """The pages of a site map whose names are like that of a page that is gone, or like its title, likest first."""
    old, called = _weights(_name(gone)), _weights(title)
    found: dict[str, float] = {}
    for page in pages:
        if address.same_document(page, gone):
            continue
        name = _words(_name(page))
        likeness = max(_share(old, name), _share(called, name))
        if likeness >= ALIKE:
            found[page] = likeness
    return sorted(found, key=lambda url: (-found[url], len(url), url))[:MOST_RANKED]


def _name(url: str) -> str:
    """The last two parts of the path: enough to know a page by, and not its whole section."""
    try:
        parts = [p for p in unquote(urlsplit(url).path).split("/") if p]
    except ValueError:
        return ""
    return " ".join(parts[-2:])


def _words(text: str) -> set[str]:
    return {w for w in (m[0].casefold() for m in _WORD.finditer(text)) if w not in _COMMON and len(w) > 1}


def _weights(text: str) -> dict[str, int]:
    return {word: len(word) for word in _words(text)}


def _share(wanted: dict[str, int], name: set[str]) -> float:
    whole = sum(wanted.values())
    return sum(n for word, n in wanted.items() if word in name) / whole if whole else 0.0


def sitemaps(robots: str) -> list[str]:
    """The site maps that a robots.txt names. https://www.sitemaps.org/protocol.html#submit_robots"""
    return [m[1] for m in _SITEMAP.finditer(robots)]


def doi(url: str) -> str:
    """The DOI in an address, without what only names a view of the article, or ""."""
    m = _DOI.search(unquote(url))
    return _VIEWS.sub("", m[0]).rstrip("./") if m else ""


@dataclass(frozen=True, slots=True)
class GithubPlace:
    """A repository, or a path in it at a *ref*; *view* is how the address shows it (blob, tree, raw), or ""."""

    owner: str
    repository: str
    view: str = ""
    ref: str = ""
    path: str = ""

    @property
    def name(self) -> str:
        return f"{self.owner}/{self.repository}"


def github_place(url: str) -> GithubPlace | None:
    """The place that an address of GitHub's pages names; None for anything else there. A ref with slashes in its name
    cannot be told from a path, and is read as one part."""
    try:
        parts = [unquote(p) for p in urlsplit(url).path.split("/") if p]
    except ValueError:
        return None
    if len(parts) == 2:
        return GithubPlace(parts[0], parts[1].removesuffix(".git"))
    if len(parts) >= 5 and parts[2] in ("blob", "tree", "raw"):
        return GithubPlace(parts[0], parts[1], parts[2], parts[3], "/".join(parts[4:]))
    return None


def github_url(like: str, place: GithubPlace) -> str:
    """The address of a place on the host of another address."""
    split = urlsplit(like)
    rest = f"/{place.view}/{quote(place.ref)}/{quote(place.path)}" if place.view else ""
    return f"{split.scheme}://{split.netloc}/{place.name}{rest}"


def convincing(leads: Iterable[Lead], found: Likeness) -> bool:
    """Whether a find is worth an editor's time: what the last version said must stand there.

    Where none was ever accepted, a lead that names this very page is enough, unless its quotes are not there.
    """
    named = set(leads) - {Lead.SITEMAP}
    whole = found.sought > 0 and found.held == found.sought
    if found.kept is None:
        return bool(named) and (whole or not found.sought)
    if named:
        return found.kept >= RELATED or found.same_title or found.held > 0
    return found.kept >= SAME or (found.kept >= RELATED and (found.same_title or whole))
