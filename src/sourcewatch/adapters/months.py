"""The checks' months on PostgreSQL: a partition for each, made ahead, and dropped as a whole when nothing rests on it.

A check lies in the month in which it began. What fits into no month lies in `checks_rest`; a month that began there
stays there.
"""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Engine, text

from .database import guard_part, one_at_a_time, parts_of, storage

AHEAD = 3
MAKING = 0x50_50  # any number that all processes agree on


class Months:
    """Does nothing on SQLite. Raises StorageError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def ahead(self, now: datetime) -> list[str]:
        """Make the partitions of this month and the next ones; which were made."""
        if self._engine.dialect.name != "postgresql":
            return []
        made = []
        with storage("making months of checks"), self._engine.begin() as c:
            one_at_a_time(c, MAKING)
            known = parts_of(c)
            first = month_of(now)
            for _ in range(AHEAD):
                name, after = part_of(first), month_of(first, 1)
                span = {"first": first, "after": after}
                rest = text("SELECT 1 FROM checks_rest WHERE first_at >= :first AND first_at < :after LIMIT 1")
                if name not in known and c.execute(rest, span).first() is None:
                    begins, ends = first.isoformat(), after.isoformat()
                    c.execute(
                        text(f"CREATE TABLE {name} PARTITION OF checks FOR VALUES FROM ('{begins}') TO ('{ends}')")
                    )
                    guard_part(c, name)
                    made.append(name)
                first = after
        return made


def month_of(at: datetime, later: int = 0) -> datetime:
    """When the month of *at* began, or one so many months later."""
    count = at.astimezone(UTC).year * 12 + at.astimezone(UTC).month - 1 + later
    return datetime(count // 12, count % 12 + 1, 1, tzinfo=UTC)


def part_of(first: datetime) -> str:
    return f"checks_{first:%Y%m}"
