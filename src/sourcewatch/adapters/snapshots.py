"""Snapshots: `snapshots/<id>/<YYYY>/<stamp>.warc.gz` with `.md` (the text) and `.json` (meta) beside it.

All files of one are safe in the folder or the bucket before any row names them: a crash leaves waste, never a row that
points at nothing. Walls and soft 404s lie under `_refused/`, outside replay.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from ..domain.capture import Capture, Exchange, Failure
from ..domain.errors import UnreadableError
from ..domain.kept import Note, Part, Stored
from . import warc
from .parts import days_of
from .stamps import Stamps
from .store import FOLDER, Store


class Snapshots:
    """The snapshots of a folder or a bucket. Every failure of the storage is a StorageError."""

    def __init__(self, store: Store, software: str) -> None:
        self._store = store
        self._software = software
        self._stamps = Stamps()
        self._days = days_of(store, software, self._stamps)
        self._noting = self._days[0]

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
        """Write one snapshot: the WARC with all *parts*, the text and the meta. Where each capture lies, by source.

        Of two of one address in one second, by whatever process, the second is dated a second later.
        """
        place = f"{FOLDER}/_refused/{folder}" if refused else f"{FOLDER}/{folder}"
        place = f"{place}/{at.astimezone(UTC):%Y}"
        urls = [e.url for e in parts[0].fetched.exchanges] or [place]
        while True:
            at = self._stamps.take(at, urls)
            name = f"{at:%Y%m%dT%H%M%SZ}"
            body, placed = self._warc(f"{name}.warc.gz", at, parts)
            facts = _with_places(meta, placed) | {"captured_at": warc.stamp(at), "warc": f"{name}.warc.gz"}
            files = {f"{name}.json": _json(facts)}
            files |= {} if text is None else {f"{name}.md": text.encode("utf-8", "replace")}
            files |= {f"{name}.warc.gz": body}  # who has the last has all
            if self._store.put_together(place, files):
                break
        text_path = f"{place}/{name}.md" if text is not None else ""
        return {
            source: _stored(f"{place}/{name}.warc.gz", text_path, at, capture, where)
            for source, (capture, where) in placed.items()
        }

    def _warc(
        self, filename: str, at: datetime, parts: Sequence[Part]
    ) -> tuple[bytes, dict[str, tuple[Capture, warc.Placed]]]:
        out = io.BytesIO()
        writer = warc.Writer(out)
        writer.info(filename, self._software, written_at=at)
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
        asked = {e.url for part in parts for e in part.fetched.exchanges}
        for part in parts:
            if isinstance(part.fetched, Capture) and (view := part.fetched.view) is not None:
                alone = tuple(o for o in view.others if o.url not in asked)  # one capture an address and second
                record = placed[part.source][1].record_id
                writer.view(replace(view, others=alone), part.fetched.final_url, at, record)
        return out.getvalue(), placed

    def note(self, notes: Sequence[Note]) -> None:
        """Write checks that brought no new version into the files of their days; synced when this returns."""
        self._noting.append(notes)

    def share(self) -> None:
        """Other processes note checks here at the same time from now on."""
        self._noting = self._days[-1]

    def tidy(self, now: datetime, *, cut_short: bool) -> None:
        """Close the daily files of days that are over; when the last run was *cut_short*, finish or clear what it left
        half written. The caller holds the run lock."""
        for days in self._days:
            days.close(now, cut_short=cut_short)
        if cut_short:
            self._store.clear()

    def exchange(self, path: str, offset: int) -> Exchange:
        """A kept response, read back. Raises UnreadableError when the file or the record is gone or damaged."""
        try:
            with self._store.open(path) as file:
                return warc.read_response(file, offset)
        except (UnreadableError, OSError, ValueError) as error:
            raise UnreadableError(f"the snapshot {path} cannot be read back: {error}") from error

    def screenshot(self, path: str) -> bytes:
        """What a browser saw of a snapshot's page, a PNG; b"" where none was kept. Raises UnreadableError."""
        try:
            with self._store.open(path) as file:
                return warc.read_screenshot(file)
        except (UnreadableError, OSError, ValueError) as error:
            raise UnreadableError(f"the screenshot in {path} cannot be read back: {error}") from error


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


def _with_places(meta: Mapping[str, Any], placed: Mapping[str, tuple[Capture, warc.Placed]]) -> dict[str, Any]:
    """The meta with where each source's response lies in the WARC: the page's own, and that of each of its figures."""
    found = dict(meta)
    if (one := placed.get(str(meta.get("source")))) is not None:
        found |= {"record_id": one[1].record_id, "offset": one[1].offset}
    if "figures" in meta:
        found["figures"] = [_with_places(figure, placed) for figure in meta["figures"]]
    return found


def _json(meta: Mapping[str, Any]) -> bytes:
    return (json.dumps(meta, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode("utf-8", "replace")
