"""A host is one worker's turn at a time, by the database's clock, and what is not that worker's it does not write."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine, text

from sourcewatch.adapters import database, turn_rows
from sourcewatch.adapters.ledger import Ledger
from sourcewatch.adapters.queue_rows import Queue
from sourcewatch.adapters.turn_rows import TurnRows
from sourcewatch.domain.capture import Failure
from sourcewatch.domain.check import Finding, Judgement
from sourcewatch.domain.errors import TakenError
from sourcewatch.domain.kept import Claim, Kept
from sourcewatch.domain.message import Message, MessageKind
from sourcewatch.domain.source import Rest, Source
from sourcewatch.domain.verdict import Verdict

NOW = datetime.now(UTC).replace(microsecond=0)
SILENT_S = 30.0


@pytest.fixture
def one(server: Engine) -> TurnRows:
    return TurnRows(server, "one", SILENT_S)


@pytest.fixture
def other(server: Engine) -> TurnRows:
    return TurnRows(server, "other", SILENT_S)


def pass_by(engine: Engine, seconds: float) -> None:
    """Let everything that workers told have happened so much earlier."""
    with engine.begin() as c:
        for column in ("turns SET beat_at = beat_at", "turns SET rests_until = rests_until"):
            c.execute(text(f"UPDATE {column} - make_interval(secs => :s)"), {"s": seconds})
        c.execute(text("UPDATE workers SET beat_at = beat_at - make_interval(secs => :s)"), {"s": seconds})


def declares(engine: Engine, *sources: Source) -> None:
    Ledger(engine).sync(sources, NOW - timedelta(hours=1))
    Queue(engine).sync(sources, "UTC", NOW - timedelta(hours=1))


def source(id_: str, host: str = "a.example") -> Source:
    return Source(id_, "A", id_, url=f"https://{host}/{id_}")


def test_a_turn_is_taken_once_and_still_ones_own_when_asked_again(one: TurnRows, other: TurnRows) -> None:
    assert one.take("a.example") is None
    assert one.take("a.example") is None
    assert 0 < (other.take("a.example") or 0) <= SILENT_S
    assert other.take("b.example") is None


def test_a_turn_that_was_left_is_free_when_the_host_has_rested(server: Engine, one: TurnRows, other: TurnRows) -> None:
    one.take("a.example")
    one.leave("a.example", 20.0)
    assert 15 < (other.take("a.example") or 0) <= 20
    assert 15 < (one.take("a.example") or 0) <= 20, "its own peace is for everybody"
    pass_by(server, 21)
    assert other.take("a.example") is None


def test_a_silent_holder_keeps_its_turn_while_its_request_may_be_on_its_way(
    server: Engine, one: TurnRows, other: TurnRows
) -> None:
    one.take("a.example")
    pass_by(server, SILENT_S - 5)
    assert other.take("a.example") is not None
    assert one.renew(["a.example"]) == {"a.example"}
    pass_by(server, SILENT_S - 5)
    assert other.take("a.example") is not None
    pass_by(server, 6)
    assert other.take("a.example") is None
    assert one.renew(["a.example"]) == set()
    one.leave("a.example", 0)
    assert other.renew(["a.example"]) == {"a.example"}, "who has lost a turn cannot give it away"


def test_hosts_with_due_sources_that_nobody_holds_come_longest_overdue_first(
    server: Engine, one: TurnRows, other: TurnRows
) -> None:
    paused = replace(source("p", "p.example"), pause=Rest(NOW + timedelta(days=1), "it moves house"))
    declares(server, source("x"), source("y", "b.example"), source("z", "c.example"), source("w", "d.example"), paused)
    for id_, minutes in (("x", 10), ("y", 30), ("z", 20), ("w", -10)):
        Ledger(server).put_off(id_, NOW - timedelta(minutes=minutes))
    assert one.hosts(NOW, 9) == ["b.example", "c.example", "a.example"]
    assert one.hosts(NOW, 1) == ["b.example"]
    other.take("b.example")
    other.take("c.example")
    other.leave("c.example", 60)
    assert one.hosts(NOW, 9) == ["a.example"]
    pass_by(server, 61)
    assert one.hosts(NOW, 9) == ["b.example", "c.example", "a.example"]


def test_what_is_due_at_a_host_comes_with_the_time_for_which_it_is_due(server: Engine, one: TurnRows) -> None:
    declares(server, source("x"), source("y"), source("z"), source("w", "b.example"))
    for id_, minutes in (("x", 10), ("y", 30), ("z", -10)):
        Ledger(server).put_off(id_, NOW - timedelta(minutes=minutes))
    half, ten = NOW - timedelta(minutes=30), NOW - timedelta(minutes=10)
    y, x = Claim("y", "a.example", "one", half), Claim("x", "a.example", "one", ten)
    assert one.due("a.example", NOW, 9) == [y, x]
    assert one.due("a.example", NOW, 1) == [y]


def kept(claim: Claim) -> Kept:
    failure = Failure(NOW, "read_timeout", "read-timeout", "nothing came", "https://a.example/x")
    finding = Finding(claim.source, NOW, failure, Judgement(Verdict("read_timeout", "read-timeout", "")), 1.0)
    told = Message(MessageKind.FAILING, claim.source, f"failing:{claim.source}:{NOW:%s}", NOW, {})
    after = NOW + timedelta(days=1)
    return Kept(finding, 0, "u", "u", next_check_at=after, messages=(told,), claim=claim)


def rows(engine: Engine) -> tuple[int, int]:
    with engine.connect() as c:
        return tuple(int(c.execute(text(f"SELECT count(*) FROM {t}")).scalar_one()) for t in ("checks", "messages"))  # type: ignore[return-value]


def test_a_result_is_written_once_however_often_it_comes(server: Engine, one: TurnRows) -> None:
    declares(server, source("x"))
    ledger = Ledger(server)
    run = ledger.begin_run(NOW, "worker", "0")
    one.take("a.example")
    [claim] = one.due("a.example", NOW, 9)
    ledger.keep(run, [[kept(claim)]])
    for late in (lambda: ledger.keep(run, [[kept(claim)]]), lambda: ledger.put_off("x", NOW, claim)):
        with pytest.raises(TakenError, match="x"):
            late()
    assert rows(server) == (1, 1)
    assert Queue(server).times() == {"x": NOW + timedelta(days=1)}


def test_a_worker_that_lost_its_turn_writes_nothing(server: Engine, one: TurnRows, other: TurnRows) -> None:
    declares(server, source("x"), source("y", "b.example"))
    ledger, due = Ledger(server), Queue(server).times()
    run = ledger.begin_run(NOW, "worker", "0")
    one.take("a.example")
    one.take("b.example")
    claims = one.due("a.example", NOW, 9) + one.due("b.example", NOW, 9)
    pass_by(server, SILENT_S + 1)
    other.take("a.example")
    with pytest.raises(TakenError) as refused:
        ledger.keep(run, [[kept(claim)] for claim in claims])
    assert refused.value.sources == {"x"}
    with pytest.raises(TakenError):
        ledger.make_sure(claims[0])
    with pytest.raises(TakenError):
        ledger.put_off("x", NOW, claims[0])
    assert rows(server) == (0, 0) and Queue(server).times() == due
    ledger.keep(run, [[kept(claims[1])]])
    assert rows(server) == (1, 1), "what is still its own it may write"


def test_a_worker_tells_how_it_is_until_it_ends_or_is_forgotten(server: Engine, one: TurnRows) -> None:
    one.tell(NOW, 3, 40, leads=True, fault=None)
    one.tell(NOW, 2, 41, leads=False, fault=("storage: the bucket does not answer", NOW))
    pass_by(server, 90)
    [seen] = turn_rows.workers(server)
    assert (seen.id, seen.started_at, seen.hosts, seen.checks, seen.leads) == ("one", NOW, 2, 41, False)
    assert (seen.fault, seen.fault_at) == ("storage: the bucket does not answer", NOW) and 89 < seen.silent_s < 100
    one.sweep()
    assert turn_rows.workers(server)
    one.bye()
    assert not turn_rows.workers(server)


def test_old_turns_are_swept_and_those_in_use_or_at_rest_stay(server: Engine, one: TurnRows) -> None:
    for host, rests_s in (("left", 0.0), ("resting", 3 * 86400.0)):
        one.take(host)
        one.leave(host, rests_s)
    one.take("held")
    one.sweep()
    with server.connect() as c:
        assert set(c.execute(text("SELECT host FROM turns")).scalars()) == {"held", "resting"}
    pass_by(server, 2 * 86400)
    one.sweep()
    with server.connect() as c:
        assert set(c.execute(text("SELECT host FROM turns")).scalars()) == {"resting"}


def test_nobody_waits_for_who_froze_in_the_middle_of_writing(server: Engine, one: TurnRows, other: TurnRows) -> None:
    one.take("a.example")
    pass_by(server, SILENT_S + 1)
    with server.connect() as frozen:
        frozen.execute(text("SELECT * FROM turns FOR SHARE"))  # as keeping results does
        assert other.take("a.example") == turn_rows.LOCKED_S
        assert frozen.execute(text("SHOW idle_in_transaction_session_timeout")).scalar() == f"{database.IDLE_S}s"
    assert other.take("a.example") is None


def test_two_that_take_the_same_host_at_once_are_told_apart(server: Engine) -> None:
    several = [TurnRows(server, f"w{n}", SILENT_S) for n in range(8)]
    for host in ("a", "b", "c"):
        with ThreadPoolExecutor(8) as pool:
            taken = list(pool.map(lambda rows, host=host: rows.take(host), several))
        assert taken.count(None) == 1
