"""An answer as it arrives, and the exchange that it becomes, whole or cut."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from datetime import datetime

import httpx

from sourcewatch.domain.capture import Exchange, Timing
from sourcewatch.domain.reading import Fault

from . import causes
from .headers import text_headers
from .stream import WIRE
from .transfer import Body, Budget
from .urls import Address
from .wire import Wire, redacted


@dataclass(slots=True)
class Answer:
    """An answer as it arrives; `exchange` gives what there is of it at any time."""

    address: Address
    started_at: datetime
    secret: set[str]
    started: float = field(default_factory=time.perf_counter)
    response: httpx.Response | None = None
    body: Body | None = None

    @property
    def chunked(self) -> bool:
        return self.response is not None and "chunked" in self.response.headers.get("transfer-encoding", "").lower()

    async def read(
        self, most_bytes: int, budget: Budget, lane: asyncio.Semaphore, *, start_will_do: bool
    ) -> Fault | None:
        """Read the body; a Fault when it is too large, or was cut without anybody saying so.

        *start_will_do*: stop at *most_bytes* without complaint (robots.txt). Raises OverDeadlineError.
        """
        assert self.response
        announced = self.response.headers.get("content-length", "")
        if announced.isdigit() and int(announced) > most_bytes and not start_will_do:
            return _too_large(f"{int(announced):,} bytes announced", most_bytes)
        self.body = Body(most_bytes)
        stream = self.response.stream
        assert isinstance(stream, httpx.AsyncByteStream)
        await self.body.collect(aiter(stream), budget, lane)
        if self.body.full and not start_will_do:
            self.body = None  # megabytes that prove nothing
            return _too_large("still more to come", most_bytes)
        wire = WIRE.get()
        if wire and wire.cut and not announced and not self.chunked:
            return Fault("body_truncated", "tls-cut", "TLS was cut off where only its proper end tells a whole body")
        return None

    def over_deadline(self, budget: Budget) -> Fault:
        wire = WIRE.get()
        if not self.response and wire and wire.raw and (foreign := causes.not_http(wire.raw)):
            return foreign
        return Fault("too_slow", "deadline", f"not done within {budget.seconds:g} s")

    def exchange(self, wire: Wire | None) -> Exchange | None:
        if not self.response or not wire:
            return None
        fresh = wire.requests == 1
        timing = Timing(
            dns_s=wire.dns_s if fresh else None,
            connect_s=wire.connect_s if fresh else None,
            tls_s=wire.tls_s if fresh else None,
            first_byte_s=wire.first_byte_at - self.started if wire.first_byte_at else None,
            total_s=time.perf_counter() - self.started,
        )
        return Exchange(
            url=self.address.url,
            status=self.response.status_code,
            headers=text_headers(self.response.headers.raw),
            body=self.body.data if self.body else b"",
            reason=self.response.extensions["reason_phrase"].decode("latin-1"),
            http_version=self.response.extensions["http_version"].decode("ascii"),
            request_head=redacted(wire.request_head, self.secret),
            response_head=self._head(wire),
            address=wire.address,
            started_at=self.started_at,
            timing=timing,
            tls=wire.tls,
        )

    def _head(self, wire: Wire) -> bytes:
        """The answer's head; where we asked with a secret, the session that it opens is one, too."""
        return redacted(wire.response_head, ("set-cookie",)) if self.secret else wire.response_head


def _too_large(size: str, most_bytes: int) -> Fault:
    return Fault("too_large", "too-large", f"{size}, the limit is {most_bytes:,}")
