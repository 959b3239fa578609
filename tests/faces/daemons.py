"""A daemon inside the test, on the test's clock, over a small site."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sourcewatch.adapters.guard import Resolve
from sourcewatch.faces import wiring
from sourcewatch.faces.crew import crew
from sourcewatch.faces.daemon import Daemon, Job
from sourcewatch.faces.web.ops import Meter


class Time:
    """A wall clock and a monotonic one; `pass_by` moves both, `set` only the wall's."""

    def __init__(self) -> None:
        self.wall = datetime.now(UTC) + timedelta(minutes=1)  # sources are declared by the true clock
        self.passed = 1000.0

    def __call__(self) -> datetime:
        return self.wall

    def monotonic(self) -> float:
        return self.passed

    def pass_by(self, **span: float) -> None:
        self.passed += timedelta(**span).total_seconds()
        self.wall += timedelta(**span)

    def set(self, **by: float) -> None:
        self.wall += timedelta(**by)


@asynccontextmanager
async def daemon(
    config: Path,
    time: Time,
    *,
    environ: dict[str, str] | None = None,
    resolve: Resolve | None = None,
    jobs: Sequence[Job] = (),
) -> AsyncIterator[Daemon]:
    """Not started: the test ticks. What is under way at the end is awaited."""
    with wiring.open_house(config, None, environ or {}) as house:
        async with crew(house, "serve", clock=time, resolve=resolve) as at_hand:
            made = Daemon(at_hand, config, Meter(), jobs, {}, monotonic=time.monotonic)
            yield made
            assert await made.drain(20)


async def tick(made: Daemon) -> None:
    """One look, and the end of all that it began."""
    await made.tick()
    await asyncio.gather(*made.passes)
