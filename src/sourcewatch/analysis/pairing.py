"""Finds which of the blocks that differ are one block that changed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rapidfuzz import fuzz

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
    alike = _Likeness(alone=n == m == 1)
    cells: list[tuple[int, int, float]] = []
    for i in range(n):
        middle = i * m // n
        for j in range(min(m, middle + reach + 1) - 1, max(0, middle - reach) - 1, -1):
            if score := alike(old[i], new[j]):
                cells.append((i, j, score))
    return _heaviest_chain(cells, m)


class _Likeness:
    """Similarity of two blocks, 0 (different) to 100; remembers the token pairs of long ones."""

    def __init__(self, *, alone: bool) -> None:
        self._alone = alone
        self._known: dict[str, frozenset[tuple[str, str]]] = {}

    def __call__(self, old: Block, new: Block) -> float:
        a, b = old.text, new.text
        longest = max(len(a), len(b))
        if longest > LONG_CHARS:
            return self._shared_pairs(a, b)
        score = fuzz.ratio(a, b, score_cutoff=ALIKE)
        if not score and longest <= SHORT_CHARS and (self._alone or (old.path and old.path == new.path)):
            return ALIKE
        return score

    def _shared_pairs(self, a: str, b: str) -> float:
        if 3 * min(len(a), len(b)) < max(len(a), len(b)):
            return 0.0
        ours, theirs = self._pairs(a), self._pairs(b)
        score = 200.0 * len(ours & theirs) / ((len(ours) + len(theirs)) or 1)
        return score if score >= ALIKE else 0.0

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
