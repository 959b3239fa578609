"""A forward proxy on loopback for the browser: every address that it asks passes the guard, and none other is reached.

TLS stays end to end (CONNECT), so the browser's own net::ERR_CERT_* codes stay intact. Chromium's message for a tunnel
that was refused says nothing of the cause; `causes` does, in Chromium's own codes.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import httpcore

from .guard import Blocked, DnsTimeout, Guard

CONNECT_S = 10.0
HEAD_S = 15.0
MOST_BYTES = 100_000_000  # of one connection, each way
MOST_CAUSES = 1_000
CAUSE = "X-Sourcewatch-Cause"
BLOCKED = "blocked: not an address of the public internet"


class GuardProxy:
    """Use as an async context manager; *port* is where it listens on 127.0.0.1.

    *causes* maps host:port to why it was last not reached; *passed_bytes* is what the browser was sent so far.
    """

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._talks: set[asyncio.Task[None]] = set()
        self.port = 0
        self.causes: dict[str, str] = {}
        self.passed_bytes = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._talk, "127.0.0.1", 0, limit=1 << 17)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for talk in self._talks:
            talk.cancel()
        await asyncio.gather(*self._talks, return_exceptions=True)

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._talks.add(task)
        try:
            async with asyncio.timeout(HEAD_S):
                head = await reader.readuntil(b"\r\n\r\n")
            await self._pass_on(head, reader, writer)
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass  # a browser that hangs up, or speaks no HTTP
        except asyncio.CancelledError:
            pass  # asyncio's own server would tell the loop of it; whoever cancels waits for us
        finally:
            self._talks.discard(task)
            writer.close()

    async def _pass_on(self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        method, target, version = head.partition(b"\r\n")[0].decode("latin-1").split(" ", 2)
        tunnel = method == "CONNECT"
        parts = urlsplit(f"//{target}" if tunnel else target)
        host, port = parts.hostname or "", parts.port or 80
        try:
            sock = await self._guard.dial(host, port, CONNECT_S)
        except (OSError, UnicodeError, httpcore.ConnectError, httpcore.ConnectTimeout) as error:
            cause = _code(error)
            self._remember(f"{host}:{port}", cause)
            refusal = f"HTTP/1.1 502 Not Reached\r\n{CAUSE}: {cause}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            writer.write(refusal.encode("latin-1"))
            await writer.drain()
            return
        self.causes.pop(f"{host}:{port}", None)
        their_reader, their_writer = await asyncio.open_connection(sock=sock)
        try:
            if tunnel:
                writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            else:
                their_writer.write(_as_origin_wants(head, method, target, version))
            async with asyncio.TaskGroup() as both:
                both.create_task(_pump(reader, their_writer))
                both.create_task(_pump(their_reader, writer, self._passed))
        except BaseExceptionGroup as errors:
            if errors.split(OSError)[1] is not None:
                raise
        finally:
            their_writer.close()

    def _remember(self, where: str, cause: str) -> None:
        self.causes.pop(where, None)
        self.causes[where] = cause
        if len(self.causes) > MOST_CAUSES:
            del self.causes[next(iter(self.causes))]

    def _passed(self, size: int) -> None:
        self.passed_bytes += size


def _as_origin_wants(head: bytes, method: str, target: str, version: str) -> bytes:
    """A request for a proxy as its origin expects it: the path alone, one request a connection."""
    url = urlsplit(target)
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    kept = [h for h in head.split(b"\r\n")[1:] if h and not h.lower().startswith((b"proxy-", b"connection:"))]
    return b"\r\n".join([f"{method} {path} {version}".encode("latin-1"), b"Connection: close", *kept, b"", b""])


async def _pump(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, told: Callable[[int], None] = lambda size: None
) -> None:
    """Pass bytes on until one side ends; then the other is told."""
    passed = 0
    try:
        while passed < MOST_BYTES and (data := await reader.read(1 << 16)):
            passed += len(data)
            told(len(data))
            writer.write(data)
            await writer.drain()
    finally:
        with contextlib.suppress(OSError, RuntimeError):
            writer.close()


def _code(error: Exception) -> str:
    """Chromium's own code for why a host was not reached."""
    if isinstance(error, Blocked):
        return BLOCKED
    if isinstance(error, DnsTimeout):
        return "net::ERR_DNS_TIMED_OUT"
    if isinstance(error, socket.gaierror | UnicodeError):
        return "net::ERR_NAME_NOT_RESOLVED"
    timed_out = isinstance(error, httpcore.ConnectTimeout | TimeoutError)
    return "net::ERR_CONNECTION_TIMED_OUT" if timed_out else "net::ERR_CONNECTION_REFUSED"
