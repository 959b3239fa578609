"""Counters and clocks are masked where they stand alone; numbers that say something are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis.masks import MOST_CHARS, difference, key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("score: 162", "score: 193"),
        ("stargazers_count: 1204", "stargazers_count: 1377"),
        ("is-referenced-by-count: 3", "is-referenced-by-count: 4"),
        ("1,204 views", "1,377 views"),
        ("updated 3 hours ago", "updated 5 minutes ago"),
        ("阅读量 1.2万", "阅读量 3.4万"),
        (
            "162 points by somebody 3 hours ago | hide | 45 comments",
            "193 points by somebody 5 hours ago | hide | 61 comments",
        ),
        ("Join 10,234 followers", "Join 10,301 followers"),
        ("12 answers", "13 answers"),
        ("Forum: 1,204 members, 31 online", "Forum: 1,377 members, 8 online"),
        ("阅读 1.2万 评论 34 点赞 5", "阅读 1.3万 评论 35 点赞 9"),
        ("浏览量：1204次", "浏览量：1377次"),
        ("3 分钟前 3 个回复", "7 分钟前 3 个回复"),
        ("三天前更新", "两周前更新"),
        ("Trace Id: 0af7651916cd43dd8448eb211c80319c", "Trace Id: b7ad6b7169203331a1c2d3e4f5061728"),
        ("Request 176466000012345678", "Request 176466360045678901"),
        ("Stand: 28. August 2025", "Stand: August 28, 2025"),
        ("2025 年 8 月 28 日生效", "2025-08-28生效"),
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
        ("Crash kills 12 people in May", "Crash kills 15 people in May"),
        ("12 people died in the crash.", "15 people died in the crash."),
        ("The fund bought 400 shares.", "The fund bought 900 shares."),
        ("Rates rose by 25 points", "Rates rose by 50 points"),
        ("The bill passed with 51 votes to 49.", "The bill passed with 52 votes to 48."),
        ("The app tops 100M downloads", "The app tops 200M downloads"),
        ("值得关注 5 个问题", "值得关注 6 个问题"),
        ("2024 年前三季度营收增长", "2025 年前三季度营收增长"),
        ("2030年前实现碳达峰", "2035年前实现碳达峰"),
        ("第一天前往北京", "第二天前往北京"),
        ("tokens a day: 155000000000000", "tokens a day: 160000000000000"),
        ("Version 2025", "Version 2026"),
        ("Call 400-820-8820", "Call 400-820-8821"),
        ("Effective 28 August 2025", "Effective 29 August 2025"),
        ("单集群每天 155 万亿 token", "单集群每天 160 万亿 token"),
    ],
)
def test_what_says_something_is_not(one: str, other: str) -> None:
    assert key(one) != key(other)


@pytest.mark.parametrize(
    ("one", "other", "rule"),
    [
        ("two  words\nhere", "two words here", "whitespace"),
        ("Caf\u00e9 society", "Cafe\u0301 society", "whitespace"),
        ('the "most capable" model', "the “most capable” model", "typography"),
        ("单集群 155 万亿", "单集群155万亿", "typography"),
        ("Id 0af7651916cd43dd8448eb211c80319c", "Id b7ad6b7169203331a1c2d3e4f5061728", "masked-id"),
        ("Effective 28 August 2025", "Effective August 28, 2025", "locale-date"),
        ("updated today", "updated yesterday", "masked-time"),
        ("7 views, 3 hours ago", "8 views, 4 hours ago", "masked-counter"),
        ("10² units", "102 units", ""),
        ("4–7%", "47%", ""),
        ("4.5 times", "45 times", ""),
        ("−5 °C", "5 °C", ""),
        ("We keep it.", "We do not keep it.", ""),
        ("Customer Data", "customer data", ""),
    ],
)
def test_the_rule_that_makes_two_texts_one_is_named(one: str, other: str, rule: str) -> None:
    assert difference(one, other) == difference(other, one) == rule


def test_long_texts_are_prose_and_no_counter_in_them_is_masked() -> None:
    prose = "The report goes on at some length about what the platform is. " * 5
    assert key(prose + "12 views") != key(prose + "13 views")


@pytest.mark.parametrize("unit", ["1,234,", "0a", "阅读 1", "3 天前", "28 August ", "| 1 ", "© "])
def test_the_longest_text_that_is_masked_does_not_stall_any_mask(unit: str) -> None:
    text = unit * (MOST_CHARS // len(unit))
    assert key(text)


@given(st.text(st.characters(exclude_categories=()), max_size=400))
def test_any_text_has_a_key_that_white_space_does_not_change(text: str) -> None:
    assert key(text) == key(f"  {text}\n")
    assert difference(text, text) == "whitespace"
