"""How much of a document is left in another, in two shares and one word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis.drift import drift
from sourcewatch.domain.change import Extent

SENTENCES = [
    f"Sentence {n} speaks of {word} and of nothing else at all." for n, word in enumerate("abcdefghijklmnopqrst")
]
OTHERS = [f"Elsewhere one reads in line {n} what no other text has to say." for n in range(40, 80)]
CHINESE = [f"第{n}条说明这一项服务每天处理{n * 7}万个请求。" for n in range(1, 30)]


@pytest.mark.parametrize(
    ("old", "new", "extent"),
    [
        (SENTENCES, SENTENCES, Extent.SAME),
        (SENTENCES, [*SENTENCES, OTHERS[0]], Extent.SAME),
        (SENTENCES, [*SENTENCES, *OTHERS], Extent.GROWN),
        (SENTENCES, [*SENTENCES[:12], *OTHERS[:8]], Extent.EDITED),
        (SENTENCES, SENTENCES[:3], Extent.TRUNCATED),
        (SENTENCES, OTHERS, Extent.REPLACED),
        (SENTENCES, ["Please sign in to read on."], Extent.REPLACED),
        (CHINESE, CHINESE[:2], Extent.TRUNCATED),
        (CHINESE, [*CHINESE[:-1], "第二十九条已经删除。"], Extent.SAME),
        ([], SENTENCES, Extent.REPLACED),
        (SENTENCES, [], Extent.TRUNCATED),
        ([], [], Extent.SAME),
        (["ok"], ["ok"], Extent.SAME),
    ],
)
def test_the_extent_of_a_change_in_a_word(old: list[str], new: list[str], extent: Extent) -> None:
    assert drift("\n".join(old), "\n".join(new)).extent is extent


def test_punctuation_and_spacing_are_no_drift() -> None:
    assert drift("One, two; three: four five.", "One two three — four\nfive").kept == 1.0


@given(st.text(), st.text())
def test_both_shares_stay_between_nothing_and_all(old: str, new: str) -> None:
    measured = drift(old, new)
    assert 0 <= measured.kept <= 1
    assert 0 <= measured.novelty <= 1
