"""Ids and titles for new sources, out of what the site calls them and where they lie."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import replace
from urllib.parse import unquote

from ..domain.mention import NewSource
from . import address
from .excerpt import plain

MOST_ID_CHARS = 60  # of 100: numbers may follow, and the id names a folder
MOST_TITLE_CHARS = 200
# Words that name a link's purpose rather than what it leads to.
_NO_NAMES = frozenset({
    "here", "link", "this", "source", "sources", "read", "more", "website", "site", "page", "homepage", "url",
    "see", "article", "post", "paper", "doc", "docs", "pdf", "code", "github", "arxiv", "doi", "这里", "此处", "链接",
    "来源", "原文", "官网", "出处", "点此", "详情", "网站", "主页", "文档", "论文", "代码",
})  # fmt: skip


def named(rows: Iterable[NewSource], taken: Collection[str]) -> list[NewSource]:
    """Each row with a title and a unique id; those that it has already are kept."""
    rows = list(rows)
    used = set(taken) | {r.id for r in rows if r.id}
    whole = []
    for row in rows:
        title = title_of(row)
        id_ = row.id or _unique(id_of(title, row.url), used)
        used.add(id_)
        whole.append(replace(row, id=id_, title=title))
    return whole


def title_of(row: NewSource) -> str:
    """The site's words where they name something; else the host and the end of the path."""
    words = plain(row.title).strip()
    if is_name(words):
        return words[:MOST_TITLE_CHARS]
    host, path = address.host(row.url).removeprefix("www."), row.url.partition("://")[2].partition("/")[2]
    parts = [p for p in re.split(r"[?#]", path)[0].split("/") if p]
    return plain(unquote(f"{host}: {'/'.join(parts[-2:])}" if parts else host))[:MOST_TITLE_CHARS]


def is_name(words: str) -> bool:
    """Whether a link's words say what it leads to: no bare address, no "here", no footnote number."""
    if "://" in words or sum(c.isalnum() for c in words) < 2 or words.strip("[]() ").isdigit():
        return False
    return not all(w in _NO_NAMES for w in re.findall(r"\w+", words.lower()))


def id_of(title: str, url: str) -> str:
    """Lower-case ASCII letters, digits and hyphens: of the title where most of it is ASCII, else of the address."""
    slug = _slug(title)
    letters = [c for c in title if c.isalnum()]
    if sum(c.isascii() for c in letters) * 2 < len(letters) or len(slug) < 3:
        host = address.host(url).removeprefix("www.")
        path = re.split(r"[?#]", url.partition("://")[2].partition("/")[2])[0]
        slug = _slug(f"{host} {unquote(path)}")
    return slug[:MOST_ID_CHARS].strip("-") or "source"


def _slug(text: str) -> str:
    ascii_ = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", ascii_.lower()).strip("-")


def _unique(wanted: str, used: Collection[str]) -> str:
    if wanted not in used:
        return wanted
    return next(name for n in range(2, len(used) + 3) if (name := f"{wanted}-{n}") not in used)
