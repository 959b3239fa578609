"""Decisions and search in a terminal: the same as on the desk, and harmless whatever a name or a page holds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from site_of_pages import page, row, serving
from sourcewatch.faces.cli import app
from watch import Watch

START = datetime(2026, 10, 20, 3, 3, 7, tzinfo=UTC)
BODY = "<p>The cache holds 96% of requests, the operators say.</p><p>集群每天处理的词元数量已经公布。</p>" * 3


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    watch = Watch(tmp_path)
    with serving() as site:
        rows = row("p", site.url("/p"), "holds 96% of requests") + row("q", site.url("/q"))
        for n, percent in enumerate((96, 91)):
            site.pages["/p"] = page("P", BODY.replace("96", str(percent)))
            watch.passes(rows, START + timedelta(days=n))
    return tmp_path


def command(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(app, ["--config", str(folder / "sources.toml"), *words], standalone_mode=False)


def test_an_accepted_quote_no_longer_fails_a_pass_that_is_to_fail_on_quotes(folder: Path) -> None:
    assert (
        "p, version 2: accepted by Lin: the page is right"
        in command(folder, "review", "p", "--accept", "--by", "Lin", "--note", "the page is right").output
    )
    assert "since the version that Lin accepted (2026-10-21): kept 1.00" in command(folder, "why", "p").output
    command(folder, "review", "p", "--undo", "--by", "Wu")
    assert "since the first version (2026-10-20)" in command(folder, "why", "p").output
    assert [line.split(": ")[1] for line in command(folder, "review", "p").output.splitlines()] == [
        "accepted by Lin", "undone by Wu",
    ]  # fmt: skip


def test_a_change_is_named_by_its_number_and_says_what_it_teaches(folder: Path) -> None:
    found = command(folder, "review", "#1", "--unimportant", "--by", "\x1b[31mLin\u202e")
    assert "No rule would leave out this place alone" in found.output
    assert "\x1b" not in found.output
    assert "\u202e" not in found.output


@pytest.mark.parametrize(
    "words",
    [
        ("p", "--accept"),  # nobody's
        ("p", "--accept", "--fix", "--by", "Lin"),
        ("nothing", "--fix", "--by", "Lin"),
        ("#77", "--fix", "--by", "Lin"),
    ],
)
def test_wrong_use_decides_nothing(folder: Path, words: tuple[str, ...]) -> None:
    assert type(command(folder, "review", *words).exception).__name__ == "BadParameter"
    assert "nobody has decided" in command(folder, "review", "p").output


def test_what_was_never_read_cannot_be_accepted(folder: Path) -> None:
    assert command(folder, "review", "q", "--accept", "--by", "Lin").return_value == 2
    assert command(folder, "review", "q", "--fix", "--by", "Lin").return_value == 0
    assert "q, never read: fix by Lin" in command(folder, "review", "q").output


def test_search_says_which_versions_have_it(folder: Path) -> None:
    found = command(folder, "search", "词元", "公布").output
    assert "p  2026-10-20 … 2026-10-21" in found
    assert "[词元]" in found
    assert "no version says so" in command(folder, "search", "nothing like it").output
