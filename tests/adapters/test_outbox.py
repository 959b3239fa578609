"""What is told is written with what it tells, and leaves the outbox once: on both databases, also after a kill."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine, func, select
from test_ledger import AT, HOUR, SOURCE, URL, change_between, new, same

from sourcewatch.adapters import tables as t
from sourcewatch.adapters.incident_rows import incidents, settle_run
from sourcewatch.adapters.ledger import Ledger
from sourcewatch.adapters.outbox import Outbox
from sourcewatch.analysis.incidents import settle
from sourcewatch.domain.capture import Failure
from sourcewatch.domain.change import Change, Drift, Edit, EditKind, Extent, Op, Part, Significance
from sourcewatch.domain.check import Finding, Judgement
from sourcewatch.domain.kept import Kept
from sourcewatch.domain.message import Backlog, Delivery, Message, MessageKind
from sourcewatch.domain.source import Source, SourceKind
from sourcewatch.domain.verdict import Verdict

LI, CHEN = ("Li", "LI_MAIL"), ("Chen", "CHEN_CHAT")
DAY = timedelta(days=1)


def failed(word: str, at: datetime, source: str = "a") -> Kept:
    failure = Failure(at, word, "r", "it failed", URL)
    return Kept(Finding(source, at, failure, Judgement(Verdict(word, "r", "it failed")), 0.1), 0, URL, URL)


def broken(quote: str, at: datetime) -> Message:
    facts = {"event": "broken", "quote": quote, "exact": "NUL \0 and \ud800", "sighting": "not_found", "score": 0.0}
    return Message(MessageKind.QUOTE, "a", f"quote:a:{quote}", at, facts)


@pytest.fixture
def ledger(engine: Engine) -> Ledger:
    ledger = Ledger(engine)
    ledger.sync([SOURCE], AT)
    return ledger


@pytest.fixture
def outbox(engine: Engine) -> Outbox:
    return Outbox(engine)


def passes(
    ledger: Ledger, kept: Sequence[Kept], *, ends: bool = True, void: str | None = None, trigger: str = "run"
) -> None:
    """A run with these checks, at the time of the last of them; without an end it was killed."""
    at = kept[-1].finding.checked_at
    run = ledger.begin_run(at, trigger, "0")
    ledger.keep(run, [[one] for one in kept])
    if ends:
        ledger.end_run(run, at, void, settle)


def told(engine: Engine) -> list[tuple[str, str]]:
    with engine.connect() as c:
        return [(r.kind, r.key) for r in c.execute(select(t.messages).order_by(t.messages.c.id))]


def test_an_incident_goes_its_way_from_run_to_run(ledger: Ledger, engine: Engine) -> None:
    passes(ledger, [new("one", AT)])
    for hours, word in ((1, "read_timeout"), (2, "read_timeout"), (3, "not_found")):
        passes(ledger, [failed(word, AT + hours * HOUR)])
    [incident] = incidents(engine)
    assert (incident.word, incident.opened_at, incident.failures) == ("not_found", AT + HOUR, 3)
    passes(ledger, [same(1, AT + 4 * HOUR)])
    assert incidents(engine)[0].recovered_at == AT + 4 * HOUR and incidents(engine)[0].closed_at is None
    passes(ledger, [same(1, AT + 4 * HOUR + DAY + HOUR)])
    assert incidents(engine)[0].closed_at == AT + 4 * HOUR
    stamp = "20261020T120300Z"
    assert told(engine) == [
        ("failing", f"opened:a:{stamp}"), ("failing", f"class-gone:a:{stamp}"), ("recovered", f"recovered:a:{stamp}")
    ]  # fmt: skip


def test_a_recovered_source_is_closed_by_a_run_that_does_not_check_it(ledger: Ledger, engine: Engine) -> None:
    ledger.sync([SOURCE, Source("b", "A", "B", url=URL)], AT)
    passes(ledger, [new("one", AT), failed("gone", AT + HOUR), failed("gone", AT + 2 * HOUR)])
    passes(ledger, [same(1, AT + 3 * HOUR)])
    assert [i.closed_at for i in incidents(engine)] == [None]
    passes(ledger, [failed("gone", AT + 2 * DAY, "b")])
    assert [i.closed_at for i in incidents(engine, ["a"])] == [AT + 3 * HOUR]


def test_a_killed_run_is_told_with_the_next_that_ends(ledger: Ledger, engine: Engine) -> None:
    ledger.sync([SOURCE, Source("b", "A", "B", url=URL)], AT)
    passes(ledger, [failed("gone", AT), failed("gone", AT + HOUR)], ends=False)
    assert told(engine) == [] and incidents(engine) == []
    passes(ledger, [failed("gone", AT + 2 * HOUR, "b")], void="connect_timeout 3 3")
    assert told(engine) == []
    passes(ledger, [failed("gone", AT + 3 * HOUR, "b")])
    assert [i.source for i in incidents(engine)] == ["a"]  # b failed but once: the other run was our own fault
    assert told(engine) == [("failing", "opened:a:20261020T110300Z")]


def test_a_daemons_run_that_still_goes_on_is_not_settled_by_another(ledger: Ledger, engine: Engine) -> None:
    ledger.sync([SOURCE, Source("b", "A", "B", url=URL)], AT)
    passes(ledger, [failed("gone", AT), failed("gone", AT + HOUR)], ends=False, trigger="serve")
    for hours in (2, 3):  # it may turn out void; nobody knows yet
        passes(ledger, [failed("gone", AT + hours * HOUR, "b")], trigger="serve")
    assert [i.source for i in incidents(engine)] == ["b"]
    passes(ledger, [failed("gone", AT + 5 * HOUR, "b")], trigger="serve")
    assert [i.source for i in incidents(engine)] == ["b", "a"]  # by now it was killed


def test_an_end_that_fails_leaves_neither_an_end_nor_half_a_settlement(ledger: Ledger, engine: Engine) -> None:
    def breaks(case: object, now: datetime) -> object:
        found = settle(case, now)  # type: ignore[arg-type]
        return replace(found, messages=(*found.messages, replace(found.messages[0], source="nobody", key="x")))

    run = ledger.begin_run(AT, "t", "0")
    ledger.keep(run, [[failed("gone", AT)], [failed("gone", AT + HOUR)]])
    with pytest.raises(Exception, match=r"(?i)foreign key"):
        ledger.end_run(run, AT + HOUR, None, breaks)  # type: ignore[arg-type]
    assert told(engine) == [] and incidents(engine) == [] and ledger.last_run() is None
    ledger.end_run(run, AT + HOUR, None, settle)
    assert len(told(engine)) == len(incidents(engine)) == 1


def test_a_long_death_is_counted_on_and_ends_once(ledger: Ledger, engine: Engine) -> None:
    passes(ledger, [new("one", AT)])
    for day in range(1, 12):
        passes(ledger, [failed("gone", AT + day * DAY)])
    [incident] = incidents(engine)
    assert incident.dead and incident.failures == 11
    with engine.begin() as c:
        settle_run(c, ledger.begin_run(AT + 12 * DAY, "run", "0") - 1, AT + 12 * DAY, settle)  # once more: nothing new
    assert incidents(engine) == [incident]
    passes(ledger, [same(1, AT + 12 * DAY)])
    passes(ledger, [same(1, AT + 14 * DAY)])
    [incident] = incidents(engine)
    assert incident.closed_at == AT + 12 * DAY and not incident.dead
    assert [kind for kind, _ in told(engine)] == ["failing", "dead", "recovered"]


def test_a_void_run_settles_nothing_and_is_never_counted(ledger: Ledger, engine: Engine) -> None:
    passes(ledger, [failed("dns_not_found", AT), failed("dns_not_found", AT + HOUR)], void="dns_not_found 3 3")
    assert incidents(engine) == []
    passes(ledger, [failed("dns_not_found", AT + 2 * HOUR)])
    assert incidents(engine) == []


def test_a_figure_has_an_incident_of_its_own(ledger: Ledger, engine: Engine) -> None:
    figure = Source("a--1", "A", "chart", url=URL, kind=SourceKind.FIGURE, parent="a", alt="the chart")
    ledger.declare_figure(figure, AT)
    for n in (0, 1):
        passes(ledger, [new(f"text {n}", AT + n * HOUR), failed("tls_unknown_ca", AT + n * HOUR, "a--1")])
    assert [(k, key.split(":")[1]) for k, key in told(engine)] == [("figure", "a--1")]


def test_at_another_address_an_incident_is_over_without_a_word(ledger: Ledger, engine: Engine) -> None:
    passes(ledger, [failed("gone", AT), failed("gone", AT + HOUR)])
    ledger.sync([replace(SOURCE, url="https://elsewhere.example/")], AT + 2 * HOUR)
    moved = replace(failed("gone", AT + 3 * HOUR), url="https://elsewhere.example/")
    passes(ledger, [moved])
    ledger.sync([], AT + 4 * HOUR)
    passes(ledger, [moved])
    assert [i.closed_at is None for i in incidents(engine)] == [False]
    assert len(told(engine)) == 1


def test_a_quotes_message_is_kept_with_its_check_or_not_at_all(ledger: Ledger, engine: Engine) -> None:
    kept = replace(new("one", AT), messages=(broken("q1", AT),))
    orphan = replace(failed("gone", AT), finding=replace(failed("gone", AT).finding, source="nobody"))
    run = ledger.begin_run(AT, "t", "0")
    with pytest.raises(Exception, match=r"(?i)foreign key"):
        ledger.keep(run, [[kept, orphan]])
    assert told(engine) == [] and ledger.spans("a") == []
    [[version]] = ledger.keep(run, [[kept]])
    ledger.keep(run, [[replace(same(version, AT + HOUR), messages=(broken("q1", AT + HOUR),))]])
    assert told(engine) == [("quote", f"quote:a:q1:{version}")]


def test_a_change_is_told_when_it_is_confirmed_and_only_then(ledger: Ledger, engine: Engine) -> None:
    passes(ledger, [new("one", AT), new("two", AT + HOUR, change=change_between("one", "two"))])
    assert told(engine) == []
    passes(ledger, [same(2, AT + 2 * HOUR)])
    passes(ledger, [same(2, AT + 3 * HOUR)])
    assert told(engine) == [("change", "change:a:2")]


def test_a_change_confirmed_by_a_further_change_is_told_too(ledger: Ledger, engine: Engine) -> None:
    passes(ledger, [new("one", AT), new("two", AT + HOUR, change=change_between("one", "two"))])
    passes(ledger, [new("three", AT + 2 * HOUR, change=change_between("two", "three"))])
    assert told(engine) == [("change", "change:a:2")]


@pytest.mark.parametrize("significance", [Significance.LINKS, Significance.COSMETIC])
def test_links_and_layout_stay_in_the_report(ledger: Ledger, engine: Engine, significance: Significance) -> None:
    quiet = replace(change_between("one", "two"), significance=significance)
    passes(ledger, [new("one", AT), new("two", AT + HOUR, change=quiet), same(2, AT + 2 * HOUR)])
    assert told(engine) == []


def test_a_change_all_of_noise_is_not_told(ledger: Ledger, engine: Engine) -> None:
    edit = Edit(EditKind.REPLACED, 0, 0, (Part(Op.INSERT, "x"),), suppressed_by="counter")
    noise = Change((edit,), Significance.TEXT, Drift(0.5, 0.5, Extent.EDITED), "d@1")
    passes(ledger, [new("one", AT), new("two", AT + HOUR, change=noise), same(2, AT + 2 * HOUR)])
    assert told(engine) == []


# -- on their way ---------------------------------------------------------------------------------------------------


def posted(ledger: Ledger, outbox: Outbox, quotes: Sequence[str], at: datetime = AT) -> None:
    """Messages that wait for Li."""
    outbox.enrol([LI], at)
    run = ledger.begin_run(at, "t", "0")
    ledger.keep(run, [[replace(new("one", at), messages=tuple(broken(q, at) for q in quotes))]])
    outbox.assign([Delivery(n.message.id, *LI, digest=False, next_try_at=at) for n in outbox.unassigned(LI, at)])


def test_a_new_editor_is_not_told_the_past(ledger: Ledger, outbox: Outbox) -> None:
    posted(ledger, outbox, ["q1"])
    outbox.enrol([LI, CHEN], AT + HOUR)
    assert outbox.unassigned(CHEN, AT + HOUR) == []
    ledger.keep(ledger.begin_run(AT, "t", "0"), [[replace(same(1, AT + HOUR), messages=(broken("q2", AT + HOUR),))]])
    [news] = outbox.unassigned(CHEN, AT + HOUR)
    assert (news.source.title, news.source.url, news.message.facts["quote"]) == ("A page", URL, "q2")
    assert news.message.facts["exact"] == "NUL \ufffd and ?"


def test_what_was_decided_is_not_decided_again(ledger: Ledger, outbox: Outbox) -> None:
    posted(ledger, outbox, ["q1"])
    assert outbox.unassigned(LI, AT) == []
    outbox.assign([Delivery(1, *LI, digest=True, next_try_at=AT + DAY)])  # another process, a moment later
    assert [d.digest for d, _ in outbox.queue(AT)] == [False]


def test_what_is_due_is_taken_by_one_process_alone(ledger: Ledger, outbox: Outbox) -> None:
    posted(ledger, outbox, [f"q{n}" for n in range(20)])
    with ThreadPoolExecutor(4) as pool:
        takes = list(pool.map(lambda _: outbox.claim(LI, False, AT, AT + HOUR), range(4)))
    assert sorted(len(x) for x in takes) == [0, 0, 0, 20]


def test_who_is_killed_between_taking_and_sending_leaves_it_due_again(ledger: Ledger, outbox: Outbox) -> None:
    posted(ledger, outbox, ["q1"])
    assert len(outbox.claim(LI, False, AT, AT + HOUR)) == 1
    assert outbox.claim(LI, False, AT + HOUR / 2, AT + 2 * HOUR) == []
    [(delivery, _)] = outbox.claim(LI, False, AT + HOUR, AT + 2 * HOUR)
    assert delivery.attempts == 2
    outbox.sent(LI, [delivery.message], AT + HOUR)
    assert outbox.claim(LI, False, AT + 9 * HOUR, AT + 9 * HOUR) == []


def test_the_backlog_tells_what_waits_what_fails_and_what_was_given_up(ledger: Ledger, outbox: Outbox) -> None:
    posted(ledger, outbox, ["q1", "q2", "q3", "q4"])
    assert outbox.backlog(AT) == Backlog(waiting=4)
    ids = [d.message for d, _ in outbox.claim(LI, False, AT, AT + HOUR)]
    outbox.failed(LI, ids[0], "error=500", AT + HOUR)
    outbox.failed(LI, ids[1], "error=404", None)
    outbox.sent(LI, ids[2:3], AT)
    assert outbox.backlog(AT) == Backlog(waiting=1, failing=1, given_up=1, oldest_at=AT, error="error=500")
    assert outbox.backlog(AT + 40 * DAY).given_up == 0


def test_an_address_that_is_no_longer_configured_gets_nothing_more(ledger: Ledger, outbox: Outbox) -> None:
    posted(ledger, outbox, ["q1"])
    outbox.dismiss([("Li", "ANOTHER")])
    assert outbox.claim(LI, False, AT, AT + HOUR) == [] and outbox.backlog(AT) == Backlog()


def test_a_weekly_digest_begins_once_for_all_processes(outbox: Outbox, engine: Engine) -> None:
    outbox.enrol([LI], AT)
    assert not outbox.begin_digest(LI, AT - HOUR)  # before Li was told anything
    assert [outbox.begin_digest(LI, AT + DAY) for _ in range(3)] == [True, False, False]
    with engine.connect() as c:
        assert c.execute(select(func.count()).select_from(t.editors)).scalar() == 1


def test_a_confirmed_change_comes_back_with_its_edits(ledger: Ledger, outbox: Outbox) -> None:
    passes(ledger, [new("one", AT), new("two", AT + HOUR, change=change_between("one", "two")), same(2, AT + 2 * HOUR)])
    [news] = outbox.since(AT, 10)
    assert [p.text for p in news.edits[0].parts] == ["one", "two"] and news.message.at == AT + 2 * HOUR
    assert outbox.since(AT + 3 * HOUR, 10) == [] and AT.tzinfo is UTC
