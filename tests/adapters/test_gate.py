"""Where other processes ask the same hosts, nothing is sent that is not this one's to send, on real sockets."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from site_of_pages import Site, page, serving
from sourcewatch.adapters.hosts import Hosts
from sourcewatch.adapters.http import Web
from sourcewatch.domain.capture import Capture, Deferred, Failure, Request
from sourcewatch.domain.errors import StorageError
from sourcewatch.domain.source import FetchPolicy, HostPolicy


@dataclass
class Gate:
    """A gate that says what the test tells it to."""

    wish: float | None = None
    may_send: bool = True
    proves: bool = True
    fails: bool = False
    calls: list[str] = field(default_factory=list)

    async def begin(self, host: str) -> float | None:
        self.calls.append("begin")
        return self.wish

    async def still(self, host: str) -> bool:
        self.calls.append("still")
        if self.fails:
            raise StorageError("the database is away")
        return self.may_send

    def sure(self, host: str) -> bool:
        return self.may_send and self.proves

    def end(self, host: str) -> None:
        self.calls.append("end")


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        site.pages["/p"] = page("P", "<p>The cache stays warm.</p>")
        yield site


def fetched(gate: Gate, url: str) -> Capture | Failure | Deferred:
    async def go() -> Capture | Failure | Deferred:
        hosts = Hosts({"default": HostPolicy(delay_s=0.0)}, respect_robots=False, gate=gate)
        policy = FetchPolicy(allow_networks=("127.0.0.0/8",), deadline_s=60.0, read_s=60.0)
        async with Web(policy, hosts, user_agent="t") as web:
            return await asyncio.wait_for(web.fetch(Request(url)), 30)

    return asyncio.run(go())


def test_a_request_in_its_turn_is_proven_before_it_is_begun_and_as_it_is_sent(site: Site) -> None:
    gate = Gate()
    assert isinstance(fetched(gate, site.url("/p")), Capture)
    assert gate.calls[:2] == ["begin", "still"] and gate.calls[-1] == "end"


def test_a_host_that_is_anothers_is_not_asked(site: Site) -> None:
    gate = Gate(wish=5.0)
    assert isinstance(fetched(gate, site.url("/p")), Deferred)
    assert gate.calls == ["begin"] and site.asked == []


def test_a_turn_that_is_lost_while_connecting_is_not_used_and_nobody_waits_for_an_answer(site: Site) -> None:
    gate = Gate(may_send=False)
    assert isinstance(fetched(gate, site.url("/p")), Deferred)
    assert gate.calls[-1] == "end" and site.asked == []


def test_what_failed_while_this_process_slept_is_no_failure_of_the_host(site: Site) -> None:
    assert isinstance(fetched(Gate(proves=False), "http://127.0.0.1:1/"), Deferred)
    assert isinstance(fetched(Gate(), "http://127.0.0.1:1/"), Failure)


def test_a_turn_that_cannot_be_proven_is_the_storages_fault_and_no_verdict(site: Site) -> None:
    with pytest.raises(StorageError, match="away"):
        fetched(Gate(fails=True), site.url("/p"))
    assert site.asked == []
