"""When a cron line is next due, right across clock changes; by APScheduler's own trigger."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from apscheduler.triggers.cron import CronTrigger


def next_time(line: str, timezone: str, after: datetime) -> datetime:
    """The first UTC time after *after*; days are names (APScheduler counts Monday as 0, cron Sunday).

    A line that names its hours is due once a day. Where clocks go back, the hour that comes twice counts the first
    time (the trigger alone would fire twice); where they go forward, a time that is left out is due as much later
    (02:30 at 03:30), as cron does it. Lines whose hour is `*` go on by the time that passes.
    """
    minute, hour, day, month, weekday = line.lower().split()
    trigger = CronTrigger(
        minute=minute, hour=hour, day=day, month=month, day_of_week=weekday, timezone=ZoneInfo(timezone)
    )
    found: datetime | None = trigger.get_next_fire_time(None, after + timedelta(seconds=1))
    while found is not None and found.fold and not hour.startswith("*"):
        found = trigger.get_next_fire_time(None, found.astimezone(UTC) + timedelta(seconds=1))
    return (found or after + timedelta(days=366)).astimezone(UTC)
