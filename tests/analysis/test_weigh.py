"""What a change is made of, how much it matters, and what is no change at all."""

from __future__ import annotations

from dataclasses import replace

import pytest
from deployment_notes import BODY, CITED, change, changes, edited, page
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis import weigh
from sourcewatch.domain.change import EditKind, Extent, Op, Significance
from sourcewatch.domain.document import Block, Document, Form, Label
from sourcewatch.domain.source import Quote

QUOTE, FIGURES, TEXT = Significance.QUOTE, Significance.FIGURES, Significance.TEXT
LINKS, COSMETIC = Significance.LINKS, Significance.COSMETIC


@pytest.mark.parametrize(
    ("new", "significance"),
    [
        (edited(1, "A cluster serves 160 trillion tokens a day."), QUOTE),
        (page(BODY[0], BODY[2]), QUOTE),
        (edited(1, "A CLUSTER SERVES 155 TRILLION TOKENS A DAY."), QUOTE),
        (page(*BODY, "In May, decoding ran at 40 tokens a second."), TEXT),
        (edited(0, "The scheduler computes the placement of experts each hour."), TEXT),
        (edited(2, "We keep the prompts of our customers."), TEXT),
        (page(*BODY, links=["/new"]), LINKS),
        (page(*BODY, pictures=["/panel.png"]), FIGURES),
        (page(*BODY, title="Notes from the deployment"), TEXT),
    ],
)
def test_a_change_is_as_loud_as_the_loudest_of_what_differs(new: Document, significance: Significance) -> None:
    assert change(page(*BODY), new, CITED).significance is significance


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


@pytest.mark.parametrize("label", [Label.MAIN, Label.HIDDEN])
def test_a_quote_that_readers_no_longer_see_is_a_change_of_the_quote(label: Label) -> None:
    old = page(*BODY)
    hidden = replace(old, blocks=(old.blocks[0], replace(old.blocks[1], label=Label.HIDDEN), old.blocks[2]))
    assert change(old, hidden, CITED).significance is QUOTE
    assert change(hidden, old, CITED).significance is QUOTE


def test_a_quote_in_other_quotation_marks_is_none() -> None:
    old, new = (
        page(*BODY, 'They call it "the most capable" model.'),
        page(*BODY, "They call it “the most capable” model."),
    )
    assert change(old, new, Quote('"the most capable"')).significance is not QUOTE


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


def test_where_only_noise_differs_nothing_is_told() -> None:
    old, new = page(*BODY, "updated 3 hours ago"), page(*BODY, "updated 5 hours ago")
    found = change(old, new)
    assert (len(found.edits), found.told, found.significance) == (1, (), COSMETIC)


def test_hidden_text_and_scripts_are_not_compared() -> None:
    old = page(*BODY)
    new = replace(old, blocks=(*old.blocks, Block("nonce 17", Label.SCRIPT), Block("unseen", Label.HIDDEN)))
    assert changes(old, new) == [None]


def test_edits_index_the_blocks_of_the_documents_with_hidden_ones_between() -> None:
    hidden = Block("window.x = 1", Label.SCRIPT)
    old = Document(Form.HTML, blocks=(hidden, Block("The first sentence."), hidden, Block("It gains 4%.")))
    new = Document(Form.HTML, blocks=(Block("The first sentence."), hidden, hidden, Block("It gains 5%.")))
    (edit,) = change(old, new).edits
    assert (edit.kind, edit.old, edit.new) == (EditKind.REPLACED, 3, 3)


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


def test_a_short_context_shields_nothing_and_a_figure_has_no_text() -> None:
    quotes = [Quote("the quote itself", "the ", " which stands before it"), Quote("80%", figure="panel.png")]
    assert weigh.protected(quotes) == ["the quote itself", " which stands before it"]
