"""A copy of the SQLite database while it is in use: consistent, verified, and put in place whole or not at all."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from ..domain.errors import ConfigError, StorageError
from .database import file_of, shown
from .durable import sync_folder

PAGES = 5_000  # copied at a time; writers get their turn in between
PAUSE_S = 0.01


def backup(url: str, to: Path) -> int:
    """Copy the database at *url* to the file *to*; its size in bytes. Raises StorageError, leaving *to* as it was.

    Raises ConfigError for PostgreSQL, which has its own tool.
    """
    database = file_of(url)
    if database is None:
        address = shown(url).replace("+psycopg", "")
        raise ConfigError([f"this database is PostgreSQL: `pg_dump --format=custom --file={to} {address}` copies it"])
    if to.resolve() == database.resolve():
        raise ConfigError([f"{to} is the database itself; name another file"])
    temporary = to.with_name(f".{to.name}.{os.getpid()}.tmp")
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        _copy(database, temporary)
        size = temporary.stat().st_size
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.rename(to)
        sync_folder(to.parent)
        return size
    except sqlite3.Error as error:
        raise StorageError(f"the database cannot be copied to {to}: {error}") from error
    except OSError as error:
        raise StorageError(f"the copy {to} cannot be written: {error.strerror or error}") from error
    finally:
        for suffix in ("", "-journal", "-wal", "-shm"):
            temporary.with_name(temporary.name + suffix).unlink(missing_ok=True)


def _copy(database: Path, to: Path) -> None:
    with closing(sqlite3.connect(database, timeout=30)) as source, closing(sqlite3.connect(to)) as copy:
        source.backup(copy, pages=PAGES, sleep=PAUSE_S)
        copy.execute("PRAGMA journal_mode=DELETE")  # one file, not three
        found = [row[0] for row in copy.execute("PRAGMA integrity_check(3)")]
        if found != ["ok"]:
            raise sqlite3.DatabaseError(f"the copy is not sound: {'; '.join(found)}")
        if broken := copy.execute("PRAGMA foreign_key_check").fetchall():
            raise sqlite3.DatabaseError(f"{len(broken)} rows of the copy name rows that are not there")
