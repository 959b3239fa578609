"""Reads a site's own pages over the web for what they cite: a page, what lies under it, and its sitemap. Bounded."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ..analysis import address, citing_html, citing_records
from ..analysis.answers import text_of
from ..domain.capture import Capture, Deferred, Failure, Request
from ..domain.mention import Mention, NotRead
from .ports import Web

MOST_PAGE_BYTES = 8_000_000
MOST_BYTES = 400_000_000  # of all pages, unpacked
MOST_WAITING = 100_000  # addresses of pages not read yet
PAGES = ("text/html", "application/xhtml+xml")


@dataclass(slots=True)
class SitePages:
    """What was found. *left* pages were known and not read, for *most_pages* or MOST_BYTES was reached."""

    mentions: list[Mention] = field(default_factory=list)
    not_read: list[NotRead] = field(default_factory=list)
    pages: int = 0
    left: int = 0


@dataclass(slots=True)
class _Walk:
    """A breadth-first walk that stays on the host and under the folder of its start."""

    start: str
    found: SitePages = field(default_factory=SitePages)
    waiting: deque[str] = field(default_factory=deque)
    known: set[str] = field(default_factory=set)
    total_bytes: int = 0

    def add(self, urls: Iterable[str]) -> None:
        for url in urls:
            whole = address.normal(url)
            if whole and whole not in self.known and self.inside(whole) and len(self.known) < MOST_WAITING:
                self.known.add(whole)
                self.waiting.append(whole)

    def inside(self, url: str) -> bool:
        top = self.start.partition("?")[0]
        folder = top[: top.rindex("/") + 1].partition("://")[2]  # http and https are one site
        return url.partition("://")[2].startswith(folder)


async def read(
    web: Web, start: str, *, most_pages: int, named: Iterable[str] = (), told: Callable[[str], None] = lambda url: None
) -> SitePages:
    """Read *start* (a page or a sitemap), the pages *named*, and what they link to beneath the folder of *start*.

    Never raises for what the network does.
    """
    walk = _Walk(address.normal(start) or start)
    walk.known.add(walk.start)
    walk.waiting.append(walk.start)
    walk.add(named)
    home = walk.start.partition("://")[2].partition("/")[2] == ""
    if home:
        walk.add([walk.start + "sitemap.xml"])
    while walk.waiting:
        if walk.found.pages >= most_pages or walk.total_bytes > MOST_BYTES:
            walk.found.left = len(walk.waiting)
            break
        url = walk.waiting.popleft()
        told(url)
        got = await web.fetch(Request(url, max_bytes=MOST_PAGE_BYTES), fresh=True)
        guessed = home and url == walk.start + "sitemap.xml"
        if reason := _unusable(got):
            if not guessed:
                walk.found.not_read.append(NotRead(url, 0, reason))
        elif isinstance(got, Capture):
            _take(walk, url, got)
    return walk.found


def _unusable(got: Capture | Failure | Deferred) -> str:
    """Why there is nothing to read, or ""."""
    if isinstance(got, Failure):
        return f"could not be read: {got.word} ({got.detail})" if got.detail else f"could not be read: {got.word}"
    if isinstance(got, Deferred):
        return f"was not asked for: {got.reason}"
    return "" if got.answer.status == 200 else f"answered {got.answer.status}"


def _take(walk: _Walk, url: str, got: Capture) -> None:
    answer, final = got.answer, got.final_url
    if not walk.inside(final):
        walk.found.not_read.append(NotRead(url, 0, f"leads to {final}, which is not of this site"))
        return
    text = text_of(answer, most_bytes=MOST_PAGE_BYTES)
    if text is None:
        walk.found.not_read.append(NotRead(url, 0, "its content encoding does not decode"))
        return
    walk.total_bytes += len(text)
    if (pages := citing_records.sitemap(text)) is not None:
        walk.add(pages)
        return
    if answer.media_type and answer.media_type not in PAGES:
        return  # a picture, a PDF: of the site, and cites nothing that can be read here
    walk.known.add(final)
    walk.found.pages += 1
    own = address.host_key(walk.start)
    for one in citing_html.read(url, text, base=final):
        if not isinstance(one, Mention):
            walk.found.not_read.append(one)
        elif address.host_key(one.url) != own:
            walk.found.mentions.append(one)
        elif not one.embedded:
            walk.add([one.url])
