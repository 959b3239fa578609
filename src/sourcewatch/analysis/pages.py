"""Holds the layers of a document ready for many quotes: normalised once, with a way back from any hit to its place."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from sourcewatch.analysis.grams import MOST_CHARS, Grams
from sourcewatch.analysis.grams import PIECE_CHARS as GRAM_PIECE
from sourcewatch.analysis.normalise import FOLDED, TYPOGRAPHIC, folded, is_cjk, typographic
from sourcewatch.analysis.trace import Step, Traced, separable, traced
from sourcewatch.domain.document import VISIBLE, Document, Label

# Characters that are normalised again, with offsets, where something is found: 0.2 ms.
PIECE_CHARS = 256
_CUTS = ("\n", ". ", "。", ", ", "，", " ")


class Form(Enum):
    """As it is, and as `normalise` has it."""

    RAW = "raw"
    TYPOGRAPHIC = "typographic"
    FOLDED = "folded"


@dataclass(frozen=True, slots=True)
class _Made:
    """A rewritten text; its piece *n* begins at *starts[n]* and was made of the layer's piece *pieces[n]*."""

    text: str
    starts: Sequence[int]
    pieces: Sequence[int]


class Layer:
    """One text of a document, in three forms."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self._cuts = list(_cuts(text))
        self._traced: dict[tuple[int, int], Traced] = {}

    @cached_property
    def _typographic_pieces(self) -> list[str]:
        return [typographic(self.text[start:end]) for start, end in self._cuts]

    @cached_property
    def _typographic(self) -> _Made:
        texts: list[str] = []
        starts: list[int] = []
        pieces: list[int] = []
        length = 0
        spaced = False
        for number, (piece, (_, end)) in enumerate(zip(self._typographic_pieces, self._cuts, strict=True)):
            if piece:
                if texts and spaced and not is_cjk(texts[-1][-1]) and not is_cjk(piece[0]):
                    texts.append(" ")
                    length += 1
                texts.append(piece)
                starts.append(length)
                pieces.append(number)
                length += len(piece)
                spaced = False
            spaced = spaced or any(c.isspace() for c in self.text[end - 1 : end + 1])
        return _Made("".join(texts), starts, pieces)

    @cached_property
    def _folded(self) -> _Made:
        texts = [folded(piece) for piece in self._typographic_pieces]
        starts = [0]
        for text in texts:
            starts.append(starts[-1] + len(text))
        return _Made("".join(texts), starts[:-1], range(len(texts)))

    @cached_property
    def grams(self) -> Grams | None:
        """Of the folded text; None where it is too long for them, or so short that it needs none."""
        folded_text = self._folded.text
        return Grams(folded_text) if 4 * GRAM_PIECE < len(folded_text) <= MOST_CHARS else None

    def reading(self, form: Form) -> str:
        match form:
            case Form.RAW:
                return self.text
            case Form.TYPOGRAPHIC:
                return self._typographic.text
            case Form.FOLDED:
                return self._folded.text

    def span(self, form: Form, start: int, end: int) -> tuple[int, int]:
        """Start and end in `text` of what a stretch (not empty) of another form was made of."""
        match form:
            case Form.RAW:
                return start, end
            case Form.TYPOGRAPHIC:
                made, steps = self._typographic, TYPOGRAPHIC
            case Form.FOLDED:
                made, steps = self._folded, (*TYPOGRAPHIC, *FOLDED)
        return self._source(made, steps, start)[0], self._source(made, steps, end - 1)[1]

    def _source(self, made: _Made, steps: Sequence[Step], place: int) -> tuple[int, int]:
        number = bisect_right(made.starts, place) - 1
        start, end = self._cuts[made.pieces[number]]
        key = (len(steps), number)
        if key not in self._traced:
            self._traced[key] = traced(Traced.of(self.text[start:end]), steps)
        piece = self._traced[key]
        within = min(place - made.starts[number], len(piece.starts) - 1)  # the space after a piece belongs to its end
        return start + piece.starts[within], start + piece.ends[within]


class Page:
    """A document's texts, the visible one first; each is normalised when a quote first needs it."""

    def __init__(self, document: Document) -> None:
        self.layers = (
            Layer("visible", "\n".join(b.text for b in document.blocks if b.label in VISIBLE)),
            *(
                Layer(label.value, "\n".join(b.text for b in document.blocks if b.label is label))
                for label in (Label.HIDDEN, Label.NOSCRIPT, Label.SCRIPT)
            ),
        )

    def layer(self, name: str) -> Layer:
        return next(layer for layer in self.layers if layer.name == name)


def _cuts(text: str) -> Iterator[tuple[int, int]]:
    """Pieces of at most about PIECE_CHARS characters; "155 million" is not cut where there is another place."""
    start = 0
    while start < len(text):
        end = start + PIECE_CHARS
        if end < len(text):
            end = next((at + len(mark) for mark in _CUTS if (at := text.rfind(mark, start, end)) > 0), end)
            while end < len(text) and not text[end - 1].isspace() and not separable(text[end - 1], text[end]):
                end += 1
        yield start, min(end, len(text))
        start = end
