"""What editors and the site are told: the report's values, and the site's dates. Read from the ledger, never stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from ..analysis import trends
from ..analysis.telling import with_declared
from ..domain import trend
from ..domain.change import Sighting, SightingKind, held, unpack_edits, unpack_picture
from ..domain.copies import OutsideCopy
from ..domain.errors import StorageError
from ..domain.kept import ChangeRow, Quoted, VersionRow
from ..domain.move import Move
from ..domain.report import ChangeLine, ClaimLine, Line, Picture, QuoteGroup, QuoteLine, Report, SecondHand
from ..domain.review import Desk, Review, Subject
from ..domain.source import Quote, Settings, Source, SourceKind
from ..domain.standing import Standing
from .ports import Ledger, Outbox, Snapshots, Trends

SHOWN = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})  # no SVG: it may hold scripts
MOST_PICTURE_BYTES = 400_000  # a report is one file that is mailed
UNDECIDED = Desk()
_NO_TRENDS = trend.Trends()
_NONE: Mapping[str, OutsideCopy] = {}
MOST_CHANGES = 500  # newest first; a longer report is not read


@dataclass(frozen=True, slots=True)
class View:
    """Everything of the ledger that a report or an export needs, read once. *desk*: what editors decided; *shown*: the
    figures of each page, *mirrors*: the copies of each source, by its id."""

    settings: Settings
    now: datetime
    sources: Mapping[str, Source]
    standings: Mapping[str, Standing]
    quoted: Mapping[str, list[Quoted]]
    desk: Desk = UNDECIDED
    shown: Mapping[str, list[Source]] = field(default_factory=dict)
    mirrors: Mapping[str, list[Source]] = field(default_factory=dict)

    def line(self, source: Source) -> Line:
        of = source.parent or source.mirror_of
        standing = self.standings.get(source.id, Standing())
        return Line(source, standing, self.sources.get(of) if of else None, second_hand=self._second(source, standing))

    def _second(self, source: Source, standing: Standing) -> tuple[SecondHand, ...]:
        """What was read, or could not be, in the source's place; nothing where the source itself can be read."""
        if standing.failing_since is None or source.id not in self.mirrors:
            return ()
        lacks = tuple(f.called for f in self.figures(source))
        found = []
        for mirror in self.mirrors[source.id]:
            there = self.standings.get(mirror.id)
            if there is not None and there.checked_at is not None:
                own = {q.key for q in mirror.quotes}
                stand = held((q.sighting for q in self.quoted.get(mirror.id, ())), own)
                known = standing.last_accessed is not None
                found.append(SecondHand(mirror, there, stand, len(own), lacks, known))
        return tuple(found)

    def figures(self, page: Source) -> list[Source]:
        return self.shown.get(page.id, [])


def view(settings: Settings, ledger: Ledger, now: datetime, desk: Desk = UNDECIDED) -> View:
    """Read the ledger."""
    sources = known(settings, ledger)
    shown: dict[str, list[Source]] = {}
    mirrors: dict[str, list[Source]] = {}
    for source in sources.values():
        if source.parent:
            shown.setdefault(source.parent, []).append(source)
        elif source.mirror_of:
            mirrors.setdefault(source.mirror_of, []).append(source)
    return View(settings, now, sources, ledger.standings(now), ledger.newest_sightings(now), desk, shown, mirrors)


def of_one(settings: Settings, ledger: Ledger, source: Source, now: datetime) -> Line:
    """One source's line, with what was read second-hand in its place; nothing of the others is read."""
    sources = known(settings, ledger)
    about = [s for s in sources.values() if source.id in (s.id, s.parent, s.mirror_of)]
    standings = {s.id: ledger.standing_of(s.id, now) for s in about}
    versions = {s.id: standings[s.id].version for s in about if s.mirror_of}
    quoted = {i: [Quoted(s, now, None) for s in ledger.sightings(v)] for i, v in versions.items() if v is not None}
    shown = {source.id: [s for s in about if s.parent == source.id]}
    mirrors = {source.id: [s for s in about if s.mirror_of == source.id]}
    return View(settings, now, sources, standings, quoted, shown=shown, mirrors=mirrors).line(source)


def known(settings: Settings, ledger: Ledger) -> dict[str, Source]:
    """Every source by its id: figures that pages were seen to show stand beside the declared ones."""
    declared = {s.id: s for s in settings.sources}
    found: dict[str, Source] = {}
    for figure in ledger.figures():
        page = declared.get(figure.parent or "")
        if figure.id in declared:
            found[figure.id] = replace(declared[figure.id], url=figure.url)
        elif page is not None:
            found[figure.id] = replace(figure, cited_on=page.cited_on, every_s=page.every_s)
    return declared | found


