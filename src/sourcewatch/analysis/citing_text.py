"""Addresses in running text: where they begin, and where a reader sees them end."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from ..domain.mention import Mention

# Ends at what no address holds and at Chinese punctuation; GFM's "extended autolinks" says what is cut off the end.
_BARE = re.compile(r"https?://[^\s<>\"'`\\^{}|\u201c\u201d\u2018\u2019\u2026\u3000-\u303f\uff01-\uff65]+", re.I)
_TRAILING = "?!.,:;*_~"
_COMMENT = re.compile(r"(?:^|\s)#(?:\s|$)")


def addresses(text: str) -> Iterator[tuple[str, int]]:
    """Each http(s) address that a text spells out, and where it begins."""
    for found in _BARE.finditer(text):
        url = found[0]
        while url:
            shorter = url.rstrip(_TRAILING)
            for opened, closed in ("()", "[]"):
                if shorter.endswith(closed) and shorter.count(closed) > shorter.count(opened):
                    shorter = shorter[:-1]
            if shorter == url:
                break
            url = shorter
        if len(url.partition("://")[2]) > 1:
            yield url, found.start()


class LineNumbers:
    """The line of each position in a text (from 1): counting anew for 10,000 records would take minutes."""

    def __init__(self, text: str) -> None:
        self._ends = [found.start() for found in re.finditer("\n", text)]

    def at(self, position: int) -> int:
        return bisect_left(self._ends, position) + 1


def lines(place: str, text: str, first_line: int = 1) -> Iterator[Mention]:
    """Every address in front matter or a data file (YAML, TOML, JSON), commented lines left out."""
    for number, line in enumerate(text.split("\n"), first_line):
        if "://" not in line:
            continue
        comment = _COMMENT.search(line)
        for url, start in addresses(line):
            if comment is None or start < comment.start():
                yield Mention(url, place, number, embedded=is_picture(url))


def is_picture(url: str) -> bool:
    """Whether an address says by its name that it is a picture: front matter names covers as it names links."""
    path = url.partition("?")[0].partition("#")[0].lower()
    return path.endswith((".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".svg", ".ico"))
