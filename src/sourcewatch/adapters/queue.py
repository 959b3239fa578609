"""The queue of hosts with due sources: Procrastinate's tables in a schema of their own, on PostgreSQL.

A job says no more than that a host is worth a look: what is due stands in the schedule, whose turn the host is among
the turns. So a lost job is put in again by whoever leads, one too many finds nothing to do, and the tables may be
dropped at any time. A job's lock and queueing lock are its host: one at work and one waiting at most. There are no
delayed jobs: one would block its host's lock until its time comes.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from importlib.metadata import version

import procrastinate
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import Job, Status
from procrastinate.manager import JobManager
from procrastinate.types import JSONDict
from psycopg import Error as DatabaseError
from psycopg import sql
from psycopg.errors import RaiseException
from psycopg_pool import PoolTimeout

from ..domain.errors import StorageError
from .database import IDLE_S

SCHEMA = "sourcewatch_queue"
QUEUE = "hosts"
BEAT_S = 2.0
STALLED_S = 6.0
POLL_S = 1.0  # beside LISTEN: what a notification that got lost costs
ANSWERS_WITHIN_S = 10.0
PAUSES_S = (0.5, 1.0, 2.0, 4.0, 8.0)  # longer than a heart may stop: then the worker itself begins anew
MAKING = 0x50_51  # any number that all processes agree on

_NO_IDLING = f"-c idle_in_transaction_session_timeout={IDLE_S}s"  # see database.open_engine
_log = logging.getLogger(__name__)

Check = Callable[[str, datetime], Awaitable[None]]
"""Checks what was due at a host by a time (UTC)."""


class HostQueue:
    """Use `opened`. Raises StorageError."""

    def __init__(self, url: str, check: Check | None = None) -> None:
        self._connector = procrastinate.PsycopgConnector(
            conninfo=url.replace("postgresql+psycopg://", "postgresql://"),
            kwargs={"options": f"-c search_path={SCHEMA} {_NO_IDLING}", "connect_timeout": int(ANSWERS_WITHIN_S)},
            min_size=1, max_size=4, timeout=ANSWERS_WITHIN_S, reconnect_timeout=5.0,
        )  # fmt: skip
        self.app = procrastinate.App(connector=self._connector)
        self.app.job_manager = _Jobs(self._connector)
        self._check = check

        @self.app.task(queue=QUEUE, name="check_host")
        async def check_host(host: str, by: str) -> None:
            assert self._check is not None
            await self._check(host, datetime.fromisoformat(by))

        self._task = check_host

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[HostQueue]:
        """Connected, with the queue's tables in place."""
        with _storage("opening the queue"):
            await self.app.open_async()
        try:
            await self._make()
            yield self
        finally:
            with contextlib.suppress(Exception):  # a server that is gone must not keep us from ending
                await self.app.close_async()

    async def work(self, concurrency: int) -> None:
        """Take jobs, so many at a time, until cancelled: then what is at work comes to its end. Raises StorageError."""
        with _storage("working"):
            await self.app.run_worker_async(
                queues=[QUEUE],
                concurrency=concurrency,
                update_heartbeat_interval=BEAT_S,
                stalled_worker_timeout=STALLED_S,
                fetch_job_polling_interval=POLL_S,
                delete_jobs="always",  # a job tells nothing once it has ended; its tables stay small
                install_signal_handlers=False,
            )
            raise StorageError("the queue's worker stopped: its connection was lost")

    async def waiting(self) -> set[str]:
        """Hosts that nobody has begun with."""
        with _storage("reading the queue"):
            rows = await self._connector.execute_query_all_async(
                "SELECT queueing_lock FROM procrastinate_jobs WHERE status = 'todo'"
            )
        return {str(row["queueing_lock"]) for row in rows}

    async def put(self, hosts: Sequence[str], by: datetime) -> None:
        """Let somebody look at these hosts, for what is due *by* then. One that waits already waits on."""
        jobs = [self._job(host, by) for host in hosts]
        with _storage("filling the queue"):
            try:
                await self.app.job_manager.batch_defer_jobs_async(jobs)
            except AlreadyEnqueued:  # then none of them was put in
                for job in jobs:
                    with contextlib.suppress(AlreadyEnqueued):
                        await self.app.job_manager.defer_job_async(job)

    def _job(self, host: str, by: datetime) -> Job:
        what: JSONDict = {"host": host, "by": by.astimezone(UTC).isoformat()}
        return self._task.configure(lock=host, queueing_lock=host, task_kwargs=what).job

    async def reap(self) -> int:
        """Remove the jobs of workers whose heart has stopped; how many. Their hosts are put in again when they are
        free. Compared and removed in one statement: whoever asks first and removes later may meet a job that another
        has begun with meanwhile.
        """
        with _storage("clearing up the queue"):
            rows = await self._connector.execute_query_all_async(
                """
                DELETE FROM procrastinate_jobs j WHERE status = 'doing' AND NOT EXISTS (
                  SELECT 1 FROM procrastinate_workers w
                  WHERE w.id = j.worker_id AND w.last_heartbeat >= NOW() - make_interval(secs => %(silent)s)
                ) RETURNING id
                """,
                silent=STALLED_S,
            )
        return len(rows)

    async def sweep(self) -> None:
        """Remove what ended and was not removed by its worker, and workers of the day before."""
        with _storage("clearing up the queue"):
            await self._connector.execute_query_async(
                "DELETE FROM procrastinate_jobs WHERE status NOT IN ('todo', 'doing')"
            )
            await self._connector.execute_query_async(
                "DELETE FROM procrastinate_workers WHERE last_heartbeat < NOW() - INTERVAL '1 day'"
            )

    async def _make(self) -> None:
        """The tables of the installed Procrastinate; those of an older one are made anew, their jobs put in again."""
        here, name = version("procrastinate"), sql.Identifier(SCHEMA)
        with _storage("making the queue's tables"):
            async with self._connector.pool.connection() as c:
                await c.execute("SELECT pg_advisory_xact_lock(%s)", [MAKING])
                made = await (await c.execute(_MADE, [SCHEMA])).fetchone()
                if made is not None and _parts(made[0]) >= _parts(here):
                    return
                await c.execute(sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(name))
                await c.execute(sql.SQL("CREATE SCHEMA {}").format(name))
                await c.execute(self.app.schema_manager.get_schema())
                await c.execute(sql.SQL("COMMENT ON SCHEMA {} IS {}").format(name, sql.Literal(here)))


