"""Rows of changes, each with the name of the person who read the newer version, where one did."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, select

from ..domain.change import Drift, Extent, Significance
from ..domain.kept import ChangeRow
from . import tables as t

_of_hand = (t.checks.c.source == t.changes.c.source) & (t.checks.c.version == t.changes.c.to_version)
CHANGES = (
    select(t.changes, t.checks.c.facts)
    .outerjoin(t.checks, _of_hand & t.checks.c.by_hand.is_(True))
    .order_by(t.changes.c.id.desc())
)


def change_of(row: Row[Any]) -> ChangeRow:
    return ChangeRow(
        id=row.id,
        source=row.source,
        from_version=row.from_version,
        to_version=row.to_version,
        seen_at=row.seen_at,
        confirmed_at=row.confirmed_at,
        significance=Significance(row.significance),
        told=row.told,
        suppressed=row.suppressed,
        drift=Drift(row.kept, row.novelty, Extent(row.extent)),
        packed=bytes(row.edits),
        by_hand=str(row.facts.get("by", "")) if row.facts else "",
    )
