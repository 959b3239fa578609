"""What rows say against what files say: the part of verification that sees a row that somebody wrote by hand.

The archive tells of each source, day and verdict once, so a row's dates are compared by the day; within a day a last
date needs a run that was at work then.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import accumulate, chain
from typing import Any, Protocol

from ..domain.audit import CheckRow, Place, TextRow, Told
from ..domain.document import unpack
from ..domain.standing import CLOCKS_APART

WINDOW = timedelta(days=31)  # of checks that are compared at a time
ON_ITS_WAY = timedelta(hours=1)  # a note stands before its row
JUST_NOW = timedelta(minutes=10)  # what is written while files are read
FOREVER = datetime.max.replace(tzinfo=UTC)
KILLED_AFTER = timedelta(days=1)  # no run without an end was at work for longer

Fault = tuple[str, str]
"""A path, or the source of a row that no file is about, and a sentence."""
Seen = Mapping[str, Mapping[str, tuple[str, datetime, str]]]


class Rows(Protocol):
    """The ledger's side. Raises StorageError."""

    def checks(self, since: datetime, before: datetime) -> Sequence[CheckRow]: ...
    def runs(self) -> Sequence[tuple[datetime, datetime | None]]: ...
    def pruned_until(self) -> datetime | None: ...


@dataclass(slots=True)
class Facts:
    """The facts beside snapshots as they are walked over: each against its rows; what they tell is for `checks`."""

    places: Mapping[tuple[str, str], Place]
    seen: Seen
    told: list[Told] = field(default_factory=list)
    makers: dict[tuple[str, str], str] = field(default_factory=dict)

    def compare(self, path: str, meta: Mapping[str, Any]) -> Iterator[str]:
        """What the rows of a page and of its figures say otherwise."""
        for own in (meta, *meta.get("figures", ())):
            try:
                yield from self._one(path, own, meta)
            except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
                yield f"the facts of it cannot be compared: {error!r}"

    def _one(self, path: str, own: Mapping[str, Any], page: Mapping[str, Any]) -> Iterator[str]:
        source, accessed = str(own["source"]), bool(own["accessed"])
        at = datetime.fromisoformat(own["checked_at"]).astimezone(UTC)
        self.told.append(Told(source, at, str(own["verdict"]), accessed, path))
        warc = f"{path.rpartition('/')[0]}/{page['warc']}"
        place = self.places.get((warc, source))
        if place is None or not (accessed and own.get("changed")):
            return
        self.makers[warc, source] = str(own.get("maker", ""))
        hops: Sequence[Mapping[str, Any]] = own.get("hops") or ({},)
        may: dict[str, set[Any]] = {
            "captured_at": {datetime.fromisoformat(page["captured_at"]).astimezone(UTC)},
            "url": {own.get("asked"), own.get("cited"), hops[0].get("url")},
            "final_url": {own.get("final_url"), hops[-1].get("url")},
            "status": {own.get("status", place.status)},
            "record_id": {own.get("record_id")},
            "offset": {own.get("offset")},
        }
        if place.maker == own.get("maker"):  # other rules read another text
            may["text_sha256"] = {own.get("text_sha256", place.text_sha256)}
        for name, values in may.items():
            if getattr(place, name) not in values:
                yield f"its facts have another {name} of {source} than its row"
        yield from self._quotes(own, source, at)

    def _quotes(self, own: Mapping[str, Any], source: str, at: datetime) -> Iterator[str]:
        """Quotes that were looked for in that very check, by the same rules."""
        told = {s["quote"]: s["sighting"] for s in own.get("sightings", ())}
        for quote, (kind, when, maker) in self.seen.get(str(own.get("record_id")), {}).items():
            if when == at and maker == own.get("maker") and told.get(quote) != kind:
                yield f"a row says that a quote of {source} is {kind}, its facts say {told.get(quote, 'nothing of it')}"


