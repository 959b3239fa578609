"""Two versions block by block: nothing is lost, nothing is shown twice, quotes are marked where they stand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis.compare import compared, edits_between, fits, folded
from sourcewatch.analysis.compare_html import stretches
from sourcewatch.analysis.find import around, words_of
from sourcewatch.domain.change import Op, Part, Sighting, SightingKind
from sourcewatch.domain.desk import Compared, Stretch
from sourcewatch.domain.document import Block, Document, Form, Label

texts = st.lists(
    st.sampled_from(["缓存命中率为九成六", "缓存命中率为八成一", "the cache holds 96%", "a", "b 12", "x" * 30]),
    max_size=8,
)


def document(lines: list[str]) -> Document:
    return Document(Form.HTML, blocks=tuple(Block(line) for line in lines))


def side(rows: list[Compared], name: str) -> list[str]:
    found = ("".join(s.part.text for s in getattr(row, name)) for row in rows)
    return [text for text in found if text]


@given(texts, texts)
def test_both_versions_are_shown_whole_and_once(old: list[str], new: list[str]) -> None:
    a, b = document(old), document(new)
    rows = compared(a, b, edits_between(a, b, ()))
    assert side(rows, "new") == new
    assert sorted(side(rows, "old")) == sorted(old)
    assert [row for _, run in folded(rows) for row in run] == rows


@given(texts, texts)
def test_edits_fit_the_versions_that_they_were_made_of_and_no_others(old: list[str], new: list[str]) -> None:
    a, b = document(old), document(new)
    edits = edits_between(a, b, ())
    assert fits(edits, a, b)
    if edits:
        assert not fits(edits, document([]), document([]))


def test_a_quote_is_marked_in_both_versions_where_it_was_sighted() -> None:
    a, b = document(["Before it.", "It holds 96% of all."]), document(["Before it.", "It holds 91% of all."])
    start = len("Before it.\nIt ")
    seen = Sighting("q", SightingKind.VERBATIM, layer="visible", start=start, end=start + len("holds 96%"))
    [_, row] = compared(a, b, edits_between(a, b, ()), [seen], [seen])
    assert "".join(s.part.text for s in row.old if s.quoted) == "holds 96%"
    assert "".join(s.part.text for s in row.new if s.quoted) == "holds 91%"


def test_hidden_blocks_are_not_shown() -> None:
    a = Document(Form.HTML, blocks=(Block("seen"), Block("unseen", Label.HIDDEN)))
    assert [row.how for row in compared(a, a, ())] == ["same"]


def test_no_character_of_a_page_becomes_markup() -> None:
    evil = "<script>1</script>\u202e&\0 12%"
    html = str(stretches([Stretch(Part(op, evil), quoted) for op in Op for quoted in (False, True)]))
    assert "<script" not in html
    assert "\u202e" not in html
    assert "\0" not in html
    assert "<b>12%</b>" in html


def test_words_in_quotation_marks_are_one_word() -> None:
    assert words_of('cache "of requests" “缓存 命中” cache') == ["cache", "of requests", "缓存 命中"]
    assert words_of("   ") == []


def test_an_excerpt_marks_every_word_and_loses_nothing_between() -> None:
    pieces = around("The Cache holds 96% of requests; the cache is warm.", ["cache", "96%"])
    assert [text for text, found in pieces if found] == ["Cache", "96%", "cache"]
    assert "".join(text for text, _ in pieces) == "The Cache holds 96% of requests; the cache is warm."
