"""Rows of checks as spans, and which of them are a source's own."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, or_, select

from ..domain.check import Span
from ..domain.verdict import Verdict
from . import tables as t

# A source is its address: what was read under another one dates and proves nothing of it.
OWN_ADDRESS = or_(t.sources.c.url.is_(None), t.checks.c.url == t.sources.c.url)
SPANS = select(t.checks, t.runs.c.void_reason).join(t.runs, t.runs.c.id == t.checks.c.run)


def span_of(row: Row[Any]) -> Span:
    return Span(
        id=row.id,
        source=row.source,
        first_at=row.first_at,
        last_at=row.last_at,
        n=row.n,
        verdict=Verdict(row.word, row.rule, row.evidence),
        status=row.status,
        url=row.url,
        final_url=row.final_url,
        version=row.version,
        new_version=row.new_version,
        ms=row.ms,
        run=row.run,
        void=row.void_reason is not None,
        by_hand=row.by_hand,
        facts=row.facts,
    )
