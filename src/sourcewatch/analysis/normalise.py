"""Two forms of a text in which quotes are looked for: *typographic*, and the coarser *folded*.

typographic: width, quotes, dashes, white space (none beside CJK characters), zero-width characters, CJK radicals.
folded, of the former: case, punctuation, traditional characters, notation of numbers, spaces.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from importlib.resources import files

from sourcewatch.analysis.numbers import NUMBER, value
from sourcewatch.analysis.tokens import CJK
from sourcewatch.analysis.trace import Compose, Step, Substitute, Translate, fast

_QUOTES = dict.fromkeys("“”„‟«»「」『』〝〞＂", '"') | dict.fromkeys("‘’‚‛′＇`´", "'")
_DASHES = dict.fromkeys("‐‑‒–—―−﹘－〜～∼~", "-") | {"⸺": "--", "⸻": "---"}
_POINTS = {"。": ".", "｡": ".", "、": ",", "…": "...", "•": "·", "・": "·", "⁄": "/", "∕": "/"}
# NFKC makes 102 of 10².
_RAISED = {c: "^" + d for c, d in zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True)}
_LOWERED = {c: "_" + d for c, d in zip("₀₁₂₃₄₅₆₇₈₉", "0123456789", strict=True)}
# CJK radicals that NFKC leaves alone; text of PDFs made from Noto CJK has them in place of the ideographs.
_RADICALS = dict(
    zip(
        "⺟⻁⻄⻅⻆⻈⻉⻋⻓⻔⻘⻙⻚⻛⻜⻝⻢⻣⻤⻥⻦⻧⻨⻩⻪⻬⻮⻰⻳⺁⺋",
        "母虎西见角讠贝车长门青韦页风飞食马骨鬼鱼鸟卤麦黄黾齐齿龙龟厂卩",
        strict=True,
    )
)
_PLAIN = _QUOTES | _DASHES | _POINTS | _RAISED | _LOWERED | _RADICALS
# Signs inside numbers, while punctuation is taken away. Typographic text has spaces where the page had such characters.
_PUT_BY = dict(zip(".:/_-", "\x1c\x1d\x1e\x1f\x0b", strict=True))
_BACK = {mark: sign for sign, mark in _PUT_BY.items()}
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff]")
_CJK_CHARACTER = re.compile(f"[{CJK}]")


class _Typographic(dict[int, str]):
    def __missing__(self, code: int) -> str:
        character = chr(code)
        if _UNSEEN.match(character):
            plain = ""
        elif character in _PLAIN:
            plain = _PLAIN[character]
        elif character.isspace():
            plain = " "
        else:
            wide = unicodedata.normalize("NFKC", character)
            plain = "".join(" " if c.isspace() else "" if _UNSEEN.match(c) else _PLAIN.get(c, c) for c in wide)
        self[code] = plain
        return plain


class _Simplified(dict[int, str]):
    def __missing__(self, code: int) -> str:
        plain = self[code] = _simplified().get(chr(code), chr(code))
        return plain


class _Bare(dict[int, str | None]):
    """Small letters, simplified, no punctuation but what is part of a number; brings back what was put by."""

    def __missing__(self, code: int) -> str | None:
        character = chr(code)
        plain: str | None = None
        if character in _BACK:
            plain = _BACK[character]
        elif character.isalnum() or character in "%‰$€£¥+<>=/^":
            plain = _simplified().get(character, character).casefold()
        self[code] = plain
        return plain


@cache
def _simplified() -> dict[str, str]:
    rows = files("sourcewatch.analysis").joinpath("data/traditional_simplified.tsv").read_text("utf-8").splitlines()
    # OpenCC has 看著 as a phrase; as a class of equals one character is enough.
    return {"著": "着"} | dict(row.split("\t") for row in rows if not row.startswith("#"))


def _nothing(_: re.Match[str]) -> str:
    return ""


def _space(_: re.Match[str]) -> str:
    return " "


def _valued(match: re.Match[str]) -> str:
    number = value(match)
    return match.group() if number is None else number


def _put_by(match: re.Match[str]) -> str:
    return _PUT_BY[match.group()]


TYPOGRAPHIC: tuple[Step, ...] = (
    Compose(),
    Translate(_Typographic()),
    Substitute(re.compile("  +"), _space),
    Substitute(re.compile(f" (?:(?<=^ )|(?<=[{CJK}] )|(?=[{CJK}])|$)"), _nothing),
)
SIMPLIFIED = Translate(_Simplified())
FOLDED: tuple[Step, ...] = (
    Substitute(
        re.compile(r"[Tt](?<![A-Za-z].)(?i:ok(?:en)?s?(?: ?/ ?| per )s(?:ec(?:ond)?)?)(?![A-Za-z])"), lambda _: "tok/s"
    ),
    Substitute(NUMBER, _valued),
    # Without punctuation 4.5 would be 45, and -5 would be 5.
    Substitute(re.compile(r"[.:/_-](?<=\d.)(?=\d)|-(?<![\w)%\]-].)(?=[\d.])"), _put_by),
    Translate(_Bare()),
)


def typographic(text: str) -> str:
    return fast(text, TYPOGRAPHIC)


def simplified(text: str) -> str:
    return SIMPLIFIED.fast(text)


def folded(text: str) -> str:
    """Of a text in typographic form."""
    return fast(text, FOLDED)


def is_cjk(character: str) -> bool:
    return bool(_CJK_CHARACTER.match(character))
