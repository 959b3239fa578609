"""What an unimportant change teaches: a place that may be ignored, and when it must not be."""

from __future__ import annotations

import pytest

from sourcewatch.analysis.learn import safe_rule
from sourcewatch.analysis.weigh import visible_edits
from sourcewatch.domain.document import Block, Document, Form
from sourcewatch.domain.source import Quote

PROSE = tuple(Block(f"A paragraph of the article, number {n}, of some length.", path="body>main>p") for n in range(8))


def document(*ticker: str, path: str = "body>div#ticker>p", form: Form = Form.HTML) -> Document:
    return Document(form, blocks=(*PROSE, *(Block(text, path=path) for text in ticker)))


OLD = document("Monday: 12 new posts")
NEW = document("Tuesday: the kitchen is closed")


def rule(old: Document, new: Document, *quotes: Quote) -> str:
    return safe_rule(visible_edits(old, new), old, new, quotes)


def test_a_change_inside_a_small_named_element_teaches_its_selector() -> None:
    assert rule(OLD, NEW) == "#ticker"


def test_the_innermost_of_several_names_is_chosen() -> None:
    inner = "body>div#page>div#side>p"
    assert rule(document("one text", path=inner), document("quite another one", path=inner)) == "#side"


@pytest.mark.parametrize(
    ("old", "new", "quotes"),
    [
        (document("a", path="body>p"), document("bb ccc", path="body>p"), ()),  # no name
        (OLD, NEW, (Quote("the kitchen is closed"),)),  # a quote stands there
        (OLD, NEW, (Quote("another", prefix="Monday: "),)),  # or what stands beside one
        (document(*["x" * 90] * 9), document(*["y" * 90] * 9), ()),  # it is most of the page
        (document("a", form=Form.MARKDOWN), document("b", form=Form.MARKDOWN), ()),  # selectors are for HTML
        (OLD, document(), (Quote("12 new posts"),)),  # gone, and a quote with it
    ],
)
def test_no_rule_follows_that_could_hide_more(old: Document, new: Document, quotes: tuple[Quote, ...]) -> None:
    assert rule(old, new, *quotes) == ""


def test_a_change_elsewhere_too_teaches_nothing() -> None:
    changed = Document(Form.HTML, blocks=(Block("Quite another first paragraph.", path="body>main>p"), *NEW.blocks[1:]))
    assert rule(OLD, changed) == ""
