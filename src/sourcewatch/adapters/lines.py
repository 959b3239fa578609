"""One transport for each host, closed when it has been idle for a while: 50,000 hosts must not pile up."""

from __future__ import annotations

import ssl
import time
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpcore
import httpx

from .guard import Guard
from .urls import Origin

IDLE_S = 15.0
MOST_LINES = 64  # idle or not; busy ones are never closed


def guarded_transport(guard: Guard, context: ssl.SSLContext) -> httpx.AsyncHTTPTransport:
    """One host's transport: HTTP/1.1, two connections at most, everything through *guard*.

    httpx has no parameter for a network backend, so its pool is replaced: the one private name that we use
    (httpx 0.28, httpcore 1.0). A test that is refused at 127.0.0.1 would notice if it ceased to work.
    """
    transport = httpx.AsyncHTTPTransport(verify=context, trust_env=False)
    transport._pool = httpcore.AsyncConnectionPool(
        ssl_context=context, max_connections=2, keepalive_expiry=IDLE_S, network_backend=guard
    )
    return transport


@dataclass(slots=True)
class _Line:
    transport: httpx.AsyncHTTPTransport
    busy: int = 0
    used_at: float = 0.0


class Lines:
    """The transports by origin, least recently used first."""

    def __init__(self, guard: Guard, context: ssl.SSLContext) -> None:
        self._guard, self._context = guard, context
        self._lines: OrderedDict[Origin, _Line] = OrderedDict()
        self._closing = False

    def __len__(self) -> int:
        return len(self._lines)

    @asynccontextmanager
    async def to(self, origin: Origin) -> AsyncIterator[httpx.AsyncHTTPTransport]:
        if (line := self._lines.get(origin)) is None:
            line = self._lines[origin] = _Line(guarded_transport(self._guard, self._context))
        line.busy += 1
        try:
            yield line.transport
        finally:
            line.busy -= 1
            line.used_at = time.monotonic()
            self._lines.move_to_end(origin)
            await self._close_idle()

    async def _close_idle(self) -> None:
        stale_at = time.monotonic() - IDLE_S
        surplus = len(self._lines) - (0 if self._closing else MOST_LINES)
        for origin, line in list(self._lines.items())[: max(surplus, 8)]:
            ours = self._lines.get(origin) is line  # else closed by another task while we closed the one before
            if ours and not line.busy and (surplus > 0 or line.used_at < stale_at):
                del self._lines[origin]
                surplus -= 1
                await line.transport.aclose()

    async def aclose(self) -> None:
        """Close what is idle now, and what is busy as soon as it is not."""
        self._closing = True
        await self._close_idle()
