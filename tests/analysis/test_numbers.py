"""Numbers are read by their value, whatever their notation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis.normalise import FOLDED, TYPOGRAPHIC, folded, simplified, typographic
from sourcewatch.analysis.numbers import facts
from sourcewatch.analysis.trace import Traced, fast, traced


def values(text: str) -> list[str]:
    return [fact.value for fact in facts(simplified(typographic(text)))]


@pytest.mark.parametrize(
    "notations",
    [
        ("155 万亿", "155万億", "155T", "155 trillion", "155 Trillion", "一百五十五万亿", "155,000,000,000,000"),
        ("1万", "10000", "10,000", "一万", "10 thousand", "10k", "１００００"),
        ("1,234", "1234", "１,２３４", "一千二百三十四"),
        ("3.2 million", "320万", "三百二十万", "3,200,000", "3.20M"),
        ("96%", "96 percent", "96 per cent", "96％", "百分之九十六"),
        ("2025年", "二〇二五年"),
        ("两亿", "2亿", "200 million"),
        ("5千万", "五千万", "50M"),
    ],
)
def test_one_value_in_all_its_notations(notations: tuple[str, ...]) -> None:
    assert {tuple(values(notation)) for notation in notations} == {tuple(values(notations[0]))}
    assert len(values(notations[0])) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4.5", ["4.5"]),
        ("4–7%", ["4", "7%"]),
        ("10²", ["10^2"]),
        ("CO₂ at 102", ["102"]),
        ("SM100 and V4.1-Flash", ["sm100", "v4.1-flash"]),
        ("GPT-4o on 8 GPUs", ["gpt-4o", "8"]),
        ("14.4 TB, 7B parameters", ["14.4", "7e9"]),
        ("−5 °C, not 5", ["-5", "5"]),
        ("version 1.2.3", ["1.2.3"]),
        ("2025-12-03", ["2025", "12", "3"]),
        ("等了10个月。6月30日", ["10", "6", "30"]),
        ("千万不要 唯一一个 第二，一个 万一", []),
        ("2 百分点", ["2"]),
        ("IPv4", ["ipv4"]),
        ("1" * 900, ["1" * 40]),
    ],
)
def test_what_is_a_number_and_what_only_looks_like_one(text: str, expected: list[str]) -> None:
    assert values(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [("4.5", "45"), ("4–7%", "47%"), ("10²", "102"), ("-5", "5"), ("155 万", "155 万亿"), ("1.2.3", "12.3")],
)
def test_folding_keeps_different_numbers_apart(one: str, other: str) -> None:
    assert folded(typographic(one)) != folded(typographic(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("峰值 2,234 tok/s", "峰值2234 tokens/s"),
        ("per second: 15 tokens per second", "PER SECOND — 15 Tok/s!"),
        ("看著乾淨的裡面", "看着干净的里面"),
        ("「引用」", '"引用"'),
        ("三萬五千人，兩億元，155 萬億", "3.5万人 2亿元 155万亿"),
        ("at 0.50 of 007", "at .5 of 7.0"),
        ("100,000,000 and 12,340", "1亿 and 12340"),
        ("download\ue004 5\ue000", "download 5"),  # pictures of icon fonts are private characters
    ],
)
def test_folding_makes_variants_one(one: str, other: str) -> None:
    assert folded(typographic(one)) == folded(typographic(other))


AWKWARD = st.sampled_from(
    [
        "155 万亿",
        "e\u0301",
        "ﬁ",
        "한\u1100\u1161",
        "①",
        "1,234.5",
        " ",
        "\n",
        "\u00a0",
        "中 文",
        "ẞ",
        "İ",
        "\ud800",
        "tok / s",
        "²",
    ]
)


@given(st.lists(AWKWARD | st.text(st.characters(exclude_categories=()), max_size=6)).map("".join))
def test_the_way_back_runs_the_same_steps_as_the_way_there(text: str) -> None:
    steps = (*TYPOGRAPHIC, *FOLDED)
    noted = traced(Traced.of(text), steps)
    assert noted.text == fast(text, steps)
    assert len(noted.starts) == len(noted.ends) == len(noted.text)
    assert all(0 <= start < end <= len(text) for start, end in zip(noted.starts, noted.ends, strict=True))
