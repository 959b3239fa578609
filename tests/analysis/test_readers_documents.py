"""What a rule makes of a JSON answer, whatever the answer is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis.readers import GONE, UNPROVED, document, proved
from sourcewatch.domain.document import Label
from sourcewatch.domain.reader import Fact, Reader

ITEM = Reader(
    "item", 1, "the service's own interface", "json",
    proves=(("id", "7"), ("kind", "")), gone=(("deleted", True),), title="head.title",
    text=("head.title", "parts.text"), markdown=("notes",), values=("at",),
    facts=(Fact("item {id} is open at {at}", (("open", True),)), Fact("item 7 is closed", (("open", False),))),
)  # fmt: skip
GOOD = {
    "id": 7, "kind": "story", "open": True, "at": "2026-10-20",
    "head": {"title": "A title"}, "parts": [{"text": "One."}, {"text": "<p>Two <b>bold</b></p>"}],
    "notes": "- a *list*\n- of things", "votes": 12, "none": None,
}  # fmt: skip


def blocks(value: object, label: Label) -> list[str]:
    return [b.text for b in document(json.dumps(value), ITEM, "https://a.example/").blocks if b.label is label]


def test_facts_stand_first_then_the_words_in_the_answers_order() -> None:
    assert blocks(GOOD, Label.MAIN) == [
        "item 7 is open at 2026-10-20", "at: 2026-10-20", "A title", "One.", "Two bold", "a list", "of things",
    ]  # fmt: skip
    assert document(json.dumps(GOOD), ITEM, "").title == "A title"


def test_all_else_is_there_for_quotes_alone() -> None:
    assert blocks(GOOD, Label.HIDDEN) == ["id: 7", "kind: story", "open: true", "votes: 12"]


@pytest.mark.parametrize(
    ("change", "doubt"),
    [
        ({"id": 8}, f"{UNPROVED}id is 8, not 7"),
        ({"id": None}, f"{UNPROVED}it has no id"),
        ({"kind": ""}, f"{UNPROVED}it has no kind"),
        ({"deleted": True}, f"{GONE}deleted is true"),
    ],
)
def test_what_does_not_hold_is_noted(change: dict[str, object], doubt: str) -> None:
    found = document(json.dumps(GOOD | change), ITEM, "")
    assert found.notes == (doubt,) and not proved(found, ITEM)


@pytest.mark.parametrize("value", [1, "true", None, [1]])
def test_true_is_nothing_but_true(value: object) -> None:
    assert document(json.dumps(GOOD | {"deleted": value}), ITEM, "").notes == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["id", "kind", "head", "title", "x"]), inner)
    ),
    max_leaves=12,
)


@given(JSON)
def test_any_answer_is_a_document_or_a_doubt(value: object) -> None:
    found = document(json.dumps(value), ITEM, "https://a.example/")
    assert proved(found, ITEM) or found.notes


@given(st.text(max_size=60))
def test_what_is_no_json_proves_nothing(text: str) -> None:
    assert not proved(document(text, ITEM, ""), ITEM)


def test_an_answer_nested_without_end_does_not_raise() -> None:
    deep = "[" * 100_000
    assert document(deep, ITEM, "").notes[0].startswith(UNPROVED)
