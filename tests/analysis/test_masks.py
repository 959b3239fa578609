"""Counters and clocks are masked where they stand alone; numbers that say something are not."""

from __future__ import annotations

import pytest

from sourcewatch.analysis.masks import key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("score: 162", "score: 193"),
        ("stargazers_count: 1204", "stargazers_count: 1377"),
        ("is-referenced-by-count: 3", "is-referenced-by-count: 4"),
        ("1,204 views", "1,377 views"),
        ("updated 3 hours ago", "updated 5 minutes ago"),
        ("阅读量 1.2万", "阅读量 3.4万"),
        ("Effective 28 August 2025", "Effective August 28, 2025"),
        ("© 2025 Example", "© 2026 Example"),
    ],
)
def test_what_only_counts_or_tells_the_time_is_the_same(one: str, other: str) -> None:
    assert key(one) == key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("parameters: 552", "parameters: 553"),
        ("score of the match: 3", "score of the match: 4"),
        ("state: open", "state: closed"),
        ("The count: 3 of 4 ranks", "The count: 4 of 4 ranks"),
        ("gains 4–7%", "gains 3–5%"),
        ("Effective 28 August 2025", "Effective 29 August 2025"),
        ("单集群每天 155 万亿 token", "单集群每天 160 万亿 token"),
    ],
)
def test_what_says_something_is_not(one: str, other: str) -> None:
    assert key(one) != key(other)