def report(
    settings: Settings,
    ledger: Ledger,
    now: datetime,
    since: datetime | None = None,
    snapshots: Snapshots | None = None,
    outbox: Outbox | None = None,
    desk: Desk = UNDECIDED,
    history: Trends | None = None,
    outside: Mapping[str, OutsideCopy] = _NONE,
    proposals: Iterable[Move] = (),
) -> Report:
    """The report of everything that happened since, and of where everything stands now.

    Changed pictures are read back from *snapshots*, where given, to be shown side by side; what was told, and what
    could not be delivered, from *outbox*; how sources fared over half a year, from *history*. What an editor has
    accepted (*desk*) needs nobody any more. *proposals* are those that nobody has decided about.
    """
    seen = view(settings, ledger, now, desk)
    quotes, unverified = in_need(seen)
    changes = _changes(seen, ledger, since, snapshots)
    changed = {c.source.id for c in changes}
    own = (s for s in seen.sources.values() if s.mirror_of is None)  # a mirror is told of on its source's line
    lines = [seen.line(s) for s in own if s.url or s.id in seen.standings]
    failing = [x for x in lines if x.standing.failing_since is not None]
    recovered = ledger.recovered_since(since, now) if since else {}
    told = {g.source.id for g in unverified}
    loud = changed | {x.source.id for x in failing} | {x.source.id for x in lines if moved(x)} | set(recovered)
    lost = {x.source.id: x for x in lines if x.standing.failing_since is not None or moved(x)}
    run = ledger.last_run()
    return Report(
        site=settings.site,
        generated_at=now,
        since=since,
        quotes=tuple(quotes),
        unverified=tuple(unverified),
        dead=tuple(x for x in failing if x.standing.dead and x.source.id not in told),
        moved=tuple(x for x in lines if moved(x)),
        changes=tuple(changes),
        unreadable=tuple(failing),
        recovered=tuple(replace(x, standing=recovered[x.source.id]) for x in lines if x.source.id in recovered),
        quiet=tuple(x for x in lines if x.standing.last_accessed and x.source.id not in loud),
        unchecked=tuple(x for x in lines if x.standing.checked_at is None),
        unlocated=tuple(s for s in settings.sources if not s.url and s.id not in seen.standings),
        claims=tuple(_claims(seen)),
        tiers=tuple((t.id, t.title) for t in settings.tiers.values()),
        last_run_at=run.ended_at if run else None,
        void_reason=run.void_reason if run else None,
        news=tuple(with_declared(n, seen.sources) for n in outbox.since(since, MOST_CHANGES)) if outbox else (),
        outside=tuple((x, outside[x.source.id]) for x in failing if x.source.id in outside),
        proposals=tuple((lost[m.source], m) for m in proposals if m.source in lost),
        undelivered=outbox.backlog(now).given_up if outbox else 0,
        trends=trends_of(settings, history, failing, now) if history else _NO_TRENDS,
    )


def trends_of(settings: Settings, history: Trends, failing: Iterable[Line], now: datetime) -> trend.Trends:
    """The numbers of the overview plots; *failing* are the lines of what cannot be read now."""
    since = trends.since(now)
    reach, changes = history.reach(since), history.changes(since)
    return trends.trends(reach, changes, failing, list(settings.tiers), now, settings.site.timezone)


def moved(line: Line) -> bool:
    """Read at another address for good: the site should cite that one."""
    verdict = line.standing.verdict
    return verdict is not None and verdict.word in ("redirected_permanent", "redirected_meta") and not line.source.read


def in_need(seen: View) -> tuple[list[QuoteGroup], list[QuoteGroup]]:
    """Quotes that do not stand, and quotes that nobody could verify because their only evidence is a figure.

    What an editor has accepted as it is needs nobody.
    """
    broken: list[QuoteGroup] = []
    unverified: list[QuoteGroup] = []
    for source in seen.settings.sources:
        if source.mirror_of is not None:
            continue  # what a copy holds is told with the quotes of its source
        known = {q.sighting.quote: q for q in seen.quoted.get(source.id, [])}
        lines = [_quote_line(seen, source, quote, known.get(quote.key)) for quote in source.quotes]
        need = [x for x in lines if x is not None and not x.sighting.stands and not _accepted(seen, x)]
        for group, of_figures in ((broken, False), (unverified, True)):
            if some := tuple(x for x in need if (x.sighting.kind is SightingKind.UNVERIFIED) == of_figures):
                group.append(QuoteGroup(source, some))
    return broken, unverified


def _accepted(seen: View, line: QuoteLine) -> bool:
    """Whether an editor has accepted the quote as it stands; a picture only as long as it can be read."""
    source = line.figure.source if line.figure else line.source
    standing = seen.standings.get(source.id, Standing())
    if line.figure and standing.failing_since is not None:
        return False
    return seen.desk.covers(source.id, line.sighting, standing.version)


