"""Transports are closed once, however many tasks look for idle ones."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any, cast

import httpx

from sourcewatch.adapters.guard import Guard
from sourcewatch.adapters.lines import Lines, _Line


class Slow(httpx.AsyncHTTPTransport):
    """Takes its time to close."""

    closed = 0

    async def aclose(self) -> None:
        await asyncio.sleep(0)
        self.closed += 1


def test_two_tasks_that_close_idle_lines_at_once_close_each_of_them_once() -> None:
    async def scenario() -> list[int]:
        lines = Lines(cast(Guard, None), ssl.create_default_context())
        transports = [Slow() for _ in range(4)]
        for n, transport in enumerate(transports):
            lines._lines[cast(Any, n)] = _Line(transport)
        await asyncio.gather(lines.aclose(), lines.aclose())
        return [transport.closed for transport in transports]

    assert asyncio.run(scenario()) == [1, 1, 1, 1]
