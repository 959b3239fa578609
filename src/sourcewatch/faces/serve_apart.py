"""The web application where workers check: it shows, answers, and leads when nobody else does."""

from __future__ import annotations

import asyncio
import shutil
import signal
import socket
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from ..domain.errors import StorageError
from ..domain.kept import DueRow
from ..domain.message import Backlog
from ..domain.source import Settings
from ..services.threads import aside
from ..services.turns import BEAT_S
from . import fleet, wiring
from .fleet import Base
from .helping import helping
from .jobs import jobs
from .lead import Leader
from .pulse import Pulse
from .reread import Rereader
from .serve import Front, begin, rows_of
from .signals import stop_signals
from .web.ops import Meter, Ops
from .wiring import House

LOOK_S = 10.0


@dataclass(slots=True)
class Apart:
    """The house as it is shown."""

    house: House

    async def adopt(self, settings: Settings) -> None:
        house = replace(self.house, settings=settings)
        await aside(wiring.mirror, house, wiring.now())
        self.house = house


async def serve(house: House, config: Path, listening: socket.socket) -> int:
    """Serve until SIGTERM or SIGINT; the exit code. Raises StorageError before anything is begun."""
    asked, _ = stop_signals()
    shown, front, pulse = Apart(house), Front(), Pulse(wiring.now())
    async with fleet.base(house) as base:
        outside = helping(lambda: fleet.visiting(shown.house, base))
        leader = Leader(base, lambda: shown.house, [*jobs(house.settings), *outside], pulse, wiring.now)
        ops = Ops(
            pulse, Meter(), lambda: _rows(shown.house, pulse), lambda: shutil.disk_usage(house.data).free,
            lambda: 0, wiring.now, base.workers,
        )  # fmt: skip
        front.show(house, ops, listening)
        rereader = Rereader(config, shown, pulse, adopted=lambda new: front.show(new, ops, listening))
        server, serving = begin(front, listening, house)
        now = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, now.set)
        loops = [
            asyncio.create_task(leader.run()),
            asyncio.create_task(_tell(base, leader, pulse)),
            asyncio.create_task(_reread(rereader, pulse, now)),
        ]
        stopping = asyncio.create_task(asked.wait())
        done, _ = await asyncio.wait([stopping, serving, *loops], return_when=asyncio.FIRST_COMPLETED)
        server.should_exit = True
        for task in (stopping, *loops):
            task.cancel()
        await asyncio.gather(serving, stopping, *loops, return_exceptions=True)
        with suppress(StorageError):
            await aside(base.rows.bye)
        for task in done - {stopping}:
            task.result()  # none of them ends by itself: whatever ended it is told
    return 0


async def _tell(base: Base, leader: Leader, pulse: Pulse) -> None:
    """Be seen by the others, as workers are."""
    while True:
        with suppress(StorageError):  # the leader tells of it
            await aside(base.rows.tell, pulse.started_at, 0, 0, leader.leads, None)
        await asyncio.sleep(BEAT_S)


async def _reread(rereader: Rereader, pulse: Pulse, now: asyncio.Event) -> None:
    while True:
        try:
            await rereader.look()
        except StorageError as error:
            pulse.fault("configuration", str(error), wiring.now())
        with suppress(TimeoutError):
            await asyncio.wait_for(now.wait(), LOOK_S)
        now.clear()


def _rows(house: House, pulse: Pulse) -> tuple[DueRow, Backlog]:
    """What workers did is what this process did."""
    if (last := house.ledger.last_run()) is not None:
        pulse.ran(last.void_reason, last.ended_at)
    return rows_of(house)
