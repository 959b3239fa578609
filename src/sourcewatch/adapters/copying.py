"""Every kept file from one store into another, verified: written once, read back, compared."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime

from ..domain.errors import StorageError
from .parts import days_of
from .stamps import Stamps
from .store import FOLDER, Store

AT_ONCE = 8
TOGETHER = 200  # files between two words to whoever waits
AFTER_ALL_DAYS = datetime(9999, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Copied:
    """How far it is: files that were written, those that were there already, and their bytes."""

    written: int = 0
    there: int = 0
    size_bytes: int = 0


def copy(source: Store, target: Store, told: Callable[[Copied], None] = lambda so_far: None) -> Copied:
    """Copy all that lies under `snapshots/`. Cut off anywhere, it goes on when called again; both stay as they are.

    The running day's notes are closed first, so the caller holds the run lock. Raises StorageError when a file cannot
    be read or written, and when the target has other bytes under one of the names.
    """
    for days in days_of(source, "", Stamps()):
        days.close(AFTER_ALL_DAYS)
    done = Copied()
    names = [found.name for found in source.list(FOLDER)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        for start in range(0, len(names), TOGETHER):
            for new, size in pool.map(lambda name: _one(source, target, name), names[start : start + TOGETHER]):
                done = Copied(done.written + new, done.there + (not new), done.size_bytes + size)
            told(done)
    return done


def _one(source: Store, target: Store, name: str) -> tuple[bool, int]:
    """Whether it had to be written, and its size."""
    data, new = source.get(name), target.find(name) is None
    if not target.put(name, data) or target.get(name) != data:
        raise StorageError(f"{target.shown(name)} holds other bytes than {source.shown(name)}")
    return new, len(data)
