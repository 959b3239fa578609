"""What changed between two lists of blocks, told in whole tokens, the same on any machine."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis import align, diff, pairing
from sourcewatch.analysis.tokens import tokens
from sourcewatch.domain.change import Edit, EditKind, Op
from sourcewatch.domain.document import Block, Label

ANY_CHARACTER = st.characters(codec=None, exclude_categories=())
AWKWARD = st.sampled_from(
    [
        "一百五十五万亿",
        "שלום עולם",
        "👩‍👩‍👧",
        "\ud800",
        "\x00",
        "a\r\nb",
        "e\u0301",
        "155",
        "4–7%",
        " ",
        "\u200b",
        "the same line",
    ]
)
TEXTS = st.lists(st.one_of(AWKWARD, st.text(ANY_CHARACTER, max_size=30), st.lists(AWKWARD).map("".join)), max_size=12)


def blocks(texts: list[str]) -> list[Block]:
    return [Block(text) for text in texts]


def shown(edit: Edit) -> str:
    """An edit as a reader sees it: deleted in [-…-], inserted in {+…+}."""
    frame = {Op.DELETE: "[-{}-]", Op.EQUAL: "{}", Op.INSERT: "{{+{}+}}"}
    return "".join(frame[part.op].format(part.text) for part in edit.parts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("单集群155 万亿", ["单", "集", "群", "155", " ", "万", "亿"]),
        ("4–7% of 1,234.5", ["4–7%", " ", "of", " ", "1,234.5"]),
        ("14.4 TB, $5", ["14.4", " ", "TB", ",", " ", "$5"]),
        ("−4.5 or 2025-12-03", ["−4.5", " ", "or", " ", "2025-12-03"]),
        ("don't state-of-the-art", ["don't", " ", "state-of-the-art"]),
        ("👩‍👩‍👧👍🏽", ["👩‍👩‍👧", "👍🏽"]),
        ("cafe\u0301 हिन्दी", ["cafe\u0301", " ", "हिन्दी"]),
    ],
)
def test_a_token_is_what_a_reader_takes_as_one(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@given(st.text(ANY_CHARACTER))
def test_tokens_lose_nothing(text: str) -> None:
    assert "".join(tokens(text)) == text


@given(TEXTS, TEXTS)
def test_applied_edits_give_the_new_texts(old: list[str], new: list[str]) -> None:
    assert diff.apply(diff.edits(blocks(old), blocks(new)), old) == new


@given(TEXTS, st.data())
def test_applied_edits_give_the_new_texts_after_moves_and_small_edits(old: list[str], draw: st.DataObject) -> None:
    new = [draw.draw(st.sampled_from([text, text + "!", text[1:]])) for text in draw.draw(st.permutations(old))]
    assert diff.apply(diff.edits(blocks(old), blocks(new)), old) == new


@given(TEXTS)
def test_a_text_does_not_differ_from_itself(texts: list[str]) -> None:
    assert diff.edits(blocks(texts), blocks(texts)) == ()


@given(st.lists(st.integers(0, 8), max_size=60), st.lists(st.integers(0, 8), max_size=60), st.integers(0, 200))
def test_alignment_keeps_what_lies_between_runs_equal_however_small_its_cap(
    old: list[int], new: list[int], cells: int
) -> None:
    whole = align.MOST_CELLS
    align.MOST_CELLS = cells
    try:
        runs = align.align(old, new)
    finally:
        align.MOST_CELLS = whole
    rebuilt: list[int] = []
    done = 0
    for run in runs:
        rebuilt += old[done : run.old.start]
        rebuilt += new[run.new.start : run.new.stop]
        done = run.old.stop
    assert rebuilt + old[done:] == new


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("单集群每天 155 万亿 token。", "单集群每天 160 万亿 token。", "单集群每天 [-155-]{+160+} 万亿 token。"),
        ("占 4–7%，其余", "占 3–5%，其余", "占 [-4–7%-]{+3–5%+}，其余"),
        ("up to 1,234 users", "up to 1,324 users", "up to [-1,234-]{+1,324+} users"),
        (
            "the quick brown fox jumps far",
            "the slow red fox jumps far",
            "the [-quick brown-]{+slow red+} fox jumps far",
        ),
        ("缓存命中率约为百分之八十", "缓存命中率可达百分之八十", "缓存命中率[-约为-]{+可达+}百分之八十"),
    ],
)
def test_a_changed_block_is_spelled_in_whole_tokens(old: str, new: str, expected: str) -> None:
    (edit,) = diff.text_edits(old, new)
    assert (edit.kind, shown(edit)) == (EditKind.REPLACED, expected)


def test_a_section_that_changed_its_place_is_moved() -> None:
    old = ["first line here", "second line here", "third line here", "fourth line here"]
    (edit,) = diff.edits(blocks(old), blocks([*old[1:], old[0]]))
    assert (edit.kind, edit.old, edit.new) == (EditKind.MOVED, 0, 3)


def test_there_and_back_is_two_changes() -> None:
    a, b = ["the rate is 4%", "unchanged"], ["the rate is 5%", "unchanged"]
    there, back = diff.edits(blocks(a), blocks(b)), diff.edits(blocks(b), blocks(a))
    assert [shown(e) for e in (*there, *back)] == ["the rate is [-4%-]{+5%+}", "the rate is [-5%-]{+4%+}"]


def test_a_cell_whose_value_changed_is_one_edit() -> None:
    old = [Block("Model A", path="td"), Block("155", path="td"), Block("12:30", path="td")]
    new = [Block("Model A", path="td"), Block("160", path="td"), Block("09:45", path="td")]
    assert [(e.kind, e.old, e.new) for e in diff.edits(old, new)] == [
        (EditKind.REPLACED, 1, 1),
        (EditKind.REPLACED, 2, 2),
    ]


def test_a_deleted_block_keeps_its_own_label() -> None:
    old = [Block("kept line"), Block("a banner that goes", label=Label.CHROME)]
    (edit,) = diff.edits(old, [Block("kept line")])
    assert (edit.kind, edit.label) == (EditKind.DELETED, Label.CHROME)


def test_edits_stand_in_the_order_of_the_new_document() -> None:
    old = ["one fine line", "two fine lines", "gone for good, this one", "three fine lines", "four"]
    new = ["zero came first", "one fine line", "two finer lines", "three fine lines", "a whole new closing", "four"]
    assert [(e.kind, e.old, e.new) for e in diff.edits(blocks(old), blocks(new))] == [
        (EditKind.INSERTED, None, 0),
        (EditKind.REPLACED, 1, 2),
        (EditKind.DELETED, 2, None),
        (EditKind.INSERTED, None, 4),
    ]


def sentences(count: int) -> list[str]:
    return [f"Sentence {n} says that the value of item {n * 7919 % 1009} is {n * n % 997}. " for n in range(count)]


def test_one_enormous_line_still_differs_finely() -> None:
    old = sentences(15_000)
    new = [s.replace("value", "worth") if n % 500 == 7 else s for n, s in enumerate(old)]
    (edit,) = diff.text_edits("".join(old), "".join(new))
    assert len("".join(old)) > 800_000
    assert {p.text for p in edit.parts if p.op is Op.DELETE} == {"value"}
    assert diff.apply((edit,), ["".join(old)]) == ["".join(new)]


@pytest.mark.parametrize("unit", ["的", "a", "1,", "ab ", "。", "\ud800"])
def test_one_enormous_line_of_one_character_does_not_stall(unit: str) -> None:
    old = unit * (900_000 // len(unit))
    new = old[:300_000] + "X" + old[300_010:]
    assert diff.apply(diff.text_edits(old, new), [old]) == [new]


def test_more_distinct_lines_than_there_are_code_points_are_still_aligned() -> None:
    old = [str(n) for n in range(600_000)]
    new = [str(-n) for n in range(1, 590_000)] + old[590_000:599_000] + ["one new line"] + old[599_000:]
    assert align.align(*align.interned(old, new)) == [
        align.Run(range(590_000), range(589_999)),
        align.Run(range(599_000, 599_000), range(598_999, 599_000)),
    ]


def test_other_texts_of_thousands_of_blocks_are_told_without_pairs() -> None:
    old, new = sentences(6_000), [s[::-1] for s in sentences(6_500)]
    assert diff.apply(diff.edits(blocks(old), blocks(new)), old) == new


def test_a_text_of_more_than_twenty_thousand_blocks_still_differs_block_by_block() -> None:
    old = sentences(25_000)
    new = [s.replace("value", "worth") if n % 5_000 == 17 else s for n, s in enumerate(old) if n != 12_000]
    found = diff.edits(blocks(old), blocks(new))
    assert [edit.kind for edit in found].count(EditKind.REPLACED) == 5
    assert [edit.old for edit in found if edit.kind is EditKind.DELETED] == [12_000]
    assert len(found) == 6


def test_a_run_of_blocks_too_long_to_compare_each_with_each_is_paired_along_its_diagonal() -> None:
    old, new = sentences(600), [s.replace("value", "worth") for s in sentences(600)]
    assert pairing.MOST_PAIRINGS < 600 * 600
    assert [(e.kind, e.old, e.new) for e in diff.edits(blocks(old), blocks(new))] == [
        (EditKind.REPLACED, n, n) for n in range(600)
    ]


SAME_EDITS = """
import random
from sourcewatch.analysis.diff import edits
from sourcewatch.domain.document import Block
draw = random.Random(3)
words = "engine cache token price model node 155 160 4–7% 缓存 命中率 the of and to".split()
old = [" ".join(draw.choices(words, k=draw.randint(1, 400))) for _ in range(60)]
new = [" ".join(w if draw.random() > 0.2 else draw.choice(words) for w in t.split()) for t in old]
new[10:20] = old[20:10:-1]
print(repr(edits([Block(t) for t in old], [Block(t) for t in new])))
"""


def test_the_same_texts_give_the_same_edits_in_any_process() -> None:
    told = {
        subprocess.run(
            [sys.executable, "-c", SAME_EDITS],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(told) == 1
    assert b"REPLACED" in told.pop()
