"""The archive as `verify` sees it: files and their digests, what is in them, and the manifests' chain."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from ..domain.audit import Inspected, Vouched
from ..domain.errors import StorageError
from . import manifest, retention
from .manifest import Manifests
from .snapshots import FOLDER
from .warc_walk import Record, TornError, walk


class Evidence:
    """The tree under *data*/snapshots; paths are relative to *data*. Raises StorageError for what cannot be read."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._manifests = Manifests(data)

    def files(self) -> Iterator[str]:
        for path in manifest.snapshot_files(self._data / FOLDER):
            yield path.relative_to(self._data).as_posix()

    def day_of(self, path: str) -> date | None:
        return manifest.day_of(path.rpartition("/")[2])

    def exists(self, path: str) -> bool:
        return (self._data / path).is_file()

    def sha256(self, path: str) -> str:
        return manifest.sha256_of(self._data / path)

    def changed_at(self, path: str) -> datetime | None:
        """When the disk says that a file was last written; None when it is not there."""
        try:
            return datetime.fromtimestamp((self._data / path).stat().st_mtime, UTC)
        except OSError:
            return None

    def meta(self, path: str) -> dict[str, Any] | None:
        """A `.json` beside a snapshot; None when it is none."""
        try:
            found = json.loads((self._data / path).read_bytes())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def removed(self) -> dict[str, str]:
        """Paths that retention removed, and why."""
        return retention.removed(self._data)

    def vouched(self) -> tuple[dict[str, Vouched], list[tuple[str, str]]]:
        """What all manifests say, and (path, sentence) for each break in their chain."""
        found: dict[str, Vouched] = {}
        breaks: list[tuple[str, str]] = []
        last: Path | None = None
        for day in self._manifests.days():
            path = self._manifests.path(day)
            where = path.relative_to(self._data).as_posix()
            try:
                one = self._manifests.read(day)
            except StorageError as error:
                breaks.append((where, str(error)))
                last = path
                continue
            breaks += [(where, words) for words in _chain_faults(one, last)]
            for name, sha256 in one.files.items():
                found.setdefault(f"{FOLDER}/{name}", Vouched(sha256, day))
            last = path
        return found, breaks

    def inspect(self, path: str) -> Inspected:
        """Every record of a WARC file, re-hashed."""
        responses: dict[str, tuple[int, str]] = {}
        revisits: dict[str, tuple[str, str]] = {}
        faults: list[str] = []
        count = 0
        try:
            for record in walk(self._data / path):
                count += 1
                _note(record, responses, revisits, faults)
        except (TornError, OSError) as error:
            faults.append(str(error))
        return Inspected(count, responses, revisits, tuple(faults))


def _chain_faults(one: manifest.Manifest, last: Path | None) -> Iterator[str]:
    if last is None:
        if one.before is not None:
            yield f"it is chained to {one.before[0]}, which is not there"
    elif one.before is None:
        yield f"it is not chained to {last.name} before it"
    elif one.before != (f"{manifest.FOLDER_NAME}/{last.name}", manifest.sha256_of(last)):
        yield f"{last.name} is not the manifest that it was chained to"


def _note(
    record: Record,
    responses: dict[str, tuple[int, str]],
    revisits: dict[str, tuple[str, str]],
    faults: list[str],
) -> None:
    if record.fault:
        faults.append(f"the record at byte {record.offset}: {record.fault}")
    if record.kind in ("response", "resource"):
        responses[record.id] = (record.offset, record.headers.get("warc-payload-digest", ""))
    elif record.kind == "revisit":
        revisits.setdefault(record.id, (record.headers.get("warc-refers-to", ""), ""))
    elif record.kind == "metadata" and (revisit := record.headers.get("warc-concurrent-to", "")) in revisits:
        revisits[revisit] = (revisits[revisit][0], record.fields.get("version-path", ""))
