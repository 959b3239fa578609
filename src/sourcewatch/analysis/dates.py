"""Dates as readers see them: in the site's zone, in its language, never more precise than what is known."""

from __future__ import annotations

from datetime import date, datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

LANGUAGES = ("zh-CN", "en")
# strftime's month names follow the machine's locale
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


def local_day(at: datetime, zone: str) -> date:
    return at.astimezone(_zone(zone)).date()


def day(at: datetime, zone: str, language: str) -> str:
    """2026 年 10 月 20 日, or 20 October 2026."""
    d = local_day(at, zone)
    return f"{d.year} 年 {d.month} 月 {d.day} 日" if language == "zh-CN" else f"{d.day} {_MONTHS[d.month - 1]} {d.year}"


def minute(at: datetime, zone: str, language: str) -> str:
    """A day and the time of day in the site's zone."""
    return f"{day(at, zone, language)} {at.astimezone(_zone(zone)):%H:%M}"


def accessed(at: datetime, zone: str, language: str) -> str:
    """The sentence that the site prints beside a citation."""
    return f"访问于 {day(at, zone, language)}" if language == "zh-CN" else f"accessed {day(at, zone, language)}"


def as_of(at: datetime, zone: str, language: str) -> str:
    """Which version a date is of: the one that was captured then."""
    return f"{day(at, zone, language)}的版本" if language == "zh-CN" else f"version of {day(at, zone, language)}"
