"""Before every request a worker knows that the host is its own to ask; what it lost it neither asks nor takes again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine
from dataclasses import dataclass, field
from functools import wraps
from itertools import pairwise
from typing import Any

import pytest

from sourcewatch.adapters.hosts import Hosts
from sourcewatch.domain.errors import StorageError
from sourcewatch.domain.source import HostPolicy
from sourcewatch.services.shift import Patience
from sourcewatch.services.turns import BEAT_S, GUEST_RESTS_S, GUEST_WAITS_S, STALLED_S, Turns, silence_s


@dataclass
class Rows:
    """Whose turn each host is, in memory."""

    holder: dict[str, str] = field(default_factory=dict)
    rests: dict[str, float] = field(default_factory=dict)
    fails: bool = False
    calls: list[str] = field(default_factory=list)
    on_take: Callable[[], None] = lambda: None

    def _called(self, call: str) -> None:
        self.calls.append(call)
        if self.fails:
            raise StorageError("the database is away")

    def take(self, host: str) -> float | None:
        self._called(f"take {host}")
        self.on_take()
        if self.holder.setdefault(host, "me") == "me":
            return None
        return 7.0

    def renew(self, hosts: Collection[str]) -> set[str]:
        self._called("renew")
        return {host for host in hosts if self.holder.get(host) == "me"}

    def leave(self, host: str, rests_s: float) -> None:
        self._called(f"leave {host}")
        if self.holder.get(host) == "me":
            del self.holder[host]
            self.rests[host] = rests_s


@dataclass
class Time:
    now: float = 1000.0
    on_sleep: Callable[[], None] = lambda: None

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.on_sleep()


@dataclass
class World:
    rows: Rows = field(default_factory=Rows)
    time: Time = field(default_factory=Time)
    turns: Turns = field(init=False)

    def __post_init__(self) -> None:
        self.turns = Turns(self.rows, lambda host: 3.0, self.time, self.time.sleep)


def in_a_loop(test: Callable[[World], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    @wraps(test)
    def run() -> None:
        world = World()
        try:
            asyncio.run(test(world))
        finally:
            world.turns.close()

    del run.__wrapped__  # type: ignore[attr-defined]  # pytest would look for a fixture of that name
    return run


@in_a_loop
async def test_a_proof_serves_for_some_seconds_and_then_the_database_is_asked_again(w: World) -> None:
    assert await w.turns.take("a")
    for _ in range(3):
        assert await w.turns.begin("a") is None
        w.turns.end("a")
    assert w.rows.calls == ["take a"]
    w.time.now += STALLED_S
    assert not w.turns.sure("a")
    assert await w.turns.begin("a") is None
    assert w.rows.calls == ["take a", "renew"]


@in_a_loop
async def test_a_proof_ends_before_anybody_else_may_take_the_host(w: World) -> None:
    assert silence_s(60) >= STALLED_S + 60, "a request that began at the last moment has its deadline before it"
    await w.turns.take("a")
    w.time.now += STALLED_S - 0.01
    assert not w.turns.sure("a")


@in_a_loop
async def test_heartbeats_keep_hosts_in_hand(w: World) -> None:
    await w.turns.take("a")
    for _ in range(10):
        w.time.now += BEAT_S
        await w.turns.beat()
    assert w.turns.sure("a") and w.rows.calls == ["take a", *["renew"] * 10]


@in_a_loop
async def test_who_was_frozen_and_has_lost_its_host_asks_nothing_and_takes_nothing_back(w: World) -> None:
    await w.turns.take("a")
    w.time.now += 100
    w.rows.holder["a"] = "other"
    assert await w.turns.begin("a") is not None
    assert not await w.turns.still("a")
    del w.rows.holder["a"]  # the other has done the work, and left
    assert await w.turns.begin("a") is not None, "what this job was given is done"
    assert w.rows.calls.count("take a") == 1
    await w.turns.leave("a")
    assert await w.turns.take("a"), "a new job begins anew"


@in_a_loop
async def test_a_request_that_was_begun_before_a_freeze_is_not_sent_after_it(w: World) -> None:
    await w.turns.take("a")
    assert await w.turns.begin("a") is None
    assert w.turns.sure("a")
    w.time.now += 100
    assert not w.turns.sure("a")


@in_a_loop
async def test_what_failed_while_this_process_slept_proves_nothing_though_the_host_is_still_ours(w: World) -> None:
    await w.turns.take("a")
    await w.turns.beat()
    assert await w.turns.begin("a") is None
    w.time.now += 100
    await w.turns.beat()
    assert not w.turns.sure("a"), "its request was begun before"
    w.turns.end("a")
    w.time.now += 1
    assert await w.turns.begin("a") is None
    assert w.turns.sure("a")


@in_a_loop
async def test_a_beat_that_the_database_does_not_hear_proves_nothing(w: World) -> None:
    await w.turns.take("a")
    w.rows.fails = True
    w.time.now += STALLED_S
    with pytest.raises(StorageError):
        await w.turns.beat()
    with pytest.raises(StorageError):
        await w.turns.begin("a")
    assert not w.turns.asking
    w.rows.fails = False
    assert await w.turns.begin("a") is None


@in_a_loop
async def test_a_figures_host_is_taken_for_the_request_and_left_soon_after(w: World) -> None:
    assert await w.turns.begin("cdn") is None
    w.time.now += 10 * GUEST_RESTS_S
    await w.turns.beat()
    assert w.rows.holder == {"cdn": "me"}, "it is being asked"
    w.turns.end("cdn")
    await w.turns.beat()
    assert w.rows.holder == {"cdn": "me"}, "another figure may follow"
    w.time.now += GUEST_RESTS_S
    await w.turns.beat()
    assert w.rows.holder == {} and w.rows.rests == {"cdn": 3.0}


@in_a_loop
async def test_a_figures_host_that_another_is_at_is_waited_for_and_then_put_off(w: World) -> None:
    w.rows.holder["cdn"] = "other"
    assert await w.turns.begin("cdn") == 7.0
    assert w.time.now == 1000.0 + GUEST_WAITS_S and not w.turns.asking
    w.time.on_sleep = lambda: w.rows.holder.pop("cdn", None) and None
    assert await w.turns.begin("cdn") is None


@in_a_loop
async def test_a_host_is_not_let_go_of_while_somebody_here_is_about_to_ask_it(w: World) -> None:
    assert await w.turns.begin("cdn") is None
    w.turns.end("cdn")
    w.time.now += STALLED_S + GUEST_RESTS_S  # idle for long enough, and its proof too old
    seen: list[list[str]] = []
    w.rows.on_take = lambda: seen.append(w.turns._idle_guests())
    assert await w.turns.begin("cdn") is None
    assert seen == [[]]
    await w.turns.beat()
    assert w.rows.holder == {"cdn": "me"}


@in_a_loop
async def test_a_job_that_ends_while_its_host_is_asked_for_a_figure_leaves_it_to_the_figure(w: World) -> None:
    await w.turns.take("a")
    assert await w.turns.begin("a") is None
    await w.turns.leave("a")
    assert w.rows.holder == {"a": "me"}
    w.turns.end("a")
    w.time.now += GUEST_RESTS_S
    await w.turns.beat()
    assert w.rows.holder == {}


@in_a_loop
async def test_at_the_end_nothing_is_kept_from_others(w: World) -> None:
    await w.turns.take("a")
    await w.turns.begin("cdn")
    await w.turns.leave_all()
    assert w.rows.holder == {}


@in_a_loop
async def test_a_hosts_turn_asks_the_gate_last_and_a_refusal_is_a_wish(w: World) -> None:
    order: list[str] = []

    async def sleep(seconds: float) -> None:
        order.append("paced")
        w.time.now += seconds

    w.rows.on_take = lambda: order.append("gate")
    hosts = Hosts({"default": HostPolicy(delay_s=2.0)}, clock=w.time, sleep=sleep, gate=w.turns)
    async with hosts.turn("a") as wish:
        assert wish is None and w.turns.asking == {"a": 1}
    assert w.turns.asking == {} and hosts.rests_s("a") == 2.0
    w.time.now += 1.5
    w.turns.proven.clear()
    async with hosts.turn("a") as wish:
        assert wish is None
    assert order == ["gate", "paced", "gate"]
    w.turns.proven.clear()
    w.rows.holder["a"] = "other"
    w.turns.ours.add("a")
    async with hosts.turn("a") as wish:
        assert wish is not None and w.turns.asking == {}
    assert not hosts.sure("a")


def test_patience_waits_longer_and_longer_and_says_what_for_until_the_storage_is_back() -> None:
    time, told, tries = Time(), list[str](), list[float]()

    async def work() -> str:
        tries.append(time.now)
        if len(tries) < 6:
            raise StorageError(f"away {len(tries)}")
        return "kept"

    assert asyncio.run(Patience(told.append, time.sleep)(work)) == "kept"
    assert [b - a for a, b in pairwise(tries)] == [0.5, 1.0, 2.0, 4.0, 8.0]
    assert told == ["away 1", "away 2", "away 3", "away 4", "away 5", ""]


def test_patience_ends_when_the_worker_is_to_stop() -> None:
    time, told = Time(), list[str]()
    patience = Patience(told.append, time.sleep)
    time.on_sleep = lambda: setattr(patience, "closing", True)

    def failing() -> Awaitable[str]:
        raise StorageError("away")

    with pytest.raises(StorageError, match="away"):
        asyncio.run(patience(failing))
    assert time.now < 1001


def test_what_is_no_fault_of_the_storage_is_not_tried_again() -> None:
    told = list[str]()

    def failing() -> Awaitable[str]:
        raise ValueError("a defect")

    with pytest.raises(ValueError, match="a defect"):
        asyncio.run(Patience(told.append)(failing))
    assert told == []
