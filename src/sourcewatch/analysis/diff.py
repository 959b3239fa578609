"""Finds the edits between two lists of blocks: whole blocks first, then tokens inside the blocks that changed.

The same two texts give the same edits on any machine: there is no limit in seconds, only limits of size.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from zlib import crc32

from diff_match_patch import diff_match_patch

from sourcewatch.analysis.align import Run, align, interned
from sourcewatch.analysis.pairing import pair
from sourcewatch.analysis.tokens import tokens
from sourcewatch.domain.change import Edit, EditKind, Op, Part
from sourcewatch.domain.document import Block

DIFFER = "blocks+tokens@1"

# Shorter equal blocks ("Yes", "12") are not one block that moved.
MOVED_CHARS = 8
# From here on a block (a page without structure is one) is cut into pieces before its tokens are compared.
LONG_CHARS = 8_000
# Interned tokens are CJK code points: all of one character class, so that the semantic cleanup has no edges to prefer.
# LONG_CHARS tokens at most, so that no surrogate is reached.
_FIRST = 0x4E00

_dmp = diff_match_patch()
_dmp.Diff_Timeout = 0


def edits(old: Sequence[Block], new: Sequence[Block]) -> tuple[Edit, ...]:
    """The edits that turn *old* into *new*, in the order of the new blocks; only texts are compared.

    Unchanged blocks have no edit: they fill, in order, the new positions that no edit names (see `apply`).
    """
    olds, news = [b.text for b in old], [b.text for b in new]
    placed: list[tuple[tuple[int, int, int], Edit]] = []
    runs = align(*interned(olds, news))
    gone = [i for run in runs for i in run.old]
    came = [j for run in runs for j in run.new]
    moved = _moves(olds, news, gone, came)
    arrived = set(moved.values())
    for run in runs:
        left = [i for i in run.old if i not in moved]
        right = [j for j in run.new if j not in arrived]
        paired = pair([old[i] for i in left], [new[j] for j in right])
        pairs = {left[x]: right[y] for x, y in paired}
        at = run.new.start
        for i in run.old:
            if i in pairs:
                at = pairs[i] + 1
                placed.append(((pairs[i], 1, 0), _replaced(old, new, i, pairs[i])))
            elif i not in moved:
                parts = (Part(Op.DELETE, olds[i]),)
                placed.append(((at, 0, i), Edit(EditKind.DELETED, i, None, parts, old[i].label)))
        for j in set(right) - set(pairs.values()):
            placed.append(((j, 1, 0), Edit(EditKind.INSERTED, None, j, (Part(Op.INSERT, news[j]),), new[j].label)))
    for i, j in moved.items():
        placed.append(((j, 1, 0), Edit(EditKind.MOVED, i, j, (Part(Op.EQUAL, news[j]),), new[j].label)))
    placed.sort(key=lambda entry: entry[0])
    return tuple(edit for _, edit in placed)


def apply(edits: Sequence[Edit], old_texts: Sequence[str]) -> list[str]:
    """The new texts. `apply(edits(a, b), texts(a)) == texts(b)` for any texts."""
    left = {e.old for e in edits if e.old is not None}
    arrived = {e.new: "".join(p.text for p in e.parts if p.op is not Op.DELETE) for e in edits if e.new is not None}
    kept = (text for i, text in enumerate(old_texts) if i not in left)
    count = len(old_texts) - len(left) + len(arrived)
    return [arrived[j] if j in arrived else next(kept) for j in range(count)]


def text_edits(old: str, new: str) -> tuple[Edit, ...]:
    """The edits between two plain texts, line by line."""
    return edits([Block(line) for line in old.split("\n")], [Block(line) for line in new.split("\n")])


def token_parts(old: str, new: str) -> tuple[Part, ...]:
    """How *old* becomes *new*, in whole tokens, tidied as people read it.

    The tidying is diff-match-patch's semantic cleanup: an equality no longer (in tokens) than the edits around it is
    noise, such as "the" between two new words.
    """
    if len(old) + len(new) > LONG_CHARS:
        return _long_parts(old, new)
    a, b = tokens(old), tokens(new)
    ids_a, ids_b = interned(a, b)
    words = list(dict.fromkeys(a + b))  # the order in which they were numbered
    coded_a, coded_b = ("".join([chr(_FIRST + number) for number in ids]) for ids in (ids_a, ids_b))
    diffs = [(int(op), text) for op, text in _told(coded_a, coded_b, align(ids_a, ids_b))]
    _dmp.diff_cleanupSemantic(diffs)
    return tuple(Part(Op(op), "".join([words[ord(c) - _FIRST] for c in text])) for op, text in diffs)


def _replaced(old: Sequence[Block], new: Sequence[Block], i: int, j: int) -> Edit:
    return Edit(EditKind.REPLACED, i, j, token_parts(old[i].text, new[j].text), new[j].label)


def _told(a: Sequence[str], b: Sequence[str], runs: Sequence[Run]) -> Iterator[tuple[Op, str]]:
    """The equal, deleted and inserted stretches in order, none of them empty."""
    done = 0
    for run in [*runs, Run(range(len(a), len(a)), range(0))]:
        stretches = (
            (Op.EQUAL, a[done : run.old.start]),
            (Op.DELETE, a[run.old.start : run.old.stop]),
            (Op.INSERT, b[run.new.start : run.new.stop]),
        )
        yield from ((op, "".join(texts)) for op, texts in stretches if texts)
        done = run.old.stop


def _long_parts(old: str, new: str) -> tuple[Part, ...]:
    """Like `token_parts`, for texts too long to compare token by token: piece by piece first."""
    a, b = pieces(old), pieces(new)
    parts: list[Part] = []
    for op, text in _told(a, b, align(*interned(a, b))):
        last = parts[-1] if parts else None
        if op is Op.INSERT and last and last.op is Op.DELETE and len(last.text) + len(text) <= LONG_CHARS:
            parts[-1:] = token_parts(last.text, text)
        else:
            parts.append(Part(op, text))
    return tuple(parts)


def pieces(text: str) -> list[str]:
    """Sentences; without any, cuts that the tokens decide, so that an insertion moves only one of them."""
    found: list[str] = []
    piece: list[str] = []
    for token in tokens(text):
        piece.append(token)
        ended = token in "。！？；.!?;\n" and len(piece) >= 8
        chosen = len(piece) >= 64 and crc32(token.encode("utf-8", "surrogatepass")) % 16 == 0
        if ended or chosen or len(piece) >= 512:
            found.append("".join(piece))
            piece = []
    return [*found, "".join(piece)] if piece else found


def _moves(olds: Sequence[str], news: Sequence[str], gone: Sequence[int], came: Sequence[int]) -> dict[int, int]:
    """Blocks whose text left one place and arrived in another."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for j in reversed(came):
        places[news[j]].append(j)
    return {i: places[olds[i]].pop() for i in gone if len(olds[i]) >= MOVED_CHARS and places.get(olds[i])}
