"""What an operator's tools ask: /healthz says whether the daemon is well and why not, /metrics counts (Prometheus)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ... import __version__
from ...domain.errors import StorageError
from ...domain.kept import DueRow, WorkerRow
from ...domain.message import Backlog
from ...services.outcomes import stamp
from ...services.run import Tally
from ...services.threads import aside
from .. import crowd
from ..pulse import Pulse
from .access import may

ANSWERS_WITHIN_S = 5.0
SECONDS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60)


@dataclass(frozen=True, slots=True)
class Rows:
    """What only the storage knows; *fault* says why it did not answer, or is ""."""

    due: DueRow = field(default_factory=lambda: DueRow(0, None, None))
    outbox: Backlog = field(default_factory=Backlog)
    free_bytes: int = 0
    fault: str = ""
    workers: Sequence[WorkerRow] = ()


class Meter:
    """Counts what the daemon does, in a registry of its own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        to = self.registry
        self._checks = Counter("sourcewatch_checks", "Checks, by class of their verdict", ["class"], registry=to)
        self._seconds = Histogram("sourcewatch_check_seconds", "Time of a page's fetch", buckets=SECONDS, registry=to)
        self._versions = Counter("sourcewatch_versions", "New versions of pages", registry=to)
        self._deferred = Counter("sourcewatch_deferred", "Checks put off because a host wished it", registry=to)
        self._defects = Counter("sourcewatch_defects", "Checks prevented by a defect of sourcewatch", registry=to)
        self._runs = Counter("sourcewatch_runs", "Runs that ended", ["void"], registry=to)
        self._due = Gauge("sourcewatch_due_sources", "Sources that are due, paused ones left out", registry=to)
        self._lag = Gauge("sourcewatch_due_lag_seconds", "How long the longest overdue source waits", registry=to)
        self._hosts = Gauge("sourcewatch_hosts_deferred", "Hosts that wish to be left alone", registry=to)
        self._unsent = Gauge("sourcewatch_outbox", "Messages to editors", ["state"], registry=to)
        self._free = Gauge("sourcewatch_disk_free_bytes", "Free space in the data folder", registry=to)
        self._ended = Gauge("sourcewatch_last_run_timestamp_seconds", "When a run last ended", registry=to)
        self._well = Gauge("sourcewatch_healthy", "1 when /healthz finds nothing wrong", registry=to)
        Info("sourcewatch_build", "The version that runs", registry=to).info({"version": __version__})

    def checked(self, line: Mapping[str, Any]) -> None:
        """One line of a pass (`outcomes.as_line`)."""
        if "verdict" in line:
            self._checks.labels(line["class"]).inc()
            self._seconds.observe(line["ms"] / 1000)
            self._versions.inc(line["new_version"])
        elif "defect" in line:
            self._defects.inc()
        else:
            self._deferred.inc()

    def ran(self, tally: Tally) -> None:
        self._runs.labels("yes" if tally.void_reason else "no").inc()

    def shown(self, now: datetime, rows: Rows, pulse: Pulse, hosts_deferred: int, *, well: bool) -> bytes:
        """The whole page, with what is true now."""
        if not rows.fault:
            self._due.set(rows.due.waiting)
            self._lag.set((now - rows.due.oldest_at).total_seconds() if rows.due.oldest_at else 0)
            for state in ("waiting", "failing", "given_up"):
                self._unsent.labels(state).set(getattr(rows.outbox, state))
        self._free.set(rows.free_bytes)
        self._hosts.set(hosts_deferred)
        if pulse.run_ended_at:
            self._ended.set(pulse.run_ended_at.timestamp())
        self._well.set(well)
        return generate_latest(self.registry)


class Ops:
    """*ask* and *workers* read the storage: they block and raise StorageError. The others answer at once."""

    def __init__(
        self,
        pulse: Pulse,
        meter: Meter,
        ask: Callable[[], tuple[DueRow, Backlog]],
        free_bytes: Callable[[], int],
        hosts_deferred: Callable[[], int],
        clock: Callable[[], datetime],
        workers: Callable[[], Sequence[WorkerRow]] = tuple,
    ) -> None:
        self._pulse, self._meter, self._ask, self._free_bytes = pulse, meter, ask, free_bytes
        self._hosts_deferred, self._clock, self._workers = hosts_deferred, clock, workers
        self._asking: asyncio.Task[Rows] | None = None

    def routes(self) -> list[Route]:
        return [Route("/healthz", self._healthz), Route("/metrics", self._metrics)]

    async def _healthz(self, request: Request) -> Response:
        """Anybody may learn whether it is well; why not, and all else, who may read."""
        rows, now = await self._rows(), self._clock()
        why = self._complaints(rows, now)
        if not may(request, "read"):
            return JSONResponse({"ok": not why}, 503 if why else 200, {"Cache-Control": "no-store"})
        due = rows.due
        seen = {
            "ok": not why,
            "why": why,
            "version": __version__,
            "started_at": stamp(self._pulse.started_at),
            "last_run_ended_at": stamp(self._pulse.run_ended_at) if self._pulse.run_ended_at else None,
            "due": due.waiting,
            "lag_s": round((now - due.oldest_at).total_seconds()) if due.oldest_at else 0,
            "next_due_at": stamp(due.next_at) if due.next_at else None,
            "disk_free_bytes": rows.free_bytes,
            "hosts_deferred": self._hosts_deferred(),
            "messages": {name: getattr(rows.outbox, name) for name in ("waiting", "failing", "given_up")},
        }
        if rows.workers:
            seen["workers"] = [
                {"id": w.id, "hosts": w.hosts, "checks": w.checks, "leads": w.leads, "silent_s": round(w.silent_s)}
                for w in crowd.present(rows.workers)
            ]
        return JSONResponse(seen, 503 if why else 200, {"Cache-Control": "no-store"})

    async def _metrics(self, _: Request) -> Response:
        rows, now = await self._rows(), self._clock()
        well = not self._complaints(rows, now)
        page = self._meter.shown(now, rows, self._pulse, self._hosts_deferred(), well=well)
        return Response(page, headers={"Content-Type": CONTENT_TYPE_LATEST})

    def _complaints(self, rows: Rows, now: datetime) -> list[str]:
        unknown: Iterable[str] = [f"database: {rows.fault}"] if rows.fault else []
        ours = self._pulse.complaints(now, rows.due, rows.free_bytes, rows.outbox)
        return [*unknown, *ours, *crowd.complaints(rows.workers)]

    async def _rows(self) -> Rows:
        """One question to the storage at a time, however many ask and however long it hangs."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(aside(self._answer))
        try:
            return await asyncio.wait_for(asyncio.shield(self._asking), ANSWERS_WITHIN_S)
        except TimeoutError:
            fault = f"it does not answer within {ANSWERS_WITHIN_S:g} s"
            return Rows(free_bytes=self._free_bytes(), fault=fault)

    def _answer(self) -> Rows:
        try:
            (due, outbox), workers = self._ask(), self._workers()
        except StorageError as error:
            return Rows(free_bytes=self._free_bytes(), fault=str(error))
        return Rows(due, outbox, self._free_bytes(), workers=workers)
