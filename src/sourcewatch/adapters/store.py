"""Where snapshots lie: a folder or a bucket, behind one small set of calls. A put is whole or not at all.

Names are paths with slashes, relative to the folder or bucket, as the rows have them: `snapshots/<id>/<YYYY>/…`.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Protocol

from ..domain.errors import StorageError, UnreadableError
from .durable import clear_temporary, disk, make_folders, stay_inside, sync_folder, write_new, write_together

FOLDER = "snapshots"
CHECKS = "_checks"
BUCKETS = "s3://"


@dataclass(frozen=True, slots=True)
class Found:
    """A stored file as a list names it; *changed_at* (UTC) is the storage's own word."""

    name: str
    size_bytes: int
    changed_at: datetime


class Store(Protocol):
    """Raises StorageError when the storage does not do what it should, UnreadableError for one file that is not there
    or cannot be read. What a call has put is safe when it returns."""

    def get(self, name: str) -> bytes: ...
    def open(self, name: str) -> IO[bytes]:
        """A file to read and to seek in."""

    def find(self, name: str) -> Found | None:
        """None when nothing has that name."""

    def list(self, under: str) -> Iterator[Found]:
        """Everything below a folder, sorted; what is still being put is left out."""

    def put(self, name: str, data: bytes) -> bool:
        """Whether these bytes stand under that name now: what has another content is never overwritten."""

    def put_together(self, folder: str, files: Mapping[str, bytes]) -> bool:
        """All or none, the last one last; False when that name is taken."""

    def delete(self, names: Iterable[str]) -> None:
        """What is not there is passed over."""

    def clear(self) -> None:
        """Finish or remove what a killed process left half written; nobody else may be writing."""

    def as_file(self, name: str) -> AbstractContextManager[Path]:
        """The file on this machine, for another's program; what that program puts beside it is kept beside it."""

    def shown(self, name: str) -> str:
        """Where it is, for people."""


def final(name: str) -> bool:
    """Whether a name is one for good: a day's file that still grows, and a part of one, get another."""
    checks = f"{FOLDER}/{CHECKS}/"
    return not name.endswith(".open") and not (name.startswith(checks) and "/" in name.removeprefix(checks))


class FolderStore:
    """Files under *data*: written beside, synced, renamed, and their folder synced. A group's name is given out by
    whoever has the page's host to itself: one process under the run lock, or the worker whose turn it is."""

    def __init__(self, data: Path) -> None:
        self.data = data
        self._lock = threading.Lock()

    def get(self, name: str) -> bytes:
        with self._reading(name) as path:
            return path.read_bytes()

    def open(self, name: str) -> IO[bytes]:
        with self._reading(name) as path:
            return path.open("rb")

    @contextmanager
    def _reading(self, name: str) -> Iterator[Path]:
        path = self.data / name
        try:
            stay_inside(path, self.data / FOLDER)
            yield path
        except OSError as error:
            raise UnreadableError(f"{path} cannot be read: {error.strerror or error}") from error

    def find(self, name: str) -> Found | None:
        try:
            found = (self.data / name).stat()
        except OSError:
            return None
        return _found(name, found) if stat.S_ISREG(found.st_mode) else None

    def list(self, under: str) -> Iterator[Found]:
        """No hidden files, and no folders behind symbolic links."""
        try:
            if (self.data / under).is_dir():
                yield from _walk(self.data / under, under)
        except OSError as error:
            raise StorageError(f"{self.data / under} cannot be read: {error.strerror or error}") from error

    def put(self, name: str, data: bytes) -> bool:
        path = self.data / name
        with self._lock, disk(path):
            stay_inside(path, self.data / FOLDER)
            make_folders(path.parent, self.data)
            if path.exists() or not write_new(path, data):
                return path.read_bytes() == data
            sync_folder(path.parent)
            return True

    def put_together(self, folder: str, files: Mapping[str, bytes]) -> bool:
        place = self.data / folder
        with self._lock, disk(place):
            stay_inside(place, self.data / FOLDER)
            if (place / list(files)[-1]).exists():
                return False
            make_folders(place, self.data)
            write_together(place, files)
            return True

    def delete(self, names: Iterable[str]) -> None:
        paths = [self.data / name for name in names]
        try:
            for path in paths:
                path.unlink(missing_ok=True)
            for folder in {path.parent for path in paths}:
                if folder.is_dir():
                    sync_folder(folder)
        except OSError as error:
            raise StorageError(f"{error.filename} cannot be removed: {error.strerror or error}") from error

    def clear(self) -> None:
        with disk(self.data / FOLDER):
            clear_temporary(self.data / FOLDER)

    @contextmanager
    def as_file(self, name: str) -> Iterator[Path]:
        yield self.data / name

    def shown(self, name: str) -> str:
        return str(self.data / name)


def _walk(folder: Path, under: str) -> Iterator[Found]:
    with os.scandir(folder) as entries:
        those = sorted(entries, key=lambda entry: entry.name)
    for entry in those:
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(folder / entry.name, f"{under}/{entry.name}")
        elif not entry.name.startswith(".") and entry.is_file():
            yield _found(f"{under}/{entry.name}", entry.stat())


def _found(name: str, found: os.stat_result) -> Found:
    return Found(name, found.st_size, datetime.fromtimestamp(found.st_mtime, UTC))


def open_store(storage: str, data: Path, environ: Mapping[str, str]) -> Store:
    """The bucket or folder that *storage* names, or the data folder where it is "". Raises StorageError."""
    if not storage.startswith(BUCKETS):
        return FolderStore(Path(storage) if storage else data)
    try:
        from .bucket import BucketStore
    except ImportError as error:
        raise StorageError("a bucket needs the extra s3: pip install 'sourcewatch[s3]'") from error
    return BucketStore.of(storage, environ)
