"""When each quote was last seen to stand."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Connection, func, select

from ..domain.change import STANDS
from . import tables as t


def last_stood(
    c: Connection, source: str | None = None, until: datetime | None = None
) -> dict[tuple[str, str], datetime]:
    """By source and quote: the last check, *until* then, that saw a version in which the quote stands.

    A quote is looked for once a version; the checks after that which saw the same version saw it stand as well.
    """
    s, k = t.sightings.c, t.checks.c
    seen = select(k.version, func.max(k.last_at).label("at")).where(k.accessed.is_(True), k.version.is_not(None))
    if source is not None:
        seen = seen.where(k.source == source)
    if until is not None:
        seen = seen.where(k.last_at <= until)
    last = seen.group_by(k.version).subquery()
    query = select(s.source, s.quote, func.max(s.seen_at).label("found_at"), func.max(last.c.at).label("seen_at"))
    query = query.outerjoin(last, last.c.version == s.version).where(s.kind.in_(STANDS)).group_by(s.source, s.quote)
    if source is not None:
        query = query.where(s.source == source)
    if until is not None:
        query = query.where(s.seen_at <= until)
    return {(r.source, r.quote): max(r.found_at, r.seen_at or r.found_at) for r in c.execute(query)}
