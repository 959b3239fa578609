"""How sources fared over time, and the plots that show it."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from xml.etree import ElementTree

import pytest

from sourcewatch.analysis import plots, trends
from sourcewatch.analysis.voice import Voice
from sourcewatch.domain.change import Significance
from sourcewatch.domain.report import Line
from sourcewatch.domain.source import Source
from sourcewatch.domain.standing import Standing
from sourcewatch.domain.trend import Day, Reach, Trends
from sourcewatch.domain.verdict import Verdict

NOW = datetime(2026, 12, 2, 12, tzinfo=UTC)
HOSTILE = '</svg><script>alert(1)</script>"&'


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def made(
    *reach: Reach, changes: list[tuple[datetime, Significance]] | None = None, failing: list[Line] | None = None
) -> Trends:
    return trends.trends(reach, changes or [], failing or [], ["A", "C"], NOW, "Asia/Shanghai")


def failing(url: str, word: str) -> Line:
    return Line(Source("x", "A", "x", url=url), Standing(verdict=Verdict(word, "r", "e")))


def test_a_tiers_share_counts_what_was_known_then_by_its_newest_check() -> None:
    found = made(
        Reach("a", "A", ago(60), ago(10), True),
        Reach("a", "A", ago(9), ago(9), False),
        Reach("b", "A", ago(20), NOW, True),
        Reach("c", "gone tier", ago(60), NOW, True),
    )
    [survival] = found.survival
    by_day = {round((NOW - at).days): (readable, known) for at, readable, known in survival.points}
    assert (by_day[56], by_day[21], by_day[14], by_day[7], by_day[0]) == ((1, 1), (1, 1), (2, 2), (1, 2), (1, 2))


def test_weeks_begin_on_monday_in_the_sites_zone_and_quiet_ones_are_weeks_too() -> None:
    sunday_there = datetime(2026, 11, 8, 15, 59, tzinfo=UTC)
    weeks = made(
        changes=[(sunday_there, Significance.QUOTE), (sunday_there + timedelta(minutes=1), Significance.TEXT)]
    ).weeks
    assert [(w.monday, w.total) for w in weeks] == [
        (date(2026, 11, 2), 1), (date(2026, 11, 9), 1), (date(2026, 11, 16), 0), (date(2026, 11, 23), 0),
        (date(2026, 11, 30), 0),
    ]  # fmt: skip


def test_a_source_counts_once_a_day_however_often_it_was_asked() -> None:
    found = made(
        Reach("a", "A", ago(2), ago(1), True),
        Reach("a", "A", ago(1), ago(0.9), True),
        Reach("a", "A", ago(0.8), ago(0.8), False),
        Reach("a", "A", ago(0.7), ago(0.7), False),
        Reach("a", "A", NOW, NOW, True),
    )
    assert found.days == (
        Day(date(2026, 11, 30), 1, 0), Day(date(2026, 12, 1), 1, 0), Day(date(2026, 12, 2), 1, 1),
    )  # fmt: skip


def test_a_stretch_of_readings_proves_its_first_and_its_last_day_only() -> None:
    found = made(Reach("a", "A", ago(7), NOW, True), Reach("b", "A", ago(5), ago(5), False))
    assert [(d.read, d.between, d.failed) for d in found.days] == [
        (1, 0, 0), (0, 1, 0), (0, 1, 1), (0, 1, 0), (0, 1, 0), (0, 1, 0), (0, 1, 0), (1, 0, 0),
    ]  # fmt: skip
    page = plots.calendar(found, Voice("en", "Asia/Shanghai"))
    assert page.count('fill-opacity="0.55"') == 2
    assert page.count("<circle") == 5  # the sixth day between has a cross
    assert "proves its first and its last day" in page


def test_a_stretch_from_before_the_plots_first_day_lies_between_from_there_on() -> None:
    found = made(Reach("a", "A", ago(400), ago(2), True))
    assert {(d.read, d.between) for d in found.days[:-3]} == {(0, 1)}
    assert [(d.read, d.between) for d in found.days[-3:]] == [(1, 0), (0, 0), (0, 0)]


def test_hosts_are_listed_by_how_much_of_them_cannot_be_read() -> None:
    one, two = "https://one.example/", "https://two.example/"
    lines = [failing(one, "challenge"), failing(two, "not_found"), failing(two, "not_found"), failing(two, "challenge")]
    assert [(h.host, dict(h.words)) for h in made(failing=lines).hosts] == [
        ("two.example", {"not_found": 2, "challenge": 1}), ("one.example", {"challenge": 1}),
    ]  # fmt: skip


def full() -> Trends:
    return made(
        Reach("a", "A", ago(60), ago(10), True), Reach("a", "A", ago(9), ago(9), False),
        Reach("b", "C", ago(20), NOW, True),
        changes=[(ago(30), Significance.QUOTE), (ago(3), Significance.TEXT)],
        failing=[failing("https://one.example/", "challenge")],
    )  # fmt: skip


@pytest.mark.parametrize("language", ["zh-CN", "en"])
def test_each_plot_is_sound_svg_with_a_text_alternative_and_its_numbers(language: str) -> None:
    voice = Voice(language, "Asia/Shanghai")
    page = plots.everything(full(), voice, {"A": HOSTILE, "C": "具名二手报道"})
    figures = ElementTree.fromstring(f"<div>{page}</div>")
    assert [f.get("id") for f in figures] == ["plot-survival", "plot-changes-by-week", "plot-calendar", "plot-hosts"]
    for figure in figures:
        svg, words, table = figure.find(".//svg"), figure.find("p"), figure.find(".//table")
        assert svg is not None and words is not None and table is not None
        assert svg.get("role") == "img"
        assert svg.get("aria-label") == words.text
        assert len(table.findall("tbody/tr")) >= 1
    assert not figures.findall(".//script")


def test_plots_use_one_ink_so_that_they_read_in_print_and_without_colours() -> None:
    page = plots.everything(full(), Voice("en", "UTC"), {})
    assert set(re.findall(r'(?:fill|stroke)="([^"]+)"', page)) == {"currentColor", "none"}
    dashes = re.findall(r'stroke-width="2"( stroke-dasharray="[^"]+")?/>', page.partition("plot-changes")[0])
    assert len(set(dashes)) == 2


def test_nothing_is_drawn_of_nothing() -> None:
    assert plots.everything(Trends(), Voice("en", "UTC"), {}) == ""
