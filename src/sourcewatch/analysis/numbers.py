"""Reads numbers by their value: 155T, 155 trillion, 155 万亿 and 一百五十五万亿 are one number.

Texts come in the typographic form of `normalise`, in simplified or traditional characters.
"""

from __future__ import annotations

import re
from math import prod
from typing import NamedTuple

_HAN_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2, "兩": 2}
_HAN_TENS = {"十": 10, "百": 100, "千": 1000}
_MYRIADS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12}
_WORDS = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_LETTERS = {"k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9, "T": 10**12}

MOST_DIGITS = 16  # a number longer than this is a name
_HAN = "〇零一二两兩三四五六七八九"
# Every quantifier over digits is bounded: a page may hold 900,000 of them in a row.
NUMBER = re.compile(
    rf"""
    (?=[\d.百十千{_HAN}-])(?<![A-Za-z\d^_])(?<!\d\.)
    (?:
      (?P<hundredths>百分之)?
      (?:(?<![\w)%\]-])(?P<minus>-))?
      (?P<digits>\d{{1,3}}(?:,\d{{3}}){{1,12}}(?!\d)(?:\.\d{{1,40}})?|\d{{1,40}}(?:\.\d{{1,40}})?
        |(?<=[ (<>=])\.\d{{1,40}})
      (?:\ ?(?P<scale>[百千]?(?:[万萬][亿億]|[万萬亿億兆])|[百千](?!分)
        |(?i:thousand|million|billion|trillion)(?![A-Za-z]))
        |(?P<letter>[kKMBT])(?![A-Za-z\d]))?
      (?:\ ?(?P<percent>%|(?i:percent|per\ cent)(?![A-Za-z])))?
    |
      (?P<han_hundredths>百分之)?
      (?P<han>[{_HAN}十百千](?=[{_HAN}十百千万萬亿億兆])[{_HAN}十百千万萬亿億兆]{{1,24}}|(?<=百分之)[{_HAN}十])
    )
    """,
    re.VERBOSE,
)
# Names that carry a digit (SM100, V4.1-Flash, GPT-4o), powers (10^2), versions and addresses of three and more parts.
_NAME = re.compile(
    r"(?<![A-Za-z\d])[A-Za-z]{1,20}[-.]?\d[A-Za-z\d]{0,20}(?:[.-][A-Za-z\d]{1,20}){0,6}"
    r"|(?<![\d.])\d{1,9}(?:[\^_]\d{1,9}|(?:\.\d{1,9}){2,6})"
)


class Fact(NamedTuple):
    """A number or a name with digits. *value* decides about equality, *text* is how it stands there."""

    value: str
    text: str


def facts(text: str) -> list[Fact]:
    """All of them in their order."""
    found = [(m.start(), m.end(), Fact(m.group().casefold(), m.group())) for m in _NAME.finditer(text)]
    taken = {place for start, end, _ in found for place in range(start, end)}
    for m in NUMBER.finditer(text):
        number = value(m)
        if number is not None and m.start() not in taken and m.end() - 1 not in taken:
            found.append((m.start(), m.end(), Fact(number, m.group())))
    return [fact for _, _, fact in sorted(found)]


def value(match: re.Match[str]) -> str | None:
    """The value of a match of `NUMBER`, or None where the characters only look like one (千万别).

    Plain digits, many trailing zeros as an exponent ("155e12"), then "%".
    """
    han, digits, minus, scale, letter = match.group("han", "digits", "minus", "scale", "letter")
    if han:
        number = _han(han)
        return None if number is None else _plain(str(number)) + ("%" if match["han_hundredths"] else "")
    digits = digits.replace(",", "")
    if len(digits) <= MOST_DIGITS:
        digits = _plain(digits, _LETTERS[letter] if letter else _scale(scale) if scale else 1)
    return (minus or "") + digits + ("%" if match["percent"] or match["hundredths"] else "")


def _plain(digits: str, scale: int = 1) -> str:
    """*digits* × *scale* without zeros that say nothing; by whole numbers, for a page holds a thousand of them."""
    whole, _, fraction = digits.partition(".")
    number = str(int(whole + fraction) * scale)
    if fraction:
        places = len(fraction)
        number = number.zfill(places + 1)
        number, rest = number[:-places], number[-places:].rstrip("0")
        if rest:
            return f"{number}.{rest}"
    kept = number.rstrip("0")
    zeros = len(number) - len(kept)
    return f"{kept}e{zeros}" if kept and zeros >= 4 else number


def _scale(unit: str) -> int:
    if unit.isascii():
        return _WORDS.get(unit.casefold(), 1)
    return prod((_HAN_TENS | _MYRIADS)[c] for c in unit)


def _han(text: str) -> int | None:
    if not any(c in _HAN_DIGITS or c == "十" for c in text):
        return None
    if all(c in _HAN_DIGITS for c in text):
        # 二〇二五 is a year; 第二，一个 without its comma is no 21.
        return int("".join(str(_HAN_DIGITS[c]) for c in text)) if len(text) >= 4 else None
    total = section = digit = 0
    for c in text:
        if c in _HAN_DIGITS:
            digit = _HAN_DIGITS[c]
        elif c in _HAN_TENS:
            section += (digit or 1) * _HAN_TENS[c]
            digit = 0
        else:
            total = (total + section + digit) * _MYRIADS[c] if c not in "万萬" else total + (section + digit) * 10**4
            section = digit = 0
    return total + section + digit
