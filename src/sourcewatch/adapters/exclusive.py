"""One run at a time on a PostgreSQL database that several data folders or machines could share."""

from __future__ import annotations

import contextlib
from types import TracebackType
from typing import Self

from sqlalchemy import Connection, Engine, func, select
from sqlalchemy.exc import DBAPIError

from ..domain.errors import BusyError
from .database import storage

LOCK = 0x50_57  # any number that all runs agree on


class Exclusive:
    """An advisory lock of the database's session. With SQLite the lock in the data folder suffices.

    Use as a context manager: raises BusyError when another run holds it.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._session: Connection | None = None

    def __enter__(self) -> Self:
        self.hold()
        return self

    def hold(self) -> None:
        """Take the lock, or make sure that it is still ours: a server that was restarted has forgotten it.

        Raises BusyError, StorageError.
        """
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
            if not session.execute(select(func.pg_try_advisory_lock(LOCK))).scalar():
                session.close()
                raise BusyError("another run holds this database (from another data folder or machine)")
            self._session = session

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            with contextlib.suppress(DBAPIError):  # the server is gone, and the lock with it
                self._session.execute(select(func.pg_advisory_unlock(LOCK)))
            self._let_go()

    def _let_go(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            with contextlib.suppress(DBAPIError):
                session.invalidate()
                session.close()
