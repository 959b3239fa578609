"""`_checks/<day>.warc.gz` where nothing can be appended to, or many processes note: each group of notes is a file of
its own until its day is over, `_checks/<day>/<stamp>.<unique>.warc.gz`; then one owner puts them together, and they go.

A part begins with a `warcinfo` record, whose id tells readers which parts a whole holds: what is in both is read once.
"""

from __future__ import annotations

import io
import logging
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime
from itertools import count, groupby
from typing import IO, Protocol
from uuid import uuid4

from ..domain.errors import StorageError, UnreadableError
from ..domain.kept import Note
from . import warc
from .daily import LATE, Daily
from .stamps import Stamps
from .store import CHECKS, FOLDER, FolderStore, Store
from .warc_walk import TornError, records

TOP = f"{FOLDER}/{CHECKS}"
MOST_WHOLE_BYTES = 64_000_000  # a day of 90,000 notes; what is more goes on in `<day>.2.warc.gz`
AT_ONCE = 16  # parts that are asked for together: one after the other a request takes 20–50 ms from another machine


class Days(Protocol):
    """What writes a day's notes. Every failure of the storage is a StorageError."""

    def append(self, notes: Sequence[Note]) -> None: ...
    def close(self, now: datetime, *, cut_short: bool = False) -> None: ...


def days_of(store: Store, software: str, stamps: Stamps) -> tuple[Days, ...]:
    """In what a process notes that has the store to itself, first, and in what many do, last."""
    parts = Parts(store, software, stamps)
    return (Daily(store.data / FOLDER, software, stamps), parts) if isinstance(store, FolderStore) else (parts,)


class Parts:
    """The daily files of many writers. Any number of processes append; two that close at once do no harm."""

    def __init__(self, store: Store, software: str, stamps: Stamps) -> None:
        self._store = store
        self._software = software
        self._stamps = stamps

    def append(self, notes: Sequence[Note]) -> None:
        """Add a group, a file a day; safe when this returns."""
        for day, those in groupby(sorted(notes, key=lambda n: n.at), key=lambda n: n.at.astimezone(UTC).date()):
            group = list(those)
            name = f"{group[0].at.astimezone(UTC):%Y%m%dT%H%M%SZ}.{uuid4().hex}.warc.gz"
            if not self._store.put(f"{TOP}/{day}/{name}", self._records(name, group)):
                raise StorageError(f"{self._store.shown(f'{TOP}/{day}/{name}')} is another's")

    def _records(self, name: str, notes: Sequence[Note]) -> bytes:
        out = io.BytesIO()
        writer = warc.Writer(out)
        writer.info(name, self._software, written_at=notes[0].at)
        for note in notes:
            writer.note(note, self._stamps.take(note.at, [note.revisit.answer.url] if note.revisit else []))
        return out.getvalue()

    def close(self, now: datetime, *, cut_short: bool = False) -> None:
        """Put together the parts of days that are over. Stopped anywhere, it goes on where it was when called again."""
        before = (now - LATE).astimezone(UTC).date()
        waiting = [found.name for found in self._store.list(TOP) if found.name.count("/") == 3]
        for day, names in groupby(waiting, key=lambda name: name.split("/")[2]):
            if (own := _day(day)) is not None and own < before:
                self._together(day, list(names))

    def _together(self, day: str, names: list[str]) -> None:
        whole = _Wholes(self._store, day)
        for some in _chunks(self._read(names)):
            parts = {_first(data): data for _, data in some}
            while left := parts.keys() - whole.ids():
                whole.add(b"".join(data for part, data in parts.items() if part in left))
            self._store.delete(name for name, _ in some)

    def _read(self, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        """The parts that are there, each a sequence of whole records."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for start in range(0, len(names), AT_ONCE):
                some = names[start : start + AT_ONCE]
                for name, data in zip(some, pool.map(self._get, some), strict=True):
                    if data is None:
                        continue  # another owner was faster
                    if _first(data):
                        yield name, data
                    else:
                        logging.getLogger(__name__).warning("%s is damaged and stays by itself", name)

    def _get(self, name: str) -> bytes | None:
        try:
            return self._store.get(name)
        except UnreadableError:
            return None


class _Wholes:
    """The whole files of a day, `<day>.warc.gz`, `<day>.2.warc.gz` and so on, and what is in them."""

    def __init__(self, store: Store, day: str) -> None:
        self._store, self._day = store, day
        self._known: dict[str, frozenset[str]] = {}

    def ids(self) -> frozenset[str]:
        """The ids of all parts that are in them, read back."""
        for number in count(len(self._known) + 1):
            name = self._name(number)
            if self._store.find(name) is None:
                break
            with self._store.open(name) as file:
                self._known[name] = frozenset(_sound(file))
        return frozenset().union(*self._known.values())

    def add(self, data: bytes) -> None:
        name = self._name(len(self._known) + 1)
        if not self._store.put(name, data):
            return  # another owner was faster: the next look finds what it put there
        if self._store.get(name) != data:
            raise StorageError(f"{self._store.shown(name)} is not what was put there")
        self._known[name] = frozenset(_sound(io.BytesIO(data)))

    def _name(self, number: int) -> str:
        return f"{TOP}/{self._day}{f'.{number}' if number > 1 else ''}.warc.gz"


def _chunks(parts: Iterable[tuple[str, bytes]]) -> Iterator[list[tuple[str, bytes]]]:
    chunk: list[tuple[str, bytes]] = []
    size = 0
    for name, data in parts:
        if chunk and size + len(data) > MOST_WHOLE_BYTES:
            yield chunk
            chunk, size = [], 0
        chunk.append((name, data))
        size += len(data)
    if chunk:
        yield chunk


def _first(part: bytes) -> str:
    """A part's id, or "" where not all of its records hold."""
    found = list(_sound(io.BytesIO(part)))
    return found[0] if len(found) == 1 else ""


def _sound(file: IO[bytes]) -> Iterator[str]:
    """The ids of the parts of a file all of whose records hold."""
    part = ""
    try:
        for record in records(file):
            if record.kind == "warcinfo":
                if part:
                    yield part
                part = record.id
            if record.fault:
                part = ""
    except TornError:
        return
    if part:
        yield part


def _day(name: str) -> date | None:
    try:
        return date.fromisoformat(name)
    except ValueError:
        return None
