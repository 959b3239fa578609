"""How a document holds a quote: which layer, which words, which numbers, and never a claim that is not so."""

from __future__ import annotations

import pytest
import quote_edits
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis.anchor import CONTEXT_CHARS, Page, context, sight
from sourcewatch.analysis.edges import grown, whole
from sourcewatch.analysis.pages import PIECE_CHARS, Layer
from sourcewatch.analysis.pages import Form as Reading
from sourcewatch.domain.change import Op, Sighting, SightingKind
from sourcewatch.domain.document import Block, Document, Form, Label
from sourcewatch.domain.source import Quote

VERBATIM, TYPOGRAPHIC, VARIANT = SightingKind.VERBATIM, SightingKind.TYPOGRAPHIC, SightingKind.VARIANT
NUMBERS_CHANGED, REWORDED = SightingKind.NUMBERS_CHANGED, SightingKind.REWORDED
DELETED_HERE, NOT_FOUND = SightingKind.DELETED_HERE, SightingKind.NOT_FOUND
FILLER = "\n".join(f"Line {n} of the page speaks about something else." for n in range(60))


def page(*texts: str, label: Label = Label.MAIN) -> Page:
    return Page(Document(Form.HTML, blocks=tuple(Block(text, label) for text in texts)))


def seen(text: str, exact: str, prefix: str = "", suffix: str = "") -> Sighting:
    return sight(page(*text.split("\n")), Quote(exact, prefix, suffix))


@pytest.mark.parametrize(
    ("text", "exact", "kind"),
    [
        ("单集群每天 155 万亿 token，命中率 80%。", "每天 155 万亿 token", VERBATIM),
        ("单集群每天155万亿token，命中率 80%。", "每天 155 万亿 token", TYPOGRAPHIC),
        ("单集群每天 １５５ 万亿\u00a0token", "每天 155 万亿 token", TYPOGRAPHIC),
        ("the “most capable” model — so far…", 'the "most capable" model - so far...', TYPOGRAPHIC),
        ("the most\nca\u00adpable\u200b mo\u00addel", "the most capable model", TYPOGRAPHIC),
        ("官⽅⽂档的⻓度与⻚数", "官方文档的长度与页数", TYPOGRAPHIC),
        ("cafe\u0301 society meets", "café society meets", TYPOGRAPHIC),
        ("PagedAttention Is Here", "pagedattention is here", VARIANT),
        ("單集羣每天處理 155T token", "单集群每天处理 155 万亿 token", VARIANT),
        ("单集群每天处理一百五十五万亿 token", "单集群每天处理 155 万亿 token", VARIANT),
        ("a cluster of 10,000 cards", "a cluster of 10000 cards", VARIANT),
        ("由 1万 张卡组成的集群", "由 10000 张卡组成的集群", VARIANT),
        ("peak of 2,234 tokens/s per node", "peak of 2234 tok/s per node", VARIANT),
        ("共处理 155\n万亿 token", "共处理155T token", VARIANT),
        ("每天 55 万亿 token 的输入", "每天 155 万亿 token 的输入", NUMBERS_CHANGED),
        ("提升 4.5 倍的吞吐与延迟", "提升 45 倍的吞吐与延迟", NUMBERS_CHANGED),
        ("生产工作点提升 4–7%，最高", "生产工作点提升 47%，最高", NUMBERS_CHANGED),
        ("10² units are here at last", "102 units are here at last", NUMBERS_CHANGED),
        ("more than 96,000 users signed up", "more than 96 users signed up", NUMBERS_CHANGED),
        ("runs on SM100 with V4.1-Flash", "runs on SM90 with V4.1-Flash", NUMBERS_CHANGED),
        ("版本 1.2.4 已经修复这个问题", "版本 1.2.3 已经修复这个问题", NUMBERS_CHANGED),
        ("The page speaks of other things entirely.", "单集群每天 155 万亿 token", NOT_FOUND),
        ("Attention is all you need, they said.", "PagedAttention", NOT_FOUND),
        ("", "anything", NOT_FOUND),
        ("anything", "", NOT_FOUND),
    ],
)
def test_a_quote_is_held_in_one_of_these_ways(text: str, exact: str, kind: SightingKind) -> None:
    sighting = seen(text, exact)
    assert sighting.kind is kind, sighting


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("每天 155 万亿 token", "55 万亿 token"),
        ("每天 155 万亿 token", "每天 155 万"),
        ("the rate is 4.5 percent", "the rate is 4"),
        ("96,000 users", "96"),
        ("fell by −5% in May", "5% in May"),
        ("一百五十五万亿 token", "五万亿 token"),
        ("many tokens", "many token"),
        ("un\u00e9 cafe\u0301", "un\u00e9 cafe"),
        ("OpenAI said so", "AI said so"),
    ],
)
def test_a_hit_that_cuts_a_number_or_a_word_is_none(text: str, exact: str) -> None:
    assert seen(text, exact).kind is not VERBATIM
    assert not seen(text, exact).stands


