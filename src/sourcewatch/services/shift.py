"""A worker's work: host after host as jobs bring them, a run of a minute after the other, and patience with storage.

A run is what one worker did in about a minute. It says together whether its failures prove anything, or whether this
machine's own network had failed, and settles the incidents of what it checked.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, repeat
from typing import Any, Protocol, TypeVar

from .. import __version__
from ..domain.errors import StorageError, TakenError
from ..domain.kept import Claim
from .run import DEFECT_RESTS, Pass, Progress, Runner, Tally, needs_witnesses
from .threads import first_of
from .turns import Turns
from .writer import Writer

LASTS = timedelta(minutes=1)
WAITS_FOR_WITNESSES = timedelta(minutes=10)
AT_ONCE = 20  # due sources of a host that are asked for together
JOB_S = 60.0  # then the host goes to the end of the queue, if more of it is due
PAUSES_S = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)  # the last one again and again

_T = TypeVar("_T")
_log = logging.getLogger(__name__)


class Due(Protocol):
    """What is due at a host. Raises StorageError."""

    def due(self, host: str, by: datetime, most: int) -> list[Claim]: ...


@dataclass(slots=True)
class Patience:
    """Waits while the storage fails. *told* gets the sentence, then "" when it is back; *closing* ends all waiting."""

    told: Callable[[str], None]
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    closing: bool = False
    waiting: int = 0

    async def __call__(self, work: Callable[[], Awaitable[_T]], /) -> _T:
        failed = False
        for pause_s in chain(PAUSES_S, repeat(PAUSES_S[-1])):
            try:
                done = await work()
            except StorageError as error:
                if self.closing:
                    raise
                failed = True
                self.told(str(error))
            else:
                if failed:
                    self.told("")
                return done
            self.waiting += 1
            try:
                await self._wait(pause_s)
            finally:
                self.waiting -= 1
        raise AssertionError

    async def _wait(self, pause_s: float) -> None:
        """In short steps: who stops does not wait for the storage."""
        waited_s = 0.0
        while waited_s < pause_s and not self.closing:
            step_s = min(0.5, pause_s - waited_s)
            await self.sleep(step_s)
            waited_s += step_s


@dataclass(slots=True)
class _Shift:
    run: int
    started: datetime
    work: Pass
    busy: int = 0


@dataclass(slots=True)
class Shifts:
    """*runner* gives the present runner; *due* the claims of a host whose turn is ours; *told* each line of a check."""

    runner: Callable[[], Runner]
    turns: Turns
    due: Due
    patience: Patience
    told: Progress
    ended: Callable[[Tally], None] = lambda tally: None
    lasts: timedelta = LASTS
    closing: bool = False
    checks: int = 0
    jobs: set[asyncio.Task[Any]] = field(default_factory=set)
    _now: _Shift | None = None
    _over: list[_Shift] = field(default_factory=list)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    _ending: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def host(self, host: str, by: datetime) -> None:
        """A job: what is due at a host, unless it is not ours to ask. Raises StorageError when we are to stop."""
        if self.closing or not await self.turns.take(host):
            return
        job = asyncio.current_task()
        assert job is not None
        self.jobs.add(job)
        try:
            began, done = self.turns.clock(), set[Claim]()
            while self.turns.clock() - began < JOB_S and not self.closing:
                if not await self.patience(lambda: self.turns.still(host)):
                    return
                claims = [c for c in await self.patience(lambda: self._claims(host, by)) if c not in done]
                if not claims:
                    return
                await self._check(host, claims)
                done.update(claims)
        except BaseExceptionGroup as errors:
            raise first_of(errors) from None
        finally:
            self.jobs.discard(job)
            with suppress(StorageError):  # a turn that was not left ends by silence
                await self.turns.leave(host)

    def stop(self) -> None:
        """Break off what is under way; its sources are due as before."""
        for job in self.jobs:
            job.cancel()

    async def _claims(self, host: str, by: datetime) -> list[Claim]:
        runner = self.runner()
        until = max(by, runner.clock())  # also where this machine's clock is behind that of who leads
        return await runner.desk.threads.rows(self.due.due, host, until, AT_ONCE)

    async def _check(self, host: str, claims: Sequence[Claim]) -> None:
        shift = await self.patience(self._shift)
        shift.busy += 1
        try:
            known = [c for c in claims if c.source in shift.work.runner.pages]
            shift.work.claims |= {claim.source: claim for claim in known}
            await shift.work.host(host, [claim.source for claim in known])
            self.checks += len(known)
        finally:
            shift.busy -= 1
        for claim in set(claims).difference(known):
            await self.patience(partial(self._unknown, claim))

    async def _unknown(self, claim: Claim) -> None:
        _log.warning("%s is due, but this worker's sources.toml does not declare it", claim.source)
        runner = self.runner()
        with suppress(TakenError):
            later = runner.clock() + DEFECT_RESTS
            await runner.desk.threads.rows(runner.ledger.put_off, claim.source, later, claim)

    async def _shift(self) -> _Shift:
        async with self._lock:
            if self._now is None:
                runner = self.runner()
                started, threads = runner.clock(), runner.desk.threads
                run = await threads.rows(runner.ledger.begin_run, started, "worker", __version__)
                writer = Writer(runner.ledger, runner.checker.snapshots, threads, run)
                self._now = _Shift(run, started, Pass(runner, writer, Tally(run), self.told))
            return self._now

    async def look(self) -> None:
        """End the run that has lasted long enough, as soon as nothing of it is under way. To be asked every second.

        Raises StorageError; then it is ended later. Whoever is cancelled meanwhile leaves a run's end whole: the next
        look waits for it and does not end that run once more.
        """
        await asyncio.shield(self._look())

    async def _look(self) -> None:
        async with self._lock:
            if self._now is not None and (self.closing or self._long_enough(self._now)):
                self._over.append(self._now)
                self._now = None
        async with self._ending:
            for shift in [s for s in self._over if not s.busy]:
                await shift.work.runner.end(shift.run, shift.started, shift.work.tally)
                self._over.remove(shift)
                self.ended(shift.work.tally)

    def _long_enough(self, shift: _Shift) -> bool:
        """Where a host or two have failed as our own network would, more hosts are to tell whose fault it is."""
        age = shift.work.runner.clock() - shift.started
        waits = WAITS_FOR_WITNESSES if needs_witnesses(shift.work.tally.hosts) else self.lasts
        return age >= waits
