"""Tells where a text must not be cut: inside a number or a word."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from sourcewatch.analysis.tokens import tokens

_HAN_DIGITS = "〇零一二两兩三四五六七八九"
_HAN_SCALES = "十百千万亿萬億"
# "55 万亿" is no part of "155 万亿", "4" none of "4.5", "5%" none of "−5%", "155 万" none of "155 万亿".
_NUMBER = re.compile(
    rf"(?:(?<![\w)%\]—–−-])[-−])?\d{{1,40}}(?:[.,]\d{{1,40}}){{0,9}}|[万萬]\s?[亿億]|[{_HAN_DIGITS}{_HAN_SCALES}]{{2,20}}"
)
_REACH = 48
# How far beyond its likeness the first or last word of a quote is looked for, within a sentence.
_LOST_CHARS = 24
_SENTENCE_END = set("。！？.!?\n")


def whole(text: str, start: int, end: int) -> bool:
    """Whether neither end of the stretch cuts a number or a word."""
    return around(text, start) is None and around(text, end) is None


def grown(text: str, start: int, end: int) -> tuple[int, int]:
    """The stretch with the numbers and words that its ends cut."""
    left, right = around(text, start), around(text, end)
    return (left[0] if left else start), (right[1] if right else end)


def regained(text: str, span: tuple[int, int], exact: str) -> tuple[int, int]:
    """The stretch with the first and the last word of the quote *exact*, where an insertion parted them from the rest.

    "We [do not] keep" is nearest to "We keep" without its first word. A number at either end may be another one.
    """
    start, end = span
    ours = [token for token in tokens(exact) if token[0].isalnum()]
    theirs = [token for token in tokens(text[start:end]) if token[0].isalnum()]
    if not ours or not theirs:
        return span
    if ours[0].casefold() != theirs[0].casefold():
        start -= _distance(tokens(text[max(0, start - _LOST_CHARS) : start])[::-1], ours[0])
    if ours[-1].casefold() != theirs[-1].casefold():
        end += _distance(tokens(text[end : end + _LOST_CHARS]), ours[-1])
    return start, end


def _distance(nearest_first: Sequence[str], lost: str) -> int:
    """Characters up to the end of the lost word, 0 where it is not in the same sentence."""
    length = 0
    for place, token in enumerate(nearest_first):
        length += len(token)
        if not _SENTENCE_END.isdisjoint(token) and not token[0].isdecimal():
            return 0
        if token.casefold() == lost.casefold() or (place < 3 and lost[0].isdecimal() and token[0].isdecimal()):
            return length
    return 0


def around(text: str, place: int) -> tuple[int, int] | None:
    """The number or word that goes over *place*, as far as it can be seen from there, or None."""
    if not 0 < place < len(text):
        return None
    before, after = text[place - 1], text[place]
    if (_spaced_letter(before) and _spaced_letter(after)) or unicodedata.combining(after):
        return _word(text, place)
    if before.isspace() and after not in "亿億":
        return None
    start = max(0, place - _REACH)
    for m in _NUMBER.finditer(text, start, place + _REACH):
        if m.start() >= place:
            break
        if place < m.end() and _is_number(m.group()):
            return m.start(), m.end()
    return None


def _is_number(text: str) -> bool:
    """A row of Chinese digits may also be words (唯一一个): it takes a digit and a scale, or 万亿."""
    has_digit = any(c in _HAN_DIGITS or c == "十" for c in text)
    has_scale = any(c in _HAN_SCALES for c in text)
    return text[0].isdecimal() or text[0] in "-−" or (has_scale and (has_digit or text[0] in "万萬"))


def _spaced_letter(character: str) -> bool:
    """A letter of a script that puts spaces between words; Thai, Chinese, Japanese and Korean particles do not."""
    return character.isalpha() and (character < "\u0e00" or "\u1e00" <= character < "\u2000")


def _word(text: str, place: int) -> tuple[int, int]:
    start = end = place
    while start > max(0, place - _REACH) and _of_word(text[start - 1]):
        start -= 1
    while end < min(len(text), place + _REACH) and _of_word(text[end]):
        end += 1
    return start, end


def _of_word(character: str) -> bool:
    return _spaced_letter(character) or bool(unicodedata.combining(character))
