"""Rewrites a text by steps, at full speed or with a note of where every character came from.

A page is rewritten at full speed; where a quote is found, the few hundred characters around it are rewritten again with
the notes. Both ways run the same steps, so that they can't disagree.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(slots=True)
class Traced:
    """A text whose character *i* was made of the source's characters from *starts[i]* up to *ends[i]*."""

    text: str
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, text: str) -> Traced:
        return cls(text, list(range(len(text))), list(range(1, len(text) + 1)))

    def cut(self, pieces: Sequence[tuple[int, int, str]]) -> Traced:
        """The same text with each stretch (start, end) rewritten; the stretches stand in order and don't overlap."""
        rewritten = Traced("")
        texts: list[str] = []
        done = 0
        for start, end, text in [*pieces, (len(self.text), len(self.text), "")]:
            texts += [self.text[done:start], text]
            rewritten.starts += self.starts[done:start]
            rewritten.ends += self.ends[done:start]
            if text:
                rewritten.starts += [self.starts[start]] * len(text)
                rewritten.ends += [self.ends[end - 1]] * len(text)
            done = end
        rewritten.text = "".join(texts)
        return rewritten


class Step(Protocol):
    def fast(self, text: str) -> str: ...

    def traced(self, text: Traced) -> Traced: ...


@dataclass(frozen=True, slots=True)
class Translate:
    """Every character by itself; *table* has an answer for every code point, None where one goes.

    None rather than "": `str.translate` then reads ASCII at twenty times the speed.
    """

    table: Mapping[int, str | None]

    def fast(self, text: str) -> str:
        return text.translate(self.table)

    def traced(self, text: Traced) -> Traced:
        changed = ((i, i + 1, self.table[ord(c)] or "") for i, c in enumerate(text.text))
        return text.cut([(i, end, new) for i, end, new in changed if new != text.text[i]])


@dataclass(frozen=True, slots=True)
class Substitute:
    pattern: re.Pattern[str]
    new: Callable[[re.Match[str]], str]

    def fast(self, text: str) -> str:
        return self.pattern.sub(self.new, text)

    def traced(self, text: Traced) -> Traced:
        return text.cut([(m.start(), m.end(), self.new(m)) for m in self.pattern.finditer(text.text)])


@dataclass(frozen=True, slots=True)
class Compose:
    """Unicode normal form C; a letter with its marks is one stretch."""

    def fast(self, text: str) -> str:
        return unicodedata.normalize("NFC", text)

    def traced(self, text: Traced) -> Traced:
        if unicodedata.is_normalized("NFC", text.text):
            return text
        pieces: list[tuple[int, int, str]] = []
        start = 0
        for i in range(1, len(text.text) + 1):
            if i == len(text.text) or separable(text.text[start:i], text.text[i]):
                pieces.append((start, i, self.fast(text.text[start:i])))
                start = i
        return text.cut(pieces)


def separable(before: str, character: str) -> bool:
    """Whether normal form C of both together is that of each by itself."""
    if unicodedata.combining(character):
        return False
    alone = unicodedata.normalize("NFC", before) + unicodedata.normalize("NFC", character)
    return unicodedata.normalize("NFC", before + character) == alone


def fast(text: str, steps: Sequence[Step]) -> str:
    for step in steps:
        text = step.fast(text)
    return text


def traced(text: Traced, steps: Sequence[Step]) -> Traced:
    for step in steps:
        text = step.traced(text)
    return text
