"""Finds which of the blocks that differ are one block that changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from rapidfuzz import fuzz, process

from sourcewatch.analysis.tokens import tokens
from sourcewatch.domain.document import Block

# Two blocks are one block that changed from this fuzz.ratio on (0–100). Measured: unrelated sentences stay below 40.
ALIKE = 45.0
# A shorter block says too little for a ratio: in one and the same place it is one cell whose value changed.
SHORT_CHARS = 16
# fuzz.ratio costs n·m/64 steps, 10 µs for 1,000 characters; longer blocks are compared by the token pairs they share.
LONG_CHARS = 1_000
# Similarities computed in one run of changed blocks (40,000 take about 30 ms); longer runs are compared near the
# diagonal only, and blocks so long that this many characters are not enough even less.
MOST_PAIRINGS = 40_000
MOST_CHARS = 40_000_000
# Runs of more blocks are not paired at all: they are another document.
MOST_BLOCKS = 5_000

Pairs = list[tuple[int, int]]


def pair(old: Sequence[Block], new: Sequence[Block]) -> Pairs:
    """The order-preserving pairs (index in *old*, index in *new*) with the highest sum of similarities."""
    n, m = len(old), len(new)
    if not n or not m or max(n, m) > MOST_BLOCKS:
        return []
    mean_chars = (sum(len(b.text) for b in old) + sum(len(b.text) for b in new)) // (n + m) + 1
    most = min(MOST_PAIRINGS, MOST_CHARS // mean_chars)
    reach = max(n, m) if n * m <= most else most // (2 * max(n, m))
    likeness = _Likeness(old, new)
    cells: list[tuple[int, int, float]] = []
    for i in range(n):
        middle = i * m // n
        scores = likeness.scores(i, range(max(0, middle - reach), min(m, middle + reach + 1)))
        cells += ((i, j, scores[j]) for j in sorted(scores, reverse=True))
    return _heaviest_chain(cells, m)


class _Likeness:
    """Similarities of old and new blocks, ALIKE to 100; remembers the token pairs of long ones."""

    def __init__(self, old: Sequence[Block], new: Sequence[Block]) -> None:
        self._old, self._new = old, new
        self._alone = len(old) == len(new) == 1
        self._texts = [None if len(block.text) > LONG_CHARS else block.text for block in new]
        self._long = [j for j, text in enumerate(self._texts) if text is None]
        self._known: dict[str, frozenset[tuple[str, str]]] = {}

    def scores(self, i: int, among: range) -> dict[int, float]:
        """Of the old block *i* and those *among* the new ones that are like it."""
        text = self._old[i].text
        if len(text) > LONG_CHARS:
            return self._by_shared_pairs(text, among)
        there = self._texts[among.start : among.stop]
        # One query against many texts is prepared once: three times as fast as a call for each of them.
        found = process.extract(text, there, scorer=fuzz.ratio, processor=None, limit=None, score_cutoff=ALIKE)
        scores = {among.start + place: score for _, score, place in found}
        scores |= self._by_shared_pairs(text, [j for j in self._long if j in among])
        if len(text) <= SHORT_CHARS:
            scores |= dict.fromkeys((j for j in among if j not in scores and self._in_one_place(i, j)), ALIKE)
        return scores

    def _in_one_place(self, i: int, j: int) -> bool:
        old, new = self._old[i], self._new[j]
        return len(new.text) <= SHORT_CHARS and (self._alone or (old.path != "" and old.path == new.path))

    def _by_shared_pairs(self, text: str, among: Iterable[int]) -> dict[int, float]:
        scores = {j: self._shared_pairs(text, self._new[j].text) for j in among}
        return {j: score for j, score in scores.items() if score >= ALIKE}

    def _shared_pairs(self, a: str, b: str) -> float:
        if 3 * min(len(a), len(b)) < max(len(a), len(b)):
            return 0.0
        ours, theirs = self._pairs(a), self._pairs(b)
        return 200.0 * len(ours & theirs) / ((len(ours) + len(theirs)) or 1)

    def _pairs(self, text: str) -> frozenset[tuple[str, str]]:
        if text not in self._known:
            words = [token for token in tokens(text) if not token.isspace()]
            self._known[text] = frozenset(pairwise(words))
        return self._known[text]


def _heaviest_chain(cells: Sequence[tuple[int, int, float]], width: int) -> Pairs:
    """The chain, growing in both coordinates, with the highest sum: a Fenwick tree of prefix maxima, k·log(width).

    *cells* come row by row, each row from the right, so that no cell builds on its own row.
    """
    tree: list[tuple[float, int]] = [(0.0, -1)] * (width + 1)
    before: list[int] = []

    def best(upto: int) -> tuple[float, int]:
        found = (0.0, -1)
        while upto > 0:
            if tree[upto][0] > found[0]:
                found = tree[upto]
            upto -= upto & -upto
        return found

    for number, (_, j, score) in enumerate(cells):
        total, last = best(j)
        before.append(last)
        k = j + 1
        while k <= width:
            if total + score > tree[k][0]:
                tree[k] = (total + score, number)
            k += k & -k
    chain: Pairs = []
    _, number = best(width)
    while number >= 0:
        chain.append(cells[number][:2])
        number = before[number]
    return chain[::-1]
