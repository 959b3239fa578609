"""When a cron line is next due, right across clock changes.

APScheduler's trigger reads the line, but only ever sees wall-clock times without a zone: with a zone it fires twice in
the hour that comes twice, and leaves out the midnight after clocks went forward (3.11.3, found by a test).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from apscheduler.triggers.cron import CronTrigger

SECOND = timedelta(seconds=1)
CLOCKS_MOVE = timedelta(hours=3)  # by less, everywhere since 1990 but for whole days at the date line
NEVER = timedelta(days=366)
LEAP_YEAR = datetime(2028, 1, 1, tzinfo=UTC)


def next_time(line: str, timezone: str, after: datetime) -> datetime:
    """The first UTC time after *after*; days are names (APScheduler counts Monday as 0, cron Sunday).

    A line that names its hours is due once a day. Where clocks go back, the hour that comes twice counts the first
    time; where they go forward, a time that is left out is due as much later (02:30 at 03:30), as cron does it. A line
    whose hour is `*` goes on by the time that passes.
    """
    find = _by_passing_time if line.split()[1].startswith("*") else _by_the_wall
    return find(_trigger(line), ZoneInfo(timezone), after.astimezone(UTC)) or after + NEVER


def ever_fires(line: str) -> bool:
    """Whether there is any day for a line: 31 February never comes. Raises ValueError for a line that is none."""
    return _fires(_trigger(line), LEAP_YEAR) is not None


def _trigger(line: str) -> CronTrigger:
    minute, hour, day, month, weekday = line.lower().split()
    return CronTrigger(minute=minute, hour=hour, day=day, month=month, day_of_week=weekday, timezone=UTC)


def _by_the_wall(trigger: CronTrigger, zone: ZoneInfo, after: datetime) -> datetime | None:
    wall = _fires(trigger, _wall(after, zone) - CLOCKS_MOVE)
    while wall is not None:
        at = wall.replace(tzinfo=zone).astimezone(UTC)  # fold 0: the first of two, or as much later than none
        if at > after:
            return at
        wall = _fires(trigger, wall)
    return None


def _by_passing_time(trigger: CronTrigger, zone: ZoneInfo, after: datetime) -> datetime | None:
    """By one offset from UTC, or, where the clocks are moved before that is due, by the next."""
    moved = _wall(after, zone) - after
    if (wall := _fires(trigger, after + moved)) is None:
        return None
    found = wall - moved
    if (there := _wall(found, zone) - found) == moved:
        return found
    found = after
    while (wall := _fires(trigger, found + there)) is not None:
        found = wall - there
        if _wall(found, zone) - found == there:
            return found
    return None


def _wall(at: datetime, zone: ZoneInfo) -> datetime:
    """What the clocks show, as though they were set to UTC."""
    return at.astimezone(zone).replace(tzinfo=UTC, fold=0)


def _fires(trigger: CronTrigger, after: datetime) -> datetime | None:
    found: datetime | None = trigger.get_next_fire_time(None, after.replace(microsecond=0) + SECOND)
    return found
