"""`notify` as people use it, against real servers; and `run`, which sends what it found."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from test_cli import sourcewatch

from site_of_pages import Site, page, row, serving, write_sources
from sourcewatch.domain.message import Delivery
from sourcewatch.faces import notify_commands

SECRET = "T0kenT0kenT0ken"
EDITORS = """
[[editor]]
name = "Li"
to = ["${LI_HOOK}", "${LI_OTHER}"]
language = "en"
[[editor]]
name = "陈"
to = ["${CHEN_HOOK}"]
"""
BODY = "<h1>Notes</h1>" + "<p>A paragraph that says what the operators of the cluster measured over a week.</p>" * 4


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with serving() as site:
        site.pages["/p"] = page("Notes", BODY)
        path = write_sources(tmp_path, row("p", site.url("/p"), "nobody says this sentence anywhere"))
        path.write_text(path.read_text("utf-8") + EDITORS, "utf-8")
        yield site


@pytest.fixture
def hooks(site: Site) -> dict[str, str]:
    site.pages["/hook"] = site.pages["/chen"] = (200, {}, b"")
    address = f"json://user:{SECRET}@127.0.0.1:{site.port}"
    return {"LI_HOOK": f"{address}/hook?method=get", "CHEN_HOOK": f"{address}/chen?method=get",
            "LI_OTHER": f"{address}/{SECRET}?method=get"}  # fmt: skip


def traces(folder: Path) -> str:
    """Everything that a run left on disk."""
    return "\n".join(p.read_bytes().decode("utf-8", "replace") for p in folder.rglob("*") if p.is_file())


def test_a_trial_says_of_each_address_whether_it_works(tmp_path: Path, site: Site, hooks: dict[str, str]) -> None:
    done = sourcewatch(tmp_path, "notify", "test", **hooks)
    assert done.returncode == 1 and done.stdout.splitlines()[0] == "ok    Li (LI_HOOK)", done
    assert done.stdout.splitlines()[1].startswith("FAIL  Li (LI_OTHER): ") and "error=404" in done.stdout
    assert done.stdout.splitlines()[2] == "ok    陈 (CHEN_HOOK)" and SECRET not in done.stdout + done.stderr
    alone = sourcewatch(tmp_path, "notify", "test", "--editor", "陈", **hooks)
    assert alone.returncode == 0 and alone.stdout == "ok    陈 (CHEN_HOOK)\n"
    assert not (tmp_path / "sourcewatch.db").exists(), "a trial needs no database"


def test_a_trial_without_addresses_is_told(tmp_path: Path, site: Site) -> None:
    done = sourcewatch(tmp_path, "notify", "test")
    assert done.returncode == 1 and "Li (LI_HOOK): LI_HOOK is not set" in done.stdout
    nobody = sourcewatch(tmp_path, "notify", "test", "--editor", "nobody")
    assert nobody.returncode == 2 and "there are: Li, 陈" in nobody.stderr


def test_a_run_sends_what_it_found_and_says_what_it_could_not(
    tmp_path: Path, site: Site, hooks: dict[str, str]
) -> None:
    done = sourcewatch(tmp_path, "run", "--json", **hooks)
    assert done.returncode == 0 and len(done.stdout.splitlines()) == 1 and json.loads(done.stdout)["source"] == "p"
    assert [path for path, _ in site.asked if path in ("/hook", "/chen")] == ["/hook", "/chen"]
    assert "a message could not be sent: Li (LI_OTHER): " in done.stderr and "error=404" in done.stderr
    listed = sourcewatch(tmp_path, "notify", "list")
    states = [line.split()[1:3] for line in listed.stdout.splitlines()[1:]]
    assert states == [["LI_HOOK", "sent"], ["LI_OTHER", "failed"], ["CHEN_HOOK", "sent"]], listed
    assert "A quote was never found on the page" in listed.stdout
    assert SECRET not in done.stdout + done.stderr + listed.stdout + traces(tmp_path)


def test_what_failed_is_sent_when_it_is_due_again(tmp_path: Path, site: Site, hooks: dict[str, str]) -> None:
    sourcewatch(tmp_path, "run", **hooks)
    early = sourcewatch(tmp_path, "notify", "send", **hooks)
    assert early.returncode == 0 and early.stdout.startswith("messages sent: 0 "), early
    with closing(sqlite3.connect(tmp_path / "sourcewatch.db")) as database, database:
        database.execute("UPDATE deliveries SET next_try_at = '2026-01-01 00:00:00.000000' WHERE sent_at IS NULL")
    again = sourcewatch(tmp_path, "notify", "send", **hooks)
    assert again.returncode == 1 and "messages sent: 0 (letters: 0), failed: 1" in again.stdout
    with closing(sqlite3.connect(tmp_path / "sourcewatch.db")) as database, database:
        database.execute("UPDATE deliveries SET next_try_at = '2026-01-01 00:00:00.000000' WHERE sent_at IS NULL")
    site.pages[f"/{SECRET}"] = (200, {}, b"")
    sent = sourcewatch(tmp_path, "notify", "send", **hooks)
    assert sent.returncode == 0 and "messages sent: 1 (letters: 1), failed: 0" in sent.stdout


def test_without_editors_a_run_is_as_it_was(tmp_path: Path) -> None:
    with serving() as site:
        site.pages["/p"] = page("Notes", BODY)
        write_sources(tmp_path, row("p", site.url("/p")))
        assert sourcewatch(tmp_path, "run").returncode == 0
        assert sourcewatch(tmp_path, "notify", "list").stdout.startswith("nothing waits")
        assert "no [[editor]] is set" in sourcewatch(tmp_path, "notify", "test").stderr


@pytest.mark.parametrize(
    ("attempts", "given_up", "said"),
    [(1, False, "failed 1 time, again"), (2, False, "failed 2 times, again"), (1, True, "given up after 1 try: no"),
     (9, True, "given up after 9 tries: no")],
)  # fmt: skip
def test_one_time_is_not_one_times(attempts: int, given_up: bool, said: str) -> None:
    at = datetime(2026, 10, 20, tzinfo=UTC)
    delivery = Delivery(1, "Li", "HOOK", False, at, attempts=attempts, given_up=given_up, why_not="no")
    assert notify_commands._state(delivery).startswith(said)