@pytest.mark.parametrize(
    ("text", "exact"),
    [
        ("这是唯一一个答案", "一个答案"),
        ("开源AI框架", "AI"),
        ("每天155万亿token", "155万亿token"),
        ("（4.5 倍）", "4.5 倍"),
        ("GPU: 8; CPU: 4", "CPU: 4"),
        ("1.\u3000Item", "Item"),
    ],
)
def test_a_hit_between_words_is_one(text: str, exact: str) -> None:
    assert seen(text, exact).kind is VERBATIM


def test_the_span_is_that_of_the_layer_s_own_text() -> None:
    text = FILLER + "\n单集羣每天處理  155T token，命中率 80%。\n" + FILLER
    sighting = seen(text, "单集群每天处理 155 万亿 token，")
    assert text[sighting.start : sighting.end] == sighting.found == "单集羣每天處理  155T token，"


def test_a_quote_over_several_blocks_is_found() -> None:
    sighting = sight(page("The first block ends", "and the second goes on."), Quote("block ends and the second"))
    assert (sighting.kind, sighting.found) == (TYPOGRAPHIC, "block ends\nand the second")


def test_changed_numbers_are_told_as_they_are_written() -> None:
    sighting = seen("每天 160 万亿 token，提升 3–5%，其余不变", "每天 155 万亿 token，提升 4–7%，其余不变")
    assert sighting.numbers_old == ("155万亿", "4", "7%")
    assert sighting.numbers_new == ("160万亿", "3", "5%")
    assert [p.text for p in sighting.parts if p.op is Op.INSERT] == ["160", "3–5%"]


@pytest.mark.parametrize(
    ("text", "exact", "changed"),
    [
        ("We do not keep your prompts on our servers.", "We keep your prompts on our servers.", True),
        ("We keep all your prompts on our servers.", "We keep your prompts on our servers.", False),
        ("该框架目前不支持昇腾芯片上的推理服务", "该框架目前支持昇腾芯片上的推理服务", True),
        ("该框架非常好地支持昇腾芯片上的推理服务", "该框架很好地支持昇腾芯片上的推理服务", False),
        ("It can't run on that hardware any more.", "It can run on that hardware any more.", True),
    ],
)
def test_a_negation_that_came_or_went_is_told(text: str, exact: str, changed: bool) -> None:
    sighting = seen(text, exact)
    assert (sighting.kind, sighting.negation_changed) == (REWORDED, changed)


def test_a_reworded_quote_is_shown_from_end_to_end() -> None:
    sighting = seen(
        f"{FILLER}\nThe model does not store any of your conversations on its servers.\n{FILLER}",
        "The model stores all of your conversations on its servers.",
    )
    assert sighting.found == "The model does not store any of your conversations on its servers."


def test_of_several_occurrences_the_one_with_its_neighbours_counts() -> None:
    sighting = seen("A: 155 tok/s now\nB: 155 tok/s now\nC: 155 tok/s then", "155 tok/s", "B: ", " now")
    assert (sighting.occurrences, sighting.start) == (3, 20)


def test_the_same_figure_in_another_row_does_not_stand_for_the_cited_row() -> None:
    text = "Model Alpha throughput 170 tok/s measured in May\nModel Beta throughput 155 tok/s measured in June"
    sighting = seen(text, "155 tok/s", "Model Alpha throughput ", " measured in May")
    assert (sighting.kind, sighting.found) == (NUMBERS_CHANGED, "170 tok/s")


def test_a_quote_that_is_gone_from_between_its_neighbours_is_deleted_here() -> None:
    before, after = "A first sentence stands here. ", " A third one follows it."
    assert seen(before + after, "The second says a lot.", before, after).kind is DELETED_HERE
    assert seen(before + "Whatever." + after, "The second says a lot.", before, after).kind is NOT_FOUND
    assert seen(FILLER, "The second says a lot.", before, after).kind is NOT_FOUND


def test_a_context_cut_inside_a_number_still_shows_the_deletion() -> None:
    text = "shipped 30 planes in its testing phase. The order is valued at $8.8 billion at list prices."
    quote = Quote("It seats 242 to 330 people.", "30 planes in its testing phase. ", " The order is valued at $8.8 bil")
    assert sight(page(text), quote).kind is DELETED_HERE


@pytest.mark.parametrize("label", [Label.HIDDEN, Label.NOSCRIPT, Label.SCRIPT])
def test_the_layer_that_holds_the_quote_is_told(label: Label) -> None:
    blocks = (Block("What readers see."), Block("The cited sentence stands in here, unseen.", label))
    sighting = sight(Page(Document(Form.HTML, blocks=blocks)), Quote("The cited sentence stands in here"))
    assert (sighting.kind, sighting.layer) == (VERBATIM, label.value)


