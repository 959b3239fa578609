"""Each stand-in gets its verdict by its rule, and the good page that looks like it is left alone."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourcewatch.analysis import classify, extract, sniff
from sourcewatch.domain.capture import Capture, Exchange
from sourcewatch.domain.document import Document, Form
from sourcewatch.domain.reading import Accepted, Payload, Probe, Reading
from sourcewatch.domain.source import Quote, Source
from web import stand_ins
from web.stand_ins import StandIn

NOW = datetime(2026, 10, 20, tzinfo=UTC)
SITE = "https://notes.example"


def document(body: bytes, media_type: str, url: str) -> tuple[Form, Document]:
    form = sniff.sniff(body, media_type, url)
    return form, extract.extract(body, form=form, media_type=media_type, url=url)


def reading(case: StandIn) -> Reading:
    """A case as the judge would see it."""
    urls = [SITE + case.cited, *(SITE + target for _, target in case.leads)]
    hops = [Exchange(u, status, (("Location", t),)) for u, (status, t) in zip(urls, case.leads, strict=False)]
    length = (("Content-Length", str(len(case.body))),) if case.framed else ()
    answer = Exchange(urls[-1], case.status, (("Content-Type", case.type), *length, *case.headers), case.body)
    form, read = document(case.body, case.type, urls[-1])
    accepted = probe = None
    if case.before:
        before = case.before if isinstance(case.before, bytes) else case.before.encode()
        accepted = Accepted(1, NOW, urls[0], "sha256:", case.type, document(before, case.type, urls[0])[1])
    if case.unknown:
        asked = SITE + "/articles/2024/sourcewatch-" + "0" * 32
        there = document(case.unknown.encode(), "text/html", asked)[1]
        probe = Probe(asked, NOW, 200, asked, there.title, there.text)
    fragment = f"#{case.fragment}" if case.fragment else ""
    quotes = tuple(Quote(q) for q in case.quotes)
    source = Source("s", "A", "t", url=urls[0] + fragment, quotes=quotes)
    expect = "figure" if case.figure else "document"
    payload = Payload(case.body, "sha256:")
    return Reading(source, Capture(NOW, (*hops, answer)), payload, form, read, accepted, probe, expect)


@pytest.mark.parametrize("case", stand_ins.ALL, ids=lambda case: case.name)
def test_each_stand_in_gets_its_verdict_and_its_double_is_left_alone(case: StandIn) -> None:
    verdict = classify.classify(reading(case))
    expected = "ok" if case.word == "ok_partial" else case.word  # a figure that is not read is found out by the check
    assert (verdict.word, verdict.rule if case.rule else "") == (expected, case.rule), verdict
    assert verdict.evidence or expected == "ok"


def test_every_rule_has_a_bad_page_and_a_good_one_that_it_must_leave_alone() -> None:
    hit = {case.rule for case in stand_ins.ALL}
    spared = {case.spares for case in stand_ins.ALL}
    names = {rule.name for rule in classify.RULES} | {"anchor", "text-fragment"}
    names -= BY_EXAMPLES
    assert names - hit == set() and names - spared - WITHOUT_DOUBLE == set()


BY_EXAMPLES = {"reader-gone", "reader-unproved"}  # each readers' rule brings good and bad answers of its own
WITHOUT_DOUBLE = {
    "document-broken",
    "no-picture",
}  # what does not open has no good double; pictures have tests of their own


def test_names_of_cases_and_rules_are_unique() -> None:
    names = [case.name for case in stand_ins.ALL]
    rules = [rule.name for rule in classify.RULES]
    assert len(set(names)) == len(names) and len(set(rules)) == len(rules)
    assert all(re.fullmatch(r"[a-z][a-z-]+", rule) for rule in rules)


@pytest.mark.parametrize("case", stand_ins.STATUSES, ids=lambda case: case.name)
def test_a_status_is_believed_whatever_the_page_says(case: StandIn) -> None:
    verdict = classify.classify(reading(case))
    assert (verdict.word, verdict.rule, verdict.accessed) == (case.word, case.rule, False)


@pytest.mark.parametrize("status", [200, 201, 203])
def test_what_carries_the_page_is_read(status: int) -> None:
    case = StandIn("status", "ok", page=stand_ins.html("Production", stand_ins.ARTICLE), status=status)
    assert classify.classify(reading(case)).word == "ok"


def answered(*hops: tuple[int, str], page: str = "", path: str = "/cited", **more: object) -> Reading:
    return reading(StandIn("page", "ok", page=page or PAGE, path=path, leads=hops, **more))  # type: ignore[arg-type]


PAGE = stand_ins.html("Production", stand_ins.ARTICLE)


@pytest.mark.parametrize(
    ("hops", "word"),
    [
        ((), "ok"),
        ((301,), "redirected_permanent"),
        ((308, 301), "redirected_permanent"),
        ((302,), "redirected_temporary"),
        ((301, 307), "redirected_temporary"),
        ((303, 301), "redirected_temporary"),
        ((301, 200), "redirected_meta"),
    ],
)
def test_the_way_to_a_good_page_is_in_its_word(hops: tuple[int, ...], word: str) -> None:
    led = tuple((status, f"/cited/{n}") for n, status in enumerate(hops))
    assert classify.landing(answered(*led).capture).word == word


REFRESH = '<meta http-equiv="refresh" content="{}">'


@pytest.mark.parametrize(
    ("refresh", "target"),
    [
        ("0; url=/new", "/new"),
        ("3;URL='new.html'", "/new.html"),
        ("0; url=https://notes.example/cited", ""),  # the page itself
        ("0; url=/cited#part", ""),
        ("5", ""),
        ("300; url=/next-slide", ""),
        ("0; url=javascript:alert(1)", ""),
        ("0; url=file:///etc/passwd", ""),
        ("0; url=http://10.0.0.1/", "http://10.0.0.1/"),  # the guard refuses it, and says so
    ],
)
def test_a_refresh_is_followed_to_another_page_of_the_web(refresh: str, target: str) -> None:
    page = stand_ins.html("Moved", REFRESH.format(refresh) + "<p>This page has moved.</p>")
    expected = SITE + target if target.startswith("/") else target
    assert classify.follow(answered(page=page)) == expected


def test_a_refresh_header_is_one_too() -> None:
    assert classify.follow(answered(headers=(("Refresh", "0; url=/new"),))) == SITE + "/new"


def test_an_article_that_turns_over_after_a_while_is_read_itself() -> None:
    page = stand_ins.html("Production", REFRESH.format("10; url=/next") + stand_ins.ARTICLE)
    assert classify.follow(answered(page=page)) == ""


@pytest.mark.parametrize("status", [403, 404, 500, 503])
def test_an_error_page_refers_nowhere(status: int) -> None:
    page = stand_ins.html("Error", REFRESH.format("0; url=/new"))
    assert classify.follow(answered(page=page, status=status)) == ""


def test_a_challenge_that_reloads_is_a_challenge() -> None:
    case = next(c for c in stand_ins.ALL if c.name == "akamai-bm-200")
    assert classify.follow(reading(case)) == ""


@pytest.mark.parametrize(
    "case", [c for c in stand_ins.ALL if c.rule and c.word != "ok_fragment_missing"], ids=lambda c: c.name
)
def test_no_stand_in_is_an_access(case: StandIn) -> None:
    assert not classify.classify(reading(case)).accessed


@pytest.mark.parametrize(
    "case",
    [c for c in stand_ins.NOT_FOUND + stand_ins.VACANT if c.rule and c.status == 200 and "<body" in str(c.page)],
    ids=lambda c: c.name,
)
def test_a_notice_beside_the_text_that_was_accepted_decides_nothing(case: StandIn) -> None:
    page = str(case.page).replace("<body>", "<body>" + stand_ins.ARTICLE)
    both = replace(case, page=page, before=PAGE, unknown="", leads=())
    assert classify.classify(reading(both)).word == "ok"


@given(
    st.binary(max_size=400), st.integers(200, 599), st.sampled_from(["text/html", "application/json", "image/png", ""])
)
@settings(max_examples=150, deadline=None)
def test_any_bytes_get_the_same_verdict_twice_and_no_error_is_an_access(
    body: bytes, status: int, media_type: str
) -> None:
    case = StandIn("any", "ok", page=body, status=status, type=media_type)
    first, second = (classify.classify(reading(case)) for _ in range(2))
    assert first == second and first.rule
    assert status < 300 or not first.accessed
    assert classify.follow(reading(case)) == "" or status < 300


@given(st.sampled_from([c for c in stand_ins.ALL if c.rule and c.status == 200 and isinstance(c.page, str)]), st.data())
@settings(max_examples=60, deadline=None)
def test_a_cut_or_doubled_stand_in_never_breaks_the_judge(case: StandIn, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(case.page)))
    for page in (case.page[:at], case.page[at:], case.page + case.page[:at]):  # type: ignore[operator]
        assert classify.classify(reading(replace(case, page=page))).rule


def test_a_pdf_without_a_text_layer_is_read_and_says_so() -> None:
    url = SITE + "/papers/cache.pdf"
    answer = Exchange(url, 200, (("Content-Type", "application/pdf"),), b"%PDF-1.7")
    read = Document(Form.PDF, notes=("no text layer",))
    source = Source("s", "A", "t", url=url)
    verdict = classify.classify(
        Reading(source, Capture(NOW, (answer,)), Payload(answer.body, "sha256:"), Form.PDF, read)
    )
    assert (verdict.word, verdict.evidence) == ("ok", "no text layer")
