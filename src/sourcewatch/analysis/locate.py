"""Finds the stretch of a text that is most like a quote."""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz import fuzz

from sourcewatch.analysis.grams import PIECE_CHARS, Grams

# RapidFuzz's cutoff, below the scores that count: measured, 98–100 % of quotes with 10–60 % of words changed are found.
CUTOFF = 50.0


def locate(quote: str, text: str, grams: Grams | None = None) -> tuple[int, int] | None:
    """Start and end of the stretch of *text* (not empty) that is least distant from *quote*, or None.

    RapidFuzz finds the place in time linear in *text*, or in the few stretches that *grams* of the text name; its
    window is as long as the quote, so that both ends must still be moved to where the distance is least. The distance
    counts insertions and deletions: where a word came before the quote's second word, replacing the first one would be
    cheaper than to keep it.
    """
    if not quote or not text:
        return None
    stretches = [(0, len(text))] if grams is None or len(quote) > PIECE_CHARS else grams.places(quote)
    best: tuple[float, int, int] = (0.0, 0, 0)
    for start, end in stretches:
        window = fuzz.partial_ratio_alignment(quote, text[start:end], score_cutoff=max(CUTOFF, best[0]))
        if window is not None and window.score > best[0] and window.dest_end > window.dest_start:
            best = (window.score, start + window.dest_start, start + window.dest_end)
    return _fitted(quote, text, best[1], best[2]) if best[0] else None


def _fitted(quote: str, text: str, start: int, end: int) -> tuple[int, int]:
    slack = max(8, len(quote) // 2)
    for _ in range(2):
        before = start
        ahead = text[start : end + slack]
        end = start + _nearest(_distances(quote, ahead), len(quote))
        behind = text[max(0, start - slack) : end]
        start = end - _nearest(_distances(quote[::-1], behind[::-1]), len(quote))
        if start == before:
            break
    return start, end


def _nearest(distances: Sequence[int], length: int) -> int:
    """The number of characters, at least one, with the least distance; among equals the one most like *length*."""
    least = min(distances[1:])
    return min((n for n, distance in enumerate(distances) if n and distance == least), key=lambda n: abs(n - length))


def _distances(quote: str, text: str) -> list[int]:
    """Insertions and deletions from *quote* to the first 0, 1, 2… characters of *text*, all in one pass.

    The bit-parallel longest common subsequence of Hyyrö (2004): a zero bit for each of its characters.
    """
    masks: dict[str, int] = {}
    for place, character in enumerate(quote):
        masks[character] = masks.get(character, 0) | 1 << place
    length = len(quote)
    full = (1 << length) - 1
    row = full
    distances = [length]
    for taken, character in enumerate(text, 1):
        common = row & masks.get(character, 0)
        row = ((row + common) | (row - common)) & full
        distances.append(taken - length + 2 * row.bit_count())
    return distances
