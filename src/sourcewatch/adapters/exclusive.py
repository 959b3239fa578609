"""Locks of a PostgreSQL database that several data folders or machines share: who runs, and who leads."""

from __future__ import annotations

import contextlib
from types import TracebackType
from typing import Self

from sqlalchemy import Connection, Engine, func, select, text
from sqlalchemy.exc import DBAPIError

from ..domain.errors import BusyError
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

        Raises BusyError, StorageError.
        """
        self._session.hold()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._session.release()


class Lead:
    """Who leads: one of the processes that try, until it ends, or the server has not heard of it for a while."""

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
    """An advisory lock and the session that holds it."""

    def __init__(self, engine: Engine, lock: int, busy: str, *, shared: bool = False, idle_s: int = 0) -> None:
        self._engine, self._lock, self._busy, self._idle_s = engine, lock, busy, idle_s
        self._take = func.pg_try_advisory_lock_shared if shared else func.pg_try_advisory_lock
        self._session: Connection | None = None

    def hold(self) -> None:
        if self._engine.dialect.name != "postgresql":
            return
        if self._session is not None:
            try:
                self._session.execute(select(1))
                return
            except DBAPIError:
                self._let_go()
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

    def release(self) -> None:
        if self._session is not None:  # with its session the lock goes
            self._let_go()

    def _let_go(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            with contextlib.suppress(DBAPIError):
                session.invalidate()
                session.close()
