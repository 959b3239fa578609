"""Finds the stretches in which two sequences differ."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Indel

# Indel keeps n·m bits: 50 MB at most. Longer sequences are first cut at what is unique on both sides.
MOST_CELLS = 20_000 * 20_000


@dataclass(frozen=True, slots=True)
class Run:
    """Indices that differ: *old* was replaced by *new*; either may be empty, what lies between two runs is equal."""

    old: range
    new: range


def interned(old: Sequence[str], new: Sequence[str]) -> tuple[list[int], list[int]]:
    """Both sequences as small numbers, equal exactly where the texts are."""
    numbers: dict[str, int] = {}
    ours = [numbers.setdefault(text, len(numbers)) for text in old]
    return ours, [numbers.setdefault(text, len(numbers)) for text in new]


def align(old: Sequence[int], new: Sequence[int]) -> list[Run]:
    """The runs between the parts that both share; least insertions and deletions up to 20,000 times 20,000.

    Above that, between anchors that occur once on each side; a gap that is still too large is one run.
    """
    if old == new:
        return []
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    if len(a) * len(b) <= MOST_CELLS:
        runs = _indel(a, b)
    else:
        runs = _by_anchors(a, b)
    return [_shift(run, head, head) for run in runs]


def _common(a: Sequence[int], b: Sequence[int]) -> int:
    return next((n for n, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))


def _shift(run: Run, old: int, new: int) -> Run:
    return Run(range(run.old.start + old, run.old.stop + old), range(run.new.start + new, run.new.stop + new))


def _indel(a: Sequence[int], b: Sequence[int]) -> list[Run]:
    runs: list[Run] = []
    for op in Indel.opcodes(a, b):
        if op.tag == "equal":
            continue
        last = runs[-1] if runs else None
        if last and (last.old.stop, last.new.stop) == (op.src_start, op.dest_start):
            runs[-1] = Run(range(last.old.start, op.src_end), range(last.new.start, op.dest_end))
        else:
            runs.append(Run(range(op.src_start, op.src_end), range(op.dest_start, op.dest_end)))
    return runs


def _by_anchors(a: Sequence[int], b: Sequence[int]) -> list[Run]:
    """Patience diff's first step (Bram Cohen): the longest chain of elements that are unique on both sides."""
    runs: list[Run] = []
    i = j = 0
    for x, y in [*_anchors(a, b), (len(a), len(b))]:
        gap_a, gap_b = a[i:x], b[j:y]
        if len(gap_a) * len(gap_b) <= MOST_CELLS:
            runs += [_shift(run, i, j) for run in _indel(gap_a, gap_b)]
        else:
            runs.append(Run(range(i, x), range(j, y)))
        i, j = x + 1, y + 1
    return runs


def _anchors(a: Sequence[int], b: Sequence[int]) -> list[tuple[int, int]]:
    once_a, once_b = Counter(a), Counter(b)
    place = {x: j for j, x in enumerate(b) if once_b[x] == 1}
    pairs = [(i, place[x]) for i, x in enumerate(a) if once_a[x] == 1 and x in place]
    ends: list[int] = []
    chain: list[int] = []
    before: list[int] = []
    for k, (_, j) in enumerate(pairs):
        length = bisect_left(ends, j)
        before.append(chain[length - 1] if length else -1)
        ends[length : length + 1] = [j]
        chain[length : length + 1] = [k]
    path: list[tuple[int, int]] = []
    k = chain[-1] if chain else -1
    while k >= 0:
        path.append(pairs[k])
        k = before[k]
    return path[::-1]
