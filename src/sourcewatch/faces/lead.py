"""Who leads among many processes: hosts into the queue, dead workers' jobs out of it, and what one does for all.

Whoever holds the lead does it; all others look every few seconds whether they are to. Each step does no harm when two
do it: a leader that was frozen may find out late that it leads no more.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from apscheduler.schedulers.asyncio import AsyncIOScheduler

from ..domain.errors import StorageError
from ..services.threads import aside
from .daemon import Job, carry_out, scheduler
from .fleet import Base, Lead
from .pulse import Pulse
from .wiring import House

LOOK_S = 2.0
MOST_WAITING = 1_000  # hosts in the queue: its tables stay small however much is due
SWEEPS = timedelta(hours=1)

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Leader:
    """*house* gives the present one. *jobs* are done by who leads, those of the web by each."""

    base: Base
    house: Callable[[], House]
    jobs: Sequence[Job]
    pulse: Pulse
    clock: Callable[[], datetime]
    leads: bool = False
    scheduler: AsyncIOScheduler = field(init=False)
    lead: Lead = field(init=False)
    _swept_at: datetime | None = None

    def __post_init__(self) -> None:
        self.scheduler, self.lead = scheduler(), self.base.lead()
        for job in self.jobs:
            self.scheduler.add_job(self.do, job.trigger, [job], id=job.name)

    async def run(self) -> None:
        """For ever: look whether this process leads, and what is due."""
        self.scheduler.start()
        try:
            while True:
                await self.look()
                await asyncio.sleep(LOOK_S)
        finally:
            self.scheduler.shutdown(wait=False)
            self.leads = False
            self.lead.release()

    async def do(self, job: Job) -> None:
        if self.leads or job.of_web:
            await carry_out(job, self.house(), self.pulse, self.clock)

    async def look(self) -> None:
        """Never raises for what the storage does."""
        led = self.leads
        try:
            self.leads = await aside(self.lead.hold)
            if self.leads:
                await self._lead()
        except StorageError as error:
            self.leads = False
            self.pulse.fault("database", str(error), self.clock())
        else:
            self.pulse.ticked_at = self.clock()
            self.pulse.well("database")
        if self.leads != led:
            _log.info("this process leads" if self.leads else "this process leads no more")

    async def _lead(self) -> None:
        now, queue = self.clock(), self.base.queue
        if reaped := await queue.reap():
            _log.warning("%d jobs of workers that fell silent are taken back", reaped)
        waiting = await queue.waiting()
        room = MOST_WAITING - len(waiting)
        if room > 0:
            due = await aside(self.base.rows.hosts, now, MOST_WAITING)
            if hosts := [host for host in due if host not in waiting][:room]:
                await queue.put(hosts, now)
        if self._swept_at is None or now - self._swept_at > SWEEPS:
            await queue.sweep()
            await aside(self.base.rows.sweep)
            self._swept_at = now
