"""A digest goes out once a day or week by the site's clock, also when that clock is changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis.digests import last_slot, next_slot
from sourcewatch.domain.source import Editor

DAILY = Editor("Li", ("X",), digest="daily", digest_at="08:30")
WEEKLY = Editor("Li", ("X",), digest="weekly", digest_at="08:30")


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("editor", "zone", "after", "due"),
    [
        (DAILY, "Asia/Shanghai", "2026-10-20 00:00", "2026-10-20 00:30"),
        (DAILY, "Asia/Shanghai", "2026-10-20 00:30", "2026-10-21 00:30"),  # at the time itself: the next
        (DAILY, "UTC", "2026-12-31 23:59", "2027-01-01 08:30"),
        (WEEKLY, "UTC", "2026-10-20 12:00", "2026-10-26 08:30"),  # a Tuesday: next Monday
        (WEEKLY, "UTC", "2026-10-26 08:29", "2026-10-26 08:30"),
        (WEEKLY, "Pacific/Auckland", "2026-10-18 20:00", "2026-10-25 19:30"),  # Monday there is Sunday in UTC
        (DAILY, "Europe/Berlin", "2026-10-24 12:00", "2026-10-25 07:30"),  # the clock went back
        (DAILY, "Europe/Berlin", "2026-03-28 12:00", "2026-03-29 06:30"),  # the clock went forward
        (Editor("L", ("X",), digest_at="02:30"), "Europe/Berlin", "2026-03-28 12:00", "2026-03-29 01:30"),  # skipped
        (
            Editor("L", ("X",), digest_at="02:30"),
            "Europe/Berlin",
            "2026-10-24 12:00",
            "2026-10-25 00:30",
        ),  # twice
        (Editor("L", ("X",), digest_at="02:30"), "Europe/Berlin", "2026-10-25 00:30", "2026-10-26 01:30"),
    ],
)
def test_the_next_digest(editor: Editor, zone: str, after: str, due: str) -> None:
    assert next_slot(editor, zone, utc(after)) == utc(due)


@given(
    st.integers(0, 60 * 24 * 365 * 6).map(lambda n: datetime(2024, 1, 1, tzinfo=UTC) + timedelta(minutes=n)),
    st.sampled_from(["UTC", "Asia/Shanghai", "Europe/Berlin", "America/St_Johns", "Pacific/Apia"]),
    st.sampled_from([DAILY, WEEKLY, Editor("L", ("X",), digest_at="02:30"), Editor("L", ("X",), digest_at="00:00")]),
)
def test_the_last_digest_is_never_ahead_and_the_next_never_past(at: datetime, zone: str, editor: Editor) -> None:
    last, coming = last_slot(editor, zone, at), next_slot(editor, zone, at)
    assert last <= at < coming
    assert next_slot(editor, zone, last) == coming, "one is left out between the two"
    assert coming - last <= (timedelta(days=7) if editor.digest == "weekly" else timedelta(days=1)) + timedelta(hours=1)
