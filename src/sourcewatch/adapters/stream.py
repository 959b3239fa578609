"""A connected socket as httpcore wants it, with TLS over it: exact head bytes go to `Wire`, errors keep their types."""

from __future__ import annotations

import asyncio
import contextlib
import select
import socket
import ssl
import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any

import httpcore

from .tls import described
from .wire import Wire

WIRE: ContextVar[Wire | None] = ContextVar("WIRE", default=None)
"""The connection that serves the exchange of this task: the pool decides which, and says so nowhere else."""

MAY_SEND: ContextVar[Callable[[], Awaitable[bool]] | None] = ContextVar("MAY_SEND", default=None)
"""Whether this task's exchange may still be sent: asked at the last moment, since a process may have slept for long."""


class NotSentError(httpcore.NetworkError):
    """No WriteError: after one of these the pool would wait for an answer all the same."""


class HandshakeError(httpcore.ConnectError):
    """TLS did not come about. *first_bytes* are what the server said first."""

    def __init__(self, message: str, first_bytes: bytes) -> None:
        super().__init__(message)
        self.first_bytes = first_bytes


class Stream(httpcore.AsyncNetworkStream):
    """A connected socket, with TLS over it once `start_tls` was asked for."""

    def __init__(self, sock: socket.socket, wire: Wire) -> None:
        self._sock, self.wire = sock, wire
        self._loop = asyncio.get_running_loop()
        self._tls: ssl.SSLObject | None = None
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._first_bytes = b""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109
        try:
            async with asyncio.timeout(timeout):
                if self._tls is None:
                    data = await self._loop.sock_recv(self._sock, max_bytes)
                else:
                    data = await self._through_tls(self._tls.read, max_bytes)
        except ssl.SSLEOFError:  # neither error nor proper end: whoever knows the framing decides (RFC 9112, 9.8)
            self.wire.cut = True
            return b""
        except TimeoutError as error:
            raise httpcore.ReadTimeout(f"no byte for {timeout:g} s") from error
        except OSError as error:
            raise httpcore.ReadError(str(error)) from error
        self.wire.received(data)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ASYNC109
        if not buffer:
            return
        if (may := MAY_SEND.get()) is not None and not await may():
            raise NotSentError("it is not this process's turn any more")
        WIRE.set(self.wire)
        self.wire.sent(bytes(buffer))
        try:
            async with asyncio.timeout(timeout):
                if self._tls is None:
                    await self._loop.sock_sendall(self._sock, buffer)
                else:
                    await self._through_tls(self._tls.write, buffer)
        except TimeoutError as error:
            raise httpcore.WriteTimeout(f"could not send for {timeout:g} s") from error
        except OSError as error:
            raise httpcore.WriteError(str(error)) from error

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> Stream:
        started = time.perf_counter()
        try:
            self._tls = ssl_context.wrap_bio(self._in, self._out, server_hostname=server_hostname)
            async with asyncio.timeout(timeout):
                await self._through_tls(self._tls.do_handshake)
        except (OSError, TimeoutError, ValueError) as error:  # ValueError: a host name that TLS cannot carry
            self._sock.close()
            raise HandshakeError(str(error), self._first_bytes) from error
        except BaseException:
            self._sock.close()
            raise
        self.wire.tls_s = time.perf_counter() - started
        self.wire.tls = described(self._tls)
        return self

    async def _through_tls(self, call: Callable[..., Any], *args: Any) -> Any:
        """Run one call of the TLS engine, carrying its bytes to and from the socket as it wants."""
        while True:
            try:
                value = call(*args)
            except ssl.SSLWantReadError:
                await self._flush()
                data = await self._loop.sock_recv(self._sock, 65_536)
                if self.wire.tls is None:
                    self._first_bytes += data[: 16_384 - len(self._first_bytes)]
                if data:
                    self._in.write(data)
                else:
                    self._in.write_eof()
            except ssl.SSLError:
                with contextlib.suppress(OSError):
                    await self._flush()  # our alert tells the server why
                raise
            else:
                await self._flush()
                return value

    async def _flush(self) -> None:
        if self._out.pending:
            await self._loop.sock_sendall(self._sock, self._out.read())

    @property
    def leaf(self) -> bytes:
        """The server's certificate (DER), or nothing without TLS."""
        return (self._tls.getpeercert(binary_form=True) if self._tls else None) or b""

    async def aclose(self) -> None:
        self._sock.close()

    def get_extra_info(self, info: str) -> Any:
        """httpcore asks `is_readable` of an idle connection (then the server has closed it) and for `ssl_object`."""
        if info == "is_readable":
            if self._sock.fileno() < 0:
                return True
            poll = select.poll()
            poll.register(self._sock, select.POLLIN)
            return bool(poll.poll(0))
        return {"ssl_object": self._tls, "socket": self._sock, "wire": self.wire}.get(info)
