"""Decisions as files: `snapshots/_reviews/<stamp>.<n>.json`, each written whole before a row names it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count

from ..domain.errors import StorageError, UnreadableError
from ..domain.review import Decision, Review, Subject
from .store import FOLDER, Store

REVIEWS = "_reviews"


class ReviewFiles:
    """The journal in *store*. Raises StorageError."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def free_key(self, at: datetime) -> str:
        """A name for a decision of this second that no file has."""
        stamp = f"{at.astimezone(UTC):%Y%m%dT%H%M%SZ}"
        return next(f"{stamp}.{n}" for n in count(1) if self._store.find(_path(f"{stamp}.{n}")) is None)

    def write(self, review: Review) -> None:
        path = _path(review.key)
        if not self._store.put(path, _json(review)):
            raise StorageError(f"{self._store.shown(path)} is another decision; this one was not taken")

    def take_back(self, review: Review) -> None:
        """Remove a file whose row could not be written: nobody was told that the decision stands."""
        with suppress(StorageError):
            self._store.delete([_path(review.key)])

    def read(self, lost: list[tuple[str, str]]) -> Iterator[tuple[str, Review]]:
        """Every decision with its path, oldest first; what cannot be read goes to *lost* as (path, sentence)."""
        names = [f.name for f in self._store.list(f"{FOLDER}/{REVIEWS}") if f.name.endswith(".json")]
        for path in sorted(names, key=_order):
            try:
                yield path, _review(_key(path), self._store.get(path))
            except (UnreadableError, ValueError, KeyError, TypeError, OverflowError) as error:
                lost.append((path, f"the decision cannot be read: {error!r}"))


def _path(key: str) -> str:
    return f"{FOLDER}/{REVIEWS}/{key}.json"


def _key(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".json")


def _order(path: str) -> tuple[str, int, str]:
    stamp, _, number = _key(path).partition(".")
    return stamp, int(number) if number.isdecimal() else 0, path


def _json(review: Review) -> bytes:
    facts = {
        "source": review.subject.source,
        "record_id": review.subject.record,
        "at": f"{review.at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "by": review.by,
        "decision": review.decision,
        "holds": review.holds,
        "after": review.after,
        "note": review.note,
    }
    return (json.dumps(facts, ensure_ascii=False, indent=1) + "\n").encode("utf-8", "replace")


def _review(key: str, data: bytes) -> Review:
    facts = json.loads(data)
    return Review(
        key=key,
        subject=Subject(str(facts["source"]), str(facts["record_id"])),
        at=datetime.fromisoformat(facts["at"]).astimezone(UTC),
        by=str(facts["by"]),
        decision=Decision(facts["decision"]),
        holds=Decision(facts["holds"]) if facts["holds"] else None,
        after=str(facts["after"]),
        note=str(facts["note"]),
    )
