"""The command line as scripts use it: outputs, exit codes, one sentence for each fault."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from site_of_pages import Site, page, row, serving, write_sources

BODY = "<h1>Notes</h1>" + "<p>A paragraph that says what the operators of the cluster measured over a week.</p>" * 4


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        site.pages["/p"] = page("Notes", BODY)
        yield site


def command(folder: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "sourcewatch.faces.cli", "--config", str(folder / "sources.toml"), *words]


def sourcewatch(folder: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    env = {**{k: v for k, v in os.environ.items() if not k.startswith("SOURCEWATCH_")}, **environ}
    return subprocess.run(command(folder, *words), capture_output=True, text=True, env=env, timeout=180, check=False)


def test_a_run_tells_a_summary_and_a_second_has_nothing_due(tmp_path: Path, site: Site) -> None:
    write_sources(tmp_path, row("p", site.url("/p"), "measured over a week"))
    first = sourcewatch(tmp_path, "run")
    assert first.returncode == 0 and "1 checked: 1 read, 0 not; 1 new version," in first.stdout, first
    assert "0 checked" in sourcewatch(tmp_path, "run").stdout


def test_json_lines_keep_the_contract_and_stdout_is_theirs_alone(tmp_path: Path, site: Site) -> None:
    write_sources(tmp_path, row("p", site.url("/p"), "measured over a week") + row("gone", site.url("/gone")))
    done = sourcewatch(tmp_path, "run", "--json")
    lines = {x["source"]: x for x in map(json.loads, done.stdout.splitlines())}
    keys = (
        "source parent url final_url reader checked_at verdict class accessed rule evidence status new_version change "
        "confirmed significance sightings last_accessed failing_since strikes embeds snapshot text_path browser ms"
    )
    assert all(list(line) == keys.split() for line in lines.values())
    assert lines["p"]["verdict"] == "ok" and lines["gone"]["verdict"] == "not_found"
    assert set(lines["p"]["sightings"][0]) == {"quote", "sighting", "score"}


@pytest.mark.parametrize(
    ("finding", "code"), [("unread", 1), ("quote", 1), ("dead", 0), ("change", 0), ("dead,unread", 1)]
)
def test_findings_make_exit_code_one_only_when_asked_for(tmp_path: Path, site: Site, finding: str, code: int) -> None:
    write_sources(
        tmp_path, row("p", site.url("/p"), "nobody says this sentence anywhere") + row("gone", site.url("/gone"))
    )
    for _ in range(2):  # what is broken stays broken when nothing is due
        done = sourcewatch(tmp_path, "run", "--fail-on", finding)
        assert done.returncode == code
        named = {"unread": "gone", "quote": "p"}.get(finding.split(",")[-1], "")
        assert (f"--fail-on {finding.split(',')[-1]}: {named}" in done.stderr) == (code == 1)


def test_without_fail_on_the_web_cannot_fail_a_run(tmp_path: Path, site: Site) -> None:
    write_sources(tmp_path, row("gone", site.url("/gone")) + row("refused", "http://127.0.0.1:1/"))
    assert sourcewatch(tmp_path, "run").returncode == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("run", "nobody"), "no source 'nobody'"),
        (("run", "--fail-on", "rain"), "--fail-on knows"),
        (("history", "nobody"), "no source 'nobody'"),
        (("report", "--format", "pdf"), "--format knows"),
        (("report", "--since", "yesterday"), "not a time"),
        (("report", "--since", "3660w"), "not a duration"),
        (("diff", "p"), "no version yet"),
        (("rain",), "rain"),
    ],
)
def test_wrong_use_is_exit_code_two_and_a_sentence(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    write_sources(tmp_path, row("p", "http://127.0.0.1:1/p"))
    done = sourcewatch(tmp_path, *words)
    assert done.returncode == 2 and told in done.stderr and "Traceback" not in done.stderr, done


def test_a_faulty_configuration_is_told_whole_before_anything_is_fetched(tmp_path: Path, site: Site) -> None:
    write_sources(tmp_path, row("p", site.url("/p"), more="colour = 1") + row("q", "nowhere"))
    done = sourcewatch(tmp_path, "run")
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 2 and site.asked == []
    assert all(line.startswith(f"sourcewatch: {tmp_path}/sources.toml:") for line in done.stderr.splitlines())
    assert not (tmp_path / "sourcewatch.db").exists()


def test_a_second_run_is_exit_code_three_and_names_the_holder(tmp_path: Path, site: Site) -> None:
    def slow(_: dict[str, str]) -> tuple[int, dict[str, str], bytes]:
        asked.write_text("x")
        for _i in range(200):
            if done.exists():
                break
            time.sleep(0.02)  # the server's side: holds the first run until the second has been refused
        return page("Notes", BODY)

    asked, done = tmp_path / "asked", tmp_path / "done"
    site.pages["/p"] = slow
    write_sources(tmp_path, row("p", site.url("/p")))
    first = subprocess.Popen(command(tmp_path, "run"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not asked.exists():
        assert first.poll() is None
    second = sourcewatch(tmp_path, "run")
    assert second.returncode == 3 and f"pid {first.pid}" in second.stderr
    first.send_signal(signal.SIGKILL)
    first.wait()
    done.write_text("x")
    assert sourcewatch(tmp_path, "run").returncode == 0


def test_a_killed_run_loses_nothing_that_was_kept(tmp_path: Path, site: Site) -> None:
    write_sources(tmp_path, "".join(row(f"p{n}", site.url(f"/p{n}")) for n in range(40)))
    site.pages |= {f"/p{n}": page(f"Notes {n}", BODY) for n in range(40)}
    running = subprocess.Popen(command(tmp_path, "run", "--json"), stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    told = [json.loads(running.stdout.readline())["source"] for _ in range(7)]
    running.kill()
    running.communicate()
    with closing(sqlite3.connect(tmp_path / "sourcewatch.db")) as db:
        kept = dict(db.execute("SELECT source, path FROM versions"))
    assert set(told) <= set(kept) and all((tmp_path / path).exists() for path in kept.values())
    again = [json.loads(line) for line in sourcewatch(tmp_path, "run", "--json").stdout.splitlines()]
    assert {x["source"] for x in again} == {f"p{n}" for n in range(40)} - set(kept)


def test_a_data_folder_that_cannot_be_made_is_exit_code_four(tmp_path: Path) -> None:
    write_sources(tmp_path, row("p", "http://127.0.0.1:1/p"))
    (tmp_path / "file").write_text("")
    done = sourcewatch(tmp_path, "--data", str(tmp_path / "file" / "data"), "run")
    assert done.returncode == 4 and "cannot be made" in done.stderr


def test_a_full_disk_in_mid_run_is_exit_code_four_and_the_next_run_goes_on(
    tmp_path: Path, site: Site, small_disk: Path
) -> None:
    filler = "".join(f"<p>{os.urandom(900).hex()} is a paragraph that no two pages share.</p>" for _ in range(30))
    site.pages |= {f"/p{n}": page(f"Notes {n}", BODY + filler) for n in range(40)}
    write_sources(tmp_path, "".join(row(f"p{n}", site.url(f"/p{n}")) for n in range(40)))
    full = sourcewatch(tmp_path, "--data", str(small_disk), "run")
    assert full.returncode == 4 and len(full.stderr.splitlines()) == 1, full.stderr
    assert not list(small_disk.rglob("*.tmp"))
    subprocess.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
    again = sourcewatch(tmp_path, "--data", str(small_disk), "run", "--json")
    assert again.returncode == 0 and all(json.loads(line)["accessed"] for line in again.stdout.splitlines())
    with closing(sqlite3.connect(small_disk / "sourcewatch.db")) as db:
        kept = dict(db.execute("SELECT source, path FROM versions"))
    assert len(kept) == 40 and all((small_disk / path).exists() for path in kept.values())


def test_a_defect_in_one_source_is_told_and_costs_the_others_nothing(tmp_path: Path, site: Site) -> None:
    site.pages["/q"] = page("Other", BODY)
    write_sources(tmp_path, row("p", site.url("/p")) + row("q", site.url("/q")))
    sourcewatch(tmp_path, "run")
    with closing(sqlite3.connect(tmp_path / "sourcewatch.db")) as db, db:
        db.execute("UPDATE documents SET packed = x'00ff' WHERE version = (SELECT id FROM versions WHERE source = 'p')")
    site.pages |= {
        "/p": page("Notes", BODY + BODY + "<p>More.</p>"),
        "/q": page("Other", BODY + "<p>Much more than before.</p>"),
    }
    done = sourcewatch(tmp_path, "run", "--all", "--json")
    lines = {x["source"]: x for x in map(json.loads, done.stdout.splitlines())}
    assert done.returncode == 5 and "kept p from being checked" in done.stderr
    assert "defect" in lines["p"] and lines["q"]["new_version"]


def test_who_stops_reading_does_not_stop_the_run(tmp_path: Path, site: Site) -> None:
    site.pages |= {f"/p{n}": page(f"Notes {n}", BODY) for n in range(12)}
    write_sources(tmp_path, "".join(row(f"p{n}", site.url(f"/p{n}")) for n in range(12)))
    running = subprocess.Popen(command(tmp_path, "run", "--json"), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert running.stdout is not None
    running.stdout.readline()
    running.stdout.close()
    assert running.wait(60) == 0
    with closing(sqlite3.connect(tmp_path / "sourcewatch.db")) as db:
        assert db.execute("SELECT count(*) FROM versions").fetchone() == (12,)


def test_a_link_keeps_leading_to_the_file_and_a_pipe_is_written_to(tmp_path: Path) -> None:
    write_sources(tmp_path, row("p", "http://127.0.0.1:1/p"))
    target, link, pipe = tmp_path / "target.json", tmp_path / "link.json", tmp_path / "pipe"
    target.write_text("old")
    link.symlink_to(target)
    os.mkfifo(pipe)
    assert sourcewatch(tmp_path, "export", "last-accessed", "--out", str(link)).returncode == 0
    assert link.is_symlink() and json.loads(target.read_text("utf-8"))["site"] == "https://notes.example/"
    reading = subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE)
    assert sourcewatch(tmp_path, "export", "last-accessed", "--out", str(pipe)).returncode == 0
    assert b"generated_at" in reading.communicate(timeout=10)[0] and pipe.is_fifo()


def test_a_data_folder_may_have_any_name(tmp_path: Path, site: Site) -> None:
    write_sources(tmp_path, row("p", site.url("/p")))
    for name in ("a?mode=ro", "b%20c", "d #e"):
        assert sourcewatch(tmp_path, "--data", str(tmp_path / name), "run").returncode == 0
        assert (tmp_path / name / "sourcewatch.db").exists()


def test_a_newer_database_is_exit_code_four_and_left_alone(tmp_path: Path, site: Site) -> None:
    write_sources(tmp_path, row("p", site.url("/p")))
    sourcewatch(tmp_path, "run")
    with closing(sqlite3.connect(tmp_path / "sourcewatch.db")) as db, db:
        db.execute("UPDATE alembic_version SET version_num = '9999'")
    done = sourcewatch(tmp_path, "run", "--all")
    assert done.returncode == 4 and "made by a newer sourcewatch" in done.stderr and len(site.asked) < 5


def test_report_history_diff_status_and_export_show_what_was_found(tmp_path: Path, site: Site) -> None:
    write_sources(tmp_path, row("p", site.url("/p"), "measured over a week"))
    sourcewatch(tmp_path, "run")
    site.pages["/p"] = page("Notes", BODY + "<p>A sentence that was added on the second day, for 155 readers.</p>")
    sourcewatch(tmp_path, "run", "p")
    html, markdown = sourcewatch(tmp_path, "report").stdout.split()
    assert (tmp_path / "reports" / "latest.html").read_text("utf-8") == Path(html).read_text("utf-8")
    assert "155 readers" in Path(html).read_text("utf-8") and "**A sentence that was added" in Path(markdown).read_text(
        "utf-8"
    )
    assert "new version: snapshots/p/" in sourcewatch(tmp_path, "history", "p").stdout
    assert "+ {+A sentence that was added" in sourcewatch(tmp_path, "diff", "p").stdout
    explained = sourcewatch(tmp_path, "why", "p").stdout
    assert "rule no-objection" in explained and "verbatim (1.00): measured over a week" in explained
    assert "since the first version (" in explained and "kept 1.00" in explained
    assert "1 told, 0 suppressed" in explained and "told             {+A sentence that was added" in explained
    assert "0 edits" in sourcewatch(tmp_path, "diff", "p", "--from", "1", "--to", "1").stdout
    assert " ok " in sourcewatch(tmp_path, "status").stdout
    out = tmp_path / "site" / "last-accessed.json"
    assert sourcewatch(tmp_path, "export", "last-accessed", "--out", str(out)).returncode == 0
    exported = json.loads(out.read_text("utf-8"))
    assert exported["site"] == "https://notes.example/" and exported["sources"]["p"]["verdict"] == "ok"
    assert (
        json.loads(sourcewatch(tmp_path, "report", "--format", "json", "--out", "-").stdout)["changes"][0]["source"]
        == "p"
    )
    assert "<feed" in sourcewatch(tmp_path, "report", "--format", "atom", "--out", "-").stdout


def test_a_reports_suffix_is_its_format_and_its_time_is_written_as_in_the_configuration(
    tmp_path: Path, site: Site
) -> None:
    write_sources(tmp_path, row("p", site.url("/p"), "measured over a week"))
    sourcewatch(tmp_path, "run")
    for name, begins in (("q.html", "<!doctype html>"), ("q.md", "# "), ("q.json", "{"), ("q.atom", "<?xml")):
        assert sourcewatch(tmp_path, "report", "--since", "1h 30m", "--out", str(tmp_path / name)).returncode == 0
        assert (tmp_path / name).read_text("utf-8").lower().startswith(begins)
    assert sourcewatch(tmp_path, "report", "--since", "1s", "--out", "-", "--format", "md").returncode == 0
    late = sourcewatch(tmp_path, "diff", "p", "--from", "2999-01-01")
    assert late.returncode == 2 and "lies in the future" in late.stderr
    assert "1 edits" not in sourcewatch(tmp_path, "diff", "p").stdout


def test_a_backup_replaces_no_file_unless_it_is_told_to(tmp_path: Path) -> None:
    write_sources(tmp_path, row("p", "http://127.0.0.1:1/p"))
    (tmp_path / "copy.db").write_text("mine", "utf-8")
    refused = sourcewatch(tmp_path, "db", "backup", str(tmp_path / "copy.db"))
    assert refused.returncode == 2 and (tmp_path / "copy.db").read_text("utf-8") == "mine"
    assert sourcewatch(tmp_path, "db", "backup", "--force", str(tmp_path / "copy.db")).returncode == 0
    assert (tmp_path / "copy.db").read_bytes().startswith(b"SQLite")


def test_a_source_that_is_named_is_asked_though_it_is_paused_and_one_without_an_address_never(
    tmp_path: Path, site: Site
) -> None:
    until = datetime.now(UTC).date() + timedelta(days=30)
    paused = row("p", site.url("/p"), more=f'pause = {{ until = "{until}", reason = "renovation" }}')
    write_sources(tmp_path, paused + '[[source]]\nid = "book"\ntier = "A"\ntitle = "A book"\n')
    done = sourcewatch(tmp_path, "run", "p")
    assert "1 checked" in done.stdout and "p is paused until" in done.stderr
    assert "it is never fetched" in sourcewatch(tmp_path, "why", "book").stdout


def test_the_crontab_escapes_what_cron_would_end_a_command_at() -> None:
    for line in Path(__file__).parents[2].joinpath("deploy", "crontab").read_text("utf-8").splitlines():
        command = line.split(maxsplit=5)[-1]
        assert line.startswith("#") or "%" not in command.replace("\\%", "")


def test_control_characters_of_a_hostile_page_do_not_reach_the_terminal(tmp_path: Path, site: Site) -> None:
    hostile = (
        "<p>A paragraph with \x1b]0;owned\x07 and \u202eevil\u202c inside, long enough to be an article of its own.</p>"
        * 3
    )
    site.pages["/p"] = page("\x1b[31mred", BODY)
    write_sources(tmp_path, row("p", site.url("/p"), "measured over a week"))
    sourcewatch(tmp_path, "run")
    site.pages["/p"] = page("\x1b[31mred", BODY + hostile)
    sourcewatch(tmp_path, "run", "p")
    for words in (("diff", "p"), ("history", "p"), ("status",), ("report", "--format", "md", "--out", "-")):
        out = sourcewatch(tmp_path, *words).stdout
        assert "\x1b" not in out and "\u202e" not in out and "\x07" not in out, words


def test_lint_doctor_and_database_commands(tmp_path: Path) -> None:
    write_sources(tmp_path, row("p", "http://127.0.0.1:1/p"))
    assert "1 sources (0 unlocated)" in sourcewatch(tmp_path, "sources", "lint").stdout
    assert "http://127.0.0.1:1/p" in sourcewatch(tmp_path, "sources", "list").stdout
    assert "up to date" in sourcewatch(tmp_path, "db", "upgrade").stdout
    assert "facts are guarded" in sourcewatch(tmp_path, "db", "check").stdout
    examined = sourcewatch(tmp_path, "doctor")
    assert examined.returncode == 0, examined.stdout
    assert [line.split(":")[0].split(maxsplit=1)[1] for line in examined.stdout.splitlines()] == [
        "configuration", "database", "clock", "disk", "trust store", "network",
    ]  # fmt: skip


def test_help_needs_no_heavy_import() -> None:
    heavy = "('httpx', 'sqlalchemy', 'selectolax', 'jinja2')"
    code = f"import sys, sourcewatch.faces.cli; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_demo_shows_the_whole(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sourcewatch.faces.cli", "demo", "--out", str(tmp_path / "demo")],
        capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    report = (tmp_path / "demo" / "reports" / "demo.md").read_text("utf-8")
    needs, rest = report.split("## 改动")
    assert "4–7% → 3–5%" in needs and "唯一依据是一张图片，该图读不到（SSL 证书签发者不受信任" in needs
    assert "所在页面的正文已于" in needs and "gone-page" in needs
    assert "guide" in rest.split("## 地址已变")[1].split("##")[0]
    assert "scheduler-notes" in rest.split("## 我们读不到的内容")[1] and "验证码" in rest
    assert "状态 200，但网站说该页不存在" in rest
    assert "thread" not in rest.split("## 我们读不到的内容")[0], "a moving score is noise"
