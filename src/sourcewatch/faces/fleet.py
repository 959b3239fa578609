"""What many machines need built: turns, the queue, who leads, and a worker's crew. `wiring`'s part for workers."""

from __future__ import annotations

import asyncio
import os
import socket
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from sqlalchemy import Engine

from ..adapters import database, turn_rows
from ..adapters.exclusive import Lead as Lead
from ..adapters.guard import Resolve
from ..adapters.queue import Check, HostQueue
from ..adapters.strays import Strays
from ..adapters.turn_rows import TurnRows
from ..domain.errors import StorageError
from ..domain.kept import WorkerRow
from ..services.ports import Clock
from ..services.shift import Patience
from ..services.turns import BEAT_S, Turns, silence_s
from . import wiring
from .crew import Crew, crew
from .wiring import House


@dataclass(slots=True)
class Base:
    """What every process of a fleet has: its name, its rows, the queue, and tries at the lead."""

    name: str
    engine: Engine
    rows: TurnRows
    queue: HostQueue

    def lead(self) -> Lead:
        return Lead(self.engine)

    def workers(self) -> list[WorkerRow]:
        return turn_rows.workers(self.engine)


@asynccontextmanager
async def base(house: House, check: Check | None = None) -> AsyncIterator[Base]:
    """On PostgreSQL. *check* is what jobs do. Raises StorageError."""
    name = f"{socket.gethostname()[:40]}:{os.getpid()}:{uuid.uuid4().hex[:8]}"
    engine = database.open_engine(house.database_url)
    try:
        queue = HostQueue(house.database_url, check)
        rows = TurnRows(engine, name, silence_s(house.settings.fetch.deadline_s))
        async with queue.opened():
            yield Base(name, engine, rows, queue)
    finally:
        engine.dispose()


@asynccontextmanager
async def member(
    house: House, base: Base, patience: Patience, *, clock: Clock = wiring.now, resolve: Resolve | None = None
) -> AsyncIterator[tuple[Crew, Turns]]:
    """A crew that asks hosts by their turns. Raises BusyError while a run is at this database, StorageError."""
    turns = Turns(base.rows)
    strays = Strays(base.engine, house.store, house.retention)
    try:
        async with crew(
            house, "worker", clock=clock, resolve=resolve, gate=turns, waits=patience, strays=strays
        ) as made:
            turns.rests_s = made.hosts.rests_s
            yield made, turns
    finally:
        turns.close()


@asynccontextmanager
async def visiting(house: House, base: Base) -> AsyncIterator[Crew]:
    """A crew for an errand of a process that is no worker, which proves meanwhile that it lives.

    Raises BusyError, StorageError.
    """
    async with member(house, base, Patience(lambda words: None)) as (made, turns):
        beating = asyncio.create_task(_beat(turns))
        try:
            yield made
        finally:
            beating.cancel()
            await asyncio.gather(beating, return_exceptions=True)
            with suppress(StorageError):
                await turns.leave_all()


async def _beat(turns: Turns) -> None:
    while True:
        with suppress(StorageError):  # without a beat its turns end by themselves
            await turns.beat()
        await asyncio.sleep(BEAT_S)
