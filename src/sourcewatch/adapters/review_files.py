"""Decisions on disk: `snapshots/_reviews/<stamp>.<n>.json`, each written whole before a row names it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from ..domain.review import Decision, Review, Subject
from .durable import disk, make_folders, sync_folder, write_whole
from .snapshots import FOLDER

REVIEWS = "_reviews"


class ReviewFiles:
    """The journal under *data*/snapshots. Raises StorageError."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._folder = data / FOLDER / REVIEWS

    def free_key(self, at: datetime) -> str:
        """A name for a decision of this second that no file has."""
        stamp = f"{at.astimezone(UTC):%Y%m%dT%H%M%SZ}"
        taken = {path.name for path in self._folder.glob(f"{stamp}.*.json")}
        return next(f"{stamp}.{n}" for n in range(1, len(taken) + 2) if f"{stamp}.{n}.json" not in taken)

    def write(self, review: Review) -> None:
        path = self._path(review.key)
        with disk(path):
            make_folders(self._folder, self._data)
            write_whole(path, _json(review))
            sync_folder(self._folder)

    def take_back(self, review: Review) -> None:
        """Remove a file whose row could not be written: nobody was told that the decision stands."""
        with suppress(OSError):
            self._path(review.key).unlink()

    def read(self, lost: list[tuple[str, str]]) -> Iterator[tuple[str, Review]]:
        """Every decision with its path, oldest first; what cannot be read goes to *lost* as (path, sentence)."""
        for path in sorted(self._folder.glob("*.json"), key=_order):
            where = path.relative_to(self._data).as_posix()
            try:
                yield where, _review(path.name.removesuffix(".json"), path.read_bytes())
            except (OSError, ValueError, KeyError, TypeError) as error:
                lost.append((where, f"the decision cannot be read: {error!r}"))

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.json"


def _order(path: Path) -> tuple[str, int, str]:
    stamp, _, number = path.name.removesuffix(".json").partition(".")
    return stamp, int(number) if number.isdecimal() else 0, path.name


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
