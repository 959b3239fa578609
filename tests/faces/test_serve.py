"""`serve` as an operator runs it: a process with a lock, signals, health, and copies of its database."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError

import pytest

from site_of_pages import Answer, Site, page, row, serving, write_sources

BODY = "<h1>Notes</h1>" + "<p>A paragraph that says what the operators of the cluster measured over a week.</p>" * 4


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        site.pages["/p"] = page("Notes", BODY)
        yield site


class Held:
    """A page whose answer waits until the test lets it go."""

    def __init__(self) -> None:
        self.asked, self._free = threading.Event(), threading.Event()

    def __call__(self, _: dict[str, str]) -> Answer:
        self.asked.set()
        self._free.wait(20)
        return page("Notes", BODY)

    def go(self) -> None:
        self._free.set()


def command(folder: Path, *words: str) -> list[str]:
    return [sys.executable, "-m", "sourcewatch.faces.cli", "--config", str(folder / "sources.toml"), *words]


def sourcewatch(folder: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    env = {**{k: v for k, v in os.environ.items() if not k.startswith("SOURCEWATCH_")}, **environ}
    return subprocess.run(command(folder, *words), capture_output=True, text=True, env=env, timeout=180, check=False)


class Serving:
    """A `serve` process and what it logs."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process, self.lines = process, list[str]()
        threading.Thread(target=self._read, daemon=True).start()
        self.url = self.log(r"serving (http://[^/\s]+)/")[1]

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.lines.extend(iter(self.process.stderr.readline, ""))

    def log(self, pattern: str) -> re.Match[str]:
        """The first line that matches, as soon as it is there."""
        for _ in range(1500):
            if found := next((m for line in self.lines if (m := re.search(pattern, line))), None):
                return found
            assert self.process.poll() is None, self.lines
            time.sleep(0.02)
        raise AssertionError(f"no {pattern!r} in {self.lines}")

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        request = urllib.request.Request(self.url + path, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=180) as answer:
                return answer.status, answer.read().decode()
        except HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(40)


@contextmanager
def serve(folder: Path, *words: str, **environ: str) -> Iterator[Serving]:
    env = {**{k: v for k, v in os.environ.items() if not k.startswith("SOURCEWATCH_")}, **environ}
    started = subprocess.Popen(
        command(folder, "serve", "--port", "0", *words),
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=env,
    )  # fmt: skip
    with started as process:
        try:
            yield Serving(process)
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()


def ended(running: Serving) -> dict[str, Any]:
    """Health once a first run has ended."""
    running.log(r"run \d+ ended")
    for _ in range(500):
        status, text = running.get("/healthz")
        seen = dict(json.loads(text)) | {"status": status}
        if seen["last_run_ended_at"]:
            return seen
        time.sleep(0.02)
    raise AssertionError("no run ended")


def test_it_checks_tells_that_it_is_well_and_counts(tmp_path: Path, site: Site) -> None:
    write_sources(tmp_path, row("p", site.url("/p")) + row("gone", site.url("/gone")))
    with serve(tmp_path) as running:
        seen = ended(running)
        assert seen["status"] == 200 and seen["ok"] and seen["why"] == [] and seen["due"] == 0 and seen["next_due_at"]
        status, text = running.get("/metrics")
        assert status == 200 and 'sourcewatch_checks_total{class="ok"} 1.0' in text
        assert 'sourcewatch_checks_total{class="gone"} 1.0' in text and "sourcewatch_versions_total 1.0" in text
        assert 'sourcewatch_runs_total{void="no"} 1.0' in text and "sourcewatch_healthy 1.0" in text
        assert running.get("/healthz", Host="rebound.example")[0] == 400
        assert running.stop() == 0
    assert "next due" in sourcewatch(tmp_path, "status").stdout


def test_health_says_that_a_broken_configuration_is_not_in_use(tmp_path: Path, site: Site) -> None:
    path = write_sources(tmp_path, row("p", site.url("/p")))
    with serve(tmp_path) as running:
        ended(running)
        path.write_text(path.read_text() + "colour = 1\n")
        running.process.send_signal(signal.SIGHUP)
        running.log(r"configuration: .*sources\.toml:\d+: .*stays in use")
        status, text = running.get("/healthz")
        assert status == 503 and "stays in use" in json.loads(text)["why"][0]
        assert "sourcewatch_healthy 0.0" in running.get("/metrics")[1]
        assert running.stop(signal.SIGINT) == 0


def test_a_run_beside_it_is_exit_code_three_and_names_the_daemon(tmp_path: Path, site: Site) -> None:
    write_sources(tmp_path, row("p", site.url("/p")))
    with serve(tmp_path) as running:
        beside = sourcewatch(tmp_path, "run")
        assert beside.returncode == 3 and f"serve, pid {running.process.pid}" in beside.stderr
        assert sourcewatch(tmp_path, "serve", "--port", "0").returncode == 3
        assert running.stop() == 0
    assert sourcewatch(tmp_path, "run").returncode == 0


def test_stopping_keeps_what_is_under_way(tmp_path: Path, site: Site) -> None:
    held = site.pages["/p"] = Held()
    write_sources(tmp_path, row("p", site.url("/p")) + row("later", site.url("/p")))
    with serve(tmp_path) as running:
        assert held.asked.wait(30)
        running.process.send_signal(signal.SIGTERM)
        running.log("stopping")
        held.go()
        assert running.process.wait(40) == 0
    with closing(sqlite3.connect(tmp_path / "sourcewatch.db")) as db:
        assert db.execute("SELECT count(*) FROM checks WHERE accessed").fetchone()[0] >= 1
        assert db.execute("SELECT count(*) FROM schedule WHERE leased_until IS NOT NULL").fetchone() == (0,)
        assert db.execute("SELECT count(*) FROM runs WHERE ended_at IS NULL").fetchone() == (0,)


