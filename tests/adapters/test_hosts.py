"""Manners: one at a time, at the host's pace, as its robots.txt and its Retry-After wish, and nobody is held up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.adapters.hosts import MOST_RETRY_AFTER_S, MOST_RULES_BYTES, MOST_SILENT, Broken, Hosts
from sourcewatch.adapters.robots import rules_of
from sourcewatch.adapters.urls import address_of
from sourcewatch.adapters.wishes import retry_after_s, wish_s
from sourcewatch.domain.capture import Exchange
from sourcewatch.domain.reading import Fault
from sourcewatch.domain.source import HostPolicy

PAGE = address_of("https://host.example/page")
NOW = datetime(2026, 12, 2, 10, 0, tzinfo=UTC)


class Time:
    """A clock that only moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


def hosts(time: Time, delay_s: float = 2.0, **policies: HostPolicy) -> Hosts:
    return Hosts({"default": HostPolicy(delay_s), **policies}, clock=time, sleep=time.sleep)


def answer(status: int, body: bytes = b"", **headers: str) -> Exchange:
    return Exchange("https://host.example/x", status, tuple((k.replace("_", "-"), v) for k, v in headers.items()), body)


async def starts(manners: Hosts, time: Time, names: list[str]) -> list[tuple[str, float]]:
    """Ask all at once; when each had its turn."""
    begun: list[tuple[str, float]] = []
    busy: set[str] = set()

    async def ask(name: str) -> None:
        async with manners.turn(name) as wish:
            assert name not in busy, "two in flight"
            if wish is None:
                busy.add(name)
                begun.append((name, time.now))
                await asyncio.sleep(0)
                busy.remove(name)

    await asyncio.gather(*(ask(name) for name in names))
    return begun


def test_one_request_at_a_time_and_a_pause_between_two() -> None:
    time = Time()
    begun = asyncio.run(starts(hosts(time), time, ["a.example"] * 4))
    assert [at - 1000 for _, at in begun] == [0, 2, 4, 6]


def test_a_host_may_have_a_pace_of_its_own() -> None:
    time = Time()
    manners = Hosts({"default": HostPolicy(2.0), "slow.example": HostPolicy(30.0)}, clock=time, sleep=time.sleep)
    begun = asyncio.run(starts(manners, time, ["slow.example"] * 3))
    assert [at - 1000 for _, at in begun] == [0, 30, 60]


def test_a_slow_host_does_not_delay_another() -> None:
    async def go() -> bool:
        manners, reached = Hosts({}), asyncio.Event()

        async def hang() -> None:
            async with manners.turn("hangs.example"):
                await reached.wait()

        hanging = asyncio.create_task(hang())
        await asyncio.sleep(0)
        async with manners.turn("quick.example") as wish:
            reached.set()
        await hanging
        return wish is None

    assert asyncio.run(go())


def test_retry_after_defers_the_whole_host_and_is_capped() -> None:
    time = Time()
    manners = hosts(time)
    manners.answered("a.example", answer(503, Retry_After=str(10**9)))
    assert manners.deferred_s("a.example") == MOST_RETRY_AFTER_S
    assert manners.deferred_s("b.example") == 0
    assert asyncio.run(starts(manners, time, ["a.example"] * 100)) == []
    time.now += MOST_RETRY_AFTER_S
    assert manners.deferred_s("a.example") == 0
    assert len(asyncio.run(starts(manners, time, ["a.example"]))) == 1


def test_a_short_retry_after_is_waited_for() -> None:
    time = Time()
    manners = hosts(time)
    manners.answered("a.example", answer(429, Retry_After="5"))
    assert asyncio.run(starts(manners, time, ["a.example"])) == [("a.example", 1005.0)]


def test_a_host_that_keeps_saying_429_is_asked_ever_more_slowly_and_then_not_in_this_run() -> None:
    async def go(time: Time) -> list[float]:
        manners, at = hosts(time), []
        for status in (429, 429, 429, 429, 200):
            async with manners.turn("a.example") as wish:
                if wish is not None:
                    return [*at, -wish]
                at.append(time.now - 1000)
                manners.answered("a.example", answer(status))
        return at

    assert asyncio.run(go(Time())) == [0, 4, 12, -16]


