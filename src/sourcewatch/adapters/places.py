"""How many answers are read at once, without letting those that dawdle keep the others from their place."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

PATIENCE_S = 0.25  # most pages are read within it; with 256 that dawdle, the next waits two seconds at most


class Places:
    """*count* at once; whoever has held a place for *patience_s* keeps reading, but no longer counts."""

    def __init__(self, count: int, patience_s: float = PATIENCE_S) -> None:
        self._free = asyncio.Semaphore(count)
        self._patience_s = patience_s

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        await self._free.acquire()
        held = True

        def let_go() -> None:
            nonlocal held
            if held:
                held = False
                self._free.release()

        timer = asyncio.get_running_loop().call_later(self._patience_s, let_go)
        try:
            yield
        finally:
            timer.cancel()
            let_go()
