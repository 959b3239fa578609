"""What the editors' desk asks of the database: open changes a page at a time, and all about one source."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Engine, Row, Select, and_, cast, func, not_, select
from sqlalchemy.dialects.postgresql import JSONB

from ..domain.change import Significance, sighting_of
from ..domain.desk import OpenChange, Sighted
from ..domain.incident import Incident
from ..domain.kept import VersionRow
from ..domain.review import Decision
from . import tables as t
from .change_rows import CHANGES, change_of
from .database import storage
from .incident_rows import incidents
from .versions import VERSIONS, version_of

_before, _after = t.versions.alias("before"), t.versions.alias("after")
_newer = t.reviews.alias("newer")
_CHANGES = (
    CHANGES.add_columns(
        _after.c.media_type,
        _before.c.captured_at.label("from_at"),
        _after.c.captured_at.label("to_at"),
        _after.c.record_id.label("record"),
    )
    .join(_before, _before.c.id == t.changes.c.from_version)
    .join(_after, _after.c.id == t.changes.c.to_version)
)


class DeskRows:
    """Raises StorageError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def changes(
        self,
        *,
        since: datetime | None,
        significance: Significance | None,
        among: Collection[str] | None,
        decided_too: bool,
        skip: int,
        most: int,
    ) -> tuple[set[str], int, list[OpenChange]]:
        """The sources with changes of which something is told, how many these are, and a page of them, newest first.

        *among*: of these sources only. Left out, unless *decided_too*: those that an editor has decided about, and
        those before a version that an editor accepted.
        """
        k = t.changes.c
        conditions: list[ColumnElement[bool]] = [k.told > 0]
        conditions += [k.seen_at >= since] if since else []
        conditions += [k.significance == significance] if significance else []
        conditions += [k.source.in_(self._names(among))] if among is not None else []
        conditions += [] if decided_too else [_undecided()]
        page = _CHANGES.where(*conditions).offset(skip).limit(most)
        with storage("reading changes"), self._engine.connect() as c:
            each = select(k.source, func.count().label("n")).where(*conditions).group_by(k.source)
            counts = {row.source: row.n for row in c.execute(each)}
            rows = [_open_change(row) for row in c.execute(page)] if most else []
            return set(counts), sum(counts.values()), rows

    def _names(self, among: Collection[str]) -> Select[Any]:
        """Any number of names as one variable: databases take some ten thousand in a statement."""
        names = json.dumps(sorted(among))
        if self._engine.dialect.name == "sqlite":
            return select(func.json_each(names).table_valued("value").c.value)
        return select(func.jsonb_array_elements_text(cast(names, JSONB)).column_valued())

    def change(self, number: int) -> OpenChange | None:
        with storage("reading a change"), self._engine.connect() as c:
            row = c.execute(_CHANGES.where(t.changes.c.id == number)).first()
        return _open_change(row) if row is not None else None

    def into(self, version: int) -> OpenChange | None:
        """The change that brought a version."""
        with storage("reading a change"), self._engine.connect() as c:
            row = c.execute(_CHANGES.where(t.changes.c.to_version == version)).first()
        return _open_change(row) if row is not None else None

    def version(self, number: int) -> VersionRow | None:
        with storage("reading a version"), self._engine.connect() as c:
            row = c.execute(VERSIONS.where(t.versions.c.id == number)).first()
        return version_of(row) if row is not None else None

    def neighbours(self, change: OpenChange) -> tuple[int | None, int | None]:
        """The changes of the same source before and after."""
        k = t.changes.c
        own = k.source == change.row.source
        with storage("reading changes"), self._engine.connect() as c:
            before = c.execute(select(func.max(k.id)).where(own, k.id < change.row.id)).scalar()
            after = c.execute(select(func.min(k.id)).where(own, k.id > change.row.id)).scalar()
        return before, after

    def sighted(self, source: str) -> list[Sighted]:
        """Every sighting of a source's quotes, oldest version first."""
        s, v = t.sightings.c, t.versions.c
        query = select(t.sightings, v.captured_at).join(t.versions, v.id == s.version).where(s.source == source)
        with storage("reading sightings"), self._engine.connect() as c:
            return [
                Sighted(row.version, row.captured_at, sighting_of(row.quote, row.kind, row.score, row.facts))
                for row in c.execute(query.order_by(s.version))
            ]

    def incidents(self, source: str) -> Sequence[Incident]:
        return incidents(self._engine, [source])


def _undecided() -> ColumnElement[bool]:
    """No decision holds about the version that a change brought, and none accepted it or a later one."""
    r, k = t.reviews.c, t.changes.c
    follows = and_(_newer.c.source == r.source, _newer.c.record == r.record, _newer.c.after == r.key)
    holding = select(r.version).where(r.holds.is_not(None), r.version.is_not(None))
    holding = holding.where(not_(select(_newer.c.id).where(follows).exists()))
    later = holding.where(r.holds == Decision.ACCEPTED, r.source == k.source, r.version > k.to_version)
    return and_(k.to_version.not_in(holding), not_(later.correlate(t.changes).exists()))


def _open_change(row: Row[Any]) -> OpenChange:
    return OpenChange(change_of(row), row.from_at, row.to_at, row.record, row.media_type)