def _quote_line(seen: View, source: Source, quote: Quote, known: Quoted | None) -> QuoteLine | None:
    of_figure = source.kind is SourceKind.FIGURE or bool(quote.figure)
    if not of_figure:
        standing = seen.standings.get(source.id, Standing())
        second, there = _there(seen, source, quote)
        if known is None:  # the source was never read: at most a copy was
            unseen = Sighting(quote.key, SightingKind.UNVERIFIED, reason="second-hand")
            return QuoteLine(source, quote, unseen, None, None, second_hand=second, there=there) if there else None
        hand = standing.by_hand_by if standing.by_hand_at and known.seen_at >= standing.by_hand_at else ""
        return QuoteLine(
            source, quote, known.sighting, known.seen_at, known.stood_at, by_hand=hand, second_hand=second, there=there
        )
    figure = source if source.kind is SourceKind.FIGURE else _named_figure(seen, source, quote)
    line = seen.line(figure) if figure is not None else None
    unread = line if line is not None and line.standing.failing_since else None
    reason = known.sighting.reason if known else ""
    if line is None or line.standing.checked_at is None:
        reason = "figure-not-asked"
    sighting = Sighting(quote.key, SightingKind.UNVERIFIED, layer="figure", reason=reason)
    page = line.parent if line is not None else None
    on_page = seen.line(page) if page is not None else None
    return QuoteLine(source, quote, sighting, known.seen_at if known else None, None, unread, on_page, figure=line)


def _there(seen: View, source: Source, quote: Quote) -> tuple[SecondHand | None, Sighting | None]:
    """The first mirror that was read while the source could not be, and how it holds a quote of the source."""
    for second in seen.line(source).second_hand:
        for quoted in seen.quoted.get(second.mirror.id, ()):
            if quoted.sighting.quote == quote.key and second.standing.last_accessed is not None:
                return second, quoted.sighting
    return None, None


def _named_figure(seen: View, page: Source, quote: Quote) -> Source | None:
    return next(
        (f for f in seen.figures(page) if quote.figure in (f.id, f.url) or (f.alt and quote.figure in f.alt)), None
    )


def _changes(seen: View, ledger: Ledger, since: datetime | None, snapshots: Snapshots | None) -> list[ChangeLine]:
    lines: list[ChangeLine] = []
    versions: dict[str, dict[int, VersionRow]] = {}
    for row in ledger.changes_since(since):
        source = seen.sources.get(row.source)
        if source is None or row.told == 0 or len(lines) >= MOST_CHANGES:
            continue
        if source.id not in versions:
            versions[source.id] = {v.id: v for v in ledger.versions(source.id)}
        lines.append(_change_line(seen, source, row, versions[source.id], snapshots))
    order = list(type(lines[0].significance)) if lines else []
    return sorted(lines, key=lambda c: (order.index(c.significance), -c.seen_at.timestamp()))


def _change_line(
    seen: View, source: Source, row: ChangeRow, versions: Mapping[int, VersionRow], snapshots: Snapshots | None
) -> ChangeLine:
    edits, title = unpack_edits(row.packed)
    before, after = versions[row.from_version], versions[row.to_version]
    return ChangeLine(
        source=source,
        seen_at=row.seen_at,
        from_at=before.captured_at,
        to_at=after.captured_at,
        significance=row.significance,
        drift=row.drift,
        edits=edits,
        title=title,
        told=row.told,
        suppressed=row.suppressed,
        confirmed=row.confirmed_at is not None,
        parent=seen.sources.get(source.parent or source.mirror_of or ""),
        pictures=(_picture(before, snapshots), _picture(after, snapshots)),
        by_hand=row.by_hand,
        review=_standing_review(seen, Subject(source.id, after.record_id)),
        id=row.id,
        picture=unpack_picture(row.packed),
    )


def _standing_review(seen: View, subject: Subject) -> Review | None:
    """The newest decision about a version, where one holds."""
    review = seen.desk.newest.get(subject)
    return review if review is not None and review.holds else None


def _picture(version: VersionRow, snapshots: Snapshots | None) -> Picture | None:
    """The version's bytes when they are a raster image of moderate size; None for all else, or when it is damaged."""
    if snapshots is None or version.media_type not in SHOWN or version.size_bytes > MOST_PICTURE_BYTES:
        return None
    try:
        kept = snapshots.exchange(version.path, version.offset)
    except StorageError:
        return None  # a damaged snapshot is told by who reads it; a report is still owed
    return None if kept.header("content-encoding") else Picture(version.media_type, kept.body)


def _claims(seen: View) -> list[ClaimLine]:
    lines: list[ClaimLine] = []
    for claim in seen.settings.claims:
        carriers = []
        for carrier in claim.carriers:
            source = seen.sources[carrier]
            own = {q.key for q in source.quotes if claim.id in q.carries}
            stand = held((q.sighting for q in seen.quoted.get(carrier, ())), own)
            carriers.append((seen.line(source), stand, len(own)))
        lines.append(ClaimLine(claim, tuple(carriers)))
    return lines
