"""What replay asks of the database: which accepted versions an address has, and what stood beside them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from sqlalchemy import Engine, Row, Select, or_, select

from ..domain.memento import Dropped, Memento
from ..domain.verdict import Verdict
from . import tables as t
from .database import storage
from .versions import VERSIONS, version_of

MOST_NAMES = 500  # SQLite takes 32,766 variables in a statement, PostgreSQL 65,535


class ArchiveRows:
    """The versions as mementos. Only what a check accepted, and whose files are still there."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def mementos(self, urls: Collection[str]) -> list[Memento]:
        """The mementos that were cited, asked or finally read at one of *urls*, oldest first."""
        cited = select(t.checks.c.version).where(t.checks.c.url.in_(urls), t.checks.c.accessed.is_(True))
        v = t.versions.c
        named = or_(v.url.in_(urls), v.final_url.in_(urls), v.id.in_(cited))
        return self._read(_MEMENTOS.where(named).order_by(v.captured_at, v.id))

    def of_sources(self, sources: Iterable[str]) -> list[Memento]:
        """The mementos of these sources, oldest first."""
        wanted, found = sorted(set(sources)), list[Memento]()
        for start in range(0, len(wanted), MOST_NAMES):
            some = t.versions.c.source.in_(wanted[start : start + MOST_NAMES])
            found += self._read(_MEMENTOS.where(some))
        return sorted(found, key=lambda m: (m.at, m.version.id))

    def dropped(self, source: str) -> dict[int, Dropped]:
        """The versions of a source whose files are gone by rule."""
        d = t.dropped.c
        query = select(t.dropped).join(t.versions, t.versions.c.id == d.version).where(t.versions.c.source == source)
        with storage("reading what was dropped"), self._engine.connect() as c:
            return {row.version: Dropped(row.at, row.rule) for row in c.execute(query)}

    def _read(self, query: Select[Any]) -> list[Memento]:
        with storage("looking for mementos"), self._engine.connect() as c:
            return [_memento(row) for row in c.execute(query)]


_MEMENTOS = (
    VERSIONS.add_columns(
        t.checks.c.url.label("cited"),
        t.checks.c.word,
        t.checks.c.rule,
        t.checks.c.evidence,
        t.checks.c.by_hand,
        t.checks.c.facts,
    )
    .join(t.checks, (t.checks.c.source == t.versions.c.source) & (t.checks.c.version == t.versions.c.id))
    .outerjoin(t.dropped, t.dropped.c.version == t.versions.c.id)
    .where(t.checks.c.new_version.is_(True), t.checks.c.accessed.is_(True), t.dropped.c.version.is_(None))
)


def _memento(row: Row[Any]) -> Memento:
    return Memento(
        version=version_of(row),
        cited=row.cited,
        verdict=Verdict(row.word, row.rule, row.evidence),
        hand={key: str(row.facts.get(key, "")) for key in ("by", "reason")} if row.by_hand else {},
        embeds=tuple(row.facts.get("embeds", ())),
    )
