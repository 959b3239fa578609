"""The checks' months on PostgreSQL: a partition for each, made ahead, and dropped as a whole when nothing rests on it.

A check lies in the month in which it began. What fits into no month lies in `checks_rest`; a month that began there
stays there.
"""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Connection, Engine, text

from .database import guard_part, one_at_a_time, parts_of, storage

AHEAD = 3
REST = "checks_rest"
MAKING = 0x50_50  # any number that all processes agree on


class Months:
    """Does nothing on SQLite. Raises StorageError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def ahead(self, now: datetime) -> list[str]:
        """Make the partitions of this month and the next ones; which were made."""
        return self.through(now, month_of(now, AHEAD - 1))

    def through(self, first: datetime | None, last: datetime | None) -> list[str]:
        """Make the partitions of the months from *first* to *last*; which were made."""
        if self._engine.dialect.name != "postgresql" or first is None or last is None:
            return []
        made, month = [], month_of(first)
        with storage("making months of checks"), self._engine.begin() as c:
            one_at_a_time(c, MAKING)
            known = parts_of(c)
            while month <= last:
                if part_of(month) not in known and _make(c, month):
                    made.append(part_of(month))
                month = month_of(month, 1)
        return made

    def drop(self, before: datetime) -> list[str]:
        """Drop months that ended before then and hold nothing any more; which were dropped.

        What is in them is for retention to remove, row by row or not at all: nothing that a rule has not noted goes.
        """
        if self._engine.dialect.name != "postgresql":
            return []
        gone = []
        with storage("dropping months of checks"), self._engine.begin() as c:
            one_at_a_time(c, MAKING)
            for part in parts_of(c):
                if part < part_of(month_of(before)) and part != REST:
                    c.execute(text(f"LOCK TABLE {part} IN ACCESS EXCLUSIVE MODE"))
                    if c.execute(text(f"SELECT 1 FROM {part} LIMIT 1")).first() is None:
                        c.execute(text(f"DROP TABLE {part}"))
                        gone.append(part)
        return gone


def _make(c: Connection, month: datetime) -> bool:
    """Whether the month could be made: what began in `checks_rest` stays there."""
    after = month_of(month, 1)
    rest = text(f"SELECT 1 FROM {REST} WHERE first_at >= :first AND first_at < :after LIMIT 1")
    if c.execute(rest, {"first": month, "after": after}).first() is not None:
        return False
    span = f"FROM ('{month.isoformat()}') TO ('{after.isoformat()}')"
    c.execute(text(f"CREATE TABLE {part_of(month)} PARTITION OF checks FOR VALUES {span}"))
    guard_part(c, part_of(month))
    return True


def month_of(at: datetime, later: int = 0) -> datetime:
    """When the month of *at* began, or one so many months later."""
    count = at.astimezone(UTC).year * 12 + at.astimezone(UTC).month - 1 + later
    return datetime(count // 12, count % 12 + 1, 1, tzinfo=UTC)


def part_of(first: datetime) -> str:
    return f"checks_{first:%Y%m}"
