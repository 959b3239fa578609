"""Checks in, standings out: the only module that writes and reads facts. Synchronous; one writer at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

from sqlalchemy import (
    BindParameter,
    Connection,
    Engine,
    Row,
    Select,
    Table,
    bindparam,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy.dialects import postgresql, sqlite

from ..domain.change import Sighting, pack_change, sighting_facts, sighting_of
from ..domain.check import Finding, Memory, Span
from ..domain.document import Document, pack
from ..domain.incident import Settle
from ..domain.kept import HAND, ChangeRow, Claim, Kept, Quoted, RunRow, VersionRow
from ..domain.reading import Probe
from ..domain.source import Source, SourceKind
from ..domain.standing import CLOCKS_APART, Recall, Standing, standing
from ..domain.verdict import Verdict
from . import tables as t
from .change_rows import CHANGES, change_of
from .cleaning import clean, clean_json
from .database import MIRRORING, may_idle, one_at_a_time, storage, unless_there
from .exclusive import Exclusive
from .fence import make_sure
from .incident_rows import settle_run
from .outbox import post, post_confirmed
from .spans import OWN_ADDRESS, SPANS, span_of
from .stood import last_stood
from .versions import VERSIONS, version_of

PROBE_LASTS = timedelta(days=1)
OVERLAP = timedelta(hours=1)  # no pass of a daemon lasts longer
MOST_APART = timedelta(days=8)  # of two checks in one row: a week and its jitter


class Ledger:
    """The facts about every source, on any database that `database.open_engine` opens."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    # -- what is declared, and when it is due -----------------------------------------------------------------------

    def sync(self, declared: Sequence[Source], now: datetime) -> None:
        """Mirror sources.toml: new rows are due at once, rows that are gone are retired, nothing is deleted."""
        with storage("reading sources.toml into it"), self._engine.begin() as c:
            one_at_a_time(c, MIRRORING)
            may_idle(c)  # a million sources are compared for longer than a second
            known = {row.id: row for row in c.execute(select(t.sources))}
            for source in declared:
                self._declare(c, known.get(source.id), source, now, declared=True)
            ids = {s.id for s in declared}
            parents_gone = {i for i, row in known.items() if row.declared and i not in ids}
            for row in known.values():
                gone = row.id in parents_gone or (not row.declared and row.parent not in ids)
                if gone and row.retired_at is None:
                    c.execute(update(t.sources).where(t.sources.c.id == row.id).values(retired_at=now))

    def declare_figure(self, figure: Source, now: datetime) -> None:
        """A figure that a page was seen to show becomes a source of its own, with that page as its parent."""
        with storage("noting a figure"), self._engine.begin() as c:
            known = c.execute(select(t.sources).where(t.sources.c.id == figure.id)).first()
            self._declare(c, known, figure, now, declared=False)

    def _declare(self, c: Connection, known: Row[Any] | None, source: Source, now: datetime, *, declared: bool) -> None:
        values = {
            "kind": source.kind,
            "parent": source.parent,
            "url": source.url,
            "title": source.title,
            "tier": source.tier,
            "declared": declared,
            "alt": source.alt,
            "mirror_of": source.mirror_of,
            "retired_at": None,
        }
        if known is None:
            c.execute(unless_there(c, t.sources).values(id=source.id, first_seen_at=now, **values))
            if declared and source.url and source.by_itself:
                c.execute(unless_there(c, t.schedule).values(source=source.id, next_check_at=now))
            return
        if source.kind is SourceKind.FIGURE and declared:
            values["url"] = source.url or known.url  # where the page was last seen to show it
        if known.declared and not declared:  # an editor's row outranks the page; only its address may be new
            values = {"url": source.url}
        if any(getattr(known, key) != value for key, value in values.items()):
            c.execute(update(t.sources).where(t.sources.c.id == source.id).values(**values))
        if declared and source.url and source.by_itself and (known.url != source.url or known.retired_at):
            self._due_at(c, source.id, now)

    def figures(self) -> list[Source]:
        """Every figure that a page was seen to show or that an editor declared, retired ones left out."""
        query = select(t.sources).where(t.sources.c.parent.is_not(None), t.sources.c.retired_at.is_(None))
        with storage("reading figures"), self._engine.connect() as c:
            return [
                Source(r.id, r.tier, r.title, url=r.url, kind=SourceKind(r.kind), parent=r.parent, alt=r.alt)
                for r in c.execute(query.order_by(t.sources.c.id))
            ]

    # -- runs -------------------------------------------------------------------------------------------------------

    def begin_run(self, now: datetime, trigger: str, code_version: str) -> int:
        with storage("beginning a run"), self._engine.begin() as c:
            row = insert(t.runs).values(started_at=now, trigger=trigger, code_version=code_version)
            return int(c.execute(row.returning(t.runs.c.id)).scalar_one())

    def end_run(self, run: int, now: datetime, void_reason: str | None = None, settle: Settle | None = None) -> None:
        """Note a run's end and, in the same transaction, settle its incidents; a void run settles nothing."""
        with storage("ending a run"), self._engine.begin() as c:
            c.execute(update(t.runs).where(t.runs.c.id == run).values(ended_at=now, void_reason=void_reason))
            if settle is not None and void_reason is None:
                settle_run(c, run, now, settle)

    def exclusive(self, *, shared: bool = False) -> Exclusive:
        """Entered by who runs: one at a time, or (*shared*) many workers and nobody else."""
        return Exclusive(self._engine, shared=shared)

    def cut_short(self) -> bool:
        """Whether a run of the last hour of work never came to its end. A daemon's runs overlap."""
        newest = select(t.runs.c.started_at).order_by(t.runs.c.id.desc()).limit(1)
        with storage("reading runs"), self._engine.connect() as c:
            at = c.execute(newest).scalar()
            if at is None:
                return False
            open_ = select(t.runs.c.id).where(t.runs.c.ended_at.is_(None), t.runs.c.started_at >= at - OVERLAP)
            return c.execute(open_.limit(1)).first() is not None

    def last_run(self) -> RunRow | None:
        """The newest finished pass; what a person brought in is none."""
        query = select(t.runs).where(t.runs.c.ended_at.is_not(None), t.runs.c.trigger != HAND)
        query = query.order_by(t.runs.c.id.desc()).limit(1)
        with storage("reading runs"), self._engine.connect() as c:
            row = c.execute(query).first()
        return None if row is None else RunRow(row.id, row.started_at, row.ended_at, row.trigger, row.void_reason)

    # -- keeping ----------------------------------------------------------------------------------------------------

    def keep(self, run: int, groups: Sequence[Sequence[Kept]]) -> list[list[int | None]]:
        """Write each page's finding with its figures', all in one transaction; the versions that each of them saw.

        A group of several pages costs one sync to disk; none of them is told before that. Raises TakenError, keeping
        nothing, when what one of them claims is another's by now.
        """
        with storage("keeping a check"), self._engine.begin() as c:
            make_sure(c, [kept.claim for group in groups for kept in group if kept.claim is not None])
            return [[self._keep(c, run, one) for one in group] for group in groups]

    def _keep(self, c: Connection, run: int, kept: Kept) -> int | None:
        finding, judgement = kept.finding, kept.finding.judgement
        version = finding.unchanged_of
        if kept.stored is not None and judgement.changed:
            before = self._newest_version(c, finding.source)
            version = self._new_version(c, kept)
            self._confirm_before(c, before, judgement.document, finding.checked_at)
            if judgement.change is not None and before is not None:
                c.execute(_INSERT_CHANGE, _change_values(finding, before, version))
        elif version is not None:
            confirm = update(t.changes).where(t.changes.c.to_version == version, t.changes.c.confirmed_at.is_(None))
            confirm = confirm.values(confirmed_at=finding.checked_at)
            for change in c.execute(confirm.returning(t.changes.c.id)).scalars().all():
                post_confirmed(c, change, finding.checked_at)
        if judgement.reread is not None and finding.unchanged_of is not None:
            again = {
                "packed": pack(judgement.reread),
                "title": clean(judgement.reread.title),
                "maker": judgement.maker,
            }
            c.execute(update(t.documents).where(t.documents.c.version == finding.unchanged_of).values(**again))
        if version is not None:
            self._keep_sightings(c, version, finding)
            if judgement.history:
                self._upsert(
                    c, t.histories, ("source",), source=finding.source, state=judgement.history, version=version
                )
        self._append_check(c, run, kept, version)
        post(c, kept.messages, version)
        if kept.next_check_at is not None:
            self._due_at(c, finding.source, kept.next_check_at)
        return version

    def _confirm_before(self, c: Connection, version: int | None, now_read: Document | None, at: datetime) -> None:
        """A change that the next reading did not take back is confirmed, whatever else that reading brought."""
        k = t.changes.c
        change = c.execute(_UNCONFIRMED, {"version": version}).first()
        if change is None or now_read is None:
            return
        v = t.versions.c
        was = c.execute(select(v.text_sha256).where(v.id == change.from_version)).scalar()
        if was != now_read.text_sha256:
            c.execute(update(t.changes).where(k.id == change.id).values(confirmed_at=at))
            post_confirmed(c, change.id, at)

    def _new_version(self, c: Connection, kept: Kept) -> int:
        stored, judgement = kept.stored, kept.finding.judgement
        assert stored is not None and judgement.document is not None
        values = {
            "source": kept.finding.source,
            "captured_at": stored.captured_at,
            "url": stored.url,
            "final_url": stored.final_url,
            "status": stored.status,
            "media_type": stored.media_type,
            "body_sha256": stored.body_sha256,
            "payload_sha256": judgement.payload_sha256,
            "text_sha256": judgement.document.text_sha256,
            "etag": stored.etag,
            "last_modified": stored.last_modified,
            "path": stored.path,
            "record_id": stored.record_id,
            "offset": stored.offset,
            "size_bytes": stored.size_bytes,
        }
        version = int(c.execute(_INSERT_VERSION, values).scalar_one())
        document = judgement.document
        packed = judgement.packed or pack(document)
        read = {"title": clean(document.title), "language": document.language[:40], "packed": packed}
        c.execute(_INSERT_DOCUMENT, {"version": version, **read, "maker": judgement.maker})
        return version

    def _keep_sightings(self, c: Connection, version: int, finding: Finding) -> None:
        for s in finding.judgement.sightings:
            self._upsert(
                c,
                t.sightings,
                ("version", "quote"),
                version=version,
                quote=s.quote,
                source=finding.source,
                kind=s.kind,
                score=s.score,
                facts=clean_json(sighting_facts(s)),
                seen_at=finding.checked_at,
                maker=finding.judgement.maker,
            )

    def _append_check(self, c: Connection, run: int, kept: Kept, version: int | None) -> None:
        finding, verdict = kept.finding, kept.finding.judgement.verdict
        values = {
            "word": verdict.word,
            "accessed": verdict.accessed,
            "rule": verdict.rule[:80],
            "evidence": clean(verdict.evidence),
            "status": kept.status,
            "url": kept.url,
            "final_url": kept.final_url,
            "version": version if verdict.accessed else None,
        }
        ms = round(finding.seconds * 1000)
        plain = not finding.judgement.changed and not finding.judgement.events
        if verdict.accessed and plain and self._extend(c, finding, values, ms):
            return
        row = {
            "run": run,
            "source": finding.source,
            "first_at": finding.checked_at,
            "last_at": finding.checked_at,
            "n": 1,
            "new_version": finding.judgement.changed,
            "by_hand": kept.by_hand,
            "body_sha256": kept.body_sha256,
            "facts": clean_json(kept.facts),
            "ms": ms,
        }
        c.execute(_INSERT_CHECK, row | values)

    def _extend(self, c: Connection, finding: Finding, values: Mapping[str, Any], ms: int) -> bool:
        """Let the newest row of the source grow by this check when it says the same; False when it does not."""
        k = t.checks.c
        newest = c.execute(_NEWEST_CHECK, {"source": finding.source}).first()
        if newest is None or newest.by_hand or newest.last_at > finding.checked_at:
            return False
        if finding.checked_at - newest.last_at > MOST_APART:
            return False  # a clock that is years ahead must not write over the last good date
        if any(getattr(newest, key) != value for key, value in values.items()):
            return False
        c.execute(update(t.checks).where(k.id == newest.id).values(n=newest.n + 1, last_at=finding.checked_at, ms=ms))
        return True

    def _newest_version(self, c: Connection, source: str) -> int | None:
        return c.execute(_NEWEST_VERSION, {"source": source}).scalar()

    def _due_at(self, c: Connection, source: str, at: datetime) -> None:
        self._upsert(c, t.schedule, ("source",), source=source, next_check_at=at, leased_until=None)

    def make_sure(self, claim: Claim) -> None:
        """Raises TakenError when what was given out under this claim is another's by now."""
        with storage("making sure of a claim"), self._engine.begin() as c:
            make_sure(c, [claim])

    def put_off(self, source: str, until: datetime, claim: Claim | None = None) -> None:
        """A check that a host asked us to make later: due again then, no trace but this. Raises TakenError."""
        with storage("putting a check off"), self._engine.begin() as c:
            make_sure(c, [claim] if claim is not None else [])
            self._due_at(c, source, until)

    def _upsert(self, c: Connection, table: Table, keys: tuple[str, ...], **values: Any) -> None:
        c.execute(_upsert_into(c.dialect.name, table, keys, tuple(values)), values)

    # -- remembering ------------------------------------------------------------------------------------------------

    def recall(self, source: str, now: datetime | None = None) -> Recall:
        """All that a check needs to know of a source beforehand, in one visit. *now* as for `standing_of`."""
        with storage("remembering a source"), self._engine.connect() as c:
            memory, tail = self._memory(c, source), self._tail(c, source, now)
        own = [span for span in tail if not span.by_hand]
        return Recall(memory, max(own, key=lambda s: s.id, default=None), standing(tail))

    def _memory(self, c: Connection, source: str) -> Memory | None:
        """The newest version of a source with its document, sightings and noise state; None before the first."""
        row = c.execute(_MEMORY, {"source": source}).first()
        if row is None:
            return None
        last = c.execute(_LAST_ACCESS, {"source": source}).first()
        return Memory(
            version=row.id,
            captured_at=row.captured_at,
            final_url=row.final_url,
            status=row.status,
            media_type=row.media_type,
            body_sha256=row.body_sha256,
            payload_sha256=row.payload_sha256,
            etag=row.etag,
            last_modified=row.last_modified,
            packed=row.packed,
            maker=row.maker,
            path=row.path,
            offset=row.offset,
            sightings=tuple(self._sightings(c, row.id)),
            history=row.state or "",
            unconfirmed=row.change is not None and row.confirmed_at is None,
            last_verdict=Verdict(last.word, last.rule, last.evidence) if last else None,
            record_id=row.record_id,
        )

    def _sightings(self, c: Connection, version: int) -> Iterator[Sighting]:
        for r in c.execute(_SIGHTINGS, {"version": version}):
            yield sighting_of(r.quote, r.kind, r.score, r.facts)

    def probe(self, host: str, now: datetime) -> Probe | None:
        """What the host answered for an invented address within the last day, if it was asked."""
        with storage("remembering a host"), self._engine.connect() as c:
            row = c.execute(select(t.probes).where(t.probes.c.host == host)).first()
        if row is None or not now - PROBE_LASTS <= row.asked_at <= now:
            return None
        return Probe(asked_at=row.asked_at, **row.facts)

    def remember_probe(self, host: str, probe: Probe) -> None:
        facts = {"asked_url": probe.asked_url, "status": probe.status, "final_url": probe.final_url}
        facts |= {"title": probe.title, "text": probe.text[:20_000]}
        with storage("remembering a host"), self._engine.begin() as c:
            self._upsert(c, t.probes, ("host",), host=host, asked_at=probe.asked_at, facts=clean_json(facts))

    def spans(self, source: str) -> list[Span]:
        """Every row of one source, oldest first."""
        query = SPANS.where(t.checks.c.source == source).order_by(t.checks.c.id)
        with storage("reading checks"), self._engine.connect() as c:
            return [span_of(row) for row in c.execute(query)]

    def standing_of(self, source: str, now: datetime | None = None) -> Standing:
        """Where one source stands, folded from its last access and what came after it; as `standings`, of *now*."""
        with storage("reading checks"), self._engine.connect() as c:
            return standing(self._tail(c, source, now))

    def _tail(self, c: Connection, source: str, now: datetime | None) -> list[Span]:
        until = _until(now)
        last = c.execute(_LAST_OWN_ACCESS, {"source": source, "until": until}).scalar()
        since = last or datetime.min.replace(tzinfo=UTC)
        rows = c.execute(_TAIL, {"source": source, "since": since, "until": until})
        return [span_of(row) for row in rows]

    def standings(self, now: datetime) -> dict[str, Standing]:
        """Where every source stands: folded from its last access at its present address, and what came after it.

        Rows from after *now* are left out: they were written while the clock was wrong, and no date may lie ahead.
        """
        k = t.checks.c
        with storage("reading checks"), self._engine.connect() as c:
            last = (
                select(k.source, func.max(k.last_at).label("at"))
                .join(t.sources, t.sources.c.id == k.source)
                .where(k.accessed.is_(True), k.by_hand.is_(False), OWN_ADDRESS, k.last_at <= _until(now))
                .group_by(k.source)
            ).subquery()
            query = (
                SPANS.join(t.sources, t.sources.c.id == k.source)
                .outerjoin(last, last.c.source == k.source)
                .where(or_(last.c.at.is_(None), k.last_at >= last.c.at))
                .where(OWN_ADDRESS, k.last_at <= _until(now))
            )
            tails: dict[str, list[Span]] = {}
            for row in c.execute(query):
                tails.setdefault(row.source, []).append(span_of(row))
            return {source: standing(spans) for source, spans in tails.items()}

    def recovered_since(self, since: datetime, now: datetime | None = None) -> dict[str, Standing]:
        """Sources whose last failure ended after *since*: their whole standing, folded from all their rows, but for
        those from after *now*."""
        k, until = t.checks.c, _until(now)
        with storage("reading checks"), self._engine.connect() as c:
            failing = select(k.source).where(k.accessed.is_(False)).distinct()
            ids = c.execute(
                select(k.source).where(k.accessed.is_(True), k.first_at >= since, k.source.in_(failing)).distinct()
            )
            found = {i: standing(s for s in self.spans(i) if s.last_at <= until) for i in ids.scalars()}
        return {i: s for i, s in found.items() if s.recovered_at is not None and s.recovered_at >= since}

    def versions(self, source: str) -> list[VersionRow]:
        """A source's versions, oldest first."""
        query = VERSIONS.where(t.versions.c.source == source).order_by(t.versions.c.id)
        with storage("reading versions"), self._engine.connect() as c:
            return [version_of(row) for row in c.execute(query)]

    def packed_document(self, version: int) -> bytes:
        """A version's document (`document.unpack`). Raises KeyError for a version that was never kept."""
        with storage("reading a document"), self._engine.connect() as c:
            packed = c.execute(select(t.documents.c.packed).where(t.documents.c.version == version)).scalar()
        if packed is None:
            raise KeyError(version)
        return bytes(packed)

    def earlier_documents(self, source: str, before: int) -> tuple[bytes, ...]:
        """The packed documents of the last 30 versions before one, oldest first."""
        v, d = t.versions.c, t.documents.c
        query = select(d.packed).join(t.versions, v.id == d.version).where(v.source == source, v.id < before)
        with storage("reading documents"), self._engine.connect() as c:
            newest = c.execute(query.order_by(v.id.desc()).limit(30)).scalars().all()
        return tuple(bytes(packed) for packed in reversed(newest))

    def changes_since(self, since: datetime | None, source: str | None = None) -> list[ChangeRow]:
        """Changes first seen at or after *since*, newest first, with their packed edits."""
        query = CHANGES
        if since is not None:
            query = query.where(t.changes.c.seen_at >= since)
        if source is not None:
            query = query.where(t.changes.c.source == source)
        with storage("reading changes"), self._engine.connect() as c:
            return [change_of(row) for row in c.execute(query)]

    def dated_ahead(self, now: datetime) -> int:
        """How many rows of checks are dated after *now*: they were written while the clock was wrong."""
        query = select(func.count()).select_from(t.checks).where(t.checks.c.last_at > _until(now))
        with storage("reading checks"), self._engine.connect() as c:
            return int(c.execute(query).scalar_one())

    def newest_sightings(self, now: datetime | None = None) -> dict[str, list[Quoted]]:
        """For each source the sightings of its newest version, with when each quote last stood, by *now*."""
        with storage("reading sightings"), self._engine.connect() as c:
            newest = _newest_at_their_addresses()
            stood = last_stood(c, until=_until(now))
            found: dict[str, list[Quoted]] = {}
            for r in c.execute(select(t.sightings).where(t.sightings.c.version.in_(newest))):
                sighting = sighting_of(r.quote, r.kind, r.score, r.facts)
                found.setdefault(r.source, []).append(Quoted(sighting, r.seen_at, stood.get((r.source, r.quote))))
            return found

    def sightings(self, version: int) -> list[Sighting]:
        with storage("reading sightings"), self._engine.connect() as c:
            return list(self._sightings(c, version))


