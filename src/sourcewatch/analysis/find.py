"""The words that somebody looks for, and where a text holds them."""

from __future__ import annotations

import re
from collections.abc import Sequence

AROUND_CHARS = 80
MOST_WORDS = 8


def words_of(query: str) -> list[str]:
    """The words of a query; "several words" in quotation marks are one."""
    found = [quoted or word for quoted, word in re.findall(r'["“]([^"“”]+)["”]|(\S+)', query[:400])]
    return [w for w in dict.fromkeys(w.strip() for w in found) if w][:MOST_WORDS]


def around(text: str, words: Sequence[str]) -> list[tuple[str, bool]]:
    """The stretch around the first word that is found, in pieces: (text, whether it is a word that was looked for)."""
    pattern = re.compile("|".join(re.escape(w) for w in sorted(words, key=len, reverse=True)), re.IGNORECASE)
    first = pattern.search(text)
    if first is None:
        return [(text[: 2 * AROUND_CHARS], False)]
    start = max(0, first.start() - AROUND_CHARS)
    end = min(len(text), first.end() + 2 * AROUND_CHARS)
    pieces: list[tuple[str, bool]] = [("…", False)] if start else []
    at = start
    for match in pattern.finditer(text, start, end):
        pieces += [(text[at : match.start()], False), (match.group(), True)]
        at = match.end()
    pieces.append((text[at:end], False))
    return [p for p in [*pieces, ("…" if end < len(text) else "", False)] if p[0]]
