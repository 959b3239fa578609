"""When a digest is due, in the site's zone: once a day or week, also across clock changes. Pure."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from ..domain.source import Editor

MONDAY = 0


def next_slot(editor: Editor, zone: str, after: datetime) -> datetime:
    """The first time (UTC) after *after* when this editor's digest goes out."""
    return _slot(editor, zone, after, range(9), lambda at: at > after)


def last_slot(editor: Editor, zone: str, now: datetime) -> datetime:
    """The newest time (UTC) that is not after *now*."""
    return _slot(editor, zone, now, range(0, -9, -1), lambda at: at <= now)


def _slot(editor: Editor, zone: str, about: datetime, days: range, wanted: Callable[[datetime], bool]) -> datetime:
    hour, minute = map(int, editor.digest_at.split(":"))
    today = about.astimezone(ZoneInfo(zone)).date()
    for day in (today + timedelta(days=n) for n in days):
        if editor.digest == "weekly" and day.weekday() != MONDAY:
            continue
        # A time that a clock change skips is the one an hour later; of one that comes twice it is the first.
        at = datetime.combine(day, time(hour, minute), ZoneInfo(zone)).astimezone(UTC)
        if wanted(at):
            return at
    raise AssertionError("a week has every day")
