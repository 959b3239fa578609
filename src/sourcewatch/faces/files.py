"""Files for others to read: whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from ..domain.errors import StorageError


def _write_into(path: Path, text: str) -> None:
    try:
        with path.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}") from error


def write_whole(path: Path, text: str) -> None:
    """Written beside, synced, renamed: a reader sees the old file or the new one. Raises StorageError.

    A link keeps leading to the file, and what is no regular file (a device, a pipe) is written to, never replaced.
    """
    path = path.resolve()
    if path.exists() and not path.is_file():
        _write_into(path, text)
        return
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with temporary.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror or error}") from error
