"""Main or chrome: which blocks belong to the frame around a page. Labels steer loudness only, nothing is dropped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

CHROME_TAGS = frozenset("nav footer aside header form dialog button menu select".split())  # noqa: SIM905
CHROME_ROLES = frozenset(
    "navigation banner contentinfo complementary search dialog alertdialog menu menubar toolbar".split()  # noqa: SIM905
)
CHROME_NAMES = frozenset(
    """ad ads banner breadcrumb breadcrumbs consent cookie cookies copyright foot footer hotlist hotnews login menu
    modal nav navbar navigation newsletter pager pagination popup rank ranking related share sharebar sidebar signin
    social subscribe toolbar""".split()  # noqa: SIM905
)
CHROME_PARTS = (" advert", " sponsor", " recommend", " promo", "side bar", "hot list", "hot news")
SENTENCE_MARKS = (". ", ", ", "; ", "! ", "? ")
WIDE_MARKS = ("。", "！", "？", "；", "，")
# A candidate is believed while it holds at most a quarter of the page: ASP.NET wraps whole pages in <form>, themes call
# the article's wrapper "content-sidebar". Without this guard 5-12 % of cited sentences were lost from main, with it
# 0.4-1.4 % (three sets of 305 real pages, 2026-11).
MOST_OF_PAGE = 0.25
SHORT_CHARS = 120
LINK_SHARE = 0.3
LINK_BLOCK_TAGS = frozenset("li div td dd ul tr th section".split())  # noqa: SIM905


@dataclass(slots=True)
class Scope:
    """An element that looks like chrome: its rows run from *start* to *end*; *outer* is the index of the one around."""

    outer: int
    start: int
    end: int = 0


@lru_cache(maxsize=8192)
def chrome_word(name: str) -> bool:
    """Whether a class or id names a part of the frame."""
    words = name[:400].lower().replace("-", " ").replace("_", " ").split()
    return not CHROME_NAMES.isdisjoint(words) or any(map(f" {' '.join(words)}".__contains__, CHROME_PARTS))


def looks_like_chrome(tag: str, attributes: Mapping[str, str | None], path: str) -> bool:
    """A candidate by its tag, role, class or id. <header> inside <article> or <main> is title and byline: content."""
    if tag in CHROME_TAGS:
        return not (tag == "header" and (">article" in path or ">main" in path))
    if not attributes or tag == "body":
        return False
    if (role := attributes.get("role")) and role in CHROME_ROLES:
        return True
    if (name := attributes.get("class")) and chrome_word(name):
        return True
    return bool((name := attributes.get("id")) and chrome_word(name))


def believed(scopes: Sequence[Scope], texts: Sequence[str], links: Sequence[int], seen: Sequence[bool]) -> list[bool]:
    """For each scope, whether it is chrome: by itself or because an outer one is.

    *texts*, *links* (letters of link text) and *seen* (visible) run parallel, one for each row.
    """
    if not scopes:
        return []
    chars = [0, *accumulate(len(t) if s else 0 for t, s in zip(texts, seen, strict=True))]
    linked = [0, *accumulate(n if s else 0 for n, s in zip(links, seen, strict=True))]
    ends: list[int] | None = None
    chrome: list[bool] = []
    for scope in scopes:
        if scope.outer >= 0 and chrome[scope.outer]:
            chrome.append(True)
            continue
        size = chars[scope.end] - chars[scope.start]
        if size > MOST_OF_PAGE * chars[-1]:
            chrome.append(False)
        elif size < SHORT_CHARS:
            chrome.append(True)
        else:
            if ends is None:
                ends = [0, *accumulate(_marks(t) if s else 0 for t, s in zip(texts, seen, strict=True))]
            link = linked[scope.end] - linked[scope.start]
            prose = ends[scope.end] - ends[scope.start]
            chrome.append(not (link < LINK_SHARE * size and prose * 40 > size and size > 300))
    return chrome


def _marks(text: str) -> int:
    """How many sentences and clauses end in a text."""
    count = sum(map(text.count, SENTENCE_MARKS)) + text.endswith((".", "!", "?"))
    return count if text.isascii() else count + sum(map(text.count, WIDE_MARKS))


def reads_like_navigation(text: str, tag: str, link_chars: int) -> bool:
    """A short block outside paragraphs that is a link and nothing else."""
    return link_chars > 0.9 * len(text) and len(text) < 60 and tag in LINK_BLOCK_TAGS
