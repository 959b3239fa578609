"""One run at a time in a data folder: an advisory lock that the kernel frees when its holder dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from ..domain.errors import BusyError, StorageError


@contextmanager
def run_lock(data: Path, holder: str, *, shared: bool = False) -> Iterator[bool]:
    """Hold DATA/run.lock; whether the holder before was killed: its name still stands there.

    Many workers may hold it together (*shared*); they leave no name. Raises BusyError that names who holds it,
    StorageError when it cannot be written.
    """
    path = data / "run.lock"
    try:
        file = path.open("a+", encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}") from error
    with file:
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise BusyError(f"another run holds {path}: {file.read().strip() or 'workers, or unknown'}") from None
        if shared:
            yield False
            return
        file.seek(0)
        killed = bool(file.read())
        file.truncate(0)
        file.write(f"{holder}, pid {os.getpid()}, since {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}\n")
        file.flush()
        try:
            yield killed
        finally:
            file.truncate(0)
