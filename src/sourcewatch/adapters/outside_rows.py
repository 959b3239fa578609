"""What outside archives were found to hold, as facts."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Engine, Row, delete, insert, select

from ..domain.copies import OutsideCopy
from . import tables as t
from .cleaning import clean, clean_json
from .database import storage

_LOOKED = "{what} {source}"  # a cache's key; no host's name has a blank


class OutsideRows:
    """Raises StorageError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def keep(self, copy: OutsideCopy) -> None:
        facts = {"kept": copy.kept, "evidence": clean(copy.evidence)}
        facts |= {"cited_at": copy.cited_at.isoformat()} if copy.cited_at else {}
        columns = ("source", "archive", "original", "url", "memento_at", "asked_at", "word", "held", "sought")
        values = {name: getattr(copy, name) for name in columns} | {"facts": clean_json(facts)}
        with storage("noting an outside copy"), self._engine.begin() as c:
            c.execute(insert(t.copies).values(**values))

    def of(self, source: str | None = None) -> list[OutsideCopy]:
        """Of one source, or of all that are still cited; oldest first."""
        query = select(t.copies).join(t.sources, t.sources.c.id == t.copies.c.source)
        query = query.where(t.sources.c.retired_at.is_(None)).order_by(t.copies.c.id)
        query = query.where(t.copies.c.source == source) if source is not None else query
        with storage("reading outside copies"), self._engine.connect() as c:
            return [_copy(row) for row in c.execute(query)]

    def look(self, what: str, source: str, at: datetime) -> None:
        """Note that *what* was looked for."""
        key, p = _LOOKED.format(what=what, source=source), t.probes.c
        with storage("noting a look outside"), self._engine.begin() as c:
            c.execute(delete(t.probes).where(p.host == key))
            c.execute(insert(t.probes).values(host=key, asked_at=at, facts={}))

    def looked(self, what: str) -> dict[str, datetime]:
        """When *what* was last looked for, by source."""
        p, start = t.probes.c, _LOOKED.format(what=what, source="")
        with storage("reading looks outside"), self._engine.connect() as c:
            rows = c.execute(select(p.host, p.asked_at).where(p.host.startswith(start, autoescape=True)))
            return {row.host.removeprefix(start): row.asked_at for row in rows}


def _copy(row: Row[Any]) -> OutsideCopy:
    return OutsideCopy(
        source=row.source,
        archive=row.archive,
        original=row.original,
        url=row.url,
        memento_at=row.memento_at,
        asked_at=row.asked_at,
        word=row.word,
        held=row.held,
        sought=row.sought,
        kept=row.facts.get("kept"),
        evidence=row.facts.get("evidence", ""),
        cited_at=datetime.fromisoformat(at) if (at := row.facts.get("cited_at")) else None,
    )
