"""What an editor reads: the first line says what and where; nothing in it is longer than a chat shows."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis import telling
from sourcewatch.analysis.voice import Voice
from sourcewatch.domain.change import Edit, EditKind, Op, Part
from sourcewatch.domain.message import Message, MessageKind, News
from sourcewatch.domain.source import Quote, Source, SourceKind

AT = datetime(2026, 10, 20, 3, 3, tzinfo=UTC)
ZH, EN = Voice("zh-CN", "Asia/Shanghai"), Voice("en", "Asia/Shanghai")
QUOTE = Quote("Verification gains 4–7% at the production point", cited_on=("/compare/",))
README = Source("readme", "A", "DeepServe README", url="https://a.example/readme", quotes=(QUOTE,), cited_on=("/all/",))
PANEL = Source("readme--1", "A", "线上系统实际统计", url="https://pic.example/1.png", kind=SourceKind.FIGURE,
               parent="readme", alt="线上系统实际统计")  # fmt: skip
INCIDENT = {"event": "opened", "word": "not_found", "opened_at": "2026-10-18T03:03:00+00:00", "failures": 2,
            "last_accessed": "2026-10-17T03:03:00+00:00", "evidence": ""}  # fmt: skip
NUMBERS = {
    "event": "broken", "quote": QUOTE.key, "exact": QUOTE.exact, "sighting": "numbers_changed", "score": 0.95,
    "stood_at": "2026-10-19T03:03:00+00:00", "numbers_old": ["4", "7%"], "numbers_new": ["3", "5%"],
    "parts": [[0, "Verification gains "], [-1, "4–7%"], [1, "3–5%"], [0, " at the production point"]],
}  # fmt: skip


def news(kind: MessageKind, facts: dict[str, Any], source: Source = README, id_: int = 1, key: str = "k:1") -> News:
    return News(Message(kind, source.id, key, AT, facts, id_), source)


def test_a_quote_whose_figures_changed_reads_well_in_english() -> None:
    title, body = telling.letter([news(MessageKind.QUOTE, NUMBERS)], EN, "Notes", "https://watch.example/")
    assert title == "[Notes] · Figures in a quote changed: DeepServe README"
    assert body.splitlines() == [
        "Figures in a quote changed: DeepServe README",
        "“Verification gains 4–7% at the production point”",
        "numbers changed: 4–7% → 3–5%; last seen unchanged 19 October 2026 11:03",
        "now: “Verification gains 3–5% at the production point”",
        "used on: /compare/",
        "https://a.example/readme",
        "our copy: https://watch.example/timegate/https://a.example/readme",
    ]


def test_and_in_chinese() -> None:
    title, body = telling.letter([news(MessageKind.QUOTE, NUMBERS)], ZH, "田野笔记")
    assert title == "[田野笔记] · 引文中的数字已变：DeepServe README"
    assert body.splitlines()[2:5] == [
        "数字已变：4–7% → 3–5%；最后一次原样见于 2026 年 10 月 19 日 11:03",
        "现为：“Verification gains 3–5% at the production point”",
        "用于：/compare/",
    ]


@pytest.mark.parametrize(
    ("kind", "facts", "first"),
    [
        (MessageKind.QUOTE, NUMBERS | {"sighting": "not_found"}, "A quote no longer stands: DeepServe README"),
        (MessageKind.QUOTE, NUMBERS | {"event": "never", "sighting": "not_found", "stood_at": None},
         "A quote was never found on the page: DeepServe README"),
        (MessageKind.RECOVERED, NUMBERS | {"event": "stands", "sighting": "verbatim"},
         "A quote stands again: DeepServe README"),
        (MessageKind.DEAD, INCIDENT, "Dead: DeepServe README"),
        (MessageKind.FAILING, INCIDENT, "Cannot be read: DeepServe README"),
        (MessageKind.FAILING, INCIDENT | {"event": "class-gone", "was": "challenge"},
         "Fails in another way: DeepServe README"),
        (MessageKind.RECOVERED, INCIDENT | {"event": "recovered", "lasted_s": 93_600},
         "Can be read again: DeepServe README"),
        (MessageKind.CHANGE, {"version": 2, "significance": "figures"}, "Changed (figures): DeepServe README"),
        (MessageKind.MOVED, {"final_url": "https://b.example/", "word": "redirected_permanent"},
         "Moved for good: DeepServe README"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("voice", [EN, ZH])
def test_the_first_line_says_what_and_where(kind: MessageKind, facts: dict[str, Any], first: str, voice: Voice) -> None:
    lines = telling.paragraph(news(kind, facts), voice, "https://watch.example/")
    assert lines[0] == first or voice is ZH
    assert "DeepServe README" in lines[0] and "https://a.example/readme" in lines
    assert [x for x in lines if "/compare/" in x or "/all/" in x], "no word of the pages that rely on it"


def test_a_failing_source_says_why_since_when_and_when_it_was_last_read() -> None:
    lines = telling.paragraph(news(MessageKind.FAILING, INCIDENT), EN)
    assert lines[1:3] == [
        "404, not found; failing since 18 October 2026 11:03; 2 checks could not read it",
        "last read 17 October 2026 11:03",
    ]
    never = telling.paragraph(news(MessageKind.FAILING, INCIDENT | {"last_accessed": None}), EN, "https://w.example/")
    assert "never read" in never and not [x for x in never if "timegate" in x], "there is no copy to look at"


def test_a_recovered_source_says_how_long_it_lasted() -> None:
    facts = INCIDENT | {"event": "recovered", "lasted_s": 93_600}
    assert "it could not be read for 26 hours; before: 404, not found" in telling.paragraph(
        news(MessageKind.RECOVERED, facts), EN
    )


def test_a_figure_is_named_after_its_page_and_names_the_quotes_that_rely_on_it() -> None:
    of_picture = Quote("96% 缓存命中", figure="线上系统实际统计")
    page = Source("readme", "A", "DeepServe README", url="https://a.example/readme", quotes=(QUOTE, of_picture),
                  cited_on=("/all/",))  # fmt: skip
    told = news(MessageKind.FIGURE, INCIDENT | {"word": "tls_unknown_ca"}, PANEL)
    lines = telling.paragraph(telling.with_declared(told, {"readme": page}), ZH)
    assert lines[0] == "图片读不到：线上系统实际统计 — 《DeepServe README》中的图片"
    assert lines[1].startswith("SSL 证书签发者不受信任") and "依据此图的引文：“96% 缓存命中”" in lines
    assert "用于：/all/" in lines and "https://pic.example/1.png" in lines


def test_a_change_shows_its_first_edits() -> None:
    edits = tuple(
        Edit(EditKind.REPLACED, n, n, (Part(Op.EQUAL, "costs "), Part(Op.DELETE, f"{n}"), Part(Op.INSERT, f"{n + 1}")))
        for n in range(5)
    )
    message = Message(MessageKind.CHANGE, "readme", "change:readme:2", AT, {"version": 2, "significance": "text"})
    lines = telling.paragraph(News(message, README, None, edits), EN)
    assert lines[1:5] == ["costs [-0-]{+1+}", "costs [-1-]{+2+}", "costs [-2-]{+3+}", "… +2"]


def test_many_messages_are_one_letter_the_loudest_first_each_topic_once() -> None:
    second = NUMBERS | {"quote": "other", "exact": "Another sentence"}
    title, body = telling.letter(
        [
            news(MessageKind.CHANGE, {"version": 7, "significance": "quote"}, id_=1, key="change:readme:7"),
            news(MessageKind.FAILING, INCIDENT, PANEL, id_=2),
            news(MessageKind.QUOTE, NUMBERS, id_=3, key="quote:readme:x:7"),
            news(MessageKind.QUOTE, second, id_=4, key="quote:readme:other:7"),
        ],
        EN, "Notes", digest="daily",
    )  # fmt: skip
    first, other = body.split("\n\n")
    assert title == "[Notes] · daily digest · 2 things to know"
    assert first.count("DeepServe README") == 1 and "4–7%" in first and "“Another sentence”" in first
    assert first.count("https://a.example/readme") == 1 and "Changed" not in body
    assert other.startswith("Cannot be read")


def test_hostile_text_stays_text_on_one_line() -> None:
    title = "A\nB\u202e\x1b[31m <b>" + "x" * 400
    hostile = Source("s", "A", title, url="javascript:alert(1)")
    body = telling.letter([news(MessageKind.DEAD, INCIDENT, hostile)], EN, "N\nN")[1]
    assert body.splitlines()[0].startswith("Dead: A B[31m <b>xx") and len(body.splitlines()[0]) < 140
    assert "javascript" not in body and "\x1b" not in body and "\u202e" not in body


TEXT = st.text(st.characters(codec="utf-8"), max_size=3_000)


@given(
    st.lists(st.tuples(st.sampled_from(list(MessageKind)), TEXT, TEXT), min_size=1, max_size=60),
    st.sampled_from([EN, ZH]),
)
def test_no_letter_is_longer_than_it_may_be_and_nothing_is_dropped_unsaid(
    told: list[tuple[MessageKind, str, str]], voice: Voice
) -> None:
    items = []
    for n, (kind, title, exact) in enumerate(told):
        facts = NUMBERS | {"exact": exact or "x"} if kind is MessageKind.QUOTE else dict(INCIDENT)
        if kind is MessageKind.CHANGE:
            facts = {"version": n, "significance": "text"}
        if kind is MessageKind.MOVED:
            facts = {"final_url": f"https://b.example/{n}", "word": "redirected_permanent"}
        if kind is MessageKind.RECOVERED:
            facts |= {"event": "recovered", "lasted_s": n}
        items.append(news(kind, facts, Source(f"s{n}", "A", title, url=f"https://a.example/{n}"), n, f"k:{n}"))
    title, body = telling.letter(items, voice, "Notes", "https://watch.example/")
    assert len(title) <= telling.MOST_TITLE_CHARS and len(body) <= telling.MOST_CHARS
    shown = body.count("\n\n") + 1
    assert shown == len(items) or voice.say("m_more", n=len(items) - shown + 1) in body


def test_sixty_broken_quotes_of_one_source_are_begun_and_cut() -> None:
    told = [
        news(
            MessageKind.QUOTE, NUMBERS | {"quote": f"q{n}", "exact": f"{n} " + "x" * 400}, id_=n, key=f"quote:r:q{n}:7"
        )
        for n in range(60)
    ]
    _, body = telling.letter(told, EN, "Notes")
    assert telling.MOST_CHARS * 0.9 < len(body) <= telling.MOST_CHARS and body.endswith("…")
    assert body.startswith("Figures in a quote changed: DeepServe README\n“0 xxx")


def test_a_quiet_week_and_a_trial_say_what_they_are() -> None:
    title, body = telling.quiet(EN, "Notes", 1)
    assert title == "[Notes] · weekly digest" and body.startswith("All quiet this week") and "1 message went" in body
    assert "Li" in telling.trial(ZH, "Notes", "Li")[1]


def test_times_of_one_minute_are_told_apart_by_their_seconds() -> None:
    first = datetime(2026, 10, 20, 3, 3, 7, tzinfo=UTC)
    told = EN.apart([first, first.replace(second=9), first.replace(minute=4)])
    assert list(told.values()) == ["20 October 2026 11:03:07", "20 October 2026 11:03:09", "20 October 2026 11:04"]


def test_a_certificates_end_is_a_date_with_its_zone() -> None:
    assert EN.until("2026-12-31T16:30:00+00:00") == "1 January 2027 00:30 (Asia/Shanghai)"
    assert ZH.until("2026-12-31T16:30:00+00:00") == "2027 年 1 月 1 日 00:30 (Asia/Shanghai)" and EN.until("") == ""
    without_end = "9999-12-31T23:59:59+00:00"
    assert EN.until(without_end) == without_end and EN.until("\x1b[2Jno time") == "[2Jno time"


@pytest.mark.parametrize(
    ("voice", "n", "said"),
    [(EN, 1, "1 check could not read it"), (EN, 3, "3 checks could not read it"), (ZH, 3, "3 次检查未能读到")],
)
def test_what_could_not_be_read_is_told_without_calling_a_wall_a_failure(voice: Voice, n: int, said: str) -> None:
    assert voice.say("strikes", n=n) == said
