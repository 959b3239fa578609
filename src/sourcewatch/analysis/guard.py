"""Keeps noise rules away from the texts that the site relies on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sourcewatch.analysis.normalise import folded, typographic
from sourcewatch.domain.change import Edit, EditKind, Op

# A whole block that a longer quote holds; shorter blocks ("and", "2025") stand in any quote.
LEAST_CHARS = 8

Span = tuple[int, int]


class Guard:
    """Quotes, prefixes and suffixes that no rule may hide."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = [(text, folded(typographic(text))) for text in texts if text.strip()]

    def touched_by(self, edit: Edit) -> bool:
        """Whether the edit lies in or at one of the texts, on its old or its new side."""
        return bool(self._texts) and any(self._touched(edit, side) for side in (Op.DELETE, Op.INSERT))

    def _touched(self, edit: Edit, side: Op) -> bool:
        block = "".join(part.text for part in edit.parts if part.op in (Op.EQUAL, side))
        places = list(self._places(block))
        if edit.kind is EditKind.MOVED:
            return bool(places)
        return any(start <= stop and begin <= end for start, end in _changed(edit, side) for begin, stop in places)

    def _places(self, block: str) -> Iterator[Span]:
        coarse = folded(typographic(block))
        for text, plain in self._texts:
            if text in block:
                start = block.find(text)
                while start >= 0:
                    yield start, start + len(text)
                    start = block.find(text, start + len(text))
            elif (plain and plain in coarse) or (len(coarse) >= LEAST_CHARS and coarse in plain):
                yield 0, len(block)


def _changed(edit: Edit, side: Op) -> Iterator[Span]:
    """What changed, as places in one side's text; on the old side an insertion is a place without length."""
    place = 0
    for part in edit.parts:
        length = len(part.text) if part.op in (Op.EQUAL, side) else 0
        if part.op is not Op.EQUAL:
            yield place, place + length
        place += length