def test_what_readers_see_counts_more_than_the_old_wording_in_a_script() -> None:
    blocks = (
        Block("The cited sentence now says 160 trillion."),
        Block("The cited sentence now says 155 trillion.", Label.SCRIPT),
    )
    sighting = sight(Page(Document(Form.HTML, blocks=blocks)), Quote("The cited sentence now says 155 trillion."))
    assert (sighting.kind, sighting.layer) == (NUMBERS_CHANGED, "visible")


def test_a_figure_is_never_looked_for_in_text() -> None:
    sighting = sight(page("80%"), Quote("80%", figure="panel.jpg"))
    assert (sighting.kind, sighting.layer, sighting.stands) == (SightingKind.UNVERIFIED, "figure", False)


def test_context_is_what_stands_beside_a_place() -> None:
    text = FILLER[:100] + "HERE" + FILLER[:100]
    prefix, suffix = context(Layer("visible", text), 100, 104)
    assert (prefix, suffix) == (FILLER[100 - CONTEXT_CHARS : 100], FILLER[:CONTEXT_CHARS])
    assert context("ab", 0, 1) == ("", "b")


@pytest.mark.parametrize("unit", ["1,234,", "ab", "的", "1", " ", "不", "\ud800", "a\u0301", "5%-"])
def test_a_page_of_one_endless_line_does_not_stall(unit: str) -> None:
    text = unit * (300_000 // len(unit))
    assert seen(text, "The cited sentence stands in here, unseen.").kind is NOT_FOUND


@given(st.text(max_size=40), st.text(st.characters(exclude_categories=()), max_size=40), st.text(max_size=40))
def test_a_quote_that_stands_there_between_spaces_is_verbatim(exact: str, before: str, after: str) -> None:
    sighting = seen(f"{before} {exact}\n {after}", exact)
    if exact.strip() and "\n" not in exact and whole(f" {exact}\n", 1, 1 + len(exact)):
        assert sighting.kind is VERBATIM


@given(st.text(), st.text(min_size=1))
def test_any_quote_on_any_page_has_an_answer_that_can_be_shown(text: str, exact: str) -> None:
    layer = page(text).layers[0]
    sighting = sight(page(text), Quote(exact))
    if sighting.start is not None:
        assert layer.text[sighting.start : sighting.end] == sighting.found


WORDS = st.sampled_from(["155 万亿", "token", "中文", "e\u0301", "\n", " ", "\u3000", "ﬁ", "1,234", "。", "word "])


@given(st.lists(WORDS, min_size=150, max_size=400).map("".join), st.data())
def test_a_long_text_in_pieces_leads_back_to_its_own_places(text: str, draw: st.DataObject) -> None:
    layer = Layer("visible", text)
    assert len(text) <= PIECE_CHARS or len(layer._cuts) > 1
    for form in (Reading.TYPOGRAPHIC, Reading.FOLDED):
        reading = layer.reading(form)
        if reading:
            place = draw.draw(st.integers(0, len(reading) - 1))
            start, end = layer.span(form, place, place + 1)
            assert 0 <= start < end <= len(text)
            if place + 1 < len(reading):
                assert start <= layer.span(form, place + 1, place + 2)[0] or reading[place] == " "


@given(st.text(), st.data())
def test_a_grown_stretch_cuts_nothing_and_loses_nothing(text: str, draw: st.DataObject) -> None:
    start, end = sorted((draw.draw(st.integers(0, len(text))), draw.draw(st.integers(0, len(text)))))
    wider = grown(text, start, end)
    assert wider[0] <= start <= end <= wider[1]


def test_labelled_edits_of_real_quotes_are_told_as_what_they_are() -> None:
    cases = list(quote_edits.cases())
    wrong = [
        f"{c.name}: {s.kind} for {c.expected}: {s.found!r}"
        for c in cases
        if not right(c, s := sight(Page(c.page), c.quote))
    ]
    assert len(cases) >= 400
    assert {c.name[:2] for c in cases} >= {"zh", "en"}
    assert len(wrong) <= len(cases) // 100, "\n".join(wrong)


def right(case: quote_edits.Case, sighting: Sighting) -> bool:
    """The kind, and the place: what was found begins as the edited sentence does and is about as long."""
    if sighting.kind is not case.expected:
        return False
    if case.expected in (DELETED_HERE, NOT_FOUND):
        return True
    found, region = ("".join(text.split()) for text in (sighting.found, case.region))
    return found == region or (found[:4] == region[:4] and abs(len(found) - len(region)) <= len(region) // 5)
