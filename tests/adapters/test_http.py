"""Every way in which a fetch can go wrong below the page's text comes back as a value with its word and rule."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

import pytest

from sourcewatch.adapters.hosts import Hosts
from sourcewatch.adapters.http import Web
from sourcewatch.domain.capture import Capture, Deferred, Failure, Request
from sourcewatch.domain.source import FetchPolicy, HostPolicy
from web.cases import ALL, Case, MisbehavingWeb

DEADLINE_S = 2.0
LOOPBACK = ("127.0.0.0/8", "::1/128")


def a_web(web: MisbehavingWeb, *, respect_robots: bool = True, **policy: object) -> Web:
    settings: dict[str, object] = {
        "allow_networks": LOOPBACK,
        "ca_bundle": web.ca_bundle,
        "max_bytes": 3_000_000,
        "deadline_s": DEADLINE_S,
        "connect_s": 0.8,
        "read_s": 0.8,
        "concurrency": 64,
    }
    hosts = Hosts({"default": HostPolicy(delay_s=0.0)}, respect_robots=respect_robots)
    return Web(
        FetchPolicy(**(settings | policy)),  # type: ignore[arg-type]
        hosts,
        user_agent="sourcewatch/test (+https://site.example; mailto:editor@site.example)",
        resolve=web.resolve,
    )


@dataclass(frozen=True)
class Outcome:
    fetched: Capture | Failure | Deferred
    seconds: float


@pytest.fixture(scope="session")
def outcomes(bad_web: MisbehavingWeb) -> dict[str, Outcome]:
    """All cases at once, each on a host of its own."""

    some = asyncio.Semaphore(24)

    async def timed(web: Web, case: Case) -> Outcome:
        async with some:
            started = time.perf_counter()
            fetched = await web.fetch(Request(bad_web.urls[case.name]))
            return Outcome(fetched, time.perf_counter() - started)

    async def everything() -> dict[str, Outcome]:
        async with a_web(bad_web) as web:
            done = await asyncio.gather(*(timed(web, case) for case in ALL))
        return {case.name: outcome for case, outcome in zip(ALL, done, strict=True)}

    return asyncio.run(everything())


@pytest.mark.parametrize("case", [c for c in ALL if c.word], ids=lambda c: c.name)
def test_what_breaks_gets_its_word_and_its_rule(outcomes: dict[str, Outcome], case: Case) -> None:
    failure = outcomes[case.name].fetched
    assert isinstance(failure, Failure), failure
    assert (failure.word, failure.rule) == (case.word, case.rule or failure.rule), failure.detail
    assert failure.detail


@pytest.mark.parametrize("case", [c for c in ALL if not c.word], ids=lambda c: c.name)
def test_what_looks_like_trouble_and_is_none_is_read(outcomes: dict[str, Outcome], case: Case) -> None:
    capture = outcomes[case.name].fetched
    assert isinstance(capture, Capture), capture
    assert (capture.answer.status, len(capture.exchanges)) == (case.status, case.hops)


@pytest.mark.parametrize("case", ALL, ids=lambda c: c.name)
def test_nothing_outlasts_the_deadline_by_more_than_two_seconds(outcomes: dict[str, Outcome], case: Case) -> None:
    assert outcomes[case.name].seconds < DEADLINE_S + 2
