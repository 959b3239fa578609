"""Locks of a PostgreSQL database that several data folders or machines share: who runs, and who leads."""

from __future__ import annotations

import contextlib
import threading
from types import TracebackType
from typing import Self

from sqlalchemy import Connection, Engine, func, select, text
from sqlalchemy.exc import DBAPIError

from ..domain.errors import BusyError, StorageError
from .database import storage

LOCK = 0x50_57  # any number that all runs agree on
LEAD = 0x50_4C
LEAD_IDLE_S = 15  # the server ends the session of a leader that froze or lost its network; another one leads then


class Exclusive:
    """An advisory lock of the database's session. With SQLite the lock in the data folder suffices.

    Use as a context manager: raises BusyError when another run holds it. Many workers hold it together (*shared*).
    """

    def __init__(self, engine: Engine, *, shared: bool = False) -> None:
        busy = "workers are" if not shared else "a run is"
        words = f"{busy} at this database (from another data folder or machine)"
        self._session = _Session(engine, LOCK, f"another run holds this database: {words}", shared=shared)

    def __enter__(self) -> Self:
        self.hold()
        return self

    def hold(self) -> None:
        """Take the lock, or make sure that it is still ours: a server that was restarted has forgotten it.

        From any thread. Raises BusyError, StorageError.
        """
        self._session.hold()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._session.release()


class Lead:
    """Who leads: one of the processes that try, until it lets go or ends, or is not heard of for a while."""

    def __init__(self, engine: Engine) -> None:
        self._session = _Session(engine, LEAD, "another leads", idle_s=LEAD_IDLE_S)

    def hold(self) -> bool:
        """Whether this process leads, from now on or still. To be asked every few seconds. Raises StorageError."""
        try:
            self._session.hold()
        except BusyError:
            return False
        return True

    def release(self) -> None:
        self._session.release()


class _Session:
    """An advisory lock and the session that holds it, from the first `hold` to `release`.

    Whoever makes sure of the lock does so in a thread that nobody waits for, so it may be at it when the lock is
    released. A session belongs to one thread at a time: closed while another thread waits for the server's answer, its
    socket's number may be a new connection's by then, which gets the other's bytes.
    """

    def __init__(self, engine: Engine, lock: int, busy: str, *, shared: bool = False, idle_s: int = 0) -> None:
        self._engine, self._lock, self._busy, self._idle_s = engine, lock, busy, idle_s
        self._take = func.pg_try_advisory_lock_shared if shared else func.pg_try_advisory_lock
        self._session: Connection | None = None
        self._using, self._released = threading.Lock(), False

    def hold(self) -> None:
        if self._engine.dialect.name != "postgresql":
            return
        try:
            with self._using:
                self._hold()
        finally:
            if self._released:
                self._let_go()

    def release(self) -> None:
        """For good, and without waiting: with its session the lock goes, at the latest when who uses it is done."""
        self._released = True
        self._let_go()

    def _hold(self) -> None:
        if self._released:
            raise StorageError("the lock was released meanwhile")
        if self._session is not None:
            try:
                self._session.execute(select(1))
                return
            except DBAPIError:
                self._close()
        with storage("taking its lock"):
            # Without a transaction: one that stayed open for months would keep VACUUM from cleaning up.
            session = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            try:
                if not session.execute(select(self._take(self._lock))).scalar():
                    raise BusyError(self._busy)
                if self._idle_s:
                    session.execute(text(f"SET idle_session_timeout = '{self._idle_s}s'"))
            except BaseException:
                session.invalidate()
                session.close()
                raise
            self._session = session

    def _let_go(self) -> None:
        if self._using.acquire(blocking=False):  # else whoever uses it lets go after it
            try:
                self._close()
            finally:
                self._using.release()

    def _close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            with contextlib.suppress(DBAPIError):
                session.invalidate()
                session.close()
