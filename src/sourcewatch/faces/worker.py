"""A worker: one of many processes that check what is due, host by host, and one of those that may lead."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import chain, repeat
from pathlib import Path

from ..domain.errors import BusyError, StorageError
from ..services.shift import PAUSES_S, Patience, Shifts
from ..services.threads import aside
from ..services.turns import BEAT_S, Turns
from . import fleet, wiring
from .crew import Crew
from .fleet import Base
from .helping import helping
from .jobs import jobs
from .lead import Leader
from .pulse import Pulse
from .reread import Rereader
from .signals import HARD, stop_signals
from .wiring import House

DRAIN_S = 30.0
LOOK_S = 1.0
BUSY_S = 5.0

_log = logging.getLogger(__name__)


async def work(
    house: House,
    config: Path,
    concurrency: int,
    *,
    clock: Callable[[], datetime] = wiring.now,
) -> int:
    """Work until SIGTERM or SIGINT; the exit code. Of *concurrency* 0 it only leads, when it is its turn.

    Raises ConfigError where the database is not PostgreSQL, StorageError where it can't be opened.
    """
    asked, again = stop_signals()
    pulse = Pulse(clock())
    jobs_of = [job for job in jobs(house.settings) if not job.of_web]
    shifts: list[Shifts] = []

    async def check(host: str, by: datetime) -> None:
        try:
            await shifts[0].host(host, by)
        except StorageError as error:
            _log.warning("%s is left as it is: %s", host, error)
        except Exception:
            _log.exception("a defect while checking %s", host)  # the queue tells nobody

    async with fleet.base(house, check) as base:
        while not asked.is_set():
            patience = Patience(lambda words: _storage(pulse, words, clock()))
            try:
                async with fleet.member(house, base, patience, clock=clock) as (crew, turns):
                    shifts[:] = [Shifts(lambda: crew.runner, turns, base.rows, patience, lambda line: None)]
                    outside = helping(partial(_at_work, crew), clock)
                    leader = Leader(base, lambda: crew.house, [*jobs_of, *outside], pulse, clock)
                    me = Worker(base, crew, turns, shifts[0], leader, pulse, config, concurrency)
                    return await me.run(asked, again)
            except BusyError as error:
                _log.warning("waiting: %s", error)
                with suppress(TimeoutError):
                    await asyncio.wait_for(asked.wait(), BUSY_S)
    return 0


def _at_work(crew: Crew) -> AbstractAsyncContextManager[Crew]:
    return nullcontext(crew)


def _storage(pulse: Pulse, words: str, at: datetime) -> None:
    if words:
        pulse.fault("storage", words, at)
    else:
        pulse.well("storage")


@dataclass(slots=True)
class Worker:
    """One worker at work; see `work`."""

    base: Base
    crew: Crew
    turns: Turns
    shifts: Shifts
    leader: Leader
    pulse: Pulse
    config: Path
    concurrency: int
    reread: Rereader = field(init=False)

    def __post_init__(self) -> None:
        self.reread = Rereader(self.config, self.crew, self.pulse)

    async def run(self, asked: asyncio.Event, again: asyncio.Event) -> int:
        """Until *asked*; then what is under way may end. Raises BusyError when a run has taken the database."""
        _log.info(
            "%s: %d hosts at a time, %d sources",
            self.base.name,
            self.concurrency,
            len(self.crew.house.settings.sources),
        )
        working = asyncio.create_task(self._work())
        loops = [asyncio.create_task(loop) for loop in (self._beat(), self._look(), self.leader.run())]
        stopping = asyncio.create_task(asked.wait())
        try:
            done, _ = await asyncio.wait([working, stopping, *loops], return_when=asyncio.FIRST_COMPLETED)
            hurried = await self._drain(working, again)
            for task in done - {stopping}:
                task.result()  # none of them ends by itself: whatever ended it is told
            return HARD if hurried else 0
        finally:
            for task in (working, stopping, *loops):
                task.cancel()
            await asyncio.gather(working, stopping, *loops, return_exceptions=True)
            await self._leave()

    async def _drain(self, working: asyncio.Task[None], again: asyncio.Event) -> bool:
        """Begin nothing more, and let what is begun end; whether that was hurried."""
        _log.info("stopping: what is under way may end within %g s", DRAIN_S)
        self.shifts.closing = self.shifts.patience.closing = self.crew.desk.closing = True
        working.cancel()
        hurrying = asyncio.create_task(again.wait())
        await asyncio.wait([working, hurrying], timeout=DRAIN_S, return_when=asyncio.FIRST_COMPLETED)
        hurried = hurrying.done()
        hurrying.cancel()
        self.shifts.stop()
        return hurried

    async def _leave(self) -> None:
        with suppress(StorageError):
            await self.shifts.look()
            await self.turns.leave_all()
            await aside(self.base.rows.bye)

    async def _work(self) -> None:
        """Take jobs from the queue; when it is lost, wait and go on."""
        if not self.concurrency:
            await asyncio.Event().wait()
        pauses = chain(PAUSES_S, repeat(PAUSES_S[-1]))
        while True:
            began = self.turns.clock()
            try:
                await self.base.queue.work(self.concurrency)
            except StorageError as error:
                self.pulse.fault("queue", str(error), self.crew.clock())
                if self.turns.clock() - began > 2 * PAUSES_S[-1]:
                    pauses = chain(PAUSES_S, repeat(PAUSES_S[-1]))
                await asyncio.sleep(next(pauses))

    async def _beat(self) -> None:
        """Prove every two seconds that this worker lives, and tell how it is."""
        started = self.crew.clock()
        while True:
            began = self.turns.clock()
            await self._guarded("database", self.turns.beat)
            await self._guarded("database", lambda: aside(self._tell, started))
            await asyncio.sleep(max(0.1, BEAT_S - (self.turns.clock() - began)))

    def _tell(self, started: datetime) -> None:
        self.crew.lock.hold()
        faults = sorted((part, *fault) for part, fault in self.pulse.faults.items() if part != "database")
        words = "; ".join(f"{part}: {sentence}" for part, sentence, _ in faults)
        told = (words, min(since for *_, since in faults)) if faults else None
        self.base.rows.tell(started, len(self.turns.ours), self.shifts.checks, self.leader.leads, told)

    async def _look(self) -> None:
        while True:
            await self._guarded("runs", self.shifts.look)
            await self._guarded("configuration", self.reread.look)
            await asyncio.sleep(LOOK_S)

    async def _guarded(self, part: str, call: Callable[[], Awaitable[None]]) -> None:
        try:
            await call()
        except StorageError as error:
            self.pulse.fault(part, str(error), self.crew.clock())
        else:
            if part != "configuration":
                self.pulse.well(part)
