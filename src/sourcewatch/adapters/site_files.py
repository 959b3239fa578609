"""The files of a site on disk: each once, whatever links lead round in circles; what is not read is told."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from ..domain.mention import NotRead

MOST_BYTES = 16_000_000  # 100,000 links are 10 MB; a larger file is no text of a site
_SKIPPED = frozenset({"node_modules", "__pycache__", "venv"})


def read(paths: Sequence[Path], suffixes: Collection[str]) -> Iterator[tuple[str, bytes] | NotRead]:
    """Every file with one of the *suffixes* under *paths* (a file named itself is read whatever its suffix), sorted.

    Hidden folders are passed over, symbolic links followed once.
    """
    seen: set[tuple[int, int]] = set()
    for path in paths:
        if not path.exists():
            lost = path.is_symlink()
            yield NotRead(str(path), 0, "a symbolic link that leads nowhere" if lost else "no such file or folder")
        elif path.is_dir():
            yield from _folder(path, suffixes, seen)
        else:
            yield from _file(path, seen)


def _folder(top: Path, suffixes: Collection[str], seen: set[tuple[int, int]]) -> Iterator[tuple[str, bytes] | NotRead]:
    try:
        info = top.stat()
        if (info.st_dev, info.st_ino) in seen:
            yield NotRead(str(top), 0, "a symbolic link back to a folder that was read already")
            return
        seen.add((info.st_dev, info.st_ino))
        with os.scandir(top) as entries:
            names = sorted(e.name for e in entries)
    except OSError as error:
        yield NotRead(str(top), 0, f"cannot be read: {error.strerror or error}")
        return
    for name in names:
        path = top / name
        if name.startswith(".") or name in _SKIPPED:
            continue
        if path.is_dir():
            yield from _folder(path, suffixes, seen)
        elif path.suffix.lower() in suffixes:
            yield from _file(path, seen)


def _file(path: Path, seen: set[tuple[int, int]]) -> Iterator[tuple[str, bytes] | NotRead]:
    try:
        info = path.stat()
        if (info.st_dev, info.st_ino) in seen:
            return  # the same file under another name
        seen.add((info.st_dev, info.st_ino))
        if not path.is_file():
            yield NotRead(str(path), 0, "not a regular file")
        elif info.st_size > MOST_BYTES:
            yield NotRead(str(path), 0, f"larger than {MOST_BYTES // 1_000_000} MB")
        else:
            data = path.read_bytes()
            if b"\0" in data[:8_000] and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
                yield NotRead(str(path), 0, "a binary file")
            else:
                yield str(path), data
    except OSError as error:
        lost = path.is_symlink() and not path.exists()
        reason = "a symbolic link that leads nowhere" if lost else f"cannot be read: {error.strerror or error}"
        yield NotRead(str(path), 0, reason)
