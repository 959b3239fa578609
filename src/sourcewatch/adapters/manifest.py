"""A day's manifest: the sha256 of every file that was closed, chained to the manifest before it.

`_manifest/<day>.sha256` is what `sha256sum -c` reads, run inside `snapshots/`. Its first line is the digest of the
manifest before: whoever holds the newest one, or a timestamp of it, can tell whether an earlier file was touched.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from ..domain.errors import StorageError
from .durable import make_folders, sync_folder, write_whole
from .snapshots import FOLDER

FOLDER_NAME = "_manifest"
BITE_BYTES = 1 << 20
_STAMP = re.compile(r"(\d{4})(\d{2})(\d{2})T\d{6}Z\.")
_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})\.")
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


@dataclass(frozen=True, slots=True)
class Manifest:
    """One day's manifest as it stands on disk: *before* is the (name, sha256) that it is chained to, or None for the
    first; *files* maps paths, relative to `snapshots/`, to their sha256 (hex)."""

    day: date
    path: Path
    before: tuple[str, str] | None
    files: Mapping[str, str]


class Manifests:
    """The manifests of the tree under *data*/snapshots. Every failure of the disk is a StorageError."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._tree = data / FOLDER
        self._folder = self._tree / FOLDER_NAME

    def days(self) -> list[date]:
        """The days that have a manifest, in order."""
        found = [day_of(path.name) for path in self._folder.glob("*.sha256")]
        return sorted(day for day in found if day is not None)

    def path(self, day: date) -> Path:
        return self._folder / f"{day.isoformat()}.sha256"

    def read(self, day: date) -> Manifest:
        """Raises StorageError when it cannot be read, or has lines that are none."""
        path = self.path(day)
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise StorageError(f"the manifest {path} cannot be read: {error}") from error
        pairs = []
        for number, line in enumerate(lines, 1):
            if (m := _LINE.fullmatch(line)) is None:
                raise StorageError(f"the manifest {path} is damaged: line {number} is no digest and path")
            pairs.append((m[2], m[1]))
        before = pairs.pop(0) if pairs and pairs[0][0].startswith(f"{FOLDER_NAME}/") else None
        return Manifest(day, path, before, dict(pairs))

    def close(self, now: datetime) -> Path | None:
        """Write the manifest of the last UTC day that is over; None when there is nothing that no manifest names.

        Called again, or after days of rest, it does what is still to do.
        """
        day = now.astimezone(UTC).date() - timedelta(days=1)
        earlier = self.days()
        if earlier and earlier[-1] >= day:  # also a clock that was set back: what is closed stays closed
            return None
        new = self._unnamed(day, earlier)
        if not new:
            return None
        lines = [f"{sha256_of(self._tree / name)}  {name}" for name in sorted(new)]
        if earlier:
            last = self.path(earlier[-1])
            lines.insert(0, f"{sha256_of(last)}  {FOLDER_NAME}/{last.name}")
        try:
            make_folders(self._folder, self._data)
            write_whole(self.path(day), ("\n".join(lines) + "\n").encode())
            sync_folder(self._folder)
        except OSError as error:
            raise StorageError(f"{self.path(day)} cannot be written: {error.strerror or error}") from error
        return self.path(day)

    def _unnamed(self, day: date, earlier: Iterable[date]) -> set[str]:
        """Files of *day* or before that no manifest names, relative to the tree."""
        closed = {
            path.relative_to(self._tree).as_posix(): found
            for path in snapshot_files(self._tree)
            if (found := day_of(path.name)) is not None and found <= day
        }
        oldest = min(closed.values(), default=day)
        new = set(closed)
        for named in earlier:
            if named >= oldest and new:  # a manifest never names what is younger than its day
                new.difference_update(self.read(named).files)
        return new


def snapshot_files(tree: Path) -> Iterator[Path]:
    """Every file under final names: no hidden ones, no manifests, nothing that is still being written."""
    try:
        for path in sorted(tree.iterdir()) if tree.is_dir() else ():
            if path.is_dir() and path.name != FOLDER_NAME:
                yield from (p for p in sorted(path.rglob("*")) if p.is_file() and _final(p))
    except OSError as error:
        raise StorageError(f"{tree} cannot be read: {error.strerror or error}") from error


def _final(path: Path) -> bool:
    return not path.name.startswith(".") and not path.name.endswith(".open")


def day_of(name: str) -> date | None:
    """The UTC day that a file's name is stamped with; None for a name that is none of ours."""
    m = _STAMP.match(name) or _DAY.match(name)
    try:
        return date(int(m[1]), int(m[2]), int(m[3])) if m else None
    except ValueError:
        return None


def sha256_of(path: Path) -> str:
    """Hex. Raises StorageError."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while bite := file.read(BITE_BYTES):
                digest.update(bite)
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror or error}") from error
    return digest.hexdigest()
