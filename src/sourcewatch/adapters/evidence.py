"""The archive as `verify` sees it: files and their digests, what is in them, and the manifests' chain."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

from ..domain.audit import Inspected, Vouched
from ..domain.errors import UnreadableError
from . import manifest, retention
from .manifest import Manifests
from .store import FOLDER, Store
from .warc_walk import Record, TornError, records


class Evidence:
    """The snapshots in *store*; paths are relative to it. Raises StorageError."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._manifests = Manifests(store)

    def files(self) -> Iterator[str]:
        yield from manifest.snapshot_files(self._store)

    def day_of(self, path: str) -> date | None:
        return manifest.day_of(path.rpartition("/")[2])

    def exists(self, path: str) -> bool:
        return self._store.find(path) is not None

    def sha256(self, path: str) -> str:
        return manifest.sha256_of(self._store, path)

    def changed_at(self, path: str) -> datetime | None:
        """When the storage says that a file was last written; None when it is not there."""
        found = self._store.find(path)
        return found.changed_at if found else None

    def meta(self, path: str) -> dict[str, Any] | None:
        """A `.json` beside a snapshot; None when it is none."""
        try:
            found = json.loads(self._store.get(path))
        except (UnreadableError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    def removed(self) -> dict[str, str]:
        """Paths that retention removed, and why."""
        return retention.removed(self._store)

    def vouched(self) -> tuple[dict[str, Vouched], list[tuple[str, str]]]:
        """What all manifests say, and (path, sentence) for each break in their chain."""
        found: dict[str, Vouched] = {}
        breaks: list[tuple[str, str]] = []
        last = ""
        for day in self._manifests.days():
            path = self._manifests.path(day)
            try:
                one = self._manifests.read(day)
            except UnreadableError as error:
                breaks.append((path, str(error)))
                last = path
                continue
            breaks += [(path, words) for words in self._chain_faults(one, last)]
            for name, sha256 in one.files.items():
                found.setdefault(f"{FOLDER}/{name}", Vouched(sha256, day))
            last = path
        return found, breaks

    def _chain_faults(self, one: manifest.Manifest, last: str) -> Iterator[str]:
        name = last.rpartition("/")[2]
        if not last:
            if one.before is not None:
                yield f"it is chained to {one.before[0]}, which is not there"
        elif one.before is None:
            yield f"it is not chained to {name} before it"
        elif one.before != (f"{manifest.FOLDER_NAME}/{name}", self.sha256(last)):
            yield f"{name} is not the manifest that it was chained to"

    def inspect(self, path: str) -> Inspected:
        """Every record of a WARC file, re-hashed."""
        responses: dict[str, tuple[int, str]] = {}
        revisits: dict[str, tuple[str, str]] = {}
        faults: list[str] = []
        count = 0
        try:
            with self._store.open(path) as file:
                for record in records(file):
                    count += 1
                    _note(record, responses, revisits, faults)
        except (TornError, OSError, UnreadableError) as error:
            faults.append(str(error))
        return Inspected(count, responses, revisits, tuple(faults))


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
