"""A clock that was years ahead for one pass and is right again: nothing waits for those years, and it is told."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from site_of_pages import Site, page, row
from sourcewatch.adapters import database
from sourcewatch.adapters.outbox import Outbox
from sourcewatch.analysis.feed import atom
from sourcewatch.analysis.strip import strip
from sourcewatch.domain.message import Delivery, Message, MessageKind
from sourcewatch.faces import wiring
from sourcewatch.faces.wiring import House
from sourcewatch.services import publish
from watch import Watch

START = datetime(2026, 10, 5, 10, 0, tzinfo=UTC)
AHEAD = datetime(2030, 1, 1, 10, 0, tzinfo=UTC)
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
LI = ("Li", "LI_MAIL")
BODY = "<p>The scheduler places experts at night, and the cache stays warm during the day.</p>" * 3
GONE = (404, {}, "<html><title>Not found</title><h1>Not found</h1></html>")


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    return Watch(tmp_path)


def read_then_ahead(watch: Watch, site: Site) -> str:
    rows = row("p", site.url("/p"), "the cache stays warm")
    site.pages["/p"] = page("P", BODY)
    watch.passes(rows, START)
    watch.passes(rows, AHEAD)
    return rows


def test_a_source_that_fails_afterwards_is_told_with_a_date_that_was(site: Site, watch: Watch) -> None:
    rows = read_then_ahead(watch, site)
    site.pages.clear()
    for n in range(1, 9):
        watch.passes(rows, START + n * DAY)
    now = START + 8 * DAY
    [line] = watch.ask(lambda h: publish.view(h.settings, h.ledger, now)).standings.values()
    assert line.last_accessed == START and line.failures == 8 and line.dead
    recalled = watch.ask(lambda h: h.ledger.recall("p", now)).standing
    assert (recalled.last_accessed, recalled.failures, recalled.dead) == (START, 8, True)
    told = watch.ask(lambda h: h.outbox.since(START, 100))
    failing = [n.message for n in told if n.message.kind in (MessageKind.FAILING, MessageKind.DEAD)]
    assert failing and all(m.facts["last_accessed"] == START.isoformat() for m in failing)


def test_a_report_tells_no_reading_that_lies_ahead(site: Site, watch: Watch) -> None:
    rows = row("p", site.url("/p"), "the cache stays warm")
    watch.passes(rows, START)
    watch.passes(rows, START + DAY)
    site.pages["/p"] = page("P", BODY)
    watch.passes(rows, AHEAD)
    watch.passes(rows, START + 2 * DAY)
    now = START + 2 * DAY
    report = watch.ask(lambda h: publish.report(h.settings, h.ledger, now, START, outbox=h.outbox))
    [back] = report.recovered
    assert back.standing.last_accessed == now
    assert "2030" not in watch.report(now).partition("Recovered")[2]
    assert f"<updated>{now:%Y-%m-%d}" in atom(report) or "<updated>2026" in atom(report)
    assert all(d["last_accessed"] < "2027" for d in watch.dates(now).values())
    drawn = strip(watch.ask(lambda h: h.ledger.spans("p")), now)
    assert drawn is not None and drawn.until == now


def test_a_person_may_bring_what_was_read_today(site: Site, watch: Watch) -> None:
    from sourcewatch.services.by_hand import _check_date

    read_then_ahead(watch, site)
    recalled = watch.ask(lambda h: h.ledger.recall("p", START + DAY))
    ahead = replace(recalled, memory=replace(recalled.memory, captured_at=AHEAD))
    _check_date(START + DAY, ahead, START + DAY)


@pytest.fixture
def outbox(watch: Watch, site: Site) -> Outbox:
    read_then_ahead(watch, site)
    return Outbox(database.open_engine(database.sqlite_url(watch.folder / "sourcewatch.db")))


def post(outbox: Outbox, at: datetime) -> int:
    with outbox._engine.begin() as c:
        from sourcewatch.adapters.outbox import post as write

        write(c, [Message(MessageKind.QUOTE, "p", f"quote:p:{at}", at, {})])
        return int(c.execute(text("SELECT max(id) FROM messages")).scalar_one())


def test_an_editor_who_was_enrolled_ahead_is_told_what_came_since_the_pass_before(outbox: Outbox) -> None:
    outbox.enrol([LI], AHEAD)
    post(outbox, START - DAY)
    message = post(outbox, START + DAY)
    assert outbox.unassigned(LI, START + DAY) == []
    outbox.enrol([LI], START + DAY)
    assert [n.message.id for n in outbox.unassigned(LI, START + DAY)] == [message]


def test_a_weekly_digest_that_went_out_ahead_stands_in_the_way_of_none(outbox: Outbox) -> None:
    outbox.enrol([LI], START)
    assert outbox.begin_digest(LI, AHEAD)
    slots = [START + n * 7 * DAY for n in (1, 2)]
    assert [outbox.begin_digest(LI, slot) for slot in (slots[0], slots[0], slots[1])] == [True, False, True]


def test_a_message_whose_next_try_lies_years_ahead_is_tried_now_and_one_of_next_week_waits(outbox: Outbox) -> None:
    outbox.enrol([LI], START)
    ahead, next_week = post(outbox, START), post(outbox, START + MINUTE)
    times = {ahead: AHEAD, next_week: START + 7 * DAY}
    outbox.assign([Delivery(m, *LI, digest=False, next_try_at=at) for m, at in times.items()])
    taken = outbox.claim(LI, False, START + MINUTE, START + 11 * MINUTE)
    assert [delivery.message for delivery, _ in taken] == [ahead]


def test_days_are_closed_and_what_is_dated_ahead_is_told_and_is_no_flaw(site: Site, watch: Watch) -> None:
    rows = read_then_ahead(watch, site)
    for n in (1, 2):
        watch.passes(rows, START + n * DAY)

    def asked(house: House) -> tuple[list[str], tuple[str, ...], int]:
        wiring.close_days(house, START + 3 * DAY)
        audit = wiring.verify(house, START + 3 * DAY)
        return [f"{f.path}: {f.words}" for f in audit.flaws], audit.notes, house.ledger.dated_ahead(START + 3 * DAY)

    flaws, notes, count = watch.ask(asked)
    assert flaws == [] and count == 1
    assert notes == ("1 record of a check is dated in the future; the clock was wrong when it was written",)
    assert watch.store.find("snapshots/_manifest/2026-10-06.sha256") is not None


def test_status_says_that_records_are_dated_in_the_future(
    site: Site, watch: Watch, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from sourcewatch.faces.cli import main

    rows = row("p", site.url("/p"))
    site.pages["/p"] = page("P", BODY)
    config = str(watch.folder / "sources.toml")
    for at, told in ((START, False), (datetime(2090, 1, 1, tzinfo=UTC), True)):
        watch.passes(rows, at)
        monkeypatch.setattr("sys.argv", ["sourcewatch", "--config", config, "status"])
        monkeypatch.setattr(wiring, "now", lambda: START + DAY)
        with pytest.raises(SystemExit):
            main()
        assert ("dated in the future; the clock was wrong" in capsys.readouterr().out) is told
