"""Guesses where in a text a quote may stand reworded, so that only those places need be compared with it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

# Three letters, but two where the first is a CJK character: those are rarer, and rewording spares fewer in a row.
LETTERS, CJK = 3, 2
_FIRST_CJK = "\u2e80"
STRIDE = 2  # every second gram of the text, all of the quote
# Pieces in which grams are counted; a quote of at most this length lies in two neighbours.
PIECE_CHARS = 256
# The index takes 5 ms and 2 MB for 40,000 characters; longer texts than these are searched as a whole, in 20 ms.
MOST_CHARS = 400_000
# Measured on news pages, share of grams in the best place: a quote reworded to a score of .55 and more has .25 and more
# in English, .06 in Chinese; sentences of other pages .07–.33, half of them below .19, and .00–.16, half below .05.
LEAST_SHARE, LEAST_SHARE_CJK = 0.22, 0.05
LEAST_SHARED = 2
# So many places are looked at, and only those that share as much of what the best one shares: near-duplicates.
PLACES, WORTH = 3, 0.75


def _grams(text: str, stride: int) -> set[str]:
    return {
        text[place : place + (CJK if text[place] >= _FIRST_CJK else LETTERS)] for place in range(0, len(text), stride)
    }


class Grams:
    """Which pieces of a text have which few characters in a row, as bits of one number for each of them."""

    def __init__(self, text: str) -> None:
        self._length = len(text)
        self._pieces: defaultdict[str, int] = defaultdict(int)
        for number, start in enumerate(range(0, len(text), PIECE_CHARS)):
            bit = 1 << number
            for gram in _grams(text[start : start + PIECE_CHARS + LETTERS - 1], STRIDE):
                self._pieces[gram] |= bit

    def places(self, quote: str) -> Iterator[tuple[int, int]]:
        """Starts and ends of the stretches, best first, that share most grams with a quote of up to PIECE_CHARS."""
        grams = _grams(quote, 1)
        least: float = max(LEAST_SHARED, len(grams) * (LEAST_SHARE if quote.isascii() else LEAST_SHARE_CJK))
        counts = _added([pieces | pieces >> 1 for gram in grams if (pieces := self._pieces.get(gram))])
        for _ in range(PLACES):
            count, best = _most(counts)
            if count < least:
                return
            least = max(least, WORTH * count)
            number = best.bit_length() - 1
            start = number * PIECE_CHARS
            yield max(0, start - len(quote) // 2), min(self._length, start + 2 * PIECE_CHARS + len(quote) // 2)
            # The neighbours see half of the same stretch.
            seen = ~(0b111 << number >> 1)
            counts = [digit & seen for digit in counts]


def _added(masks: list[int]) -> list[int]:
    """How many of the masks have each bit: the digits of all counts at once, lowest first, by carry-save adders."""
    digits: list[int] = []
    while masks:
        carries: list[int] = []
        while len(masks) > 2:
            a, b, c = masks.pop(), masks.pop(), masks.pop()
            half = a ^ b
            masks.append(half ^ c)
            carries.append(a & b | c & half)
        if len(masks) == 2:
            carries.append(masks[0] & masks[1])
            masks = [masks[0] ^ masks[1]]
        digits += masks
        masks = carries
    return digits


def _most(digits: Sequence[int]) -> tuple[int, int]:
    """The highest count and the bits that have it."""
    count, having = 0, -1
    for place in reversed(range(len(digits))):
        higher = having & digits[place]
        if higher:
            count, having = count | 1 << place, higher
    return (count, having) if count else (0, 0)