# Statements are built once: building one anew costs as much as running it (0.1–0.3 ms of CPU, SQLAlchemy 2.1).
_INSERT_VERSION = insert(t.versions).returning(t.versions.c.id)
_INSERT_DOCUMENT = insert(t.documents)
_INSERT_CHANGE = insert(t.changes)
_INSERT_CHECK = insert(t.checks)


_SOURCE: BindParameter[str] = bindparam("source")
_NEWEST_CHECK = select(t.checks).where(t.checks.c.source == _SOURCE).order_by(t.checks.c.id.desc()).limit(1)
_NEWEST_VERSION = select(func.max(t.versions.c.id)).where(t.versions.c.source == _SOURCE)
_UNCONFIRMED = select(t.changes.c.id, t.changes.c.from_version).where(
    t.changes.c.to_version == bindparam("version"), t.changes.c.confirmed_at.is_(None)
)
_SIGHTINGS = select(t.sightings).where(t.sightings.c.version == bindparam("version")).order_by(t.sightings.c.quote)
_LAST_ACCESS = (
    select(t.checks.c.word, t.checks.c.rule, t.checks.c.evidence)
    .where(t.checks.c.source == _SOURCE, t.checks.c.accessed.is_(True))
    .order_by(t.checks.c.id.desc())
    .limit(1)
)


