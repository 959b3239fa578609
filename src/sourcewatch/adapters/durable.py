"""Files that survive: written whole or not at all, and synced before anybody relies on them."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from ..domain.errors import StorageError

_TEMPORARY = ".tmp"


def write_whole(path: Path, data: bytes) -> None:
    """Whole or not at all: written beside, synced, renamed. Raises OSError, and then leaves nothing."""
    temporary = path.with_name(f".{path.name}{_TEMPORARY}")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.rename(path)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise


def write_together(folder: Path, files: Mapping[str, bytes]) -> None:
    """Each whole, in their order, then synced by name. Raises OSError, and then leaves none that the disk lets go."""
    written: list[Path] = []
    try:
        for name, data in files.items():
            write_whole(folder / name, data)
            written.append(folder / name)
        sync_folder(folder)
    except OSError:
        with suppress(OSError):
            for path in written:
                path.unlink()
        raise


def clear_temporary(top: Path) -> None:
    """Remove what a killed process left half written under *top*; no symbolic link is followed. Raises OSError."""
    for folder, _, names in os.walk(top):
        for name in names:
            if name.startswith(".") and name.endswith(_TEMPORARY):
                Path(folder, name).unlink(missing_ok=True)


def make_folders(folder: Path, top: Path) -> None:
    """mkdir -p that syncs each new name into its parent."""
    missing = []
    while not folder.is_dir() and folder != top.parent:
        missing.append(folder)
        folder = folder.parent
    for new in reversed(missing):
        new.mkdir(exist_ok=True)
        sync_folder(new.parent)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def stay_inside(path: Path, top: Path) -> None:
    """Raises OSError when a symbolic link leads *path* out of *top*: nothing is read or written elsewhere."""
    if not (real := path.resolve()).is_relative_to(top.resolve()):
        raise OSError(errno.ELOOP, f"a symbolic link leads out of {top}, to {real}")


@contextmanager
def disk(place: Path) -> Iterator[None]:
    """Every failure of the disk in here is a StorageError that names the *place*."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{place} cannot be written: {error.strerror or error}") from error
