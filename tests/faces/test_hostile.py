"""Nothing that a hostile page brings steers a terminal, breaks out of a format, or hides in what we print."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from asking import ask
from hypothesis import given
from hypothesis import strategies as st

from hostile import BREAKOUTS, raw, texts
from live import live
from site_of_pages import Answer, row, serving, write_sources
from sourcewatch.analysis.feed import ATOM, atom
from sourcewatch.analysis.render import versions_diff
from sourcewatch.analysis.voice import Voice
from sourcewatch.domain.change import Drift, Edit, EditKind, Extent, Op, Part, Sighting, SightingKind, Significance
from sourcewatch.domain.check import Span
from sourcewatch.domain.kept import ChangeRow, VersionRow
from sourcewatch.domain.memento import Dropped
from sourcewatch.domain.message import Message, MessageKind, News
from sourcewatch.domain.report import Line, Report
from sourcewatch.domain.source import Rest, Site, Source
from sourcewatch.domain.standing import Standing
from sourcewatch.domain.verdict import Verdict
from sourcewatch.faces import shown
from sourcewatch.faces.logs import _Json, _Plain
from watch import Watch

AT = datetime(2026, 10, 20, 11, 3, tzinfo=UTC)
VOICES = (Voice("en", "UTC"), Voice("zh-CN", "Asia/Shanghai"))
EVIL = "".join(c for c in " ".join(BREAKOUTS) if not "\ud800" <= c <= "\udfff" and c not in "\r\n")
PARAGRAPH = "<p>A paragraph that says what the operators of the cluster measured over a whole week of service.</p>"


def edits(text: str) -> tuple[Edit, ...]:
    parts = (Part(Op.EQUAL, text), Part(Op.DELETE, text), Part(Op.INSERT, text + "x"))
    return tuple(Edit(kind, 0, 0, parts, suppressed_by="x" * (n % 2)) for n, kind in enumerate(EditKind))


def span(text: str) -> Span:
    facts = {
        "by": text, "hops": [{"status": 302, "url": text}], "events": [text],
        "embeds": [{"id": "p--1", "verdict": "not_found", "alt": text, "url": text}],
        "certificate": {"issuer": text, "subject": text, "not_after": text}, "evidence_path": "snapshots/p",
    }  # fmt: skip
    verdict = Verdict("ok", text, text)
    return Span(1, "p", AT, AT, 2, verdict, 200, text, text, version=1, new_version=True, by_hand=True, facts=facts)


@given(texts())
def test_no_text_steers_a_terminal(text: str) -> None:
    verdict, drift = Verdict("not_found", "rule", text), Drift(0.5, 0.5, Extent.EDITED)
    source = Source("p", text, text, url=text, alt=text, pause=Rest(AT + timedelta(days=1), text))
    standing = Standing(verdict=verdict, failing_since=AT, by_hand_at=AT, by_hand_by=text, last_accessed=AT)
    version = VersionRow(1, "p", AT, text, text, text, text, text, "snapshots/p/1.warc.gz", "r", 0, 1, text)
    change = ChangeRow(1, "p", 1, 2, AT, None, Significance.TEXT, 1, 1, drift, b"", text)
    line = {
        "source": "p", "verdict": "not_found", "accessed": False, "new_version": False, "change": None,
        "failing_since": text, "sightings": [{"sighting": "not_found"}], "embeds": [{"url": text, "verdict": "gone"}],
    }  # fmt: skip
    for voice in VOICES:
        out = [
            shown.summary([line], None, voice),
            shown.columns(("a", "b", "c", "d", "e", "f"), shown.status_rows([Line(source, standing)], voice, AT)),
            shown.history([span(text)], [version], {1: Dropped(AT, text)}),
            shown.last_check(span(text)),
            shown.sightings([Sighting("q", SightingKind.REWORDED, layer="hidden", found=text)], {"q": text}),
            shown.weighed(change, edits(text), (text, text)),
            *(versions_diff(edits(text), form, "p") for form in ("text", "md", "html")),
        ]
        for piece in out:
            assert not raw(piece)


@given(texts())
def test_no_text_breaks_a_line_of_a_table_or_a_history(text: str) -> None:
    assert len(shown.columns(("a",), [(text,)]).splitlines()) <= 2
    bare = replace(span(text), facts={"by": text})
    assert shown.history([bare], [], {}).count("\n") == 0


@given(texts())
def test_no_text_breaks_out_of_a_log(text: str) -> None:
    record = logging.LogRecord("x", logging.INFO, "x", 1, "%s", (text,), None)
    assert not raw(_Plain().format(record)) and "\n" not in _Plain().format(record)
    assert json.loads(_Json().format(record))["message"] == text and not raw(_Json().format(record))


@given(texts(), st.sampled_from(list(MessageKind)))
def test_no_text_breaks_out_of_the_feed(text: str, kind: MessageKind) -> None:
    facts: dict[str, Any] = {
        "event": "broken" if kind is MessageKind.QUOTE else "opened", "quote": "q", "exact": text, "found": text,
        "sighting": "not_found", "score": 0.0, "word": "not_found", "opened_at": AT.isoformat(), "failures": 2,
        "last_accessed": None, "lasted_s": 60, "version": 2, "significance": "text", "final_url": text,
    }  # fmt: skip
    if kind is MessageKind.RECOVERED:
        facts["event"] = "recovered"
    news = News(Message(kind, "p", f"{kind}:p:1", AT, facts, 1), Source("p", "A", text, url=text), edits=edits(text))
    written = atom(Report(Site(text, text), AT, None, news=(news,)))
    feed = Xml.fromstring(written.encode())
    assert not raw(written)
    names = {element.tag.removeprefix(f"{{{ATOM}}}") for element in feed.iter()}
    assert names <= {"feed", "id", "title", "updated", "author", "name", "link", "entry", "content"}
    for link in feed.iter(f"{{{ATOM}}}link"):
        assert (link.get("href") or "").lower().startswith(("http://", "https://"))


@dataclass(frozen=True, slots=True)
class Lived:
    folder: Path

    def says(self, *words: str) -> str:
        command = [sys.executable, "-m", "sourcewatch.faces.cli", "--config", str(self.folder / "sources.toml"), *words]
        env = {**os.environ, "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run(command, capture_output=True, timeout=180, check=False, env=env)
        assert done.returncode == 0, done.stderr
        return (done.stdout + done.stderr).decode()


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lived]:
    """A page that tries everything everywhere, and changes."""
    folder = tmp_path_factory.mktemp("hostile")
    with serving() as site:
        header = EVIL.encode("latin-1", "ignore").decode("latin-1").replace("\0", "")

        def hostile(n: int) -> Answer:
            html = f"<title>{EVIL}</title><h1>Notes</h1>{PARAGRAPH * 4}<p>{n} {EVIL}</p><img src=/{n}.png alt='{EVIL}'>"
            fields = {"Content-Type": "text/html; charset=utf-8", "ETag": f'"{n}"', "X-Evil": header, "Server": header}
            return 200, fields, html.encode()

        rows = row("evil", site.url("/evil"), "sentence that never stood there") + row("wall", site.url("/wall"))
        site.pages["/wall"] = (302, {"Location": site.url("/x") + "?" + "%1b]0;x%07\u00e9"}, b"")
        for n in range(2):
            site.pages["/evil"] = hostile(n)
            Watch(folder).passes(rows, AT + timedelta(days=n))
        site.pages["/evil"] = hostile(2)
        write_sources(folder, rows)
        yield Lived(folder)


@pytest.mark.parametrize(
    "words",
    [
        ("run", "--all"), ("run", "--all", "--json"), ("status",), ("status", "--json"), ("history", "evil"),
        ("history", "wall"), ("why", "evil"), ("diff", "evil"), ("diff", "evil", "--format", "md"),
        ("diff", "evil", "--format", "html"),
        ("report", "--format", "md", "--out", "-"), ("report", "--format", "json", "--out", "-"),
        ("report", "--format", "html", "--out", "-"), ("report", "--format", "atom", "--out", "-"),
        ("export", "last-accessed"), ("export", "last-accessed", "--format", "jekyll"), ("export", "csl"),
        ("export", "last-accessed", "--format", "toml"), ("export", "bibtex"), ("export", "gbt7714"),
        ("export", "robust-links"), ("verify", "--json"), ("sources", "list", "--json"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_no_command_prints_what_a_page_wants_to_do(lived: Lived, words: tuple[str, ...]) -> None:
    said = lived.says(*words)
    assert said.strip() and not raw(said)


def test_no_answer_of_the_api_holds_it_raw(lived: Lived) -> None:
    one = "/api/v1/sources/evil"
    with live(lived.folder) as base:
        for path in ("/last-accessed.json", "/api/v1/sources", one, f"{one}/checks", f"{one}/versions", "/changes"):
            answer = ask(base, path)
            assert answer.status == 200 and answer.json and not raw(answer.text), path
        assert not raw(ask(base, "/feed.atom").text)
        listed = ask(base, f"{one}/versions").json["versions"][0]
        assert "\x1b" in listed["title"] or "owned" in listed["title"], "who parses it gets the page's own title"
