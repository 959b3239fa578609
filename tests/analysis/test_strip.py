"""A source's checks as a strip: what is counted, and from when until when it goes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from sourcewatch.analysis.strip import strip
from sourcewatch.domain.check import Span
from sourcewatch.domain.verdict import Verdict

AT = datetime(2026, 10, 20, 11, 3, tzinfo=UTC)
URL = "https://a.example/p"
READ = Span(1, "a", AT, AT, 1, Verdict("ok", "r"), 200, URL, URL, version=1)
FAILED = Span(2, "a", AT, AT, 1, Verdict("server_error", "r", "500"), 500, URL, URL)


def test_of_a_row_of_three_checks_with_one_new_version_two_are_unchanged() -> None:
    drawn = strip([replace(READ, n=3, last_at=AT + timedelta(days=2), new_version=True)], AT + timedelta(days=3))
    assert drawn is not None
    assert {kind: n for kind, n in drawn.counts.items() if n} == {"read": 2, "changed": 1}


def test_void_checks_are_counted_apart_and_drawn_nowhere() -> None:
    drawn = strip([READ, replace(FAILED, void=True), replace(FAILED, id=3, void=True)], AT)
    assert drawn is not None
    assert (sum(drawn.counts.values()), drawn.void, len(drawn.marks)) == (1, 2, 1)
    assert strip([replace(FAILED, void=True)], AT) is None


def test_the_axis_ends_now_even_a_minute_after_the_first_check() -> None:
    now = AT + timedelta(minutes=1)
    drawn = strip([READ], now)
    assert drawn is not None and (drawn.since, drawn.until, drawn.ticks[-1]) == (AT, now, (960.0, now))
    at_once = strip([READ], AT)
    assert at_once is not None and (at_once.until, at_once.marks[0].x) == (AT, 0.0)