def test_good_answers_restore_the_pace() -> None:
    async def go(time: Time) -> list[float]:
        manners, at = hosts(time), []
        for status in (429, 200, 200, 200):
            async with manners.turn("a.example"):
                at.append(time.now - 1000)
                manners.answered("a.example", answer(status))
        return at

    assert asyncio.run(go(Time())) == [0, 4, 6, 8]


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 0 ", 0.0),
        ("Wed, 02 Dec 2026 10:05:00 GMT", 300.0),
        ("Wed, 02 Dec 2026 09:00:00 GMT", 0.0),
        ("Wednesday, 02-Dec-26 10:05:00 GMT", 300.0),
        ("99999999999999999999999", 999999999999.0),
        ("Wed, 02 Dec 2026 10:05:00 +99999999999999999999", None),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("", None),
        ("٣", None),
    ],
)
def test_retry_after_is_seconds_or_a_date_or_nothing(value: str, seconds: float | None) -> None:
    assert retry_after_s(value, NOW) == seconds


@given(st.text())
def test_no_retry_after_breaks_us(value: str) -> None:
    seconds = retry_after_s(value, NOW)
    assert seconds is None or seconds >= 0


@pytest.mark.parametrize(
    ("rules", "allowed"),
    [
        ("", True),
        ("User-agent: *\nDisallow: /page", False),
        ("\ufeffUser-agent: *\nDisallow: /page", False),
        ("User-agent: *\nDisallow: /\nAllow: /page", True),
        ("User-agent: *\nDisallow: /\n\nUser-agent: sourcewatch\nDisallow:", True),
        ("User-agent: sourcewatch/1.0 # us\nDisallow: /page", False),
        ("User-agent: SourceWatch\nDisallow: /*ge$", False),
        ("User-agent: otherbot/2.1\nDisallow: /page", True),
        ("User-agent: *\nDisallow: /pages", True),
        ("<html>User-agent: *\nDisallow: /page", True),
        ("\x00\x01\xff garbage", True),
    ],
)
def test_rules_are_read_as_rfc_9309_says(rules: str, allowed: bool) -> None:
    read = rules_of(answer(200, rules.encode()))
    assert read is not None and read.allow(PAGE.url) == allowed


@given(st.binary(max_size=400))
def test_no_robots_txt_breaks_us(body: bytes) -> None:
    rules = rules_of(answer(200, body))
    assert rules is not None and rules.allow(PAGE.url) in (True, False)


class Robots:
    """Answers for /robots.txt, one after the other; counts how often it was asked."""

    def __init__(self, *answers: Exchange | Broken) -> None:
        self.answers, self.asked = list(answers), 0

    async def __call__(self) -> Exchange | Broken:
        self.asked += 1
        return self.answers.pop(0)


def permission(manners: Hosts, ask: Callable[[], Awaitable[Exchange | Broken]]) -> str:
    refusal = asyncio.run(manners.permission(PAGE, ask))
    if refusal is None:
        return "allowed"
    assert isinstance(refusal, Fault | Broken)
    return refusal.rule if isinstance(refusal, Fault) else refusal.fault.rule


FORBIDS = answer(200, b"User-agent: *\nDisallow: /page")
DOWN = answer(503)


def test_rules_are_asked_for_once_a_day() -> None:
    time, robots = Time(), Robots(FORBIDS, answer(404))
    manners = hosts(time)
    assert [permission(manners, robots) for _ in range(3)] == ["robots-disallow"] * 3
    assert robots.asked == 1
    time.now += 24 * 3600
    assert permission(manners, robots) == "allowed"
    assert robots.asked == 2


def test_an_old_copy_speaks_for_a_host_that_cannot_say_for_a_month_at_most() -> None:
    time, robots = Time(), Robots(FORBIDS, DOWN, DOWN)
    manners = hosts(time)
    permission(manners, robots)
    time.now += 25 * 3600
    assert permission(manners, robots) == "robots-disallow"
    time.now += 30 * 24 * 3600
    assert permission(manners, robots) == "robots-unreachable"


def test_a_robots_txt_that_fails_is_not_asked_for_by_each_source() -> None:
    time, robots = Time(), Robots(Broken(Fault("read_timeout", "no-answer", "nothing")), answer(404))
    manners = hosts(time)
    assert [permission(manners, robots) for _ in range(20)] == ["no-answer"] * 20
    assert robots.asked == 1
    time.now += 61
    assert permission(manners, robots) == "allowed"


def test_crawl_delay_lengthens_the_pace_up_to_a_minute() -> None:
    time = Time()
    manners = hosts(time)
    permission(manners, Robots(answer(200, b"User-agent: *\nCrawl-delay: 7200")))
    assert [at - 1000 for _, at in asyncio.run(starts(manners, time, ["host.example"] * 2))] == [0, 60]


def test_robots_txt_itself_may_always_be_asked_for() -> None:
    manners = hosts(Time())
    robots = address_of("https://host.example/robots.txt")
    assert asyncio.run(manners.permission(robots, Robots())) is None


