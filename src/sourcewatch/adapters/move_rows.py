"""Proposals where sources have moved, as rows; an editor decides about each once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, Row, insert, select, update

from ..domain.move import Evidence, Lead, Likeness, Move
from . import tables as t
from .cleaning import clean_json
from .database import storage


class MoveRows:
    """Raises StorageError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def propose(self, move: Move) -> int | None:
        """Keep a proposal, or bring it up to date; its number. None where an editor has decided about it."""
        m = t.moves.c
        same = select(m.id, m.decision).where(m.source == move.source, m.url == move.url, m.to_url == move.to_url)
        values = {"proposed_at": move.proposed_at, "facts": _facts(move)}
        with storage("noting where a source moved"), self._engine.begin() as c:
            known = c.execute(same.order_by(m.id.desc()).limit(1)).first()
            if known is None:
                row = insert(t.moves).values(source=move.source, url=move.url, to_url=move.to_url, **values)
                return int(c.execute(row.returning(m.id)).scalar_one())
            if known.decision is not None:
                return None
            c.execute(update(t.moves).where(m.id == known.id).values(**values))
            return int(known.id)

    def open(self, source: str | None = None) -> list[Move]:
        """What nobody has decided about, of sources that are still cited at the old address, oldest first."""
        m, s = t.moves.c, t.sources.c
        query = select(t.moves).join(t.sources, s.id == m.source)
        query = query.where(m.decision.is_(None), m.url == s.url, s.retired_at.is_(None)).order_by(m.id)
        if source is not None:
            query = query.where(m.source == source)
        with storage("reading where sources moved"), self._engine.connect() as c:
            return [_move(row) for row in c.execute(query)]

    def move(self, number: int) -> Move | None:
        with storage("reading where a source moved"), self._engine.connect() as c:
            row = c.execute(select(t.moves).where(t.moves.c.id == number)).first()
        return _move(row) if row is not None else None

    def decide(self, number: int, decision: str, by: str, at: datetime) -> bool:
        """Whether this decision was the first about it."""
        mine = update(t.moves).where(t.moves.c.id == number, t.moves.c.decision.is_(None))
        with storage("deciding where a source moved"), self._engine.begin() as c:
            return c.execute(mine.values(decision=decision, decided_by=by, decided_at=at)).rowcount == 1


def _facts(move: Move) -> Mapping[str, Any]:
    evidence = [{"lead": e.lead, "words": e.words} for e in move.evidence]
    facts: Mapping[str, Any] = clean_json({"evidence": evidence, "likeness": asdict(move.likeness)})
    return facts


def _move(row: Row[Any]) -> Move:
    return Move(
        source=row.source,
        url=row.url,
        to_url=row.to_url,
        proposed_at=row.proposed_at,
        evidence=tuple(Evidence(Lead(e["lead"]), e["words"]) for e in row.facts["evidence"]),
        likeness=Likeness(**row.facts["likeness"]),
        id=row.id,
        decision=row.decision,
        decided_at=row.decided_at,
        decided_by=row.decided_by or "",
    )