def _until(now: datetime | None) -> datetime:
    """What is dated later was written while the clock was wrong; without a *now*, nothing is."""
    return now + CLOCKS_APART if now is not None else datetime.max.replace(tzinfo=UTC)


@cache
def _upsert_into(dialect: str, table: Table, keys: tuple[str, ...], columns: tuple[str, ...]) -> Any:
    """Insert, or where a row with these keys is there already, set the other columns."""
    row = (sqlite if dialect == "sqlite" else postgresql).insert(table)
    row = row.values({name: bindparam(name) for name in columns})
    return row.on_conflict_do_update(
        index_elements=list(keys), set_={name: row.excluded[name] for name in columns if name not in keys}
    )


def _seen_at_its_address() -> Select[Any]:
    join = select(t.checks.c.version).join(t.sources, t.sources.c.id == t.checks.c.source)
    return join.where(t.checks.c.accessed.is_(True), OWN_ADDRESS)


def _newest_at_their_addresses() -> Select[Any]:
    join = select(func.max(t.checks.c.version)).join(t.sources, t.sources.c.id == t.checks.c.source)
    return join.where(t.checks.c.accessed.is_(True), OWN_ADDRESS).group_by(t.checks.c.source)


_MEMORY = (
    select(
        t.versions,
        t.documents.c.packed,
        t.documents.c.maker,
        t.histories.c.state,
        t.changes.c.id.label("change"),
        t.changes.c.confirmed_at,
    )
    .join(t.documents, t.documents.c.version == t.versions.c.id)
    .outerjoin(t.histories, t.histories.c.source == t.versions.c.source)
    .outerjoin(t.changes, t.changes.c.to_version == t.versions.c.id)
    .where(
        t.versions.c.source == _SOURCE, t.versions.c.id.in_(_seen_at_its_address().where(t.checks.c.source == _SOURCE))
    )
    .order_by(t.versions.c.id.desc())
    .limit(1)
)
_OWN = SPANS.join(t.sources, t.sources.c.id == t.checks.c.source).where(t.checks.c.source == _SOURCE, OWN_ADDRESS)
_TAIL = _OWN.where(t.checks.c.last_at >= bindparam("since"), t.checks.c.last_at <= bindparam("until"))
_LAST_OWN_ACCESS = (
    select(func.max(t.checks.c.last_at))
    .join(t.sources, t.sources.c.id == t.checks.c.source)
    .where(t.checks.c.source == _SOURCE, t.checks.c.accessed.is_(True), t.checks.c.by_hand.is_(False), OWN_ADDRESS)
    .where(t.checks.c.last_at <= bindparam("until"))
)


def _change_values(finding: Finding, before: int, version: int) -> dict[str, Any]:
    change = finding.judgement.change
    assert change is not None
    told = len(change.told)
    return {
        "source": finding.source,
        "from_version": before,
        "to_version": version,
        "seen_at": finding.checked_at,
        "significance": change.significance,
        "told": told,
        "suppressed": len(change.edits) - told,
        "kept": change.drift.kept,
        "novelty": change.drift.novelty,
        "extent": change.drift.extent,
        "edits": pack_change(change),
        "maker": finding.judgement.maker,
    }
