"""Snapshots on disk: `snapshots/<id>/<YYYY>/<stamp>.warc.gz` with `.md` (the text) and `.json` (meta) beside it.

A file is written under another name, synced, renamed, and its folder synced, before any row names it: a crash leaves
waste, never a row that points at nothing. Walls and soft 404s lie under `_refused/`, outside replay.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ..domain.capture import Capture, Exchange, Failure
from ..domain.errors import StorageError
from ..domain.kept import Part, Stored
from . import warc
from .durable import make_folders, sync_folder, write_whole

FOLDER = "snapshots"


class Snapshots:
    """The tree under *data*/snapshots. Every failure of the disk is a StorageError."""

    def __init__(self, data: Path, software: str) -> None:
        self._data = data
        self._software = software

    def keep(
        self,
        folder: str,
        at: datetime,
        parts: Sequence[Part],
        text: str | None,
        meta: Mapping[str, Any],
        *,
        refused: bool = False,
    ) -> dict[str, Stored]:
        """Write one snapshot: the WARC with all *parts*, the text and the meta. Where each capture lies, by source."""
        place = Path(FOLDER, "_refused", folder) if refused else Path(FOLDER, folder)
        with _disk(self._data / place):
            year = self._data / place / f"{at.astimezone(UTC):%Y}"
            make_folders(year, self._data)
            at, name = _free_name(year, at)
            relative = (place / year.name / name).as_posix()
            body, placed = self._warc(f"{name}.warc.gz", at, parts)
            write_whole(year / f"{name}.warc.gz", body)
            if text is not None:
                write_whole(year / f"{name}.md", text.encode("utf-8", "replace"))
            write_whole(
                year / f"{name}.json", _json({**meta, "captured_at": warc.stamp(at), "warc": f"{name}.warc.gz"})
            )
            sync_folder(year)
        text_path = f"{relative}.md" if text is not None else ""
        return {
            source: _stored(f"{relative}.warc.gz", text_path, at, capture, where)
            for source, (capture, where) in placed.items()
        }

    def _warc(
        self, filename: str, at: datetime, parts: Sequence[Part]
    ) -> tuple[bytes, dict[str, tuple[Capture, warc.Placed]]]:
        out = io.BytesIO()
        writer = warc.Writer(out, filename, self._software, written_at=at)
        placed: dict[str, tuple[Capture, warc.Placed]] = {}
        page = ""
        for part in parts:
            for exchange, facts in warc.chain(part.fetched.exchanges):
                where = writer.exchange(exchange, at, {**facts, **part.facts})
                if isinstance(part.fetched, Capture):
                    placed[part.source] = part.fetched, where
                    page = page or where.record_id
            if isinstance(part.fetched, Failure):
                writer.failure(part.fetched, part.facts, concurrent_to=page)
        return out.getvalue(), placed

    def exchange(self, path: str, offset: int) -> Exchange:
        """A kept response, read back. Raises StorageError when the file or the record is gone or damaged."""
        try:
            with (self._data / path).open("rb") as file:
                return warc.read_response(file, offset)
        except (OSError, ValueError) as error:
            raise StorageError(f"the snapshot {path} cannot be read back: {error}") from error


def _stored(path: str, text_path: str, at: datetime, capture: Capture, where: warc.Placed) -> Stored:
    answer = capture.answer
    return Stored(
        path=path,
        record_id=where.record_id,
        offset=where.offset,
        captured_at=at,
        url=capture.exchanges[0].url,
        final_url=capture.final_url,
        status=answer.status,
        media_type=answer.media_type,
        body_sha256=answer.body_sha256,
        etag=answer.header("etag"),
        last_modified=answer.header("last-modified"),
        size_bytes=len(answer.body),
        text_path=text_path,
    )


def _free_name(folder: Path, at: datetime) -> tuple[datetime, str]:
    """The stamp of *at*, or of the first later second that no snapshot of this source has taken."""
    at = at.astimezone(UTC).replace(microsecond=0)
    while (folder / f"{at:%Y%m%dT%H%M%SZ}.warc.gz").exists():
        at += timedelta(seconds=1)
    return at, f"{at:%Y%m%dT%H%M%SZ}"


def _json(meta: Mapping[str, Any]) -> bytes:
    return (json.dumps(meta, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode("utf-8", "replace")


@contextmanager
def _disk(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(f"{place} cannot be written: {error.strerror or error}") from error