class _Jobs(JobManager):
    """A job's end is noted though the database is away for a while; one that was taken back has none."""

    async def finish_job(self, job: Job, status: Status, delete_job: bool) -> None:
        for pause_s in PAUSES_S:
            try:
                return await super().finish_job(job, status, delete_job)
            except ConnectorException as error:
                if isinstance(error.__cause__, RaiseException):
                    _log.info("the job of %s was taken back meanwhile", job.lock)
                    return None
                await asyncio.sleep(pause_s)
        _log.warning("the end of the job of %s could not be noted; it ends by silence", job.lock)
        return None


_MADE = "SELECT coalesce(obj_description(oid, 'pg_namespace'), '') FROM pg_namespace WHERE nspname = %s"


def _parts(version_: str) -> tuple[int, ...]:
    return tuple(int(x) for x in version_.split(".") if x.isdecimal())


@contextmanager
def _storage(doing: str) -> Iterator[None]:
    try:
        yield
    except AlreadyEnqueued:
        raise
    except (ConnectorException, DatabaseError, PoolTimeout, OSError) as error:
        words = str(error.__cause__ or error).strip().splitlines() or [type(error).__name__]
        raise StorageError(f"the database failed while {doing}: {words[0]}") from error


for chatty in ("psycopg.pool", "procrastinate"):  # they tell of each try with a database that is away; we tell once
    logging.getLogger(chatty).setLevel(logging.CRITICAL)
