"""Reading a body: raw bytes within a size limit, a time budget, and a lane that keeps big bodies few at a time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

SMALL_BYTES = 1024 * 1024
BIG_AT_A_TIME = 3  # 32 small bodies and three of 20 MB stay within 100 MB, endless ones too


class OverDeadlineError(Exception):
    """The fetch has used up its time."""


class Budget:
    """Seconds that a fetch may spend on the network, redirects included. Waiting for others is not spending."""

    def __init__(self, seconds: float) -> None:
        self.seconds = self.left_s = seconds

    @contextlib.asynccontextmanager
    async def spend(self) -> AsyncIterator[None]:
        """Raises OverDeadlineError once the budget is used up."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            async with asyncio.timeout(self.left_s):
                yield
        except TimeoutError as error:
            raise OverDeadlineError from error
        finally:
            self.left_s = max(0.0, self.left_s - (loop.time() - started))


class Body:
    """The bytes of one answer, collected as they come. After an error, *data* holds what came before it."""

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self._chunks: list[bytes] = []
        self._size_bytes = 0

    @property
    def data(self) -> bytes:
        return b"".join(self._chunks)

    @property
    def full(self) -> bool:
        return self._size_bytes > self.limit_bytes

    async def collect(self, stream: AsyncIterator[bytes], budget: Budget, lane: asyncio.Semaphore) -> None:
        """Read to the end, or until *full*."""
        async with budget.spend():
            if not await self._until(stream, min(SMALL_BYTES, self.limit_bytes)):
                return
        if not self.full:
            async with lane, budget.spend():
                await self._until(stream, self.limit_bytes)

    async def _until(self, stream: AsyncIterator[bytes], most_bytes: int) -> bool:
        """Read until there are more than *most_bytes*: then True, there may be more to come."""
        async for chunk in stream:
            self._chunks.append(chunk)
            self._size_bytes += len(chunk)
            if self._size_bytes > most_bytes:
                return True
        self._chunks = [self.data]  # joined while still in the lane: a big body is there twice for a moment
        return False
