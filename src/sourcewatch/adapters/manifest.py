"""A day's manifest: the sha256 of every file that was closed, chained to the manifest before it.

`_manifest/<day>.sha256` is what `sha256sum -c` reads, run inside `snapshots/`. Its first line is the digest of the
manifest that was written before: whoever holds the newest one, or a timestamp of it, can tell whether an earlier file
was touched. A clock that was ahead for a while leaves a manifest of a day to come; the next one is chained to it, too.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from ..domain.errors import UnreadableError
from .store import FOLDER, Store, final

FOLDER_NAME = "_manifest"
TOP = f"{FOLDER}/{FOLDER_NAME}"
BITE_BYTES = 1 << 20
SET_BACK = timedelta(days=2)  # a manifest of a later day than that was written while the clock was ahead
_STAMP = re.compile(r"(\d{4})(\d{2})(\d{2})T\d{6}Z\.")
_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})\.")
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")


@dataclass(frozen=True, slots=True)
class Manifest:
    """One day's manifest as it stands: *before* is the (name, sha256) that it is chained to, or None for the
    first; *files* maps paths, relative to `snapshots/`, to their sha256 (hex); *sha256* is its own."""

    day: date
    path: str
    before: tuple[str, str] | None
    files: Mapping[str, str]
    sha256: str = ""

    @property
    def name(self) -> str:
        """Its path relative to `snapshots/`, as the one that is chained to it names it."""
        return self.path.removeprefix(f"{FOLDER}/")


class Manifests:
    """The manifests of the snapshots in *store*; their paths are relative to it. Raises StorageError."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def days(self) -> list[date]:
        """The days that have a manifest, in order."""
        names = [found.name.rpartition("/")[2] for found in self._store.list(TOP)]
        days = [day_of(name) for name in names if name.endswith(".sha256")]
        return sorted(day for day in days if day is not None)

    def path(self, day: date) -> str:
        return f"{TOP}/{day.isoformat()}.sha256"

    def read(self, day: date) -> Manifest:
        """Raises UnreadableError when it cannot be read, or has lines that are none."""
        path = self.path(day)
        try:
            data = self._store.get(path)
            lines = data.decode("utf-8").splitlines()
        except (UnreadableError, UnicodeDecodeError) as error:
            raise UnreadableError(f"the manifest {path} cannot be read: {error}") from error
        pairs = []
        for number, line in enumerate(lines, 1):
            if (m := _LINE.fullmatch(line)) is None:
                raise UnreadableError(f"the manifest {path} is damaged: line {number} is no digest and path")
            pairs.append((m[2], m[1]))
        before = pairs.pop(0) if pairs and pairs[0][0].startswith(f"{FOLDER_NAME}/") else None
        return Manifest(day, path, before, dict(pairs), hashlib.sha256(data).hexdigest())

    def bereft(self) -> list[str]:
        """Timestamps of manifests that are not there."""
        names = [found.name for found in self._store.list(TOP)]
        days = {day_of(name.rpartition("/")[2]) for name in names if name.endswith(".sha256")}
        return [name for name in names if day_of(name.rpartition("/")[2]) not in days]

    def close(self, now: datetime) -> str | None:
        """Write the manifest of the last UTC day that is over; None when there is nothing that no manifest names.

        Called again, or after days of rest, it does what is still to do. Of two that close at once one does it.
        """
        day = now.astimezone(UTC).date() - timedelta(days=1)
        days = self.days()
        if any(day <= one <= day + SET_BACK for one in days):  # also a clock that was set back: closed stays closed
            return None
        new = self._unnamed(day, days)
        if not new:
            return None
        lines = [f"{sha256_of(self._store, f'{FOLDER}/{name}')}  {name}" for name in sorted(new)]
        if (head := _head([self.read(one) for one in days], day)) is not None:
            lines.insert(0, f"{head.sha256}  {head.name}")
        if not self._store.put(self.path(day), ("\n".join(lines) + "\n").encode()):
            return None
        if any(one > day for one in set(self.days()) - set(days)):
            self._store.delete([self.path(day)])  # who slept while another closed a later day stands not in its chain
            return None
        return self.path(day)

    def _unnamed(self, day: date, earlier: Iterable[date]) -> set[str]:
        """Files of *day* or before that no manifest names, relative to `snapshots/`."""
        closed = {
            name.removeprefix(f"{FOLDER}/"): found
            for name in snapshot_files(self._store)
            if (found := day_of(name.rpartition("/")[2])) is not None and found <= day
        }
        oldest = min(closed.values(), default=day)
        new = set(closed)
        for named in earlier:
            if named >= oldest and new:  # a manifest never names what is younger than its day
                new.difference_update(self.read(named).files)
        return new


def _head(manifests: Sequence[Manifest], day: date) -> Manifest | None:
    """The end of the chain, whatever its date: the one that no other is chained to. Of several, as only harm leaves
    them, the last before *day*."""
    named = {one.before[0] for one in manifests if one.before is not None}
    ends = [one for one in manifests if one.name not in named]
    return max(ends, key=lambda one: (one.day < day, one.day), default=None)


def snapshot_files(store: Store) -> Iterator[str]:
    """Every file under its final name: no manifests, nothing that is still being written."""
    for found in store.list(FOLDER):
        folders = found.name.split("/")[1:-1]
        if folders and folders[0] != FOLDER_NAME and final(found.name):
            yield found.name


def day_of(name: str) -> date | None:
    """The UTC day that a file's name is stamped with; None for a name that is none of ours."""
    m = _STAMP.match(name) or _DAY.match(name)
    try:
        return date(int(m[1]), int(m[2]), int(m[3])) if m else None
    except ValueError:
        return None


def sha256_of(store: Store, name: str) -> str:
    """Hex. Raises StorageError."""
    digest = hashlib.sha256()
    try:
        with store.open(name) as file:
            while bite := file.read(BITE_BYTES):
                digest.update(bite)
    except OSError as error:
        raise UnreadableError(f"{store.shown(name)} cannot be read: {error.strerror or error}") from error
    return digest.hexdigest()
