"""What a version changes in the one before it, over several versions and over anything that is no change at all."""

from __future__ import annotations

import pytest
from deployment_notes import BODY, CITED, change, changes, edited, page
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.domain.change import Extent, Op, Significance
from sourcewatch.domain.document import Document, Label
from sourcewatch.domain.source import Quote

QUOTE, FIGURES, TEXT = Significance.QUOTE, Significance.FIGURES, Significance.TEXT


def test_quotes_come_before_figures_before_text_before_links() -> None:
    old = page(*BODY, "It gains 4–7% in all.", links=["/a"])
    new = page(BODY[0] + " So it is.", *BODY[1:], "It gains 4–7% in all.", links=["/b"])
    assert change(old, new).significance is TEXT
    new = page(BODY[0] + " So it is.", *BODY[1:], "It gains 3–5% in all.", links=["/b"])
    assert change(old, new).significance is FIGURES
    assert change(old, new, Quote("It gains 4–7% in all.")).significance is QUOTE


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("It gains 4–7% in all.", "It gains 3–5% in all."),
        ("It gains 4–7% in all.", "It gains some in all."),
        ("每天 155 万亿 token", "每天 160 万亿 token"),
        ("Peak: 155 tok/s", "Peak: 1,550 tok/s"),
        ("It ran on SM90 cards.", "It ran on SM100 cards."),
    ],
)
def test_a_number_that_is_gone_or_another_is_a_change_of_figures(old: str, new: str) -> None:
    assert change(page(old), page(new)).significance is FIGURES


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("每天处理 155 万亿 token，很多", "每天处理 155T token，真的很多"),
        ("There are 10,000 cards in it.", "There are 10000 cards in it, at last."),
        ("It gains a lot in all.", "It gains 4% in all."),
    ],
)
def test_another_notation_or_a_new_number_is_text(old: str, new: str) -> None:
    assert change(page(old), page(new)).significance is TEXT


@given(st.lists(st.text(max_size=30), max_size=8), st.text(max_size=20))
def test_a_version_does_not_change_itself(texts: list[str], title: str) -> None:
    version = page(*texts, title=title, links=texts, pictures=texts)
    assert changes(version, version) == [None]


def test_there_and_back_is_two_changes() -> None:
    a, b = page(*BODY), edited(1, "A cluster serves 160 trillion tokens a day.")
    there, back = changes(a, b, a, quotes=[CITED])
    assert there and back
    assert [c.significance for c in (there, back)] == [QUOTE, QUOTE]
    assert [[p.text for p in c.told[0].parts if p.op is Op.INSERT] for c in (there, back)] == [["160"], ["155"]]


def test_a_title_that_flips_is_told_once() -> None:
    one, other = page(*BODY, title="Deployment notes"), page(*BODY, title="(1) Notes on deployment")
    found = changes(one, other, one, other)
    assert [c.title if c else None for c in found] == [(one.title, other.title), None, None]
    assert changes(one, page(*BODY, title=" Deployment\nnotes")) == [None]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (page(*BODY, links=["/vote?id=1&auth=81f0c2"]), page(*BODY, links=["/vote?id=1&auth=7ae555"])),
        (page(*BODY, links=["/a", "/b"]), page(*BODY, links=["/b", "/a", "/a"])),
        (page(*BODY, links=["/a"], label=Label.CHROME), page(*BODY, links=["/b"], label=Label.CHROME)),
        (page(*BODY, pictures=["/a.png?sig=81f0c2"]), page(*BODY, pictures=["/a.png?sig=7ae555"])),
        (page(*BODY, pictures=["/a.png"], label=Label.CHROME), page(*BODY, label=Label.CHROME)),
    ],
)
def test_tokens_and_furniture_are_no_change_of_links_or_figures(old: Document, new: Document) -> None:
    assert changes(old, new) == [None]


@pytest.mark.parametrize(
    ("new", "extent"),
    [
        ([f"Other words altogether stand in line {n} of this." for n in range(30)], Extent.REPLACED),
        ([f"Sentence {n} says that all is well in here." for n in range(5)], Extent.TRUNCATED),
        ([f"Sentence {n} says that all is well in here." for n in range(90)], Extent.GROWN),
        ([f"Sentence {n} says that all is well in here." for n in range(1, 30)], Extent.SAME),
    ],
)
def test_a_change_says_how_much_of_the_page_is_left(new: list[str], extent: Extent) -> None:
    old = page(*(f"Sentence {n} says that all is well in here." for n in range(30)))
    assert change(old, page(*new)).drift.extent is extent