def test_a_second_signal_does_not_wait_and_the_work_is_given_back(tmp_path: Path, site: Site) -> None:
    held = site.pages["/p"] = Held()
    write_sources(tmp_path, row("p", site.url("/p")))
    with serve(tmp_path) as running:
        assert held.asked.wait(30)
        running.process.send_signal(signal.SIGTERM)
        running.log("stopping")
        assert running.stop() == 130
        held.go()
    with closing(sqlite3.connect(tmp_path / "sourcewatch.db")) as db:
        assert db.execute("SELECT count(*) FROM schedule WHERE leased_until IS NOT NULL").fetchone() == (0,)
    site.pages["/p"] = page("Notes", BODY)
    assert "1 checked" in sourcewatch(tmp_path, "run").stdout


def test_what_a_killed_daemon_had_taken_is_due_for_whoever_comes_next(tmp_path: Path, site: Site) -> None:
    held = site.pages["/p"] = Held()
    write_sources(tmp_path, row("p", site.url("/p")))
    with serve(tmp_path) as running:
        assert held.asked.wait(30)
        running.process.kill()
        running.process.wait()
        held.go()
    site.pages["/p"] = page("Notes", BODY)
    assert "1 checked" in sourcewatch(tmp_path, "run").stdout


def test_logs_are_objects_that_name_run_and_source_and_never_a_secret(tmp_path: Path, site: Site) -> None:
    secret = 'headers = { Authorization = "Bearer ${PAGE_TOKEN}" }'
    write_sources(tmp_path, row("p", site.url("/p"), more=secret) + row("gone", site.url("/gone"), more=secret))
    with serve(tmp_path, "--log-json", PAGE_TOKEN="s3cret-value") as running:
        ended(running)
        assert running.stop() == 0
    lines = [json.loads(line) for line in running.lines]
    about = {line["source"]: line for line in lines if "source" in line}
    assert set(about) == {"p", "gone"} and "not_found" in about["gone"]["message"] and about["p"]["run"] == 1
    assert all({"at", "level", "logger", "message"} <= set(line) for line in lines)
    assert "s3cret-value" not in "".join(running.lines)


def test_a_port_that_is_taken_is_told_before_anything_is_asked(tmp_path: Path, site: Site) -> None:
    write_sources(tmp_path, row("p", site.url("/p")))
    done = sourcewatch(tmp_path, "serve", "--port", str(site.port))
    assert done.returncode == 2 and "cannot listen at 127.0.0.1:" in done.stderr and site.asked == []


def test_a_copy_of_the_database_while_it_is_written_is_whole(tmp_path: Path, site: Site) -> None:
    site.pages |= {f"/p{n}": page(f"Notes {n}", BODY + f"<p>{n}</p>") for n in range(60)}
    write_sources(tmp_path, "".join(row(f"p{n}", site.url(f"/p{n}")) for n in range(60)))
    running = subprocess.Popen(command(tmp_path, "run"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    copy = tmp_path / "kept" / "copy.db"
    while running.poll() is None:
        done = sourcewatch(tmp_path, "db", "backup", "--force", str(copy))
        assert done.returncode == 0 and "verified" in done.stdout, done
        with closing(sqlite3.connect(copy)) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            paths = [row[0] for row in db.execute("SELECT path FROM versions")]
        assert all((tmp_path / path).exists() for path in paths), "a row's file is there before the row"
    assert running.wait() == 0 and [f.name for f in copy.parent.iterdir()] == ["copy.db"]
    restored = tmp_path / "restored"
    restored.mkdir()
    write_sources(restored, (tmp_path / "sources.toml").read_text().partition('every = "6h"\n')[2])
    sourcewatch(tmp_path, "db", "backup", str(restored / "sourcewatch.db"))
    assert sourcewatch(restored, "status").stdout == sourcewatch(tmp_path, "status").stdout


def test_a_copy_that_cannot_be_made_leaves_the_last_one(tmp_path: Path, site: Site, small_disk: Path) -> None:
    write_sources(tmp_path, row("p", site.url("/p")))
    sourcewatch(tmp_path, "run")
    copy = small_disk / "copy.db"
    assert sourcewatch(tmp_path, "db", "backup", str(copy)).returncode == 0
    before = copy.read_bytes()
    (small_disk / "filler").write_bytes(bytes(2_000_000 - len(before)))
    done = sourcewatch(tmp_path, "db", "backup", "--force", str(copy))
    assert done.returncode == 4 and len(done.stderr.splitlines()) == 1 and copy.read_bytes() == before
    assert sorted(f.name for f in small_disk.iterdir()) == ["copy.db", "filler"]


def test_the_database_is_not_copied_onto_itself(tmp_path: Path, site: Site) -> None:
    write_sources(tmp_path, row("p", site.url("/p")))
    done = sourcewatch(tmp_path, "db", "backup", str(tmp_path / "sourcewatch.db"))
    assert done.returncode == 2 and "is the database itself" in done.stderr


def test_postgresql_is_copied_by_its_own_tool(tmp_path: Path, site: Site, empty_postgresql: str) -> None:
    write_sources(tmp_path, row("p", site.url("/p")))
    address = empty_postgresql.replace("+psycopg", "").replace("//sw@", "//sw:geheim@")
    done = sourcewatch(tmp_path, "db", "backup", "copy.dump", SOURCEWATCH_DATABASE_URL=address)
    assert done.returncode == 2 and "pg_dump --format=custom --file=copy.dump postgresql://sw:***@" in done.stderr
