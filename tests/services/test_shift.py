"""A worker's runs are ended once, whenever it is told to stop."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

from sourcewatch.services.run import Pass, Tally
from sourcewatch.services.shift import Patience, Shifts, _Shift
from sourcewatch.services.turns import Turns

AT = datetime(2026, 12, 2, tzinfo=UTC)


@dataclass
class Ending:
    """A runner whose run takes its time to end."""

    begun: asyncio.Event = field(default_factory=asyncio.Event)
    may_end: asyncio.Event = field(default_factory=asyncio.Event)
    ended: list[int] = field(default_factory=list)

    async def end(self, run: int, started: datetime, tally: Tally) -> None:
        self.begun.set()
        await self.may_end.wait()
        self.ended.append(run)

    def clock(self) -> datetime:
        return AT


def shifts(runner: Any) -> Shifts:
    work = Pass(runner, cast(Any, None), Tally(7), lambda line: None)
    made = Shifts(lambda: runner, cast(Turns, None), cast(Any, None), Patience(lambda words: None), lambda line: None)
    made._now = _Shift(7, AT, work)
    made.closing = True
    return made


def test_a_run_whose_end_was_under_way_when_its_watcher_was_cancelled_ends_once() -> None:
    async def scenario() -> list[int]:
        runner = Ending()
        made = shifts(runner)
        watching = asyncio.create_task(made.look())
        await runner.begun.wait()
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        leaving = asyncio.create_task(made.look())
        await asyncio.sleep(0)
        assert not leaving.done(), "it waits for the end that is under way"
        runner.may_end.set()
        await leaving
        return runner.ended

    assert asyncio.run(scenario()) == [7]
