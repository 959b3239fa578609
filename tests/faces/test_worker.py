"""Many workers check each source once and each host one request at a time, whoever of them dies, freezes or returns."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, text

from databases import Server
from sourcewatch.adapters import database
from sourcewatch.adapters.exclusive import Exclusive
from sourcewatch.domain.kept import WorkerRow
from sourcewatch.faces import crowd, wiring
from sourcewatch.faces.jobs import jobs
from swarm import Fleet, Swarm, count, swarming, until, write_sources

CHECKS = "SELECT count(*) FROM checks"
HOSTS, EACH = 20, 30


def address(engine: Engine) -> str:
    return engine.url.render_as_string(hide_password=False)


def once_and_in_order(engine: Engine, swarm: Swarm, sources: int) -> None:
    """What must hold at the end, whatever happened."""
    assert max(swarm.most.values()) == 1, "never more than one request in flight per host"
    assert count(engine, CHECKS) == count(engine, "SELECT count(DISTINCT source) FROM checks") == sources
    assert count(engine, "SELECT sum(n) FROM checks") == sources
    may = ("ok", "too_slow", "read_timeout", "connect_timeout")  # a machine with too much to do brings the others
    with engine.connect() as c:
        told = c.execute(text(f"SELECT source, word, rule, evidence FROM checks WHERE word NOT IN {may}")).all()
    assert not told
    read = count(engine, "SELECT count(*) FROM checks WHERE accessed")
    assert count(engine, "SELECT count(*) FROM versions") == read
    assert count(engine, "SELECT count(DISTINCT source) FROM versions") == read
    assert count(engine, "SELECT count(*) FROM schedule WHERE next_check_at <= now()") == 0


def test_one_killed_and_one_frozen_and_woken_again_lose_double_and_crowd_nothing(
    server: Engine, tmp_path: Path
) -> None:
    with swarming(HOSTS, 0.02) as swarm, Fleet(write_sources(tmp_path, swarm, HOSTS * EACH), address(server)) as fleet:
        for _ in range(3):
            fleet.start(7)
        holders = "SELECT count(DISTINCT owner) FROM turns"
        until(lambda: count(server, holders) == 3 and count(server, CHECKS) > 20)
        killed, frozen, last = fleet.running
        killed.kill()
        frozen.send_signal(signal.SIGSTOP)
        assert count(server, f"SELECT count(*) FROM turns WHERE owner LIKE '%:{frozen.pid}:%'") > 0
        until(lambda: count(server, CHECKS) >= HOSTS * EACH)  # the last one has taken over all that was theirs
        frozen.send_signal(signal.SIGCONT)
        until(lambda: "taken back meanwhile" in fleet.logs())
        for process in (frozen, last):
            process.send_signal(signal.SIGTERM)
        assert [process.wait(60) for process in (frozen, last)] == [0, 0], fleet.logs()
        once_and_in_order(server, swarm, HOSTS * EACH)
        assert swarm.pages <= HOSTS * EACH + 2 * 7 * 4, "asked again was only what was under way"
        assert "defect" not in fleet.logs()
        fleet.ask("verify")
    assert count(server, "SELECT count(*) FROM turns WHERE owner IS NOT NULL") == 0
    assert count(server, "SELECT count(*) FROM workers") == 1, "the killed one is still to be told of"
    assert count(server, "SELECT count(*) FROM sourcewatch_queue.procrastinate_jobs") == 0


def test_a_database_that_is_away_for_a_while_costs_nothing(tmp_path: Path) -> None:
    own = Server()
    url = f"{own.url}/postgres"
    try:
        with swarming(6, 0.02) as swarm, Fleet(write_sources(tmp_path, swarm, 150), url) as fleet:
            engine = database.open_engine(url)
            for _ in range(2):
                fleet.start(3)
            until(lambda: has(engine, "checks") and count(engine, CHECKS) > 20)
            own.stop()
            until(lambda: fleet.logs().count("database failed") >= 2)
            own.start()
            engine.dispose()  # this test's own connections
            until(lambda: count(engine, CHECKS) >= 150)
            for process in fleet.running:
                process.send_signal(signal.SIGTERM)
            assert [process.wait(60) for process in fleet.running] == [0, 0], fleet.logs()
            once_and_in_order(engine, swarm, 150)
            engine.dispose()
    finally:
        own.stop()
        own.remove()


def has(engine: Engine, table: str) -> bool:
    with engine.connect() as c:
        return c.execute(text("SELECT to_regclass(:t)"), {"t": table}).scalar() is not None


def test_a_store_that_cannot_be_written_is_waited_for_and_told_of(server: Engine, tmp_path: Path) -> None:
    with swarming(4, 0.01) as swarm, Fleet(write_sources(tmp_path, swarm, 40), address(server)) as fleet:
        tree = tmp_path / "snapshots"
        tree.write_text("in the way")
        fleet.start(4)
        fault = "SELECT count(*) FROM workers WHERE fault LIKE 'storage: %' AND fault_at IS NOT NULL"
        until(lambda: count(server, fault) == 1)
        assert count(server, CHECKS) == 0
        status = fleet.ask("status")
        assert "1 workers at 4 hosts" in status and "storage: " in status
        tree.unlink()
        until(lambda: count(server, CHECKS) >= 40)
        until(lambda: count(server, "SELECT count(*) FROM workers WHERE fault = ''") == 1)
        once_and_in_order(server, swarm, 40)
        assert swarm.pages == 40, "what was read is kept as soon as it can be, and not read again"


def healthz(port: int) -> tuple[int, dict[str, Any]]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=10) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
    except OSError:
        return 0, {}


def test_the_web_process_leads_alone_and_tells_of_workers(server: Engine, tmp_path: Path) -> None:
    with swarming(2, 0.01) as swarm, Fleet(write_sources(tmp_path, swarm, 20), address(server)) as fleet:
        port = free_port()
        web = fleet.start(0, "serve", "--no-checks", f"--port={port}")
        until(lambda: healthz(port)[0] == 200 and healthz(port)[1]["workers"][0]["leads"])
        fleet.start(2)
        until(lambda: count(server, CHECKS) == 20)
        web.kill()
        until(lambda: "this process leads" in (tmp_path / "worker1.log").read_text())


AT = datetime(2026, 12, 2, 9, 0, tzinfo=UTC)
WELL = WorkerRow("w", AT, 1.0, 5, 100, True, "", None)


@pytest.mark.parametrize(
    ("workers", "why"),
    [
        ([], []),
        ([WELL, replace(WELL, id="v", leads=False)], []),
        ([replace(WELL, silent_s=60)], ["worker w: silent for 60 s", "schedule: no process leads; nothing is given"]),
        ([WELL, replace(WELL, id="v", silent_s=3600)], []),
        ([replace(WELL, fault="storage: away", fault_at=AT)], ["worker w: storage: away (since 2026-12-02T09:00:00Z)"]),
    ],
)  # fmt: skip
def test_what_is_wrong_with_workers_is_told(workers: list[WorkerRow], why: list[str]) -> None:
    assert [told.partition(" out to")[0] for told in crowd.complaints(workers)] == why


def test_a_leader_that_is_frozen_is_followed_by_another(server: Engine, tmp_path: Path) -> None:
    with swarming(1) as swarm, Fleet(write_sources(tmp_path, swarm, 2), address(server)) as fleet:
        leads = "SELECT id FROM workers WHERE leads AND beat_at > now() - interval '5s'"
        for _ in range(2):
            fleet.start(0)
        until(lambda: count(server, f"SELECT count(*) FROM ({leads}) l") == 1)
        until(lambda: count(server, "SELECT count(*) FROM workers") == 2)
        with server.connect() as c:
            first = str(c.execute(text(leads)).scalar_one())
        frozen = next(p for p in fleet.running if f":{p.pid}:" in first)
        frozen.send_signal(signal.SIGSTOP)
        until(lambda: count(server, f"SELECT count(*) FROM ({leads}) l WHERE id <> '{first}'") == 1)
        frozen.send_signal(signal.SIGCONT)
        until(lambda: "leads no more" in fleet.logs())


KILLED_BETWEEN = """
import os, signal
from sourcewatch.adapters.ledger import Ledger
Ledger.keep = lambda self, run, groups: os.kill(os.getpid(), signal.SIGKILL)
from sourcewatch.faces.cli import main
main()
"""


def test_a_snapshot_whose_worker_was_killed_before_its_row_is_told_and_brought_in(
    server: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with swarming(1, 0.01) as swarm, Fleet(write_sources(tmp_path, swarm, 1), address(server)) as fleet:
        options = ["--config", str(fleet.config), "worker", "--concurrency=1"]
        environ = {**os.environ, wiring.DATABASE_VARIABLE: fleet.url}
        killed = subprocess.run([sys.executable, "-c", KILLED_BETWEEN, *options], env=environ, check=False, timeout=60)
        assert killed.returncode == -signal.SIGKILL
        [orphan] = tmp_path.glob("snapshots/s00000/*/*.warc.gz")
        assert count(server, CHECKS) == 0
        with wiring.open_house(fleet.config, None, environ) as house:
            [job] = [job for job in jobs(house.settings) if job.name == "strays" and not job.of_web]
            assert job.call(house) == (), "its row may still be on its way"
            later = datetime.now(UTC) + timedelta(hours=2)
            monkeypatch.setattr(wiring, "now", lambda: later)
            [told] = job.call(house)
        assert f"1 snapshots have no row, such as {orphan.relative_to(tmp_path)}; stop the workers" in told
        fleet.ask("rebuild")
        assert count(server, "SELECT count(*) FROM versions") == 1
        fleet.ask("verify")


def free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_run_and_workers_keep_out_of_each_others_way(server: Engine, tmp_path: Path) -> None:
    with swarming(1, 0.01) as swarm, Fleet(write_sources(tmp_path, swarm, 3), address(server)) as fleet:
        with Exclusive(server):
            fleet.start(1)
            until(lambda: "waiting: another run holds this database" in fleet.logs())
        until(lambda: count(server, CHECKS) == 3)
        assert "another run holds" in fleet.ask("run", expect=3)


def test_workers_say_in_one_sentence_that_they_need_postgresql(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "sourcewatch.faces.cli", "--config", str(tmp_path / "sources.toml")]
    for arguments in (["worker"], ["serve", "--no-checks"]):
        told = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
        assert told.returncode == 2 and told.stderr.count("\n") == 1
        assert "workers share their work through PostgreSQL" in told.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_installation_moves_to_a_server_and_workers_go_on_with_it(server: Engine, tmp_path: Path) -> None:
    with swarming(2, 0.01) as swarm:
        config = write_sources(tmp_path, swarm, 4)
        with Fleet(config, address(server)) as fleet:
            fleet.url = ""  # no server yet: a file
            fleet.ask("run")
            assert "each compared" in fleet.ask("db", "copy", address(server).replace("+psycopg", ""))
            fleet.url = address(server)
            with server.begin() as c:
                c.execute(text("UPDATE schedule SET next_check_at = now()"))
            fleet.start(2)
            until(lambda: count(server, "SELECT sum(n) FROM checks") == 8)
            assert count(server, "SELECT count(*) FROM versions") == 4, "the same as before"
            fleet.ask("verify")
            fleet.running[0].send_signal(signal.SIGTERM)
            assert fleet.running[0].wait(60) == 0, fleet.logs()
            fleet.url = ""
            assert "its runs are not ours" in fleet.ask("db", "copy", address(server).replace("+psycopg", ""), expect=4)


def test_the_compose_file_starts_what_there_is() -> None:
    """Each of our services is a command line that the program takes, with what it needs in its environment."""
    import typer.main
    import yaml

    from sourcewatch.faces.cli import app

    services = yaml.safe_load((Path(__file__).parents[2] / "deploy" / "compose.yaml").read_text("utf-8"))["services"]
    ours = {name: service for name, service in services.items() if service["image"] == "sourcewatch"}
    assert set(ours) == {"scheduler", "worker", "web"}
    group = typer.main.get_command(app)
    for service in ours.values():
        name, *arguments = service["command"]
        command = group.commands[name]  # type: ignore[attr-defined]
        assert command.make_context(name, list(arguments)).params
        assert {"SOURCEWATCH_DATABASE_URL", "AWS_ENDPOINT_URL"} <= set(service["environment"])
        assert set(service["depends_on"]) <= set(services)
