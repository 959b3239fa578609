"""What outlives a pass: one web, one set of manners, workers, threads; under the run lock. `wiring`'s other half."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from ..adapters import cron
from ..adapters.browser import Browser
from ..adapters.exclusive import Exclusive
from ..adapters.guard import Resolve
from ..adapters.hosts import Gate, Hosts
from ..adapters.http import Web
from ..adapters.lock import run_lock
from ..adapters.processes import Processes
from ..domain.errors import StorageError
from ..domain.source import Settings
from ..services.check import Checker
from ..services.desk import Desk
from ..services.keep import Keeper, Waits, at_once
from ..services.messages import recipients
from ..services.ports import Clock, Judge, Strays
from ..services.run import Runner
from ..services.threads import Threads
from . import wiring
from .wiring import House


@dataclass(slots=True)
class Crew:
    """Everything that a pass needs; *runner* runs passes over the present configuration."""

    house: House
    lock: Exclusive
    threads: Threads
    hosts: Hosts
    judging: Judge
    desk: Desk
    clock: Clock
    resolve: Resolve | None
    web: Web
    browser: Browser | None
    runner: Runner

    async def adopt(self, settings: Settings) -> None:
        """Work by another configuration from now on; passes that are under way end by the old one.

        Raises StorageError; then the old one stays.
        """
        before, house = self.house.settings, replace(self.house, settings=settings)
        await self.threads.rows(wiring.mirror, house, self.clock())
        self.hosts.obey(settings.hosts, respect_robots=settings.fetch.respect_robots)
        if (settings.fetch, settings.site) != (before.fetch, before.site):
            await self.web.lines.aclose()
            self.web = _web(house, self.hosts, self.clock, self.resolve)
        self.house = house
        self.browser = _browser(house, self.web, self.hosts)  # the old one ends when nobody has needed it for a while
        self.runner = _runner(
            house, self.web, self.browser, self.judging, self.desk, self.clock, self.runner.keeper.waits,
            self.runner.keeper.strays,
        )  # fmt: skip


@asynccontextmanager
async def crew(
    house: House,
    holder: str,
    *,
    clock: Clock = wiring.now,
    resolve: Resolve | None = None,
    gate: Gate | None = None,
    waits: Waits = at_once,
    strays: Strays | None = None,
) -> AsyncIterator[Crew]:
    """Take the run lock as *holder*, clear up after a run that was cut short, and have everything at hand.

    *resolve* stands in for the name service. With a *gate* the lock is shared with all others who ask hosts through
    one, and nobody clears up: what looks left over may be another's. Raises BusyError, StorageError.
    """
    shared = gate is not None
    exclusive = house.ledger.exclusive(shared=shared)
    with run_lock(house.data, holder, shared=shared) as killed, exclusive as lock, Threads() as threads:
        house.outbox.enrol(recipients(house.settings), clock())  # an editor who is new is told what is found here
        if shared:
            house.snapshots.share()
        else:
            await wiring.clear_up(house, clock, killed=killed)
        hosts = Hosts(house.settings.hosts, respect_robots=house.settings.fetch.respect_robots, gate=gate)
        desk = Desk(house.queue, threads)
        web = _web(house, hosts, clock, resolve)
        async with Processes(wiring.judge, wiring.WORKERS, preload="sourcewatch.analysis.judge") as judging:
            browser = _browser(house, web, hosts)
            runner = _runner(house, web, browser, judging, desk, clock, waits, strays)
            made = Crew(house, lock, threads, hosts, judging, desk, clock, resolve, web, browser, runner)
            try:
                yield made
            finally:
                if made.browser is not None:
                    await made.browser.aclose()
                await made.web.lines.aclose()
                with contextlib.suppress(StorageError):  # the leases run out by themselves
                    await desk.give_back()


def _web(house: House, hosts: Hosts, clock: Clock, resolve: Resolve | None) -> Web:
    agent = wiring.user_agent(house.settings)
    return Web(house.settings.fetch, hosts, user_agent=agent, clock=clock, resolve=resolve)


def _browser(house: House, web: Web, hosts: Hosts) -> Browser | None:
    """A browser where a source asks for one; Chromium itself starts with the first page that needs it."""
    settings = house.settings
    if all(source.render == "never" for source in settings.sources):
        return None
    return Browser(web.guard, hosts, settings.fetch, settings.render, user_agent=web.user_agent)


def _runner(
    house: House,
    web: Web,
    browser: Browser | None,
    judging: Judge,
    desk: Desk,
    clock: Clock,
    waits: Waits,
    strays: Strays | None,
) -> Runner:
    settings, threads = house.settings, desk.threads
    checker = Checker(web, judging, house.ledger, house.snapshots, threads, settings.fetch, clock, browser)
    keeper = Keeper(house.ledger, house.snapshots, threads, settings.site.timezone, cron.next_time, waits, strays)
    return Runner(settings, house.ledger, desk, checker, keeper, clock)
