"""Files that survive: written whole or not at all, and synced before anybody relies on them."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from ..domain.errors import StorageError

_TEMPORARY = ".tmp"
_PART = ".part"
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS)  # file systems that know one name a file


def write_new(path: Path, data: bytes) -> bool:
    """Whole or not at all: written beside, synced, and given its name unless another has it, of whatever process.

    Whether it was given. Raises OSError, and then leaves nothing.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}{_TEMPORARY}")
    try:
        _write_synced(temporary, data)
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS or path.exists():
            raise
        temporary.rename(path)
    finally:
        temporary.unlink(missing_ok=True)
    return True


def write_together(folder: Path, files: Mapping[str, bytes]) -> None:
    """All or none: the first is renamed when all are written and synced, the last name to appear is the last given.

    Raises OSError, and then leaves nothing. What a kill leaves between the renames, `clear_temporary` finishes.
    """
    parts = {folder / f".{name}{_PART}": folder / name for name in files}
    renamed: list[Path] = []
    try:
        for part, data in zip(parts, files.values(), strict=True):
            _write_synced(part, data)
        for part, path in parts.items():
            part.rename(path)
            renamed.append(path)
        sync_folder(folder)
    except OSError:
        with suppress(OSError):
            for path in (*renamed, *parts):
                path.unlink(missing_ok=True)
        raise


def _write_synced(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def clear_temporary(top: Path) -> None:
    """Remove what a killed process left half written under *top*; no symbolic link is followed. Raises OSError.

    Files that were to appear together do, if one of them has: all of them are whole then.
    """
    for folder, _, names in os.walk(top):
        hidden = [n for n in names if n.startswith(".") and n.endswith((_TEMPORARY, _PART))]
        appeared = {n.partition(".")[0] for n in names if not n.startswith(".")} if hidden else set()
        for name in hidden:
            path, final = Path(folder, name), name[1:].removesuffix(_PART)
            if name.endswith(_PART) and final.partition(".")[0] in appeared:
                path.rename(path.with_name(final))
            else:
                path.unlink(missing_ok=True)
        if hidden:
            sync_folder(Path(folder))


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
