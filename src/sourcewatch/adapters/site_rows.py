"""What the site's data and the API ask of the database, a page of rows at a time, and whether anything was written."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Engine, Row, event, select

from ..domain.change import sighting_of
from ..domain.check import Span
from ..domain.kept import ChangeRow, Quoted
from ..domain.memento import Dropped, VersionListed, VersionShown
from . import tables as t
from .change_rows import CHANGES, change_of
from .database import storage
from .spans import SPANS, span_of
from .stood import last_stood
from .versions import VERSIONS, version_of

MOST_NAMES = 500  # SQLite takes 32,766 variables in a statement, PostgreSQL 65,535


class SiteRows:
    """Rows newest first; *after* is the id of the row before the first one that is wanted."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._lock = Lock()
        self._looking: Connection | None = None
        event.listen(engine, "engine_disposed", self._close)

    def mark(self) -> str:
        """A mark that is another one after any commit of anybody. It costs no read of a table. Raises StorageError.

        SQLite counts the commits of all other connections, so this asks on a connection of its own that never writes;
        on PostgreSQL two equal snapshots see the same rows.
        """
        sqlite = self._engine.dialect.name == "sqlite"
        with self._lock, storage("looking whether it was written to"):
            if not sqlite:
                with self._engine.connect() as c:
                    return str(c.exec_driver_sql("SELECT pg_current_snapshot()").scalar())
            if self._looking is None:
                self._looking = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            return str(self._looking.exec_driver_sql("PRAGMA data_version").scalar())

    def _close(self, _: Engine) -> None:
        if self._looking is not None:
            self._looking.close()
            self._looking = None

    def shown(self, versions: Collection[int]) -> dict[int, VersionShown]:
        """When these versions were captured, and whether their files are still there."""
        v, d = t.versions.c, t.dropped.c
        query = select(v.id, v.captured_at, d.at.label("dropped_at")).outerjoin(t.dropped, d.version == v.id)
        wanted, found = sorted(versions), dict[int, VersionShown]()
        with storage("reading versions"), self._engine.connect() as c:
            for start in range(0, len(wanted), MOST_NAMES):
                for row in c.execute(query.where(v.id.in_(wanted[start : start + MOST_NAMES]))):
                    found[row.id] = VersionShown(row.captured_at, row.dropped_at is not None)
        return found

    def checks(self, source: str, after: int | None, most: int) -> list[Span]:
        k = t.checks.c
        query = SPANS.where(k.source == source).order_by(k.id.desc()).limit(most)
        with storage("reading checks"), self._engine.connect() as c:
            return [span_of(row) for row in c.execute(query if after is None else query.where(k.id < after))]

    def versions(self, source: str, after: int | None, most: int) -> list[VersionListed]:
        v, d, k = t.versions.c, t.dropped.c, t.checks.c
        brought = (k.source == v.source) & (k.version == v.id) & k.new_version.is_(True) & k.accessed.is_(True)
        query = VERSIONS.add_columns(d.at.label("dropped_at"), d.rule.label("dropped_rule"), k.by_hand, k.facts)
        query = query.outerjoin(t.dropped, d.version == v.id).outerjoin(t.checks, brought)
        query = query.where(v.source == source).order_by(v.id.desc()).limit(most)
        with storage("reading versions"), self._engine.connect() as c:
            return [_listed(row) for row in c.execute(query if after is None else query.where(v.id < after))]

    def quoted(self, source: str, version: int) -> list[Quoted]:
        """How a version holds the quotes of its source, and when each of them last stood in any version."""
        query = select(t.sightings).where(t.sightings.c.version == version).order_by(t.sightings.c.quote)
        with storage("reading sightings"), self._engine.connect() as c:
            stood = last_stood(c, source)
            return [
                Quoted(sighting_of(r.quote, r.kind, r.score, r.facts), r.seen_at, stood.get((source, r.quote)))
                for r in c.execute(query)
            ]

    def changes(self, source: str | None, since: datetime | None, after: int | None, most: int) -> list[ChangeRow]:
        """Changes of which something is told, first seen at or after *since*."""
        k = t.changes.c
        query = CHANGES.where(k.told > 0).limit(most)
        if source is not None:
            query = query.where(k.source == source)
        if since is not None:
            query = query.where(k.seen_at >= since)
        if after is not None:
            query = query.where(k.id < after)
        with storage("reading changes"), self._engine.connect() as c:
            return [change_of(row) for row in c.execute(query)]


def _listed(row: Row[Any]) -> VersionListed:
    return VersionListed(
        version=version_of(row),
        by_hand=str(row.facts.get("by", "")) if row.by_hand else "",
        dropped=Dropped(row.dropped_at, row.dropped_rule) if row.dropped_at else None,
    )
