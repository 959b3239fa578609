"""The archive as `verify` sees it: files and their digests, what is in them, and the manifests' chain."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any

from ..domain.audit import Chain, Inspected, Told, Vouched
from ..domain.errors import UnreadableError
from . import manifest, retention
from .archive import Archive
from .manifest import Manifests
from .store import FOLDER, FolderStore, Store
from .warc_walk import Record, TornError, records

READERS = 8  # objects of a bucket that are read at once: each costs waiting, no work


class Evidence:
    """The snapshots in *store*; paths are relative to it. Raises StorageError."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.at_once = 1 if isinstance(store, FolderStore) else READERS
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

    def noted(self) -> Iterator[tuple[date, list[Told]]]:
        """The checks that the days' files tell of, those that still grow too, day by day."""
        archive = Archive(self._store)
        for day in archive.days():
            told = archive.noted(day)
            yield day, [Told(one.source, one.at, one.verdict.word, one.verdict.accessed, one.where) for one in told]

    def removed(self) -> dict[str, str]:
        """Paths that a note says were removed, and which note."""
        return retention.removed(self._store)

    def vouched(self) -> Chain:
        """What all manifests say, and how they are chained."""
        found: dict[str, Vouched] = {}
        breaks: list[tuple[str, str]] = []
        digests: dict[str, str] = {}
        read: list[manifest.Manifest] = []
        for day in self._manifests.days():
            path = self._manifests.path(day)
            try:
                one = self._manifests.read(day)
            except UnreadableError as error:
                breaks.append((path, str(error)))
                digests[path] = ""
                continue
            read.append(one)
            digests[path] = one.sha256
            for name, sha256 in one.files.items():
                found.setdefault(f"{FOLDER}/{name}", Vouched(sha256, day))
        breaks += _chain_faults(read, digests)
        breaks += [(path, "its manifest is not there") for path in self._manifests.bereft()]
        return Chain(found, breaks, digests)

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


def _chain_faults(manifests: Sequence[manifest.Manifest], digests: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """(path, sentence) for each that is not chained to one of the others, alone. In the order of their writing, not of
    their days: a clock may have been ahead."""
    claimed: dict[str, str] = {}
    first = next((one for one in manifests if one.before is None), None)
    for one in manifests:
        if one.before is None:
            if one is not first:
                yield one.path, "it is not chained to the manifest before it"
            continue
        name, wanted = one.before
        known = digests.get(f"{FOLDER}/{name}")
        if known is None:
            yield one.path, f"it is chained to {name}, which is not there"
        elif known != wanted:
            yield one.path, f"{name} is not the manifest that it was chained to"
        elif name in claimed:
            yield one.path, f"it is chained to {name}, to which {claimed[name]} is chained, too"
        claimed.setdefault(name, one.name)


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
