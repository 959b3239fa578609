"""What was found goes in whole or not at all, and comes back as it was."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event, func, select

from sourcewatch.adapters import database
from sourcewatch.adapters import tables as t
from sourcewatch.adapters.ledger import Ledger
from sourcewatch.adapters.queue_rows import Queue
from sourcewatch.adapters.site_rows import SiteRows
from sourcewatch.domain.capture import Capture, Exchange, Failure
from sourcewatch.domain.change import (
    Change,
    Drift,
    Edit,
    EditKind,
    Extent,
    Op,
    Part,
    Sighting,
    SightingKind,
    Significance,
)
from sourcewatch.domain.check import Finding, Judgement
from sourcewatch.domain.document import Block, Document, Form, unpack
from sourcewatch.domain.kept import Kept, Stored
from sourcewatch.domain.reading import Probe
from sourcewatch.domain.source import Source, SourceKind
from sourcewatch.domain.verdict import Verdict

AT = datetime(2026, 10, 20, 11, 3, tzinfo=UTC)
HOUR = timedelta(hours=1)
URL = "https://a.example/p"
SOURCE = Source("a", "A", "A page", url=URL)


def document(text: str) -> Document:
    return Document(Form.HTML, title="T", blocks=tuple(Block(x) for x in text.split("\n")), extractor="x@1")


def capture(at: datetime, body: bytes = b"x") -> Capture:
    return Capture(at, (Exchange(URL, 200, (("Content-Type", "text/html"),), body),))


def new(text: str, at: datetime, *, change: Change | None = None, sightings: Sequence[Sighting] = ()) -> Kept:
    judgement = Judgement(
        Verdict("ok", "no-objection"), f"sha256:{text}", document(text), changed=True, change=change,
        sightings=tuple(sightings), history="{}", maker="m@1",
    )  # fmt: skip
    finding = Finding("a", at, capture(at, text.encode("utf-8", "replace")), judgement, 0.1)
    stored = Stored(f"snapshots/a/2026/{at:%H%M}.warc.gz", "<urn:uuid:1>", 0, at, URL, URL, 200, "text/html",
                    f"sha256:{text}", '"e"', "", len(text))  # fmt: skip
    return Kept(finding, 200, URL, URL, f"sha256:{text}", stored, at + HOUR, {"hops": []})


def same(version: int | None, at: datetime, word: str = "ok") -> Kept:
    finding = Finding(
        "a", at, capture(at), Judgement(Verdict(word, "same-bytes"), maker="m@1"), 0.1, unchanged_of=version
    )
    return Kept(finding, 200, URL, URL, next_check_at=at + HOUR)


def failed(word: str, at: datetime) -> Kept:
    failure = Failure(at, word, "r", "it failed", URL)
    return Kept(
        Finding("a", at, failure, Judgement(Verdict(word, "r", "it failed")), 0.1), 0, URL, URL, next_check_at=at + HOUR
    )


@pytest.fixture
def ledger(engine: Engine) -> Ledger:
    ledger = Ledger(engine)
    ledger.sync([SOURCE], AT)
    return ledger


def test_a_new_version_comes_back_with_its_document_and_sightings(ledger: Ledger) -> None:
    seen = Sighting(
        "q1", SightingKind.REWORDED, 0.8, "visible", 3, 9, "found", (Part(Op.INSERT, "x"),), ("1",), ("2",), True, 1
    )
    run = ledger.begin_run(AT, "t", "0")
    [[version]] = ledger.keep(run, [[new("one\n中文", AT, sightings=[seen])]])
    memory = ledger.recall("a").memory
    assert memory is not None and memory.version == version and unpack(memory.packed) == document("one\n中文")
    assert memory.sightings == (seen,) and memory.etag == '"e"' and memory.last_verdict == Verdict("ok", "no-objection")
    assert ledger.standing_of("a").last_accessed == AT
    assert [v.captured_at for v in ledger.versions("a")] == [AT]


def test_unchanged_accesses_extend_one_row_and_move_the_date(ledger: Ledger, engine: Engine) -> None:
    run = ledger.begin_run(AT, "t", "0")
    [[version]] = ledger.keep(run, [[new("one", AT)]])
    for hours in range(1, 6):
        ledger.keep(ledger.begin_run(AT, "t", "0"), [[same(version, AT + hours * HOUR)]])
    spans = ledger.spans("a")
    assert [(s.n, s.first_at, s.last_at) for s in spans] == [(1, AT, AT), (5, AT + HOUR, AT + 5 * HOUR)]
    assert ledger.standing_of("a").last_accessed == AT + 5 * HOUR
    with engine.connect() as c:
        assert c.execute(select(func.count()).select_from(t.versions)).scalar() == 1


def test_a_failure_breaks_the_span_and_keeps_the_date(ledger: Ledger) -> None:
    run = ledger.begin_run(AT, "t", "0")
    [[version]] = ledger.keep(run, [[new("one", AT)]])
    ledger.keep(run, [[same(version, AT + HOUR)]])
    ledger.keep(run, [[failed("tls_expired", AT + 2 * HOUR)]])
    standing = ledger.standing_of("a")
    assert standing.last_accessed == AT + HOUR and standing.failing_since == AT + 2 * HOUR and standing.strikes == 1
    ledger.keep(run, [[same(version, AT + 3 * HOUR)]])
    assert len(ledger.spans("a")) == 4
    assert ledger.standings(AT + 9 * HOUR)["a"].failing_since is None
    assert ledger.recovered_since(AT)["a"].recovered_from == Verdict("tls_expired", "r", "it failed")


def test_a_clock_set_back_writes_a_row_of_its_own(ledger: Ledger) -> None:
    run = ledger.begin_run(AT, "t", "0")
    [[version]] = ledger.keep(run, [[new("one", AT)]])
    ledger.keep(run, [[same(version, AT + HOUR)]])
    ledger.keep(run, [[same(version, AT - HOUR)]])
    assert len(ledger.spans("a")) == 3 and ledger.standing_of("a").last_accessed == AT + HOUR


def change_between(old: str, new_: str) -> Change:
    parts = (Part(Op.DELETE, old), Part(Op.INSERT, new_))
    return Change((Edit(EditKind.REPLACED, 0, 0, parts),), Significance.TEXT, Drift(0.5, 0.5, Extent.EDITED), "d@1")


def test_another_address_is_another_source_and_has_no_date_yet(ledger: Ledger) -> None:
    run = ledger.begin_run(AT, "t", "0")
    ledger.keep(run, [[new("one", AT, sightings=[Sighting("q", SightingKind.VERBATIM, 1.0)])]])
    ledger.sync([replace(SOURCE, url="https://elsewhere.example/")], AT + HOUR)
    assert ledger.standings(AT + HOUR) == {} and ledger.standing_of("a").last_accessed is None
    assert ledger.recall("a").memory is None and ledger.newest_sightings() == {}
    ledger.sync([SOURCE], AT + 2 * HOUR)
    assert ledger.standings(AT + 2 * HOUR)["a"].last_accessed == AT


def test_no_date_lies_ahead_of_the_clock(ledger: Ledger) -> None:
    run = ledger.begin_run(AT, "t", "0")
    [[version]] = ledger.keep(run, [[new("one", AT)]])
    ledger.keep(run, [[same(version, AT + timedelta(days=400))]])
    assert ledger.standings(AT + HOUR)["a"].last_accessed == AT


def test_a_change_waits_for_the_next_reading_to_confirm_it(ledger: Ledger) -> None:
    run = ledger.begin_run(AT, "t", "0")
    ledger.keep(run, [[new("one", AT)]])
    [[second]] = ledger.keep(run, [[new("two", AT + HOUR, change=change_between("one", "two"))]])
    [row] = ledger.changes_since(None)
    assert row.confirmed_at is None and row.told == 1
    memory = ledger.recall("a").memory
    assert memory is not None and memory.unconfirmed
    ledger.keep(run, [[same(second, AT + 2 * HOUR)]])
    assert ledger.changes_since(None)[0].confirmed_at == AT + 2 * HOUR


def test_a_change_that_is_taken_back_is_never_confirmed(ledger: Ledger) -> None:
    run = ledger.begin_run(AT, "t", "0")
    ledger.keep(run, [[new("one", AT)]])
    ledger.keep(run, [[new("two", AT + HOUR, change=change_between("one", "two"))]])
    ledger.keep(run, [[new("one", AT + 2 * HOUR, change=change_between("two", "one"))]])
    newest, older = ledger.changes_since(None)
    assert (newest.confirmed_at, older.confirmed_at) == (None, None)
    ledger.keep(run, [[new("three", AT + 3 * HOUR, change=change_between("one", "three"))]])
    assert [r.confirmed_at for r in ledger.changes_since(None)] == [None, AT + 3 * HOUR, None]


def test_a_page_and_its_figures_are_kept_together_or_not_at_all(ledger: Ledger, engine: Engine) -> None:
    run = ledger.begin_run(AT, "t", "0")
    orphan = replace(failed("tls_expired", AT), finding=replace(failed("tls_expired", AT).finding, source="nobody"))
    with pytest.raises(Exception, match=r"(?i)foreign key"):
        ledger.keep(run, [[new("one", AT), orphan]])
    assert ledger.recall("a").memory is None and ledger.spans("a") == []


def test_a_row_that_leaves_the_file_is_retired_and_comes_back_due(ledger: Ledger, engine: Engine) -> None:
    ledger.sync([], AT + HOUR)
    with engine.connect() as c:
        assert c.execute(select(t.sources.c.retired_at)).scalar() == AT + HOUR
    ledger.sync([SOURCE], AT + 2 * HOUR)
    with engine.connect() as c:
        assert c.execute(select(t.sources.c.retired_at)).scalar() is None


def test_a_figure_seen_on_a_page_never_overwrites_the_editors_row(ledger: Ledger) -> None:
    panel = Source("panel", "A", "The panel", kind=SourceKind.FIGURE, parent="a", alt="统计")
    ledger.sync([SOURCE, panel], AT)
    ledger.declare_figure(replace(panel, title="alt text of a page", url="https://pic.example/1.png"), AT)
    found = Source("a--1", "A", "chart", url="https://pic.example/2.png", kind=SourceKind.FIGURE, parent="a")
    ledger.declare_figure(found, AT)
    ledger.sync([SOURCE, panel], AT + HOUR)
    assert [(f.id, f.title, f.url) for f in ledger.figures()] == [
        ("a--1", "chart", "https://pic.example/2.png"),
        ("panel", "The panel", "https://pic.example/1.png"),
    ]


def test_a_quote_last_stood_when_a_check_last_saw_a_version_that_has_it(ledger: Ledger, engine: Engine) -> None:
    run = ledger.begin_run(AT, "t", "0")
    [[one]] = ledger.keep(run, [[new("one", AT, sightings=[Sighting("q", SightingKind.VERBATIM, 1.0)])]])
    ledger.keep(run, [[same(one, AT + HOUR)]])
    ledger.keep(run, [[failed("server_error", AT + 2 * HOUR)]])
    [standing] = ledger.newest_sightings()["a"]
    assert (standing.seen_at, standing.stood_at) == (AT, AT + HOUR)
    [[two]] = ledger.keep(run, [[new("two", AT + 3 * HOUR, sightings=[Sighting("q", SightingKind.NOT_FOUND)])]])
    ledger.keep(run, [[same(two, AT + 4 * HOUR)]])
    [quoted] = ledger.newest_sightings()["a"]
    assert quoted.sighting.kind is SightingKind.NOT_FOUND and quoted.stood_at == AT + HOUR
    assert two is not None and SiteRows(engine).quoted("a", two) == [quoted]


def test_a_hosts_probe_is_forgotten_after_a_day(ledger: Ledger) -> None:
    probe = Probe("https://a.example/nothing", AT, 404, "https://a.example/nothing", "Not found", "nothing here")
    ledger.remember_probe("a.example", probe)
    assert ledger.probe("a.example", AT + HOUR) == probe
    assert ledger.probe("a.example", AT + timedelta(days=1, seconds=1)) is None
    assert ledger.probe("a.example", AT - HOUR) is None


@pytest.mark.parametrize("odd", ["NUL \0 here", "half a pair \ud800", "右 \u202e left"])
def test_what_hostile_pages_contain_can_be_kept(ledger: Ledger, odd: str) -> None:
    run = ledger.begin_run(AT, "t", "0")
    sighting = Sighting("q", SightingKind.REWORDED, 0.6, found=odd, parts=(Part(Op.DELETE, odd),))
    kept: Any = new(odd, AT, change=None, sightings=[sighting])
    kept = replace(kept, facts={"title": odd}, finding=replace(kept.finding, judgement=replace(
        kept.finding.judgement, verdict=Verdict("ok", "r", odd), payload_sha256="sha256:x")))  # fmt: skip
    kept = replace(kept, body_sha256="x", stored=replace(kept.stored, body_sha256="x"))
    ledger.keep(run, [[kept]])
    memory = ledger.recall("a").memory
    assert memory is not None and unpack(memory.packed).text == odd


def test_a_run_that_was_our_own_fault_is_void(ledger: Ledger) -> None:
    run = ledger.begin_run(AT, "t", "0")
    ledger.keep(run, [[failed("dns_not_found", AT)]])
    assert ledger.standing_of("a").strikes == 1
    ledger.end_run(run, AT + HOUR, "most hosts failed alike")
    assert ledger.standing_of("a").strikes == 0 and ledger.spans("a")[0].void
    last = ledger.last_run()
    assert last is not None and last.void_reason == "most hosts failed alike"


def test_another_extractors_document_is_replaced_by_todays(ledger: Ledger) -> None:
    run = ledger.begin_run(AT, "t", "0")
    [[version]] = ledger.keep(run, [[new("one", AT)]])
    kept = same(version, AT + HOUR)
    judgement = replace(kept.finding.judgement, maker="m@2", reread=document("one, read better"))
    ledger.keep(run, [[replace(kept, finding=replace(kept.finding, judgement=judgement))]])
    memory = ledger.recall("a").memory
    assert memory is not None and memory.maker == "m@2" and unpack(memory.packed).text == "one, read better"
    assert ledger.changes_since(None) == []


def test_two_processes_that_first_see_a_file_both_go_on(tmp_path: Path) -> None:
    one, other = (database.open_engine(database.sqlite_url(tmp_path / "sourcewatch.db")) for _ in range(2))
    database.upgrade(one)

    @event.listens_for(other, "after_cursor_execute", once=True)
    def _(*_: object) -> None:  # it has looked, and has not written yet
        Ledger(one).sync([SOURCE], AT)
        Queue(one).sync([SOURCE], "UTC", AT)

    Ledger(other).sync([SOURCE], AT + HOUR)
    Queue(other).sync([SOURCE], "UTC", AT + HOUR)
    with other.connect() as c:
        assert c.execute(select(t.sources.c.id, t.sources.c.first_seen_at)).all() == [("a", AT)]
        assert c.execute(select(t.schedule.c.source, t.schedule.c.host)).all() == [("a", "a.example")]
    one.dispose()
    other.dispose()
