"""The web as values: one fetch asks an address, follows its redirects by hand, and never raises for the network.

httpx is used without its client: one transport per host (a shared pool costs 2.8 ms CPU a request at 32 connections
and 5.5 at 128, one per host 0.6 ms at both), no redirects, cookies, decoding or environment of its own.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import partial
from typing import Self

import httpx

from sourcewatch.domain.capture import Capture, Deferred, Exchange, Failure, Request
from sourcewatch.domain.reading import Fault
from sourcewatch.domain.source import FetchPolicy

from . import causes, robots, second_look, tls
from .answer import Answer
from .guard import Guard, Resolve
from .headers import Cookies, Raw, request_headers
from .hosts import MOST_WAIT_S, SILENT, Broken, Hosts
from .lines import Lines
from .places import Places
from .redirects import next_address
from .stream import MAY_SEND, WIRE
from .transfer import BIG_AT_A_TIME, Budget, OverDeadlineError
from .urls import Address, AddressError, SchemeError, address_of

MOST_REDIRECTS = 10
MOST_ASKED = 256  # questions on their way: each is a socket, and a process may have 1,024
HOST_WIDE = ("dns_", "connect_", "tls_")  # words that hold for every address of an origin


class Purpose(Enum):
    """Whom a request serves. Only a SOURCE needs leave by robots.txt; a CERTIFICATE is fetched while another host has
    its turn, so it waits for none."""

    SOURCE = "source"
    ROBOTS = "robots"
    CERTIFICATE = "certificate"


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True)
class _Trip:
    """One walk from an address to its last answer."""

    request: Request
    budget: Budget
    most_bytes: int
    purpose: Purpose = Purpose.SOURCE
    fresh: bool = False
    most_redirects: int = MOST_REDIRECTS
    cookies: Cookies = field(default_factory=Cookies)
    exchanges: list[Exchange] = field(default_factory=list)


class Web:
    """Use as an async context manager. *user_agent* names the product, the site and a contact.

    *clock* gives UTC times; *resolve* stands in for the name service.
    """

    def __init__(
        self,
        policy: FetchPolicy,
        hosts: Hosts,
        *,
        user_agent: str,
        clock: Callable[[], datetime] = _now,
        resolve: Resolve | None = None,
    ) -> None:
        self.policy, self.hosts, self.user_agent, self.clock = policy, hosts, user_agent, clock
        self.guard = Guard(policy.allow_networks, resolve)
        self.lines = Lines(self.guard, tls.trust(policy.ca_bundle))
        self._asked = asyncio.Semaphore(MOST_ASKED)
        self._places = Places(policy.concurrency)
        self._lane = asyncio.Semaphore(BIG_AT_A_TIME)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.lines.aclose()

    async def fetch(self, request: Request, *, fresh: bool = False) -> Capture | Failure | Deferred:
        """Ask for *request.url* and follow where it leads, ten redirects at most.

        An answer of whatever status is a Capture; Failure when no usable answer came; Deferred when a host on the way
        asked to be left alone. *fresh* asks even a host that has just failed for another source, unless it has failed
        twice. Addresses in the result have no fragment.
        """
        started = time.perf_counter()
        budget = Budget(request.deadline_s or self.policy.deadline_s)
        trip = _Trip(request, budget, request.max_bytes or self.policy.max_bytes, fresh=fresh)
        outcome = await self._walk(trip)
        seconds = time.perf_counter() - started
        if isinstance(outcome, Deferred):
            return outcome
        exchanges = tuple(trip.exchanges)
        if outcome is None:
            return Capture(self.clock(), exchanges, seconds)
        url, broken = outcome
        if broken.exchange:
            exchanges += (broken.exchange,)
        fault = broken.fault
        return Failure(
            self.clock(), fault.word, fault.rule, fault.evidence, url, exchanges, broken.certificate, seconds
        )

    async def _walk(self, trip: _Trip) -> tuple[str, Broken] | Deferred | None:
        """Go from hop to hop. None when the last answer is in; else the address where it broke, and how."""
        url = trip.request.url
        try:
            address = address_of(url)
        except AddressError:
            return url, Broken(Fault("invalid_url", "not-an-address", f"no browser could ask for {url[:200]!r}"))
        except SchemeError as error:
            return url, Broken(Fault("invalid_url", "other-scheme", f"not an address of the web: {error}"))
        seen: set[tuple[str, str]] = set()
        while True:
            cookie = trip.cookies.header(address)
            if fault := _endless(trip, address, cookie, seen):
                return address.url, Broken(fault)
            outcome = await self._hop(trip, address, cookie)
            if isinstance(outcome, Deferred):
                return outcome
            if isinstance(outcome, Broken):
                return address.url, outcome
            trip.exchanges.append(outcome)
            trip.cookies.learn(address, outcome.all_headers("set-cookie"))
            following = next_address(outcome) if trip.request.method == "GET" else None
            if following is None:
                return None
            if isinstance(following, Fault):
                return address.url, Broken(following)
            address = following

    async def _hop(self, trip: _Trip, address: Address, cookie: str) -> Exchange | Broken | Deferred:
        """One address: the host's wishes first, then its turn, then the exchange."""
        headers = request_headers(trip.request, address, self.user_agent, cookie, first=not trip.exchanges)
        if trip.purpose is Purpose.CERTIFICATE:
            MAY_SEND.set(None)
            return await self._exchange(trip, address, headers)
        if (wish_s := self.hosts.deferred_s(address.host)) > MOST_WAIT_S:
            return self._deferred(address, wish_s)
        if trip.purpose is Purpose.SOURCE and (refusal := await self._refusal(trip, address)):
            return refusal
        async with self.hosts.turn(address.host, paced=trip.purpose is Purpose.SOURCE) as wish:
            if wish is not None:
                return self._deferred(address, wish)
            if known := self.hosts.recent_failure(address.origin, fresh=trip.fresh):
                return known
            async with self._asked:
                MAY_SEND.set(partial(self.hosts.still, address.host))
                outcome = await self._exchange(trip, address, headers)
            if isinstance(outcome, Broken) and not self.hosts.sure(address.host):
                return self._deferred(address, 0.0)  # this process slept, or lost its turn: that proves nothing
            if isinstance(outcome, Exchange):
                self.hosts.answered(address.host, outcome)
                return outcome
            if outcome.fault.word in tls.CERTIFICATE_WORDS:
                outcome = await self._second_look(trip, address, outcome)
            if outcome.fault.word.startswith(HOST_WIDE):
                self.hosts.remember_failure(address.origin, outcome)
            elif outcome.fault.word in SILENT and not outcome.exchange:
                self.hosts.kept_silent(address.host)
            return outcome

    def _deferred(self, address: Address, wish_s: float) -> Deferred:
        until_at = self.clock() + timedelta(seconds=wish_s)
        why = "429, 503, pages that never came, or another worker's turn"
        return Deferred(address.url, until_at, f"{address.host} is left alone ({why})")

    async def _refusal(self, trip: _Trip, address: Address) -> Broken | Deferred | None:
        """Why robots.txt keeps us from asking, or None."""
        if trip.request.robots_override:
            return None

        async def ask() -> Exchange | Broken | Deferred:
            request = Request(address.site + "/robots.txt", expect="any")
            errand = _Trip(request, trip.budget, robots.MOST_BYTES, Purpose.ROBOTS, trip.fresh, robots.MOST_REDIRECTS)
            outcome = await self._walk(errand)
            if not isinstance(outcome, tuple):
                return outcome or errand.exchanges[-1]
            fault = outcome[1].fault
            if not fault.word.startswith(HOST_WIDE):
                fault = replace(fault, evidence=f"could not read {address.site}/robots.txt: {fault.evidence}")
            return replace(outcome[1], fault=fault, exchange=None)

        refusal = await self.hosts.permission(address, ask, fresh=trip.fresh)
        return Broken(refusal) if isinstance(refusal, Fault) else refusal

    async def _second_look(self, trip: _Trip, address: Address, broken: Broken) -> Broken:
        """Record the certificate that failed, and ask whether its chain would be whole with what AIA names."""

        async def ask(url: str) -> bytes:
            errand = _Trip(
                Request(url, expect="any"), trip.budget, second_look.MOST_BYTES, Purpose.CERTIFICATE, most_redirects=3
            )
            outcome = await self._walk(errand)
            return errand.exchanges[-1].body if outcome is None else b""

        try:
            return await second_look.look(self.guard, address, broken, self.policy.ca_bundle, trip.budget, ask)
        except OverDeadlineError:
            return broken

    async def _exchange(self, trip: _Trip, address: Address, headers: Raw) -> Exchange | Broken:
        """Ask once; a kept-alive connection that died before a byte came was only stale, so ask once more."""
        outcome = await self._ask(trip, address, headers)
        wire = WIRE.get()
        stale = wire is not None and wire.silent and wire.requests > 1 and trip.request.method == "GET"
        if stale and isinstance(outcome, Broken) and outcome.fault.word in ("empty_reply", "connection_reset"):
            return await self._ask(trip, address, headers)
        return outcome

    async def _ask(self, trip: _Trip, address: Address, headers: Raw) -> Exchange | Broken:
        """One request on the wire and whatever comes back."""
        WIRE.set(None)
        answer = Answer(address, self.clock(), {h.name for h in trip.request.headers if h.secret})
        fault: Fault | None = None
        try:
            async with self.lines.to(address.origin) as transport:
                request = self._request(trip.request, address, headers)
                async with trip.budget.spend():
                    answer.response = await transport.handle_async_request(request)
                try:
                    async with self._places.one():
                        fault = await answer.read(
                            trip.most_bytes, trip.budget, self._lane, start_will_do=trip.purpose is not Purpose.SOURCE
                        )
                finally:
                    await answer.response.aclose()
        except OverDeadlineError:
            fault = answer.over_deadline(trip.budget)
        except causes.NETWORK_ERRORS as error:
            fault = causes.fault_of(error, WIRE.get(), chunked=answer.chunked if answer.response else None)
        exchange = answer.exchange(WIRE.get())
        if fault:
            return Broken(fault, exchange)
        assert exchange
        return exchange

    def _request(self, wanted: Request, address: Address, headers: Raw) -> httpx.Request:
        """The path goes round httpx's URL, which quotes in its own way: *target* is asked for byte by byte."""
        timeout = {"connect": self.policy.connect_s, "read": self.policy.read_s, "write": self.policy.read_s}
        extensions = {
            "target": address.target.encode("ascii"),
            "timeout": timeout,
            "sni_hostname": address.host.rstrip("."),
        }
        url = httpx.URL(scheme=address.scheme, host=address.host, port=address.port, path="/")
        content = wanted.body if wanted.method == "POST" else None
        return httpx.Request(wanted.method, url, headers=headers, content=content, extensions=extensions)


def _endless(trip: _Trip, address: Address, cookie: str, seen: set[tuple[str, str]]) -> Fault | None:
    """A loop is the same address with the same cookies: many sites redirect to themselves to set one."""
    if (address.url, cookie) in seen:
        return Fault("redirect_loop", "redirect-loop", f"leads back to {address.url}")
    if len(trip.exchanges) > trip.most_redirects:
        return Fault("too_many_redirects", "too-many-redirects", f"more than {trip.most_redirects} redirects")
    seen.add((address.url, cookie))
    return None
