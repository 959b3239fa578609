"""Labelled edits of real quotes: a page, a quote that stood on it, and how the page holds it after one known edit.

The texts are real (see corpus/README.md), the edits are drawn with a fixed seed, the labels follow from the edit.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sourcewatch.analysis.extract import extract
from sourcewatch.domain.change import SightingKind
from sourcewatch.domain.document import Block, Document, Form
from sourcewatch.domain.source import Quote

CORPUS = Path(__file__).parent / "corpus"
SEED = 20_261_020
LEAST_WORDS = 8
_SENTENCE = {
    "zh": re.compile(r"[^。！？；\n]{16,90}[。！？；]"),
    "en": re.compile(r"(?<![^\s])[A-Z][^.!?\n]{50,220}[.!?](?=\s|$)"),
}
_TRADITIONAL = str.maketrans(
    "个为义买云产亿优传们会体关军冲净创别动势区单变发号员响问图场块声备学实对导层应开张强当态总战护报择据数断无时术权条来极构标树样检气没测满点热爱"
    "现电画监确离种积类练组经结给统继续综网职觉规视计认训议记许论设评词译试话该详语说请读调负责质费资车转轮软轻载较边过运还进远连选释针链错长门间队阶"
    "际随难页项须题风飞验马龙",
    "個為義買雲產億優傳們會體關軍衝淨創別動勢區單變發號員響問圖場塊聲備學實對導層應開張強當態總戰護報擇據數斷無時術權條來極構標樹樣檢氣沒測滿點熱愛"
    "現電畫監確離種積類練組經結給統繼續綜網職覺規視計認訓議記許論設評詞譯試話該詳語說請讀調負責質費資車轉輪軟輕載較邊過運還進遠連選釋針鏈錯長門間隊階"
    "際隨難頁項須題風飛驗馬龍",
)
_WIDE, _NARROW = "，：；！？（）", ",:;!?()"


@dataclass(frozen=True, slots=True)
class Case:
    """*page* holds *quote* as *expected* says; *region* is the text that stands there now."""

    name: str
    page: Document
    quote: Quote
    expected: SightingKind
    region: str = ""


@dataclass(frozen=True, slots=True)
class _Standing:
    """A sentence where it stands: block *place* of *blocks*, with its neighbours."""

    blocks: tuple[str, ...]
    place: int
    sentence: str

    @property
    def quote(self) -> Quote:
        text = "\n".join(self.blocks)
        start = sum(len(block) + 1 for block in self.blocks[: self.place]) + self.blocks[self.place].index(
            self.sentence
        )
        end = start + len(self.sentence)
        return Quote(self.sentence, text[max(0, start - 32) : start], text[end : end + 32])

    def page(self, new: str) -> Document:
        changed = self.blocks[self.place].replace(self.sentence, new, 1)
        return _page((*self.blocks[: self.place], *changed.split("\n"), *self.blocks[self.place + 1 :]))


def cases() -> Iterator[Case]:
    draw = random.Random(SEED)
    for language, files in (("zh", ("xinference-zh",)), ("en", ("xinference-en", "lmdeploy-en", "open-infra-index"))):
        standing = [s for name in files for s in _sentences(name, language)]
        numbered = [_with_number(draw, s, language) for s in standing]
        words = _words(language, [s.sentence for s in standing])
        for number, (plain, counted) in enumerate(zip(standing, numbered, strict=True)):
            for kind, edit in _EDITS:
                base = counted if edit in _ON_NUMBERS else plain
                new = edit(draw, base.sentence, language, words)
                if new is not None and new != base.sentence:
                    yield Case(f"{language}-{number}-{edit.__name__}", base.page(new), base.quote, kind, new)
            yield Case(f"{language}-{number}-deleted", plain.page(""), plain.quote, SightingKind.DELETED_HERE)
    yield from _foreign()


def _foreign() -> Iterator[Case]:
    """Sentences of one page looked for on another."""
    pairs = (("xinference-zh", "zh", "open-infra-index"), ("lmdeploy-en", "en", "xinference-en"))
    pairs += (("xinference-en", "en", "open-infra-index"), ("open-infra-index", "en", "lmdeploy-en"))
    for name, language, other in pairs:
        page = _page(tuple(_blocks(other)))
        for number, standing in enumerate(_sentences(name, language)):
            yield Case(f"{name}-{number}-on-{other}", page, standing.quote, SightingKind.NOT_FOUND)


def _page(blocks: tuple[str, ...]) -> Document:
    return Document(Form.MARKDOWN, blocks=tuple(Block(text) for text in blocks))


def _blocks(name: str) -> list[str]:
    document = extract((CORPUS / f"{name}.md").read_bytes(), form=Form.MARKDOWN)
    return [line for block in document.blocks for line in block.text.split("\n") if line.strip()]


def _sentences(name: str, language: str) -> list[_Standing]:
    """Each sentence of a file that stands there once."""
    blocks = _blocks(name)
    text = "\n".join(blocks)
    return [
        _Standing(tuple(blocks), place, sentence)
        for place, block in enumerate(blocks)
        for sentence in (found.strip() for found in _SENTENCE[language].findall(block))
        if text.count(sentence) == 1 and len(_editable(_units(sentence, language), language)) >= LEAST_WORDS
    ]


def _with_number(draw: random.Random, standing: _Standing, language: str) -> _Standing:
    """The same sentence with a figure in it, in the style of what technical reports claim."""
    figure = draw.choice(_FIGURES[language]).format(
        n=draw.randrange(12, 990), d=draw.randrange(1, 9), big=f"{draw.randrange(1, 99)},{draw.randrange(100, 999)}"
    )
    marked = standing.sentence[:-1] + ("，" if language == "zh" else ", ") + figure + standing.sentence[-1]
    changed = standing.blocks[standing.place].replace(standing.sentence, marked, 1)
    blocks = (*standing.blocks[: standing.place], changed, *standing.blocks[standing.place + 1 :])
    return _Standing(blocks, standing.place, marked)


_FIGURES = {
    "zh": (
        "每天处理 {n} 万亿 token",
        "提升 {d}–{n}%",
        "峰值 {big} tok/s",
        "约 {d}.{d} TB 显存",
        "共 {n} 亿参数",
        "支持 {big} 路",
    ),
    "en": (
        "up to {n} trillion tokens a day",
        "a gain of {d}–{n}%",
        "at {big} tok/s",
        "with {d}.{d} TB each",
        "on {big} nodes",
    ),
}


def _words(language: str, sentences: list[str]) -> list[str]:
    if language == "zh":
        return sorted(
            {
                c
                for s in sentences
                for c in s
                if "\u4e00" <= c <= "\u9fff" and c not in "不没未无非否别一二三四五六七八九十百千万亿零两"
            }
        )
    negative = {"not", "no", "never", "without", "cannot"}
    return sorted({w for s in sentences for w in re.findall(r"(?<![\w-])[a-z]{4,}(?![\w-])", s)} - negative)


# Each edit gives the sentence as it stands on the changed page, or None where it doesn't apply.


def left_alone(draw: random.Random, text: str, language: str, words: list[str]) -> str | None:
    return text + " "


def spaced_otherwise(draw: random.Random, text: str, language: str, words: list[str]) -> str | None:
    if language == "en":
        return text.replace(" ", draw.choice(["\u00a0", "  ", " \u200b"]))
    closed = re.sub(r"(?<=[\u4e00-\u9fff]) | (?=[\u4e00-\u9fff])", "", text)
    return closed if closed != text else re.sub(r"(?<=[\u4e00-\u9fff])(?=[A-Za-z\d])", "\u2009", text)


def broken_into_lines(draw: random.Random, text: str, language: str, words: list[str]) -> str | None:
    places = [
        m.start() for m in re.finditer(" " if language == "en" else r"(?<=[\u4e00-\u9fff])(?=[\u4e00-\u9fff])", text)
    ]
    if not places:
        return None
    place = draw.choice(places)
    return text[:place] + "\n" + text[place:].lstrip()


def in_other_widths(draw: random.Random, text: str, language: str, words: list[str]) -> str | None:
    if language == "zh":
        return text.translate(str.maketrans(_WIDE, _NARROW))
    return text.replace("'", "’").replace("-", "‑").replace("...", "…")


def with_digits_in_full_width(draw: random.Random, text: str, language: str, words: list[str]) -> str | None:
    return re.sub("[0-9]", lambda m: chr(ord(m.group()) + 0xFEE0), text)


def with_ligatures_and_soft_hyphens(draw: random.Random, text: str, language: str, words: list[str]) -> str | None:
    return re.sub("(?<=[a-z]{3})(?=[a-z]{3})", "\u00ad", text.replace("fi", "ﬁ"), count=1)


def in_capitals(draw: random.Random, text: str, language: str, words: list[str]) -> str | None:
    return text.upper()


def without_punctuation(draw: random.Random, text: str, language: str, words: list[str]) -> str | None:
    return re.sub("[，、；（）]", " ", text) if language == "zh" else re.sub(r"[,;()](?!\d)", "", text)


def in_traditional_characters(draw: random.Random, text: str, language: str, words: list[str]) -> str | None:
    return text.translate(_TRADITIONAL) if language == "zh" else None


def in_another_notation(draw: random.Random, text: str, language: str, words: list[str]) -> str | None:
    changed = text
    for old, new in ((" 万亿", "T"), (" trillion", "T"), (" tok/s", " tokens/s")):
        changed = changed.replace(old, new)
    return re.sub(r"(?<=\d),(?=\d{3})", "", changed)


def with_another_number(draw: random.Random, text: str, language: str, words: list[str]) -> str | None:
    places = list(re.finditer(r"(?<![A-Za-z\d.,-])\d+(?:[.,]\d+)*(?![A-Za-z\d])", text))
    if not places:
        return None
    m = places[-1]
    figure = re.sub(r"\d(?!.*\d)", lambda d: str((int(d.group()) + draw.randrange(1, 8)) % 10), m.group())
    return text[: m.start()] + figure + text[m.end() :]


def with_one_more_digit(draw: random.Random, text: str, language: str, words: list[str]) -> str | None:
    m = re.search(r"(?<![A-Za-z\d.,-])\d+(?![\d,.A-Za-z])", text)
    return text[: m.start()] + str(draw.randrange(1, 9)) + text[m.start() :] if m else None


def _units(text: str, language: str) -> list[str]:
    return re.findall(r"[\u4e00-\u9fff]|[^\u4e00-\u9fff]", text) if language == "zh" else re.split(r"( )", text)


def _editable(units: list[str], language: str) -> list[int]:
    pattern = r"[\u4e00-\u9fff]" if language == "zh" else r"[A-Za-z]{3,}"
    numerals = set("一二三四五六七八九十百千万亿零两")
    return [i for i, unit in enumerate(units) if re.fullmatch(pattern, unit) and unit not in numerals]


def with_a_few_other_words(draw: random.Random, text: str, language: str, words: list[str]) -> str | None:
    return _replaced(draw, text, language, words, 0.12)


def with_many_other_words(draw: random.Random, text: str, language: str, words: list[str]) -> str | None:
    return _replaced(draw, text, language, words, 0.28)


def _replaced(draw: random.Random, text: str, language: str, words: list[str], share: float) -> str | None:
    units = _units(text, language)
    editable = _editable(units, language)
    for i in draw.sample(editable, max(1, round(share * len(editable)))):
        units[i] = draw.choice([w for w in words if w != units[i]])
    return "".join(units)


def with_words_put_in(draw: random.Random, text: str, language: str, words: list[str]) -> str | None:
    units = _units(text, language)
    for i in sorted(draw.sample(_editable(units, language), 2), reverse=True):
        units[i:i] = [draw.choice(words), "" if language == "zh" else " "]
    return "".join(units)


def with_words_left_out(draw: random.Random, text: str, language: str, words: list[str]) -> str | None:
    units = _units(text, language)
    editable = _editable(units, language)[1:-1]
    for i in draw.sample(editable, max(1, len(editable) // 8)):
        units[i] = ""
    return "".join(units)


_EDITS: tuple[tuple[SightingKind, Callable[[random.Random, str, str, list[str]], str | None]], ...] = (
    (SightingKind.VERBATIM, left_alone),
    (SightingKind.TYPOGRAPHIC, spaced_otherwise),
    (SightingKind.TYPOGRAPHIC, broken_into_lines),
    (SightingKind.TYPOGRAPHIC, in_other_widths),
    (SightingKind.TYPOGRAPHIC, with_digits_in_full_width),
    (SightingKind.TYPOGRAPHIC, with_ligatures_and_soft_hyphens),
    (SightingKind.VARIANT, in_capitals),
    (SightingKind.VARIANT, without_punctuation),
    (SightingKind.VARIANT, in_traditional_characters),
    (SightingKind.VARIANT, in_another_notation),
    (SightingKind.NUMBERS_CHANGED, with_another_number),
    (SightingKind.NUMBERS_CHANGED, with_one_more_digit),
    (SightingKind.REWORDED, with_a_few_other_words),
    (SightingKind.REWORDED, with_many_other_words),
    (SightingKind.REWORDED, with_words_put_in),
    (SightingKind.REWORDED, with_words_left_out),
)
_ON_NUMBERS = {in_another_notation, with_another_number, with_one_more_digit, with_digits_in_full_width}
