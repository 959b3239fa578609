"""What one connection saw: its address, its timings, and the exact bytes of the heads of its present exchange."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

from sourcewatch.domain.capture import Tls

MOST_HEAD_BYTES = 256 * 1024  # h11 gives up at 100 KiB; what comes after is of no use as evidence
SECRET_HEADERS = frozenset({"authorization", "cookie", "proxy-authorization"})

_BLANK_LINE = re.compile(rb"\n\r?\n")  # the end of a head, as h11 sees it
_FIELD = re.compile(rb"(?m)^([^:\r\n]+):[^\r\n]*(?:\r?\n[ \t][^\r\n]*)*")  # with its folded lines
_REQUEST = re.compile(rb"[A-Z]+ [^\r\n]* HTTP/1\.1\r\n")
_INTERIM = re.compile(rb"HTTP/\d\.\d 1(?!01)\d\d")


@dataclass(slots=True)
class Wire:
    """One TCP connection. Heads are those of the request in flight; *cut* says that TLS ended without close_notify."""

    address: str
    dns_s: float
    connect_s: float
    tls_s: float | None = None
    tls: Tls | None = None
    requests: int = 0
    cut: bool = False
    request_head: bytes = b""
    response_head: bytes = b""
    first_byte_at: float | None = None
    _received: bytearray = field(default_factory=bytearray)

    def sent(self, data: bytes) -> None:
        """A head goes out in one write, and starts a new exchange; what a POST sends after it does not."""
        if not _REQUEST.match(data):
            return
        self.requests += 1
        self.request_head, self.response_head, self.first_byte_at = data, b"", None
        self._received.clear()

    def received(self, data: bytes) -> None:
        if not data or self.response_head:
            return
        if self.first_byte_at is None:
            self.first_byte_at = time.perf_counter()
        searched = max(0, len(self._received) - 3)
        self._received += data[: MOST_HEAD_BYTES - len(self._received)]
        while end := _BLANK_LINE.search(self._received, searched):
            head = bytes(self._received[: end.end()])
            if not _INTERIM.match(head):
                self.response_head = head
                self._received.clear()
                return
            del self._received[: end.end()]  # 103 early hints: the answer itself is still to come
            searched = 0

    @property
    def raw(self) -> bytes:
        """The head of the answer, or what came in its place."""
        return self.response_head or bytes(self._received)

    @property
    def silent(self) -> bool:
        """Whether not one byte came."""
        return self.first_byte_at is None


def redacted(head: bytes, secret: Iterable[str] = ()) -> bytes:
    """A head as it may be stored: the values of secret headers are gone, their names stay."""
    hidden = SECRET_HEADERS | {name.lower() for name in secret}

    def field(m: re.Match[bytes]) -> bytes:
        return m[1] + b": [redacted]" if m[1].decode("latin-1").strip().lower() in hidden else m[0]

    return _FIELD.sub(field, head)
