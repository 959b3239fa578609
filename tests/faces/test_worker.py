"""Many workers check each source once and each host one request at a time, whoever of them dies, freezes or returns."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from sourcewatch.adapters import database, turn_rows
from sourcewatch.adapters.exclusive import LEAD_IDLE_S
from swarm import Fleet, Swarm, count, swarming, until, write_sources

CHECKS = "SELECT count(*) FROM checks"
HOSTS, EACH = 20, 30


@pytest.fixture
def server(empty_postgresql: str) -> Iterator[Engine]:
    engine = database.open_engine(empty_postgresql)
    database.upgrade(engine)
    yield engine
    engine.dispose()


def address(engine: Engine) -> str:
    return engine.url.render_as_string(hide_password=False)


def once_and_in_order(engine: Engine, swarm: Swarm, sources: int) -> None:
    """What must hold at the end, whatever happened."""
    assert max(swarm.most.values()) == 1, "never more than one request in flight per host"
    assert count(engine, CHECKS) == count(engine, "SELECT count(DISTINCT source) FROM checks") == sources
    assert count(engine, "SELECT sum(n) FROM checks") == sources
    assert count(engine, "SELECT count(*) FROM checks WHERE word <> 'ok'") == 0
    assert count(engine, "SELECT count(*) FROM versions") == sources
    assert count(engine, "SELECT count(DISTINCT source) FROM versions") == sources
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
        assert "Traceback" not in fleet.logs()
    assert count(server, "SELECT count(*) FROM turns WHERE owner IS NOT NULL") == 0
    assert count(server, "SELECT count(*) FROM workers") == 1, "the killed one is still to be told of"
    assert count(server, "SELECT count(*) FROM sourcewatch_queue.procrastinate_jobs") == 0
