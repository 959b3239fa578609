"""What an editor sees in the morning: what needs somebody first, then what changed, then the rest."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from threading import Lock, Thread
from time import monotonic
from typing import Protocol, TypeVar
from urllib.parse import urlsplit

from ..domain.change import Significance, unpack_edits, unpack_picture
from ..domain.desk import OpenChange
from ..domain.errors import StorageError
from ..domain.report import ChangeLine, Line, QuoteGroup
from ..domain.review import Desk, Review, Subject
from ..domain.source import Settings, Source, SourceKind
from ..domain.standing import Standing
from .ports import Ledger
from .publish import SHOWN, View, in_need, moved, view

REPLACED = "content_replaced"
RECOVERED_DAYS = 14
QUICK_S = 0.2  # what is read as fast as this is read again for whoever asks
STALE_S = 60.0
LASTS_S = 300.0  # rows from a clock that was wrong come true by themselves
_T = TypeVar("_T")
SECTIONS = ("needs", "changes", "recovered", "unreadable", "moved", "quiet", "unchecked", "unlocated")


class Rows(Protocol):
    """Changes that nobody has decided about, a page at a time. Raises StorageError."""

    def changes(
        self,
        *,
        since: datetime | None,
        significance: Significance | None,
        among: Collection[str] | None,
        decided_too: bool,
        skip: int,
        most: int,
    ) -> tuple[set[str], int, list[OpenChange]]: ...


class Marks(Protocol):
    def mark(self) -> str: ...


class Reviews(Protocol):
    def desk(self) -> Desk: ...
    def last(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be shown; empty fields show all. *decided*: with the changes that were decided about."""

    tier: str = ""
    significance: Significance | None = None
    host: str = ""
    language: str = ""
    since: datetime | None = None
    decided: bool = False

    def takes(self, source: Source, parent: Source | None) -> bool:
        language = source.language or (parent.language if parent else "")
        return (
            (not self.tier or source.tier == self.tier)
            and (not self.host or self.host in (host_of(source), host_of(parent) if parent else ""))
            and (not self.language or language.startswith(self.language))
        )

    @property
    def narrows(self) -> bool:
        return bool(self.tier or self.host or self.language)


@dataclass(frozen=True, slots=True)
class Need:
    """Something that needs somebody: quotes of one source, or a source that cannot be read as it is cited.

    *line* is what is decided about: the source, or the figure that is a quote's only evidence. *review* is the newest
    decision about its present version, where one holds.
    """

    line: Line
    group: QuoteGroup | None = None
    review: Review | None = None
    newest: str = ""

    @property
    def source(self) -> Source:
        """The source that the site cites."""
        return self.group.source if self.group else self.line.source


