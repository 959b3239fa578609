"""Due work is given out once, fairly, and comes back when whoever took it dies."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Engine

from sourcewatch.adapters.ledger import Ledger
from sourcewatch.adapters.queue_rows import LEASE, PAGE, Queue, host_of
from sourcewatch.domain.source import Rest, Source, SourceKind

AT = datetime(2026, 10, 20, 11, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)


class Desk:
    """A queue over some sources, each due some minutes after AT."""

    def __init__(self, engine: Engine) -> None:
        self.ledger, self.queue = Ledger(engine), Queue(engine)

    def declares(self, *sources: Source, at: datetime = AT) -> None:
        self.ledger.sync(sources, at)
        self.queue.sync(sources, "UTC", at)

    def due(self, minutes: dict[str, float]) -> None:
        for source, of in minutes.items():
            self.ledger.put_off(source, AT + timedelta(minutes=of))

    def claim(self, at: datetime = AT + HOUR, hosts: int = 100, per_host: int = 100, **more: object) -> list[str]:
        work = self.queue.claim(at, hosts=hosts, per_host=per_host, **more)  # type: ignore[arg-type]
        return [s for sources in work.values() for s in sources]


@pytest.fixture
def desk(engine: Engine) -> Desk:
    return Desk(engine)


def source(id_: str, host: str = "a.example", **more: object) -> Source:
    return replace(Source(id_, "A", id_, url=f"https://{host}/{id_}"), **more)  # type: ignore[arg-type]


def test_the_longest_overdue_comes_first_and_what_is_not_due_does_not(desk: Desk) -> None:
    desk.declares(source("x"), source("y"), source("z"))
    desk.due({"x": 20, "y": 10, "z": 61})
    assert desk.claim() == ["y", "x"]


def test_what_is_claimed_is_not_claimed_again_until_it_is_kept_released_or_its_lease_ends(desk: Desk) -> None:
    desk.declares(*(source(s, f"{s}.example") for s in "xyz"))
    assert sorted(desk.claim()) == ["x", "y", "z"]
    assert desk.claim() == []
    desk.queue.release(["y"])
    desk.due({"z": 30})  # as keeping a check does, too
    assert sorted(desk.claim()) == ["y", "z"]
    assert desk.claim(AT + HOUR + LEASE) == ["x", "y", "z"]


def test_a_lease_from_a_clock_that_was_ahead_binds_nobody(desk: Desk) -> None:
    desk.declares(source("x"))
    assert desk.claim(AT + timedelta(days=365)) == ["x"]
    assert desk.claim(AT + HOUR) == ["x"]


def test_whoever_starts_alone_gets_all_work_back(desk: Desk) -> None:
    desk.declares(source("x"), source("y", "b.example"))
    desk.claim()
    desk.queue.release()
    assert sorted(desk.claim()) == ["x", "y"]


def test_one_host_cannot_crowd_out_the_others(desk: Desk) -> None:
    many = PAGE + 50  # more than the first look at the schedule sees
    desk.declares(*(source(f"big-{n:04}", "big.example") for n in range(many)), source("small", "small.example"))
    desk.due({f"big-{n:04}": n / 100 for n in range(many)} | {"small": 59})
    assert desk.claim(per_host=3) == ["big-0000", "big-0001", "big-0002", "small"]


def test_hosts_at_work_are_left_out(desk: Desk) -> None:
    desk.declares(source("x"), source("y", "b.example"))
    assert desk.claim(busy={"a.example"}) == ["y"]


def test_at_most_so_many_hosts(desk: Desk) -> None:
    desk.declares(*(source(f"s{n}", f"h{n}.example") for n in range(9)))
    assert [len(desk.claim(hosts=4)) for _ in range(4)] == [4, 4, 1, 0]


def test_a_paused_source_is_not_asked_until_its_pause_ends_or_is_taken_back(desk: Desk) -> None:
    paused = source("x", pause=Rest(AT + timedelta(days=9), "the site moves house"))
    desk.declares(paused, source("y", "b.example"))
    assert desk.claim() == ["y"] and desk.queue.due(AT + HOUR).waiting == 1
    assert desk.claim(among=["x"], paused_too=True) == ["x"], "who names it, wants it"
    desk.queue.release()
    assert "x" in desk.claim(AT + timedelta(days=9))
    desk.queue.release()
    desk.declares(source("x"), source("y", "b.example"))
    assert desk.claim() == ["x", "y"]


def test_a_source_that_left_the_file_is_not_asked_and_a_figure_never_by_itself(desk: Desk) -> None:
    desk.declares(source("x"), source("panel", kind=SourceKind.FIGURE, parent="x"), Source("unlocated", "A", "?"))
    assert desk.claim() == ["x"]
    desk.queue.release()
    desk.declares()
    assert desk.claim() == []
    desk.declares(source("x"), at=AT + HOUR)
    assert desk.claim() == ["x"]


def test_a_shorter_interval_counts_at_once_and_a_longer_one_from_the_next_check_on(desk: Desk) -> None:
    desk.declares(source("x", every_s=30 * 86400), source("y", "b.example", every_s=3600))
    desk.due({"x": 20 * 1440, "y": 50})
    desk.declares(source("x", every_s=3600), source("y", "b.example", every_s=86400))
    assert desk.queue.times() == {"x": AT + HOUR, "y": AT + timedelta(minutes=50)}
    desk.declares(source("x", cron="30 11 * * *"), source("y", "b.example", every_s=86400))
    assert desk.queue.times()["x"] == AT + timedelta(minutes=30)


def test_work_can_be_claimed_early_and_made_due(desk: Desk) -> None:
    desk.declares(source("x"), source("y", "b.example"))
    desk.due({"x": 120, "y": 240})
    assert desk.claim() == []
    assert desk.claim(due_by=AT + timedelta(hours=3)) == ["x"]
    desk.queue.advance(AT + HOUR, ["y"])
    assert desk.claim() == ["y"]
    desk.queue.release()
    desk.due({"x": 120, "y": 240})
    desk.queue.advance(AT)
    assert sorted(desk.claim(AT)) == ["x", "y"]


def test_what_waits_since_when_and_what_comes_next_is_told(desk: Desk) -> None:
    desk.declares(source("x"), source("y"), source("z"))
    desk.due({"x": 10, "y": 20, "z": 90})
    seen = desk.queue.due(AT + HOUR)
    assert (seen.waiting, seen.oldest_at, seen.next_at) == (
        2, AT + timedelta(minutes=10), AT + timedelta(minutes=90),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://A.Example/x", "a.example"),
        ("http://a.example:8080?q", "a.example"),
        ("https://[2001:db8::1]:443/x", "[2001:db8::1]"),
        ("https://a.example#f", "a.example"),
        ("https://例子.example/", "例子.example"),
    ],
)
def test_a_host_is_what_has_one_pace(address: str, host: str) -> None:
    assert host_of(address) == host


@given(st.text())
def test_no_address_breaks_us(address: str) -> None:
    assert len(host_of(address)) <= 300 and len(host_of(f"https://{address}")) <= 300
