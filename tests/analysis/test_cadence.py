"""When a source is asked next: as its editor wants, sooner when something is wrong, later when nothing ever is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis.cadence import interval, jitter, next_check
from sourcewatch.domain.standing import Standing
from sourcewatch.domain.verdict import WORDS, Retry, Verdict

NOW = datetime(2026, 10, 20, 11, 0, tzinfo=UTC)
HOUR, DAY = 3600.0, 86_400.0


def after(word: str, usual: timedelta = timedelta(days=1), **standing: object) -> timedelta:
    verdict = Verdict(word, "r")
    return next_check(NOW, NOW + usual, verdict, Standing(**standing)) - NOW  # type: ignore[arg-type]


def test_the_jitter_belongs_to_the_source_so_that_a_restart_shifts_nothing() -> None:
    assert f"{jitter('vllm-readme'):.6f}" == "0.920837"  # of its name alone: the same in any process
    drawn = [jitter(f"s{n}") for n in range(2_000)]
    assert 0.9 <= min(drawn) < 0.905 and 1.095 < max(drawn) <= 1.1 and sum(drawn) / 2_000 == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    ("every", "slowest", "unchanged_days", "hours"),
    [
        (6 * HOUR, None, 3650, 6),  # nobody allowed it to grow
        (6 * HOUR, 7 * DAY, 0, 6),
        (6 * HOUR, 7 * DAY, 2, 6),  # a tenth of two days is less than six hours
        (6 * HOUR, 7 * DAY, 30, 72),
        (6 * HOUR, 7 * DAY, 365, 168),  # never more than the editor allows
        (HOUR, HOUR, 365, 1),
    ],
)
def test_what_has_long_been_the_same_is_asked_less_often(
    every: float, slowest: float | None, unchanged_days: float, hours: float
) -> None:
    found = interval("s", every, slowest, timedelta(days=unchanged_days))
    assert found.total_seconds() == pytest.approx(hours * 3600 * jitter("s"))


@given(st.floats(60, 1e7), st.none() | st.floats(60, 1e7), st.timedeltas(timedelta(0), timedelta(days=9999)))
def test_an_interval_stays_between_what_is_wanted_and_what_is_allowed(
    every: float, slowest: float | None, unchanged: timedelta
) -> None:
    seconds = interval("s", every, slowest, unchanged).total_seconds()
    assert every * 0.899 <= seconds <= max(every, slowest or 0) * 1.101


def test_a_failure_is_looked_at_again_after_ten_minutes_an_hour_and_six() -> None:
    tried = [after("server_error", failures=n) for n in range(5)]
    assert tried == [
        timedelta(minutes=10),
        timedelta(hours=1),
        timedelta(hours=6),
        timedelta(days=1),
        timedelta(days=1),
    ]


def test_what_is_asked_often_anyway_is_not_asked_later_for_failing() -> None:
    assert [after("server_error", timedelta(minutes=5), failures=n) for n in range(4)] == [timedelta(minutes=5)] * 4


def test_the_dead_are_asked_once_a_week_and_not_oftener_than_the_living() -> None:
    assert after("not_found", dead=True) == timedelta(days=7)
    assert after("not_found", timedelta(days=30), dead=True) == timedelta(days=30)


def test_an_unconfirmed_change_is_looked_at_again_within_the_hour() -> None:
    ok = Verdict("ok", "r")
    soon = next_check(NOW, NOW + timedelta(days=1), ok, Standing(), unconfirmed=True)
    assert timedelta(minutes=10) <= soon - NOW <= timedelta(hours=1)
    assert next_check(NOW, NOW + timedelta(minutes=5), ok, Standing(), unconfirmed=True) == NOW + timedelta(minutes=5)


@pytest.mark.parametrize("word", sorted(WORDS))
def test_nothing_is_asked_again_at_once_or_never(word: str) -> None:
    for failures in range(5):
        wait = after(word, failures=failures)
        assert timedelta(minutes=10) <= wait <= timedelta(days=1)
        if WORDS[word].accessed or (WORDS[word].retry is Retry.NEVER and word != "redirect_to_private"):
            assert wait == timedelta(days=1)
