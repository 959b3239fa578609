"""The archive read without a database: each day's checks, from the facts beside the snapshots and the days' files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from ..domain.recorded import Lies, Recorded
from ..domain.source import SourceKind
from ..domain.verdict import WORDS, Verdict
from . import manifest
from .daily import FOLDER_NAME as CHECKS
from .review_files import REVIEWS
from .snapshots import FOLDER
from .warc_walk import TornError, walk

_OWN = frozenset((
    "source", "kind", "parent", "title", "alt", "cited", "asked", "final_url", "checked_at", "ms", "verdict",
    "accessed", "rule", "evidence", "status", "changed", "payload_sha256", "text_sha256", "maker", "record_id",
    "offset", "figures", "saw", "captured_at", "warc", "content_type", "document_title", "form", "notes",
    "sightings", "attempts",
))  # fmt: skip
# What has a column or a table of its own; everything else of the facts beside a snapshot are the row's facts.


class Archive:
    """The tree under *data*/snapshots. What cannot be read is collected in *lost*: (path, sentence)."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._tree = data / FOLDER
        self.lost: list[tuple[str, str]] = []
        self._by_day: dict[date, list[Path]] = {}
        self._told: dict[date, tuple[list[Recorded], set[int]]] = {}
        for path in manifest.snapshot_files(self._tree):
            self._sort_in(path)
        for path in sorted((self._tree / CHECKS).glob("*.open")):
            self._sort_in(path)

    def _sort_in(self, path: Path) -> None:
        if (day := manifest.day_of(path.name)) is None or path.parent.name == REVIEWS:
            return
        if path.name.endswith(".json") or path.parent.name == CHECKS:
            self._by_day.setdefault(day, []).append(path)
        elif path.name.endswith(".warc.gz") and not path.with_name(path.name[:-8] + ".json").is_file():
            self.lost.append((self._relative(path), "there are no facts beside it"))

    def days(self) -> list[date]:
        """The days that anything is told of, in order."""
        return sorted(self._by_day)

    def groups(self, day: date) -> list[tuple[Recorded, ...]]:
        """A day's checks in the order of time: a page together with the figures that its file tells of."""
        groups = [tuple(self._sidecar(path)) for path in self._by_day.get(day, ()) if path.name.endswith(".json")]
        told = {(one.source, one.at) for group in groups for one in group}
        groups += [(one,) for one in self._daily(day)[0] if (one.source, one.at) not in told]
        return sorted((g for g in groups if g), key=lambda g: (g[0].at, g[0].source))

    def voids(self, day: date) -> set[int]:
        """Runs of which a day's file, or the next one's (a run may pass midnight), says that they prove nothing."""
        found = self._daily(day)[1] | self._daily(day + timedelta(days=1))[1]
        self._told = {d: told for d, told in self._told.items() if d > day}
        return found

    def _daily(self, day: date) -> tuple[list[Recorded], set[int]]:
        if day not in self._told:
            checks: list[Recorded] = []
            voids: set[int] = set()
            for path in self._by_day.get(day, ()):
                if path.parent.name == CHECKS:
                    self._notes(path, checks, voids)
            self._told[day] = checks, voids
        return self._told[day]

    def _notes(self, path: Path, checks: list[Recorded], voids: set[int]) -> None:
        try:
            for record in walk(path):
                if record.kind != "metadata" or record.fault:
                    continue
                fields = record.fields
                if fields.get("sourcewatch-void"):
                    voids.add(int(fields["run"]))
                elif fields.get("sourcewatch-check"):
                    checks.append(_noted(fields, self._relative(path)))
        except TornError as torn:
            if not path.name.endswith(".open"):  # an open file is cut back when it goes on
                self.lost.append((self._relative(path), f"{torn}; what stands before it was read"))
        except (OSError, ValueError, KeyError) as error:
            self.lost.append((self._relative(path), f"it cannot be read: {error}"))

    def _sidecar(self, path: Path) -> Iterator[Recorded]:
        where = self._relative(path)
        try:
            meta = json.loads(path.read_bytes())
            found = [self._beside(meta, meta, path)]
            found += [self._beside(figure, meta, path) for figure in meta.get("figures", ())]
        except (OSError, ValueError, KeyError, TypeError) as error:
            self.lost.append((where, f"the facts beside the snapshot cannot be read: {error!r}"))
            return
        for one in found:
            if one.new is not None and not (self._data / one.new.path).is_file():
                self.lost.append((one.new.path, f"the snapshot of {one.source} is not there"))
            elif one.verdict.accessed and one.new is None and not one.saw:
                self.lost.append((where, f"it does not say which version of {one.source} was seen"))
            else:
                yield one

    def _beside(self, own: Mapping[str, Any], page: Mapping[str, Any], path: Path) -> Recorded:
        """One check out of the facts beside a snapshot: the page's own, or one of its figures'."""
        warc = self._relative(path.with_name(page["warc"]))
        new = own.get("changed") and own["accessed"]
        hops = own.get("hops") or [{}]
        facts = {key: value for key, value in own.items() if key not in _OWN}
        if own is page and page.get("figures"):
            facts["embeds"] = [
                {"id": f["source"], "url": f["cited"], "alt": f.get("alt", ""), "verdict": f["verdict"]}
                for f in page["figures"]
            ]
        if "/_refused/" in warc:
            facts["evidence_path"] = warc
        return Recorded(
            source=own["source"],
            at=_moment(own["checked_at"]),
            verdict=_verdict(own["verdict"], own["rule"], own["evidence"]),
            where=self._relative(path),
            kind=SourceKind(own["kind"]),
            parent=own.get("parent"),
            title=own.get("title", ""),
            alt=own.get("alt", ""),
            cited=own.get("cited") or "",
            asked=own.get("asked") or own.get("cited") or "",
            final_url=own.get("final_url") or hops[-1].get("url") or own.get("cited") or "",
            status=own.get("status", 0),
            seconds=own.get("ms", 0) / 1000,
            attempts=own.get("attempts", 1),
            new=Lies(warc, own["offset"], own["record_id"], _moment(page["captured_at"])) if new else None,
            saw=own.get("saw", {}).get("record_id", ""),
            facts=facts,
        )

    def _relative(self, path: Path) -> str:
        return path.relative_to(self._data).as_posix()


def _noted(fields: Mapping[str, str], where: str) -> Recorded:
    return Recorded(
        source=fields["source"],
        at=_moment(fields["checked-at"]),
        verdict=_verdict(fields["verdict"], fields.get("rule", ""), fields.get("evidence", "")),
        where=where,
        kind=SourceKind(fields["kind"]),
        parent=fields.get("parent") or None,
        title=fields.get("title", ""),
        alt=fields.get("alt", ""),
        cited=fields.get("cited-url", ""),
        asked=fields.get("cited-url", ""),
        final_url=fields.get("final-url") or fields.get("cited-url", ""),
        status=int(fields.get("status", "0")),
        seconds=int(fields.get("ms", "0")) / 1000,
        attempts=int(fields.get("attempts", "1")),
        run=int(fields["run"]) if fields.get("run") else None,
        saw=fields.get("version-record", ""),
    )


def _verdict(word: str, rule: str, evidence: str) -> Verdict:
    if word not in WORDS:
        raise ValueError(f"{word!r} is no verdict that this version knows")
    return Verdict(word, rule, evidence)


def _moment(text: str) -> datetime:
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError(f"{text!r} has no zone")
    return at.astimezone(UTC)
