"""The feed is Atom as RFC 4287 has it, and an entry never changes its id or its time."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree as Xml

from sourcewatch.analysis.feed import ATOM, IN_FEED, atom
from sourcewatch.domain.change import Edit, EditKind, Op, Part
from sourcewatch.domain.message import Message, MessageKind, News
from sourcewatch.domain.report import Report
from sourcewatch.domain.source import Site, Source

AT = datetime(2026, 10, 20, 3, 3, tzinfo=UTC)
HOUR = timedelta(hours=1)
SITE = Site("Notes <&>", "https://notes.example/", "Asia/Shanghai", "zh-CN")
SOURCE = Source("p", "A", "Page <b>", url="https://a.example/p?x=1&y=2", cited_on=("/x/",))
NS = {"a": ATOM}
FACTS = {
    MessageKind.QUOTE: {"event": "broken", "quote": "q", "exact": "a <i> b", "sighting": "not_found", "score": 0.0},
    MessageKind.CHANGE: {"version": 2, "significance": "text"},
    MessageKind.MOVED: {"final_url": "https://b.example/", "word": "redirected_permanent"},
}
INCIDENT = {"event": "opened", "word": "gone", "opened_at": AT.isoformat(), "failures": 2, "last_accessed": None}


def told(kind: MessageKind, n: int) -> News:
    facts = FACTS.get(kind, INCIDENT | ({"event": "recovered", "lasted_s": 60} if kind == "recovered" else {}))
    return News(Message(kind, "p", f"{kind}:p:{n}", AT + n * HOUR, facts, n), SOURCE)


def report(*news: News) -> Report:
    return Report(SITE, AT + 99 * HOUR, None, news=news, last_run_at=AT + 50 * HOUR)


def entries(text: str) -> list[Xml.Element]:
    return Xml.fromstring(text).findall("a:entry", NS)


def test_the_feed_has_all_that_atom_demands() -> None:
    kinds = list(MessageKind)
    feed = Xml.fromstring(atom(report(*(told(k, n) for n, k in enumerate(kinds)))))
    for element in (feed, *feed.findall("a:entry", NS)):
        for name in ("id", "title", "updated"):
            assert len(element.findall(f"a:{name}", NS)) == 1, name
        assert element.findtext("a:title", "", NS).strip() and re.fullmatch(
            r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", element.findtext("a:updated", "", NS)
        )
        assert re.fullmatch(r"tag:notes\.example,2026:[\w/:.-]+", element.findtext("a:id", "", NS))
    assert feed.findtext("a:author/a:name", "", NS) == "sourcewatch"
    assert feed.get("{http://www.w3.org/XML/1998/namespace}lang") == "zh-CN"
    found = feed.findall("a:entry", NS)
    assert len(found) == len(IN_FEED) == 5 and len({e.findtext("a:id", "", NS) for e in found}) == 5
    for entry in found:
        [content] = entry.findall("a:content", NS)
        assert content.get("type") == "html" and content.text and not content.findall("*")
        assert [x.get("href") for x in entry.findall("a:link", NS)] == [SOURCE.url]


def test_the_newest_comes_first_and_dates_the_feed() -> None:
    feed = Xml.fromstring(
        atom(report(told(MessageKind.DEAD, 1), told(MessageKind.QUOTE, 3), told(MessageKind.MOVED, 2)))
    )
    times = [e.findtext("a:updated", "", NS) for e in feed.findall("a:entry", NS)]
    assert times == sorted(times, reverse=True) and feed.findtext("a:updated", "", NS) == times[0]
    assert Xml.fromstring(atom(report())).findtext("a:updated", "", NS) == "2026-10-22T05:03:00Z"  # the last run's end


def test_an_entry_stays_what_it_is_when_the_feed_is_made_again_and_in_another_language() -> None:
    first, later = report(told(MessageKind.QUOTE, 1)), report(told(MessageKind.QUOTE, 1), told(MessageKind.DEAD, 2))
    later = replace(later, generated_at=AT + 999 * HOUR)
    kept = [e for e in entries(atom(later, "en")) if "quote" in e.findtext("a:id", "", NS)]
    for name in ("a:id", "a:updated"):
        assert [e.findtext(name, "", NS) for e in kept] == [e.findtext(name, "", NS) for e in entries(atom(first))]


def test_foreign_text_is_escaped_once_as_html() -> None:
    edit = Edit(EditKind.REPLACED, 0, 0, (Part(Op.DELETE, "<script>"), Part(Op.INSERT, "a\x0bb & c")))
    changed = replace(told(MessageKind.CHANGE, 1), edits=(edit,))
    [content] = [e.findtext("a:content", "", NS) for e in entries(atom(report(changed)))]
    assert content == "<p><del>&lt;script&gt;</del><ins>a b &amp; c</ins></p>"
    [quote] = [e.findtext("a:content", "", NS) for e in entries(atom(report(told(MessageKind.QUOTE, 1)), "en"))]
    assert "<p>“a &lt;i&gt; b”</p>" in quote and "<p>used on: /x/</p>" in quote
