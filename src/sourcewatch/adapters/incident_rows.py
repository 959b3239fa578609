"""Incidents as rows: which sources are to be settled when a run ends, and what becomes of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, Row, false, func, insert, or_, select, update

from ..domain.incident import Case, Incident, Settle
from ..domain.kept import HAND
from ..domain.source import SourceKind
from ..domain.standing import CLOCKS_APART
from . import tables as t
from .database import SETTLING, one_at_a_time, storage
from .outbox import post
from .spans import OWN_ADDRESS, SPANS, span_of

OVERLAPS = ("serve", "worker")  # triggers of runs that may go on side by side
UNSETTLED = ("rebuild", HAND)  # triggers of runs that settle nothing
PATIENCE = timedelta(hours=3)  # with a daemon's run that has no end: by then its sources were mostly asked again
RUNS_BACK = 500


def settle_run(c: Connection, run: int, now: datetime, settle: Settle) -> None:
    """Settle every source that this run may have changed, in the transaction that ends it.

    A run that was killed settled nothing: its sources are settled with the next run that ends. Rows that an incident
    has taken in, and messages that were written, are not written again.
    """
    one_at_a_time(c, SETTLING)  # workers' runs may end at once: a failure is told by one of them
    for source in sorted(_concerned(c, run)):
        settlement = settle(_case(c, source, now), now)
        for incident in settlement.incidents:
            _write(c, incident)
        post(c, settlement.messages)


def _concerned(c: Connection, run: int) -> set[str]:
    """Sources that failed in this run, or in one that was killed and that nobody has settled since; and of those with
    an open incident the ones that were checked, that are readable again, or that left sources.toml.

    A mirror that cannot be read is nobody's incident.
    """
    k, i, s = t.checks.c, t.incidents.c, t.sources.c
    mirrors = select(s.id).where(s.mirror_of.is_not(None))
    here = k.run.in_([run, *_killed(c, run)])
    is_open = select(i.source).where(i.closed_at.is_(None))
    queries = (
        select(k.source).where(here, k.accessed.is_(False), k.source.not_in(mirrors)).distinct(),
        select(k.source).where(here, k.accessed.is_(True), k.source.in_(is_open)).distinct(),
        is_open.where(i.recovered_at.is_not(None)),
        is_open.join(t.sources, t.sources.c.id == i.source).where(t.sources.c.retired_at.is_not(None)),
    )
    return {source for query in queries for source in c.execute(query).scalars()}


def _killed(c: Connection, run: int) -> list[int]:
    """Runs before this one that will never end, and that no run which settled has looked after."""
    r = t.runs.c
    runs = c.execute(select(t.runs).where(r.id <= run, r.id > run - RUNS_BACK)).all()
    [me] = [x for x in runs if x.id == run]
    settled = [x for x in runs if x.ended_at and x.void_reason is None and x.trigger not in UNSETTLED and x.id < run]
    return [
        x.id
        for x in runs
        if x.ended_at is None and _over(x, me) and not any(s.id > x.id and _over(x, s) for s in settled)
    ]


def _over(run: Row[Any], at_end_of: Row[Any]) -> bool:
    """Whether a run without an end was dead at the end of another: only a daemon's runs can overlap."""
    alone = run.trigger not in OVERLAPS or at_end_of.trigger not in OVERLAPS
    return bool(alone or at_end_of.ended_at - run.started_at > PATIENCE)


def _case(c: Connection, source: str, now: datetime) -> Case:
    """What is to be judged: all rows from the last access on, and all after the incident was last updated.

    What a person read ends no incident: the machine still cannot read the source. What is dated after *now* was written
    while the clock was ahead: it stands in nobody's way.
    """
    k, s, i = t.checks.c, t.sources.c, t.incidents.c
    row = c.execute(select(s.kind, s.retired_at).where(s.id == source)).one()
    found = c.execute(select(t.incidents).where(i.source == source, i.closed_at.is_(None))).first()
    incident = _incident(found) if found is not None else None
    if incident is not None and incident.updated_at > now + CLOCKS_APART:
        incident = replace(incident, updated_at=_before(c, source, now) or now)
    by_now = k.last_at <= now + CLOCKS_APART
    own = SPANS.join(t.sources, s.id == k.source).where(k.source == source, k.by_hand.is_(False), OWN_ADDRESS, by_now)
    last = c.execute(
        select(func.max(k.last_at))
        .join(t.sources, s.id == k.source)
        .where(k.source == source, k.accessed.is_(True), k.by_hand.is_(False), OWN_ADDRESS, by_now)
    ).scalar()
    new = k.last_at >= incident.updated_at if incident is not None else false()
    if incident is not None and incident.dead:  # no strike counts any more: of a long death only what is new is read
        own = own.where(or_(k.last_at == last, new) if last is not None else new)
    elif last is not None:
        own = own.where(or_(k.last_at >= last, new))
    spans = tuple(span_of(r) for r in c.execute(own))
    return Case(source, SourceKind(row.kind), incident, spans, row.retired_at is not None)


def _before(c: Connection, source: str, now: datetime) -> datetime | None:
    """The newest check before those that are dated in the future."""
    k = t.checks.c
    first = select(func.min(k.id)).where(k.source == source, k.last_at > now + CLOCKS_APART).scalar_subquery()
    return c.execute(select(func.max(k.last_at)).where(k.source == source, k.id < first, k.last_at <= now)).scalar()


def _write(c: Connection, incident: Incident) -> None:
    values = {
        "source": incident.source,
        "word": incident.word,
        "opened_at": incident.opened_at,
        "updated_at": incident.updated_at,
        "recovered_at": incident.recovered_at,
        "closed_at": incident.closed_at,
        "dead": incident.dead,
        "failures": incident.failures,
    }
    if incident.id is None:
        c.execute(insert(t.incidents).values(**values))
    else:
        c.execute(update(t.incidents).where(t.incidents.c.id == incident.id).values(**values))


def incidents(engine: Engine, sources: Iterable[str] | None = None) -> list[Incident]:
    """All incidents, oldest first; of these *sources* only, where given."""
    query = select(t.incidents).order_by(t.incidents.c.id)
    if sources is not None:
        query = query.where(t.incidents.c.source.in_(list(sources)))
    with storage("reading incidents"), engine.connect() as c:
        return [_incident(r) for r in c.execute(query)]


def _incident(row: Row[Any]) -> Incident:
    return Incident(
        source=row.source,
        opened_at=row.opened_at,
        word=row.word,
        updated_at=row.updated_at,
        failures=row.failures,
        dead=row.dead,
        recovered_at=row.recovered_at,
        closed_at=row.closed_at,
        id=row.id,
    )
