"""A cron line fires at the time that the site's clocks show, once, whatever is done to the clocks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourcewatch.adapters.cron import next_time


def fires(line: str, zone: str, start: str, days: int) -> list[str]:
    """As the wall clock shows it, with its offset from UTC."""
    at, shown = datetime.fromisoformat(start), list[str]()
    until = at + timedelta(days=days)
    while (at := next_time(line, zone, at)) < until:
        shown.append(at.astimezone(ZoneInfo(zone)).strftime("%d %H:%M %z"))
    return shown


@pytest.mark.parametrize(
    ("line", "start", "days", "shown"),
    [
        # 29 March 2026: 02:00 becomes 03:00. The time that is left out is due as much later.
        ("30 2 * * *", "2026-03-28T00:00Z", 3, ["28 02:30 +0100", "29 03:30 +0200", "30 02:30 +0200"]),
        ("0 9 * * *", "2026-03-28T00:00Z", 3, ["28 09:00 +0100", "29 09:00 +0200", "30 09:00 +0200"]),
        # 25 October 2026: 03:00 becomes 02:00. The hour that comes twice counts the first time.
        ("30 2 * * *", "2026-10-24T00:00Z", 3, ["24 02:30 +0200", "25 02:30 +0200", "26 02:30 +0100"]),
        ("0 3 * * *", "2026-10-24T00:00Z", 3, ["24 03:00 +0200", "25 03:00 +0100", "26 03:00 +0100"]),
        ("15,45 2 * * *", "2026-10-25T00:00Z", 1, ["25 02:15 +0200", "25 02:45 +0200"]),
        # What fires each hour goes on by the time that passes.
        ("30 * * * *", "2026-10-25T00:00Z", 0.125, ["25 02:30 +0200", "25 02:30 +0100", "25 03:30 +0100"]),
        ("30 * * * *", "2026-03-29T00:00Z", 0.125, ["29 01:30 +0100", "29 03:30 +0200", "29 04:30 +0200"]),
    ],
)
def test_clocks_in_berlin_go_forward_and_back(line: str, start: str, days: float, shown: list[str]) -> None:
    assert fires(line, "Europe/Berlin", start, days) == shown  # type: ignore[arg-type]


def test_days_have_names() -> None:
    assert fires("0 9 * * mon", "Asia/Shanghai", "2026-10-20T00:00Z", 14) == ["26 09:00 +0800", "02 09:00 +0800"]


def days_of(line: str, zone: str, year: int) -> Iterator[datetime]:
    at = datetime(year, 1, 1, tzinfo=ZoneInfo(zone)).astimezone(UTC) - timedelta(seconds=1)
    while (at := next_time(line, zone, at)).astimezone(ZoneInfo(zone)).year == year:
        yield at.astimezone(ZoneInfo(zone))


@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 23),
    st.integers(0, 59),
    st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"]),
)
def test_a_daily_line_fires_once_on_each_day_of_a_year(hour: int, minute: int, zone: str) -> None:
    days = [at.date() for at in days_of(f"{minute} {hour} * * *", zone, 2026)]
    assert len(days) == 365 and len(set(days)) == 365


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["0 * * * *", "*/20 * * * *", "7 */5 * * *"]),
    st.sampled_from(["Europe/Berlin", "Australia/Lord_Howe"]),
    st.timedeltas(timedelta(0), timedelta(days=270)),
)
def test_the_next_time_lies_ahead_and_is_one_that_the_wall_clock_shows(line: str, zone: str, since: timedelta) -> None:
    after = datetime(2026, 3, 1, tzinfo=UTC) + since
    found = next_time(line, zone, after)
    assert after < found <= after + timedelta(hours=6)
    minutes = {"0": {0}, "*/20": {0, 20, 40}, "7": {7}}[line.split()[0]]
    assert found.astimezone(ZoneInfo(zone)).minute in minutes


def test_a_moment_just_before_the_hour_is_not_skipped() -> None:
    assert next_time("0 10 * * *", "UTC", datetime(2026, 10, 20, 9, 59, 59, 500_000, UTC)).day == 20
