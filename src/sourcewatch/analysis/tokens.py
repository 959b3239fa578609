"""Cuts text into the tokens that a diff may change as a whole."""

from __future__ import annotations

import re

CJK = (
    "\u2e80-\u2fff\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u3105-\u312f\u31a0-\u31bf\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
# Combining marks are no letters to `re`; without them Hindi, Arabic, Thai and NFD words fall into pieces.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    "\u0900-\u0903\u093a-\u094f\u0981-\u0983\u09bc-\u09cd\u0b82\u0bbe-\u0bcd\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
)
_DIGITS = r"\d+(?:[.,:/]\d+)*[%\u2030\uff05\u00b0]?"
_NUMBER = (
    rf"(?:(?<![\w.)\]%])[+\-\u2212])?[$\u20ac\u00a3\u00a5\uffe5]?{_DIGITS}(?:[-\u2013\u2014~\uff5e\u301c]{_DIGITS})*"
)
_LETTER = rf"[^\W\d_{CJK}][{_MARKS}]*"
_WORD = rf"(?:{_LETTER})+(?:['\u2019-](?:{_LETTER})+)*"
_PICTURE = "[\u2600-\u27bf\U0001f000-\U0001faff][\ufe0f\U0001f3fb-\U0001f3ff]*"
_EMOJI = rf"{_PICTURE}(?:\u200d{_PICTURE})*"
_TOKEN = re.compile(rf"{_NUMBER}|[{CJK}]|{_WORD}|\s+|{_EMOJI}|.", re.DOTALL)


def tokens(text: str) -> list[str]:
    """One CJK character, one Latin word, one whole number (155, −4.5, 4–7%, 1,234.5, 2025-12-03, $5) is one token.

    White space and emoji sequences are single tokens too. `"".join(tokens(text)) == text` for any text. Chinese is not
    cut into words: a dictionary would change the result between its releases.
    """
    return _TOKEN.findall(text)