@dataclass(frozen=True, slots=True)
class Overview:
    """*counts* has the whole number of each section, *lists* a page of it; *changes* likewise are a page of them.

    By a change's id: *newest* has the key of the newest decision about it, *versions* the version that it brought,
    *pictures* both versions where they are pictures.
    """

    counts: Mapping[str, int]
    needs: Sequence[Need]
    changes: Sequence[ChangeLine]
    lists: Mapping[str, Sequence[Line]]
    tiers: Sequence[str]
    hosts: Sequence[str]
    languages: Sequence[str]
    made_at: datetime
    newest: Mapping[int, str] = field(default_factory=dict)
    versions: Mapping[int, int] = field(default_factory=dict)
    pictures: Mapping[int, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Seen:
    """Where everything stood at one *mark* of the ledger; reading it took *took_s*.

    *last_decision* is the key of the newest decision that *needs* know of.
    """

    mark: str
    view: View
    lately: Mapping[str, Standing]
    lines: Sequence[Line]
    needs: Sequence[Need]
    hosts: Sequence[str]
    languages: Sequence[str]
    last_decision: str
    took_s: float


@dataclass(slots=True)
class Overviews:
    """Makes overviews; where everything stands is read again only when the ledger was written to since.

    Where that takes long, a page is not held up by it: it shows what was known a moment ago (and says of when that is),
    with the newest decisions, while it is read again beside.
    """

    settings: Settings
    ledger: Ledger
    rows: Rows
    marks: Marks
    reviews: Reviews
    _seen: Seen | None = None
    _lock: Lock = field(default_factory=Lock)
    _beside: Thread | None = None

    def seen(self, now: datetime) -> Seen:
        """Where everything stands. Raises StorageError."""
        with self._lock:
            known, mark = self._seen, self.marks.mark()
            age_s = (now - known.view.now).total_seconds() if known else 0.0
            if known is None or age_s > LASTS_S or (known.mark != mark and (known.took_s < QUICK_S or age_s > STALE_S)):
                self._seen = known = self._read(now)
            elif known.mark != mark:
                if self._beside is None or not self._beside.is_alive():
                    self._beside = Thread(target=self._read_beside, args=(now,), daemon=True)
                    self._beside.start()
                if known.last_decision != self.reviews.last():
                    self._seen = known = self._decided(known)
            return known

    def _read(self, now: datetime) -> Seen:
        began, mark, last = monotonic(), self.marks.mark(), self.reviews.last()  # what is written now is seen again
        seen = view(self.settings, self.ledger, now, self.reviews.desk())
        lately = self.ledger.recovered_since(now - timedelta(days=RECOVERED_DAYS), now)
        lines = [seen.line(s) for s in seen.sources.values() if s.mirror_of is None or not s.url]
        hosts = sorted({h for x in lines if (h := host_of(x.source))})
        languages = sorted({x.source.language for x in lines if x.source.language})
        needs = list(_needs(seen, lines))
        return Seen(mark, seen, lately, lines, needs, hosts, languages, last, monotonic() - began)

    def _read_beside(self, now: datetime) -> None:
        try:
            found = self._read(now)
        except StorageError as error:
            logging.getLogger(__name__).error("the desk cannot be read again: %s", error)
            return
        with self._lock:
            self._seen = found

    def _decided(self, known: Seen) -> Seen:
        last = self.reviews.last()
        seen = replace(known.view, desk=self.reviews.desk())
        return replace(known, view=seen, needs=list(_needs(seen, known.lines)), last_decision=last)

    def make(self, wanted: Wanted, now: datetime, *, section: str = "", skip: int = 0, most: int = 50) -> Overview:
        """An overview with at most *most* entries a section, of one *section* from entry *skip* on, where given."""
        here = self.seen(now)
        seen = here.view
        shown = [x for x in here.lines if wanted.takes(x.source, x.parent)] if wanted.narrows else here.lines
        needs = [n for n in here.needs if wanted.takes(n.source, n.line.parent)]
        among = {x.source.id for x in shown} if wanted.narrows else None
        start = skip if section == "changes" else 0
        changed, total, rows = self.rows.changes(
            since=wanted.since, significance=wanted.significance, among=among, decided_too=wanted.decided, skip=start,
            most=most if section in ("", "changes") else 0,
        )  # fmt: skip
        changes = [change_line(seen, row) for row in rows if row.row.source in seen.sources]
        lists = _lists(shown, here.lately, changed)
        counts = {"needs": len(needs), "changes": total, **{name: len(found) for name, found in lists.items()}}
        return Overview(
            counts=counts,
            needs=_page(needs, "needs", section, skip, most),
            changes=changes,
            lists={name: _page(found, name, section, skip, most) for name, found in lists.items()},
            tiers=list(self.settings.tiers),
            hosts=here.hosts,
            languages=here.languages,
            made_at=seen.now,
            newest={c.row.id: review.key for c in rows if (review := seen.desk.newest.get(_subject(c)))},
            versions={c.row.id: c.row.to_version for c in rows},
            pictures={c.row.id: (c.row.from_version, c.row.to_version) for c in rows if c.media_type in SHOWN},
        )


def host_of(source: Source) -> str:
    try:
        return urlsplit(source.url or "").hostname or ""
    except ValueError:
        return ""


def _page(entries: Sequence[_T], name: str, section: str, skip: int, most: int) -> Sequence[_T]:
    if section and section != name:
        return ()
    start = skip if section == name else 0
    return entries[start : start + most]


def _needs(seen: View, lines: Iterable[Line]) -> Iterable[Need]:
    """Quotes that do not stand or cannot be verified; sources that are dead or replaced; declared figures unread."""
    decided = {(r.subject.source, r.version): r for r in seen.desk.newest.values()}

    def need(line: Line, group: QuoteGroup | None) -> Need:
        review = decided.get((line.source.id, line.standing.version))
        return Need(line, group, review if review and review.holds else None, review.key if review else "")

    told: set[str] = set()
    for groups in in_need(seen):
        for group in groups:
            figure = next((q.figure for q in group.lines if q.figure), None)
            told |= {group.source.id, figure.source.id if figure else group.source.id}
            yield need(figure or seen.line(group.source), group)
    declared = {s.id for s in seen.settings.sources}
    for line in lines:
        standing = line.standing
        if standing.failing_since is None or line.source.id in told:
            continue
        replaced = standing.verdict is not None and standing.verdict.word == REPLACED
        figure_unread = line.source.kind is SourceKind.FIGURE and line.source.id in declared
        if standing.dead or replaced or figure_unread:
            yield need(line, None)


def _lists(shown: Sequence[Line], lately: Mapping[str, Standing], changed: set[str]) -> dict[str, list[Line]]:
    found: dict[str, list[Line]] = {name: [] for name in SECTIONS[2:]}
    for x in shown:
        if x.source.id in lately:
            found["recovered"].append(replace(x, standing=lately[x.source.id]))
        if moved(x):
            found["moved"].append(x)
        if x.standing.failing_since is not None:
            found["unreadable"].append(x)
        elif x.standing.checked_at is not None:
            if x.source.id not in changed and x.source.id not in lately and not moved(x):
                found["quiet"].append(x)
        elif x.source.url:
            found["unchecked"].append(x)
        elif not x.source.parent:
            found["unlocated"].append(x)
    return found


def _subject(change: OpenChange) -> Subject:
    return Subject(change.row.source, change.record)


def change_line(seen: View, change: OpenChange) -> ChangeLine:
    row, source = change.row, seen.sources[change.row.source]
    edits, title = unpack_edits(row.packed)
    review = seen.desk.newest.get(_subject(change))
    return ChangeLine(
        source=source,
        seen_at=row.seen_at,
        from_at=change.from_at,
        to_at=change.to_at,
        significance=row.significance,
        drift=row.drift,
        edits=edits,
        title=title,
        told=row.told,
        suppressed=row.suppressed,
        confirmed=row.confirmed_at is not None,
        parent=seen.sources.get(source.parent or source.mirror_of or ""),
        by_hand=row.by_hand,
        review=review if review is not None and review.holds else None,
        id=row.id,
        picture=unpack_picture(row.packed),
    )