def test_a_failure_of_a_host_is_remembered_for_a_minute() -> None:
    time = Time()
    manners, origin = hosts(time), PAGE.origin
    manners.remember_failure(origin, Broken(Fault("connect_refused", "connect-refused", "nothing listens there")))
    time.now += 30
    known = manners.recent_failure(origin)
    assert known and known.fault.evidence == "nothing listens there (as found 30 s before)"
    time.now += 31
    assert manners.recent_failure(origin) is None


def test_a_fresh_wish_asks_a_failing_host_once_more_and_no_oftener() -> None:
    time = Time()
    manners, origin = hosts(time), PAGE.origin
    broken = Broken(Fault("connect_timeout", "connect-timeout", "no answer"))
    manners.remember_failure(origin, broken)
    assert manners.recent_failure(origin, fresh=True) is None
    manners.remember_failure(origin, broken)
    assert manners.recent_failure(origin, fresh=True)
    time.now += 61
    assert manners.recent_failure(origin, fresh=True) is None


def test_a_robots_txt_that_fails_is_asked_for_once_more_by_a_fresh_wish_and_no_oftener() -> None:
    time, robots = Time(), Robots(DOWN, DOWN)
    manners = hosts(time)
    for _ in range(5):
        asyncio.run(manners.permission(PAGE, robots, fresh=True))
    assert robots.asked == 2


def test_an_answer_ends_the_count_of_pages_that_never_came() -> None:
    manners = hosts(Time())
    for _ in range(MOST_SILENT):
        manners.kept_silent("a.example")
        manners.answered("a.example", answer(500))
    assert manners.deferred_s("a.example") == 0


def test_fifty_thousand_hosts_do_not_pile_up() -> None:
    time = Time()
    manners = hosts(time)

    async def go() -> None:
        for i in range(50_000):
            async with manners.turn(f"h{i}.example"):
                time.now += 0.1

    asyncio.run(go())
    assert len(manners) <= 1_001


def test_the_rules_of_many_hosts_do_not_fill_the_memory() -> None:
    manners = hosts(Time())
    long_rules = b"User-agent: *\n" + b"Disallow: /nothing\n" * 1_000

    async def go(count: int) -> int:
        asked = 0

        async def ask() -> Exchange:
            nonlocal asked
            asked += 1
            return answer(200, long_rules)

        for i in (*range(count), 0, count - 1):
            await manners.permission(address_of(f"https://h{i}.example/"), ask)
        return asked

    many = 2 * MOST_RULES_BYTES // len(long_rules)
    assert asyncio.run(go(many)) == many + 1  # the first was forgotten, the last was not


SENT = "Wed, 02 Dec 2026 10:00:00 GMT"
RESET = str(int(NOW.timestamp()) + 1_800)


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (200, {"X-RateLimit-Remaining": "1", "X-RateLimit-Reset": RESET}, None),
        (200, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": RESET}, 1_800),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": RESET}, 1_800),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": RESET, "Retry-After": "60"}, 60),
        (403, {"Retry-After": "60", "X-RateLimit-Remaining": "57"}, 60),  # GitHub's secondary limits
        (403, {"X-RateLimit-Remaining": "57", "X-RateLimit-Reset": RESET}, None),
        (200, {"RateLimit-Remaining": "0", "RateLimit-Reset": "55"}, 55),
        (200, {"RateLimit": '"api";r=0;t=55'}, 55),
        (200, {"RateLimit": '"api";r=499;t=55, "pages";r=0;t=120'}, 120),
        (200, {"RateLimit": '"api";r=499;t=55'}, None),
        (429, {"RateLimit": '"api";r=0;t=200'}, 200),
        (200, {"Retry-After": "60"}, None),
        (200, {"X-RateLimit-Remaining": "0"}, None),
        (200, {"X-RateLimit-Remaining": "none", "X-RateLimit-Reset": "soon", "RateLimit": "; ;r=;t=,\x00"}, None),
        (429, {}, None),
    ],
)
def test_an_answer_says_when_its_host_may_be_asked_again(
    status: int, headers: dict[str, str], seconds: float | None
) -> None:
    answer = Exchange("https://api.example/", status, (("Date", SENT), *headers.items()))
    assert wish_s(answer) == seconds


def test_a_time_is_read_by_the_servers_own_clock() -> None:
    used_up = (("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", RESET), ("Date", SENT))
    assert wish_s(Exchange("https://api.example/", 200, used_up), NOW + timedelta(days=400)) == 1_800


@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=80))
def test_no_header_makes_a_wish_raise(left: str, reset: str, limit: str) -> None:
    headers = (("X-RateLimit-Remaining", left), ("RateLimit-Reset", reset), ("RateLimit", limit), ("Date", reset))
    assert (wish_s(Exchange("https://api.example/", 403, headers)) or 0.0) >= 0.0
