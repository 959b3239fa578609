"""Guesses where in a text a quote may stand reworded, so that only those places need be compared with it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

# Four letters, but two where the first is a CJK character: those are rarer, and rewording spares fewer in a row.
LETTERS, CJK = 4, 2
_FIRST_CJK = "\u2e80"
STRIDE = 2  # every second gram of the text, all of the quote
# Pieces in which grams are counted; a quote of at most this length lies in two neighbours.
PIECE_CHARS = 256
# The index takes 6 ms and 2 MB for 40,000 characters, 9 MB for these; longer texts are searched as a whole, in 1.5 ms.
MOST_CHARS = 150_000
# Measured on 29 and 13 texts of 40,000 characters made of news pages, share of grams in the best place: of 888 and 351
# quotes reworded to a score of .55 and more all had .20 in English, .09 in Chinese; of sentences of other pages nine in
# ten are below .16 in English, half below .08 in Chinese.
LEAST_SHARE, LEAST_SHARE_CJK = 0.15, 0.05
LEAST_SHARED = 2
# So many places are looked at, and only those that share as much of what the best one shares: near-duplicates.
PLACES, WORTH = 3, 0.75


def _grams(text: str, stride: int) -> set[str]:
    places = range(0, len(text) - 1, stride)
    if text.isascii():
        return {text[place : place + LETTERS] for place in places}
    return {text[place : place + (CJK if text[place] >= _FIRST_CJK else LETTERS)] for place in places}


class Grams:
    """Where in a text stand which few characters in a row: a number for each, its byte *n* is 1 for pieces n and n + 1.

    The sum of some of these numbers counts for all places at once. No byte overflows: a quote has at most 255 grams.
    """

    def __init__(self, text: str) -> None:
        self._length = len(text)
        self._pieces: dict[str, int] = {}
        for number, start in enumerate(range(0, len(text), PIECE_CHARS)):
            these = 0x0101 << 8 * number >> 8
            grams = _grams(text[start : start + PIECE_CHARS + LETTERS - 1], STRIDE)
            new = grams.difference(self._pieces)
            self._pieces |= dict.fromkeys(new, these)
            for gram in grams - new:
                self._pieces[gram] |= these

    def places(self, quote: str) -> Iterator[tuple[int, int]]:
        """Starts and ends of the stretches, best first, that share most grams with a quote of up to PIECE_CHARS."""
        grams = _grams(quote, 1)
        least: float = max(LEAST_SHARED, len(grams) * (LEAST_SHARE if quote.isascii() else LEAST_SHARE_CJK))
        shared = sum(map(self._pieces.get, grams, repeat(0)))
        counts = bytearray(shared.to_bytes(self._length // PIECE_CHARS + 2, "little"))
        for _ in range(PLACES):
            count = max(counts)
            if count < least:
                return
            least = max(least, WORTH * count)
            number = counts.index(count)
            start = number * PIECE_CHARS
            yield max(0, start - len(quote) // 2), min(self._length, start + 2 * PIECE_CHARS + len(quote) // 2)
            for half in range(max(0, number - 1), number + 2):  # the neighbours see half of the same stretch
                counts[half] = 0
