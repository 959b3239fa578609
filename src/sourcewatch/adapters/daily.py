"""`_checks/<day>.warc.gz`: a day's first check of each source that brought no new version, as WARC records.

The file of the running day ends in `.open` and grows by whole groups, each synced before any row tells of it. A crash
may tear its end: it is cut back to the last whole record before it goes on, since what is appended behind a torn record
is lost for every reader (measured: warcio, fastwarc). A closed file never changes.
"""

from __future__ import annotations

import io
import logging
import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from itertools import count, groupby
from pathlib import Path

from ..domain.kept import Note
from . import warc
from .durable import disk, make_folders, stay_inside, sync_folder
from .stamps import Stamps
from .store import CHECKS
from .warc_walk import whole_until

LATE = timedelta(minutes=10)  # a check that began before midnight is kept within its deadline and its figures'
_OPEN = ".warc.gz.open"


class Daily:
    """The daily files under *tree*, the snapshots' folder. Every failure of the disk is a StorageError.

    One process writes at a time: the caller holds the run lock.
    """

    def __init__(self, tree: Path, software: str, stamps: Stamps) -> None:
        self._tree = tree
        self._folder = tree / CHECKS
        self._software = software
        self._stamps = stamps
        self._ends: dict[Path, int] = {}  # where our own last append ended
        self._closed: date | None = None  # days before this one were closed by us
        self._lock = threading.Lock()

    def append(self, notes: Sequence[Note]) -> None:
        """Add a group: on disk when this returns; when it raises, a reader finds nothing of what is missing."""
        with self._lock, disk(self._folder):
            stay_inside(self._folder, self._tree)
            make_folders(self._folder, self._tree.parent)
            for day, those in groupby(sorted(notes, key=lambda n: n.at), key=lambda n: n.at.astimezone(UTC).date()):
                self._append(self._open_file(day), list(those))
            before = (max(n.at for n in notes) - LATE).astimezone(UTC).date()
            if self._closed is None or before > self._closed:
                self._close_before(before)

    def close(self, now: datetime, *, cut_short: bool = False) -> None:
        """Give the files of days that are over their final name; after a run that was *cut_short*, mend the others."""
        with self._lock, disk(self._folder):
            stay_inside(self._folder, self._tree)
            self._close_before(now.astimezone(UTC).date())
            for path in self._folder.glob(f"*{_OPEN}") if cut_short else ():
                stay_inside(path, self._tree)
                _cut_back(path)

    def _open_file(self, day: date) -> Path:
        """A day that was closed goes on in another file: a clock that was set back must not change a closed one."""
        for number in count(1):
            name = day.isoformat() + (f".{number}" if number > 1 else "")
            if not (self._folder / f"{name}.warc.gz").exists():
                return self._folder / f"{name}{_OPEN}"
        raise AssertionError

    def _append(self, path: Path, notes: Sequence[Note]) -> None:
        stay_inside(path, self._tree)
        new = not path.exists()
        with path.open("ab", buffering=0) as file:
            end = file.seek(0, os.SEEK_END)
            if end != self._ends.pop(path, None):
                end = _cut_back(path)
            block = memoryview(self._records(path, notes, begins=end == 0))
            try:
                while block:
                    block = block[file.write(block) :]
                os.fsync(file.fileno())
            except OSError:
                with suppress(OSError):  # else the next append finds the torn record, and cuts it off
                    os.truncate(path, end)
                raise
            self._ends[path] = file.tell()
        if new:
            sync_folder(self._folder)

    def _records(self, path: Path, notes: Sequence[Note], *, begins: bool) -> bytes:
        out = io.BytesIO()
        writer = warc.Writer(out)
        if begins:
            writer.info(path.name.removesuffix(".open"), self._software, written_at=notes[0].at)
        for note in notes:
            seen = [note.revisit.answer.url] if note.revisit else []
            writer.note(note, self._stamps.take(note.at, seen))
        return out.getvalue()

    def _close_before(self, day: date) -> None:
        closed = False
        for path in sorted(self._folder.glob(f"*{_OPEN}")):
            if (own := _day_of(path)) is None or own >= day:
                continue
            stay_inside(path, self._tree)
            if path.stat().st_size != self._ends.pop(path, None) and _cut_back(path) == 0:
                path.unlink()
                continue
            _sync(path)
            path.rename(path.with_name(path.name.removesuffix(".open")))
            closed = True
        if closed:
            sync_folder(self._folder)
        self._closed = day


def _cut_back(path: Path) -> int:
    """Cut a file back to its last whole record; its length."""
    whole, size = whole_until(path), path.stat().st_size
    if whole < size:
        logging.getLogger(__name__).warning(
            "%s: %d bytes of a record that was never finished are cut off", path.name, size - whole
        )
        os.truncate(path, whole)
    return whole


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _day_of(path: Path) -> date | None:
    try:
        return date.fromisoformat(path.name[:10])
    except ValueError:
        return None
