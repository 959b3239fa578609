"""A small server whose every byte a test decides: one thread a connection, plain or TLS."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Self


class Talk:
    """The server's side of one connection. *stopped* is set when the server closes: nobody hangs for longer."""

    def __init__(self, sock: socket.socket, stopped: threading.Event) -> None:
        self.sock, self.stopped = sock, stopped

    def send(self, *parts: bytes, every_s: float = 0.0) -> None:
        for part in parts:
            self.sock.sendall(part)
            if every_s and self.stopped.wait(every_s):
                return

    def drip(self, data: bytes, every_s: float) -> None:
        """One byte at a time."""
        self.send(*(bytes([byte]) for byte in data), every_s=every_s)

    def hang(self) -> None:
        """Say nothing until the other side has had enough."""
        self.stopped.wait(20)

    def reset(self) -> None:
        """An RST in place of a FIN."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        raw = self.sock.detach()
        socket.close(raw)

    def read_head(self) -> bytes:
        """The next request up to its blank line, or nothing when the client is gone."""
        head = b""
        while b"\r\n\r\n" not in head:
            data = self.sock.recv(65_536)
            if not data:
                return b""
            head += data
        return head


Handler = Callable[[Talk, bytes], object]
"""Answers one request, given its head; a true value keeps the connection for the next."""


class Server:
    """Listens at *host*; *connected* gets each connection. Use as a context manager."""

    def __init__(
        self, connected: Callable[[Talk], object], host: str = "127.0.0.1", context: ssl.SSLContext | None = None
    ) -> None:
        self.connected, self._context = connected, context
        self._stopped = threading.Event()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._listener = socket.create_server((host, 0), family=family, backlog=128)
        self.host, self.port = self._listener.getsockname()[:2]
        self._threads: list[threading.Thread] = []
        self._open: set[socket.socket] = set()
        self._accepting = threading.Thread(target=self._accept, daemon=True)
        self.connections = 0

    def __enter__(self) -> Self:
        self._accepting.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._accepting.join(5)
        self._listener.close()
        for sock in tuple(self._open):  # or its thread would stay in recv
            with contextlib.suppress(OSError):
                socket.socket.shutdown(sock, socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            thread = threading.Thread(target=self._serve, args=(sock,), daemon=True)
            self._threads = [t for t in self._threads if t.is_alive()] + [thread]
            thread.start()

    def _serve(self, sock: socket.socket) -> None:
        sock.settimeout(20)
        with contextlib.suppress(OSError, ValueError), contextlib.ExitStack() as stack:
            stack.enter_context(sock)
            if self._context:
                sock = stack.enter_context(self._context.wrap_socket(sock, server_side=True))
            self._open.add(sock)
            stack.callback(self._open.discard, sock)
            self.connected(Talk(sock, self._stopped))


@dataclass
class Site:
    """Routes by path: bytes are a whole answer, a handler decides for itself. Everything else is 404.

    *heads* are the requests that came, as they came.
    """

    routes: dict[str, bytes | Handler] = field(default_factory=dict)
    heads: list[bytes] = field(default_factory=list)

    def __call__(self, talk: Talk) -> None:
        while head := talk.read_head():
            self.heads.append(head)
            target = head.split(b" ", 2)[1].decode("latin-1")
            answer = self.routes.get(target) or self.routes.get(target.partition("?")[0]) or answers(404, b"none")
            if isinstance(answer, bytes):
                talk.send(answer)
            elif not answer(talk, head):
                return

    def asked(self, path: str) -> int:
        return sum(head.split(b" ", 2)[1].decode("latin-1") == path for head in self.heads)


def answers(
    status: int = 200, body: bytes = b"", headers: Mapping[str, str] | None = None, reason: str = "OK"
) -> bytes:
    """A whole, proper answer."""
    lines = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body)), **(headers or {})}
    head = f"HTTP/1.1 {status} Status\r\n" + "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return head.encode("utf-8") + b"\r\n" + body


def redirects(location: str | bytes, status: int = 302, **headers: str) -> bytes:
    """A redirect whose Location goes out exactly as it is."""
    raw = location if isinstance(location, bytes) else location.encode("utf-8")
    extra = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items()).encode()
    return b"HTTP/1.1 %d Moved\r\nLocation: %s\r\n%sContent-Length: 0\r\n\r\n" % (status, raw, extra)


def says(*parts: bytes, every_s: float = 0.0) -> Handler:
    """Send these bytes as they are, then close."""
    return lambda talk, head: talk.send(*parts, every_s=every_s)