def texts(rows: Iterable[TextRow], makers: Mapping[tuple[str, str], str]) -> Iterator[Fault]:
    """Kept texts that are not those of their versions; one that later rules read again is another by right."""
    for row in rows:
        try:
            held = unpack(row.packed).text_sha256 if row.packed is not None else ""
        except Exception:  # whatever somebody wrote there
            yield row.path, f"the text of {row.source} in the database cannot be read"
            continue
        if row.packed is None:
            yield row.path, f"the text of {row.source} is not in the database"
        elif held != row.text_sha256 and makers.get((row.path, row.source)) == row.maker:
            yield row.path, f"the text of {row.source} in the database is not that of its version"


def checks(
    rows: Rows,
    told: Sequence[Told],
    noted: Iterable[tuple[date, Sequence[Told]]],
    removed: Collection[str],
    lost: Collection[tuple[str, date]],
    now: datetime,
) -> Iterator[Fault]:
    """Rows of checks of which no file tells, and files' checks of which no row tells.

    *told* are those beside snapshots, *noted* those of the days' files, oldest day first. *removed* are paths that
    retention removed, *lost* sources and days whose facts are gone or damaged, which is told already.
    """
    at_work, pruned = _AtWork(rows.runs()), rows.pruned_until()
    days: dict[date, list[Told]] = {}
    for one in told:
        days.setdefault(one.at.date(), []).append(one)
    since, began = date.min, date.max
    for day, some in chain(noted, [(date.max, ())]):
        for one in some:
            days.setdefault(one.at.date(), []).append(one)
        began = min(began, day)
        if day - began >= WINDOW or day == date.max:
            known = [one for d in sorted(d for d in days if d < day or day == date.max) for one in days.pop(d)]
            first, before = _start(since), _start(day) if day != date.max else FOREVER
            found = rows.checks(first, before)
            yield from _of_rows(found, known, first, before, removed, lost, at_work, now)
            yield from _of_files(found, known, pruned, now)
            since = began = day


def _start(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


@dataclass(slots=True)
class _AtWork:
    """Whether any run was at work at a time."""

    runs: Sequence[tuple[datetime, datetime | None]]
    _starts: list[datetime] = field(init=False)
    _ends: list[datetime] = field(init=False)

    def __post_init__(self) -> None:
        self._starts = [start for start, _ in self.runs]
        self._ends = list(accumulate((end or start + KILLED_AFTER for start, end in self.runs), max))

    def at(self, moment: datetime) -> bool:
        before = bisect_right(self._starts, moment + CLOCKS_APART)
        return before > 0 and self._ends[before - 1] >= moment - CLOCKS_APART


def _of_rows(
    rows: Iterable[CheckRow],
    told: Iterable[Told],
    since: datetime,
    before: datetime,
    removed: Collection[str],
    lost: Collection[tuple[str, date]],
    at_work: _AtWork,
    now: datetime,
) -> Iterator[Fault]:
    known: dict[tuple[str, date, str, bool], list[datetime]] = {}
    for one in told:
        known.setdefault((one.source, one.at.date(), one.word, one.accessed), []).append(one.at)
    for row in rows:
        if row.by_hand or row.dropped or row.evidence in removed:
            continue
        for at in dict.fromkeys((row.first_at, row.last_at)):
            if not since <= at < before or now - JUST_NOW < at <= now + CLOCKS_APART:
                continue
            of_day = known.get((row.source, at.date(), row.word, row.accessed), ())
            if (row.source, at.date()) in lost:
                continue
            if not any(x <= at for x in of_day):
                yield row.source, f"a row says {row.word} on {at:%Y-%m-%dT%H:%M:%SZ}, and no file tells so of that day"
            elif at not in of_day and not at_work.at(at):
                yield row.source, f"a row says {row.word} on {at:%Y-%m-%dT%H:%M:%SZ}, and no run was at work then"


def _of_files(
    rows: Iterable[CheckRow], told: Iterable[Told], pruned: datetime | None, now: datetime
) -> Iterator[Fault]:
    spans: dict[str, list[tuple[date, date]]] = {}
    for row in rows:
        spans.setdefault(row.source, []).append((row.first_at.date(), row.last_at.date()))
    for one in told:
        day = one.at.date()
        if one.at > now - ON_ITS_WAY or (pruned is not None and one.at < pruned):
            continue
        if not any(first <= day <= last for first, last in spans.get(one.source, ())):
            yield one.where, f"it tells of a check of {one.source} on {one.at:%Y-%m-%d}, and no row does"
