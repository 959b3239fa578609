"""Rows for the overview plots: stretches of checks, and when changes were seen."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Engine, and_, func, or_, select

from ..domain.change import Significance
from ..domain.trend import Reach
from . import tables as t
from .database import storage
from .spans import OWN_ADDRESS


class TrendRows:
    """Raises StorageError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def reach(self, since: datetime) -> list[Reach]:
        """Stretches of the declared pages that end after *since*, and each page's last one before; oldest first.

        Failures of void runs and what people read count for nothing, as in `standing`.
        """
        k = t.checks.c
        counted = and_(
            t.sources.c.declared.is_(True), t.sources.c.retired_at.is_(None), t.sources.c.parent.is_(None), OWN_ADDRESS,
            k.by_hand.is_(False), or_(k.accessed.is_(True), t.runs.c.void_reason.is_(None)),
        )  # fmt: skip
        of = t.checks.join(t.sources, t.sources.c.id == k.source).join(t.runs, t.runs.c.id == k.run)
        before = select(func.max(k.id)).select_from(of).where(counted, k.last_at < since).group_by(k.source)
        query = (
            select(k.source, t.sources.c.tier, k.first_at, k.last_at, k.accessed)
            .select_from(of)
            .where(counted, or_(k.last_at >= since, k.id.in_(before)))
            .order_by(k.source, k.first_at, k.id)
        )
        with storage("reading checks"), self._engine.connect() as c:
            return [Reach(*row) for row in c.execute(query)]

    def changes(self, since: datetime) -> list[tuple[datetime, Significance]]:
        """When each change of which something is told was first seen, oldest first."""
        k = t.changes.c
        query = select(k.seen_at, k.significance).where(k.seen_at >= since, k.told > 0).order_by(k.seen_at)
        with storage("reading changes"), self._engine.connect() as c:
            return [(at, Significance(word)) for at, word in c.execute(query)]
