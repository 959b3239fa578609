"""The archive read without a database: each day's checks, from the facts beside the snapshots and the days' files.

What a day's parts and the whole that they were put together in both tell is read once.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from ..domain.errors import UnreadableError
from ..domain.recorded import Lies, Recorded
from ..domain.source import SourceKind
from ..domain.verdict import WORDS, Verdict
from . import manifest
from .review_files import REVIEWS
from .store import CHECKS, FOLDER, Store
from .warc_walk import TornError, records

_OWN = frozenset((
    "source", "kind", "parent", "title", "alt", "cited", "asked", "final_url", "checked_at", "ms", "verdict",
    "accessed", "rule", "evidence", "status", "changed", "payload_sha256", "text_sha256", "maker", "record_id",
    "offset", "figures", "saw", "captured_at", "warc", "content_type", "document_title", "form", "notes",
    "sightings", "attempts", "reader",
))  # fmt: skip
# What has a column or a table of its own; everything else of the facts beside a snapshot are the row's facts.


class Archive:
    """The snapshots in *store*. What cannot be read is collected in *lost*: (path, sentence). Raises StorageError."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.lost: list[tuple[str, str]] = []
        self._by_day: dict[date, list[str]] = {}
        self._told: dict[date, tuple[list[Recorded], set[int]]] = {}
        facts = ""
        for found in store.list(FOLDER):  # sorted: the facts come before the file that they lie beside
            self._sort_in(found.name, facts)
            facts = found.name if found.name.endswith(".json") else facts

    def _sort_in(self, path: str, facts: str) -> None:
        _, *folders, name = path.split("/")
        if (day := manifest.day_of(name)) is None or not folders or folders[-1] in (REVIEWS, manifest.FOLDER_NAME):
            return
        if name.endswith(".json") or folders[0] == CHECKS:
            self._by_day.setdefault(day, []).append(path)
        elif name.endswith(".warc.gz") and path.removesuffix(".warc.gz") + ".json" != facts:
            self.lost.append((path, "there are no facts beside it"))

    def days(self) -> list[date]:
        """The days that anything is told of, in order."""
        return sorted(self._by_day)

    def groups(self, day: date) -> list[tuple[Recorded, ...]]:
        """A day's checks in the order of time: a page together with the figures that its file tells of."""
        groups = [tuple(self._sidecar(path)) for path in self._by_day.get(day, ()) if path.endswith(".json")]
        told = {(one.source, one.at) for group in groups for one in group}
        groups += [(one,) for one in self._daily(day)[0] if (one.source, one.at) not in told]
        return sorted((g for g in groups if g), key=lambda g: (g[0].at, g[0].source))

    def noted(self, day: date) -> list[Recorded]:
        """The checks that a day's files tell of, without the facts beside snapshots."""
        found = self._daily(day)[0]
        self._told = {d: told for d, told in self._told.items() if d > day}
        return found

    def voids(self, day: date) -> set[int]:
        """Runs of which a day's file, or the next one's (a run may pass midnight), says that they prove nothing."""
        found = self._daily(day)[1] | self._daily(day + timedelta(days=1))[1]
        self._told = {d: told for d, told in self._told.items() if d > day}
        return found

    def _daily(self, day: date) -> tuple[list[Recorded], set[int]]:
        if day not in self._told:
            checks: list[Recorded] = []
            voids: set[int] = set()
            seen: set[str] = set()
            wanted, read = [p for p in self._by_day.get(day, ()) if _is_daily(p)], set[str]()
            while wanted:
                gone = [path for path in wanted if not self._notes(path, seen, checks, voids)]
                read.update(wanted)
                # a part that is gone was put into a whole that was not there when the files were listed
                wanted = [p for p in self._dailies(day) if p not in read] if any(_is_part(p) for p in gone) else []
            self._told[day] = checks, voids
        return self._told[day]

    def _dailies(self, day: date) -> list[str]:
        names = [found.name for found in self._store.list(f"{FOLDER}/{CHECKS}")]
        return [name for name in names if manifest.day_of(name.rpartition("/")[2]) == day]

    def _notes(self, path: str, seen: set[str], checks: list[Recorded], voids: set[int]) -> bool:
        """Read a day's file, but for the parts that were *seen* elsewhere; whether it is there."""
        again = False
        try:
            with self._store.open(path) as file:
                for record in records(file):
                    if record.kind == "warcinfo":
                        again = record.id in seen
                        seen.add(record.id)
                    elif not again and record.kind == "metadata" and not record.fault:
                        self._note(record.fields, path, checks, voids)
        except TornError as torn:
            if not path.endswith(".open"):  # an open file is cut back when it goes on
                self.lost.append((path, f"{torn}; what stands before it was read"))
        except UnreadableError as error:
            if _is_part(path) and self._store.find(path) is None:
                return False
            self.lost.append((path, f"it cannot be read: {error}"))
        except (OSError, ValueError, KeyError) as error:
            self.lost.append((path, f"it cannot be read: {error}"))
        return True

    def _note(self, fields: Mapping[str, str], path: str, checks: list[Recorded], voids: set[int]) -> None:
        if fields.get("sourcewatch-void"):
            voids.add(int(fields["run"]))
        elif fields.get("sourcewatch-check"):
            checks.append(_noted(fields, path))

    def _sidecar(self, path: str) -> Iterator[Recorded]:
        try:
            meta = json.loads(self._store.get(path))
            found = [self._beside(meta, meta, path)]
            found += [self._beside(figure, meta, path) for figure in meta.get("figures", ())]
        except (UnreadableError, ValueError, KeyError, TypeError) as error:
            self.lost.append((path, f"the facts beside the snapshot cannot be read: {error!r}"))
            return
        for one in found:
            if one.new is not None and self._store.find(one.new.path) is None:
                self.lost.append((one.new.path, f"the snapshot of {one.source} is not there"))
            elif one.verdict.accessed and one.new is None and not one.saw:
                self.lost.append((path, f"it does not say which version of {one.source} was seen"))
            else:
                yield one

    def _beside(self, own: Mapping[str, Any], page: Mapping[str, Any], path: str) -> Recorded:
        """One check out of the facts beside a snapshot: the page's own, or one of its figures'."""
        warc = f"{path.rpartition('/')[0]}/{page['warc']}"
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
            where=path,
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


def _is_daily(path: str) -> bool:
    return path.split("/")[1] == CHECKS


def _is_part(path: str) -> bool:
    return path.count("/") == 3


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
    try:
        return at.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{text!r} is no time that UTC has") from None
