"""Main or chrome: which blocks belong to the frame around a page. Labels steer loudness only, nothing is dropped."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

CHROME_TAGS = frozenset("nav footer aside header form dialog button menu select".split())  # noqa: SIM905
CHROME_ROLES = frozenset(
    "navigation banner contentinfo complementary search dialog alertdialog menu menubar toolbar".split()  # noqa: SIM905
)
CHROME_WORD = re.compile(
    r"(?:^|[\s_-])(?:nav(?:bar|igation)?|menu|foot(?:er)?|side-?bar|breadcrumbs?|share(?:bar)?|social|"
    r"cookies?|consent|banner|ads?|advert\w*|sponsor\w*|related|recommend\w*|promo\w*|newsletter|subscribe|"
    r"login|signin|toolbar|copyright|pagination|pager|popup|modal|hot-?(?:list|news)|rank(?:ing)?)(?:$|[\s_-])",
    re.I,
)
SENTENCE_END = re.compile(r"[。！？；，]|[.,;!?](?=\s|$)")
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
    return len(name) < 400 and CHROME_WORD.search(name) is not None


def looks_like_chrome(tag: str, attributes: Mapping[str, str | None], path: str) -> bool:
    """A candidate by its tag, role, class or id. <header> inside <article> or <main> is title and byline: content."""
    if tag in CHROME_TAGS:
        return not (tag == "header" and (">article" in path or ">main" in path))
    if not attributes or tag == "body":
        return False
    if attributes.get("role") in CHROME_ROLES:
        return True
    return any(chrome_word(name) for key in ("class", "id") if (name := attributes.get(key)))


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
        if size > MOST_OF_PAGE * chars[-1] and size > SHORT_CHARS:
            chrome.append(False)
        elif size < SHORT_CHARS:
            chrome.append(True)
        else:
            if ends is None:
                ends = [
                    0,
                    *accumulate(len(SENTENCE_END.findall(t)) if s else 0 for t, s in zip(texts, seen, strict=True)),
                ]
            link = linked[scope.end] - linked[scope.start]
            prose = ends[scope.end] - ends[scope.start]
            chrome.append(not (link < LINK_SHARE * size and prose * 40 > size and size > 300))
    return chrome


def reads_like_navigation(text: str, tag: str, link_chars: int) -> bool:
    """A short block outside paragraphs that is a link and nothing else."""
    return link_chars > 0.9 * len(text) and len(text) < 60 and tag in LINK_BLOCK_TAGS
