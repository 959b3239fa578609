"""The daemon: looks every half minute for what is due, lets passes overlap, and stops without losing anything.

Due times live in the database; the scheduler has a few jobs, whatever the number of sources.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from ..analysis import cadence
from ..domain.errors import BusyError, StorageError
from ..domain.source import Settings, Source
from ..services.desk import PER_HOST, Work
from ..services.threads import aside
from .pulse import Pulse
from .reread import Rereader

if TYPE_CHECKING:
    from .crew import Crew
    from .web.ops import Meter
    from .wiring import House

TICK_S = 30
LOOK_S = 10.0
JUMPED = timedelta(minutes=1)  # what NTP slews or steps in daily life is less

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    """Something besides the checks: *call* blocks, in a thread of its own, and returns what went wrong, in sentences.

    *trigger* is one of APScheduler's. What is *of_web* is for who shows pages; all else is for one process alone.
    """

    name: str
    call: Callable[[House], Sequence[str]]
    trigger: IntervalTrigger | CronTrigger
    of_web: bool = False


def scheduler() -> AsyncIOScheduler:
    """What was missed is done once, however late, and nothing beside itself."""
    common = {"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
    return AsyncIOScheduler(timezone=UTC, job_defaults=common)


async def carry_out(job: Job, house: House, pulse: Pulse, clock: Callable[[], datetime]) -> None:
    """Do a job once; what it cannot do is told."""
    try:
        failed = list(await aside(job.call, house))
    except Exception as error:
        if not isinstance(error, StorageError | BusyError):
            _log.exception("a defect in %s", job.name)
        failed = [f"{type(error).__name__}: {error}"]
    if failed:
        pulse.fault(job.name, "; ".join(failed), clock())
    else:
        pulse.well(job.name)


def each(*, minutes: int) -> IntervalTrigger:
    return IntervalTrigger(minutes=minutes, timezone=UTC)


def at(*, hour: int | str = "*", minute: int, zone: ZoneInfo) -> CronTrigger:
    return CronTrigger(hour=hour, minute=minute, timezone=zone)


@dataclass(slots=True)
class Daemon:
    """Ticks over one crew. *config* is read again when it changes; *adopted* is told of each new house."""

    crew: Crew
    config: Path
    meter: Meter
    jobs: Sequence[Job] = ()
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    adopted: Callable[[House], None] = lambda house: None
    monotonic: Callable[[], float] = time.monotonic
    pulse: Pulse = field(init=False)
    scheduler: AsyncIOScheduler = field(init=False)
    passes: set[asyncio.Task[None]] = field(default_factory=set)
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)
    _reread: Rereader = field(init=False)
    _clocks: tuple[datetime, float] = field(init=False)

    def __post_init__(self) -> None:
        self.pulse = Pulse(self.crew.clock())
        self._clocks = self.crew.clock(), self.monotonic()
        self._reread = Rereader(self.config, self.crew, self.pulse, self.environ, lambda house: self.adopted(house))
        self.scheduler = scheduler()
        self.scheduler.add_job(self.tick, IntervalTrigger(seconds=TICK_S, timezone=UTC), id="tick")
        for job in self.jobs:
            self.scheduler.add_job(self.do, job.trigger, [job], id=job.name)

    async def start(self) -> None:
        """Look at once, then every half minute."""
        last = await self.crew.threads.rows(self.crew.house.ledger.last_run)
        if last is not None and last.started_at > self.crew.clock():
            await self.mistrust()  # the clock was ahead when the last run began
        self.scheduler.start()
        await self.tick()

    def look_now(self) -> None:
        """Tick at once instead of within the half minute: what SIGHUP asks for, after sources.toml was changed."""
        self.scheduler.modify_job("tick", next_run_time=datetime.now(UTC))

    async def tick(self) -> None:
        """Claim what is due and begin a pass over it. Never raises for what storage, clock or configuration do."""
        self.pulse.ticked_at = self.crew.clock()
        try:
            async with self._one_at_a_time:
                await self._reread.look()
                await self.crew.threads.rows(self.crew.lock.hold)
                work = await self.crew.desk.take(self.crew.clock())
        except (StorageError, BusyError) as error:
            self.pulse.fault("database", str(error), self.crew.clock())
            return
        self.pulse.well("database")
        if work:
            running = asyncio.create_task(self._pass(work))
            self.passes.add(running)
            running.add_done_callback(self.passes.discard)

    async def _pass(self, work: Work) -> None:
        more = any(len(sources) == PER_HOST for sources in work.values())
        try:
            tally = await self.crew.runner.work(work, trigger="serve", told=self.meter.checked)
        except StorageError as error:
            self.pulse.fault("database", str(error), self.crew.clock())
            return
        except Exception:
            _log.exception("a defect ended a run")
            self.pulse.fault("runs", "a defect of sourcewatch ended one; the log has it", self.crew.clock())
            return
        self.pulse.ran(tally.void_reason, self.crew.clock())
        self.meter.ran(tally)
        if more and not self.crew.desk.closing:
            await self.tick()  # a host had more than one pass takes; it need not wait for the half minute

    async def do(self, job: Job) -> None:
        """One of the other jobs; what it cannot do is told and tried again the next time."""
        await carry_out(job, self.crew.house, self.pulse, self.crew.clock)

    async def watch_clock(self) -> None:
        """For ever: notice when the clock is set. The scheduler would wait for a time that the clock has left."""
        while True:
            await asyncio.sleep(LOOK_S)
            await self.look_at_clock()

    async def look_at_clock(self) -> None:
        """Compare the clock with the time that really passed; after it went back, trust no due time too far ahead."""
        wall, passed = self.crew.clock(), self.monotonic()
        jumped = (wall - self._clocks[0]) - timedelta(seconds=passed - self._clocks[1])
        self._clocks = wall, passed
        if abs(jumped) < JUMPED:
            return
        _log.warning("the clock went %s by %s", "back" if jumped < timedelta() else "ahead, or we slept", abs(jumped))
        for job in self.scheduler.get_jobs():
            if jumped < timedelta():
                job.modify(next_run_time=job.trigger.get_next_fire_time(None, datetime.now(UTC)))
        if jumped < timedelta():
            try:
                await self.mistrust()
            except StorageError as error:
                self.pulse.fault("database", str(error), wall)

    async def mistrust(self) -> None:
        """Let nothing be due later than its own interval from now. Raises StorageError."""
        now, house = self.crew.clock(), self.crew.house
        due = await self.crew.threads.rows(house.queue.times)
        late = [s.id for s in house.settings.sources if s.id in due and due[s.id] > now + _longest(s, house.settings)]
        await self.crew.threads.rows(house.queue.advance, now, late)

    async def drain(self, within_s: float) -> bool:
        """Begin nothing more, and let what is begun end; whether it did within the time. What did not is given back."""
        self.crew.desk.closing = True
        if self.scheduler.running:
            self.scheduler.pause()
        if self.passes:
            await asyncio.wait(self.passes, timeout=within_s)
        late = list(self.passes)
        for running in late:
            running.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        if self.scheduler.running:
            self.scheduler.shutdown(wait=False)
        return not late


def _longest(source: Source, settings: Settings) -> timedelta:
    if source.cron:
        return timedelta(days=32)  # nearly all lines fire within a month
    return cadence.interval(source.id, max(source.every_s, source.slowest_s or 0.0)) + timedelta(minutes=1)
