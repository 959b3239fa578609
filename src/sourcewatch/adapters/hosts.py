"""Manners towards each host: one request in flight, a pace, its Retry-After, its robots.txt, and its recent failures.

The pace is waited for (policy and crawl-delay, a minute at most). What a host wishes beyond that (Retry-After, or a
pace slowed by 429 and 503) is not: the check comes back as deferred, so that no host holds up a run.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
import weakref
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from sourcewatch.domain.capture import Certificate, Deferred, Exchange
from sourcewatch.domain.reading import Fault
from sourcewatch.domain.source import HostPolicy

from .robots import KEPT_S, NO_RULES, STALE_S, Rules, rules_of
from .urls import Address, Origin
from .wishes import refuses, wish_s

MOST_WAIT_S = 10.0  # a wish of the host that is longer than this defers the check
MOST_CRAWL_DELAY_S = 60.0  # a host that asks for more would hardly ever be read
MOST_SLOWED_S = 3600.0
MOST_RETRY_AFTER_S = 6 * 3600.0
MOST_SLOWING = 5  # 2^5: a host that keeps saying 429 is asked 32 times more slowly
REMEMBERED_S = 60.0  # how long a host's own failure stands for all its sources
SILENT = frozenset({"read_timeout", "too_slow", "connection_reset", "empty_reply"})
MOST_SILENT = 6  # three sources, asked twice each: after so many pages in a row that never came, a host rests
REST_S = 600.0
MOST_RULES_BYTES = 2_000_000  # of robots.txt; parsed, they take 12 to 17 times as much (tracemalloc, Protego 0.7)


@dataclass(frozen=True, slots=True)
class Broken:
    """An exchange that brought no usable answer: why, what came of it, and the certificate that was shown."""

    fault: Fault
    exchange: Exchange | None = None
    certificate: Certificate | None = None


@dataclass(slots=True)
class _Host:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0
    paced_until: float = 0.0
    deferred_until: float = 0.0
    crawl_delay_s: float = 0.0
    slowing: int = 0
    silent: int = 0


@dataclass(slots=True)
class _Robots:
    rules: Rules | None = None
    read_at: float = 0.0
    broken: Broken | None = None
    broken_at: float = 0.0
    failures: int = 0

    @property
    def size_bytes(self) -> int:
        return 200 + (self.rules.size_bytes if self.rules else 0)


@dataclass(frozen=True, slots=True)
class _Remembered:
    at: float
    broken: Broken
    confirmed: bool  # found twice: then even a fresh wish does not ask again


Ask = Callable[[], Awaitable[Exchange | Broken | Deferred]]


class Gate(Protocol):
    """Keeps other processes from a host while it is asked. *begin* may say for how many seconds it must not be,
    *still* whether it may be now, a moment later; *sure* whether nobody else can have asked it since."""

    async def begin(self, host: str) -> float | None: ...
    async def still(self, host: str) -> bool: ...
    def sure(self, host: str) -> bool: ...
    def end(self, host: str) -> None: ...


class Hosts:
    """*policies* by host name, "default" for all others. *clock* is monotonic seconds; *sleep* waits by it.

    *gate* is there where other processes ask the same hosts.
    """

    def __init__(
        self,
        policies: Mapping[str, HostPolicy],
        *,
        respect_robots: bool = True,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        gate: Gate | None = None,
    ) -> None:
        self._clock, self._sleep, self._gate = clock, sleep, gate
        self.obey(policies, respect_robots=respect_robots)
        self._hosts: dict[str, _Host] = {}
        self._robots: OrderedDict[Origin, _Robots] = OrderedDict()
        self._rules_bytes = 0
        self._asking: weakref.WeakValueDictionary[Origin, asyncio.Lock] = weakref.WeakValueDictionary()
        self._failures: OrderedDict[Origin, _Remembered] = OrderedDict()

    def obey(self, policies: Mapping[str, HostPolicy], *, respect_robots: bool) -> None:
        """Keep other policies from now on; what the hosts themselves said stays known."""
        self._policies, self._respect_robots = policies, respect_robots
        self._default = policies.get("default", HostPolicy())

    def left_alone(self) -> int:
        """How many hosts wish to be left alone now."""
        now = self._clock()
        return sum(h.deferred_until > now for h in self._hosts.values())

    async def still(self, host: str) -> bool:
        """Whether this host may be asked now, in its turn."""
        return self._gate is None or await self._gate.still(host)

    def sure(self, host: str) -> bool:
        """Whether nobody else can be asking this host now: not so when this process slept during its turn."""
        return self._gate is None or self._gate.sure(host)

    def rests_s(self, host: str) -> float:
        """For how many seconds from now this host must not be asked: its pace, or what it asked for."""
        state = self._hosts.get(host)
        return max(0.0, max(state.paced_until, state.deferred_until) - self._clock()) if state else 0.0

    def __len__(self) -> int:
        """How many hosts are in memory."""
        return len(self._hosts)

    @contextlib.asynccontextmanager
    async def turn(self, host: str, *, paced: bool = True) -> AsyncIterator[float | None]:
        """Wait for this host's turn, first come, first served; nobody else asks it meanwhile.

        Yields None, or the seconds for which the host wishes to be left alone: then it must not be asked.
        """
        state = self._hosts.setdefault(host, _Host())
        state.users += 1
        try:
            async with state.lock:
                wish = self._wish_s(host, state, paced)
                if wish is None:
                    await self._wait(state, paced)
                    if self._gate is not None:
                        wish = await self._gate.begin(host)  # as late as can be: what it proves holds for seconds
                try:
                    yield wish
                finally:
                    if wish is None and self._gate is not None:
                        self._gate.end(host)
                    if wish is None and paced:
                        pace_s = self._pace_s(host, state) * (1 << state.slowing)
                        state.paced_until = self._clock() + min(pace_s, MOST_SLOWED_S)
        finally:
            state.users -= 1
            if not state.users:
                self._forget_idle_hosts()

    def _pace_s(self, host: str, state: _Host) -> float:
        """Seconds between two requests by policy and crawl-delay, waited for in any case."""
        delay_s = self._policies.get(host, self._default).delay_s
        return max(delay_s, min(state.crawl_delay_s, MOST_CRAWL_DELAY_S))

    def _wish_s(self, host: str, state: _Host, paced: bool) -> float | None:
        """How long the host wants peace, if that is too long to wait for."""
        now = self._clock()
        if state.deferred_until - now > MOST_WAIT_S:
            return state.deferred_until - now
        if paced and state.paced_until - now > max(MOST_WAIT_S, self._pace_s(host, state)):
            return state.paced_until - now
        return None

    async def _wait(self, state: _Host, paced: bool) -> None:
        wait_s = max(state.deferred_until, state.paced_until if paced else 0.0) - self._clock()
        if wait_s > 0:
            await self._sleep(wait_s)

    def _forget_idle_hosts(self) -> None:
        if len(self._hosts) > 1_000:  # 50,000 hosts must not pile up; those that still mean something stay
            now = self._clock()
            idle = [
                name
                for name, h in self._hosts.items()
                if not (h.users or h.slowing or h.silent or max(h.paced_until, h.deferred_until) > now)
            ]
            for name in idle:
                del self._hosts[name]

    def answered(self, host: str, answer: Exchange) -> None:
        """Learn from an answer: a host that refuses is asked more slowly, and one that names a time is left alone until
        then, also where this answer used up what it gives within an hour."""
        state = self._hosts.setdefault(host, _Host())
        state.silent = 0
        state.slowing = min(MOST_SLOWING, state.slowing + 1) if refuses(answer) else max(0, state.slowing - 1)
        if (seconds := wish_s(answer)) is not None:
            state.deferred_until = max(state.deferred_until, self._clock() + min(seconds, MOST_RETRY_AFTER_S))

    def kept_silent(self, host: str) -> None:
        """A page never came, though the host lets itself be connected. Hundreds of its sources would cost a time-out
        each: after six in a row it rests, and the others count as not asked rather than as failed."""
        state = self._hosts.setdefault(host, _Host())
        state.silent += 1
        if state.silent >= MOST_SILENT:
            state.silent = 0
            state.deferred_until = max(state.deferred_until, self._clock() + REST_S)

    def deferred_s(self, host: str) -> float:
        """How many seconds from now *host* wishes to be left alone; 0 when it may be asked."""
        state = self._hosts.get(host)
        return max(0.0, state.deferred_until - self._clock()) if state else 0.0

    async def permission(self, address: Address, ask: Ask, *, fresh: bool = False) -> Fault | Broken | Deferred | None:
        """None when robots.txt lets us ask for *address*; else why not. *ask* fetches this origin's robots.txt."""
        if not self._respect_robots or address.target == "/robots.txt":
            return None
        known = await self._known_rules(address.origin, ask, fresh)
        if isinstance(known, Broken | Deferred):
            return known
        if known is None:
            return Fault("robots_disallowed", "robots-unreachable", "robots.txt answers with a server error")
        if known.crawl_delay_s:
            state = self._hosts.setdefault(address.host, _Host())
            state.crawl_delay_s = known.crawl_delay_s
        if known.allow(address.url):
            return None
        return Fault("robots_disallowed", "robots-disallow", f"{address.site}/robots.txt forbids {address.target}")

    async def _known_rules(self, origin: Origin, ask: Ask, fresh: bool) -> Rules | Broken | Deferred | None:
        """The rules of an origin, asked for at most once a day; an old copy serves while the host cannot say."""
        lock = self._asking.setdefault(origin, asyncio.Lock())
        async with lock:
            known = self._robots.get(origin) or _Robots()
            now = self._clock()
            if known.rules and now - known.read_at < KEPT_S:
                self._robots.move_to_end(origin)
                return known.rules
            if now - known.broken_at > REMEMBERED_S:
                known.failures = 0
            if known.failures == 0 or (fresh and known.failures == 1):
                answer = await ask()
                if isinstance(answer, Deferred):
                    return answer
                self._keep_rules(origin, known, answer)
            if known.rules and self._clock() - known.read_at < STALE_S:
                return known.rules
            return known.broken

    def _keep_rules(self, origin: Origin, known: _Robots, answer: Exchange | Broken) -> None:
        """The rules that were not needed for longest make room; they would be asked for again."""
        if self._robots.pop(origin, None):
            self._rules_bytes -= known.size_bytes
        self._learn_rules(known, answer)
        self._robots[origin] = known
        self._rules_bytes += known.size_bytes
        while self._rules_bytes > MOST_RULES_BYTES and len(self._robots) > 1:
            self._rules_bytes -= self._robots.popitem(last=False)[1].size_bytes

    def _learn_rules(self, known: _Robots, answer: Exchange | Broken) -> None:
        now = self._clock()
        if isinstance(answer, Broken):
            if answer.fault.word.startswith(("redirect", "too_many", "invalid")):
                known.rules, known.read_at = NO_RULES, now  # RFC 9309, 2.3.1.2: redirects without end: "unavailable"
            else:
                known.broken, known.broken_at, known.failures = answer, now, known.failures + 1
        elif (rules := rules_of(answer)) is None:
            known.broken, known.broken_at, known.failures = None, now, known.failures + 1
        else:
            known.rules, known.read_at, known.broken, known.failures = rules, now, None, 0

    def remember_failure(self, origin: Origin, broken: Broken) -> None:
        """One dead name or closed port must not cost a time-out for each source of its host."""
        now = self._clock()
        before = self._failures.pop(origin, None)
        confirmed = before is not None and now - before.at < REMEMBERED_S
        self._failures[origin] = _Remembered(now, broken, confirmed)
        while next(iter(self._failures.values())).at < now - REMEMBERED_S:
            self._failures.popitem(last=False)

    def recent_failure(self, origin: Origin, *, fresh: bool = False) -> Broken | None:
        """What broke at this origin within the last minute, with evidence that says so; *fresh* wants to see it
        twice before it believes it."""
        known = self._failures.get(origin)
        if known is None or (fresh and not known.confirmed):
            return None
        ago_s = self._clock() - known.at
        if ago_s >= REMEMBERED_S:
            return None
        fault = known.broken.fault
        return replace(known.broken, fault=replace(fault, evidence=f"{fault.evidence} (as found {ago_s:.0f} s before)"))
