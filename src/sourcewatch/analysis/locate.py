"""Finds the stretch of a text that is most like a quote."""

from __future__ import annotations

from rapidfuzz import fuzz
from rapidfuzz.distance import Indel

# RapidFuzz's cutoff, below the scores that count: measured, 98–100 % of quotes with 10–60 % of words changed are found.
CUTOFF = 50.0


def locate(quote: str, text: str) -> tuple[int, int] | None:
    """Start and end of the stretch of *text* (not empty) that is least distant from *quote*, or None.

    RapidFuzz finds the place in time linear in *text*; its window is as long as the quote, so that both ends must still
    be moved to where the distance is least. The distance counts insertions and deletions: where a word came before the
    quote's second word, replacing the first one would be cheaper than to keep it.
    """
    if not quote or not text:
        return None
    window = fuzz.partial_ratio_alignment(quote, text, score_cutoff=CUTOFF)
    if window is None or window.dest_end <= window.dest_start:
        return None
    start, end = window.dest_start, window.dest_end
    slack = max(8, len(quote) // 2)
    for _ in range(2):
        starts = range(max(0, end - 2 * len(quote), start - slack), min(end - 1, start + slack) + 1)
        start = min(starts, key=_Rank(quote, text, end=end))
        ends = range(max(start + 1, end - slack), min(len(text), end + slack) + 1)
        end = min(ends, key=_Rank(quote, text, start=start))
    return start, end


class _Rank:
    """Distance from the quote, then likeness of length; remembers the least distance so as to stop early."""

    def __init__(self, quote: str, text: str, *, start: int = -1, end: int = -1) -> None:
        self._quote, self._text, self._start, self._end = quote, text, start, end
        self._least: int | None = None

    def __call__(self, place: int) -> tuple[int, int]:
        stretch = self._text[place : self._end] if self._start < 0 else self._text[self._start : place]
        distance = Indel.distance(self._quote, stretch, score_cutoff=self._least)
        self._least = distance if self._least is None else min(distance, self._least)
        return distance, abs(len(stretch) - len(self._quote))
