"""What 1, 2 and 3 workers check in a second beside one process on SQLite, and what they lose when everything fails.

    python benchmarks/workers.py [SOURCES] [HOSTS] [speed|chaos]

Speed: each source is read for the first time (a new version: judged, three files, a row), then once more (the same
bytes). Chaos: three workers over a bucket (moto's S3 server); one is killed with SIGKILL, another frozen for longer
than its turns last and woken again, PostgreSQL restarted as by a power cut, S3 answers 503 for a minute. The servers
count requests in flight. Everything runs on one machine: workers share its cores with the servers that they ask.
"""

from __future__ import annotations

import itertools
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Engine, text

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from buckets import SERVER, Way, new_bucket, way_to
from databases import Server
from sourcewatch.adapters import database
from swarm import Fleet, Swarm, count, swarming, until, write_sources

CHECKS = "SELECT coalesce(sum(n), 0) FROM checks"
NUMBERS = itertools.count()
CONCURRENCY = 30
LATENCY_S = 0.02
LONG_S = 1_800.0


@contextmanager
def fresh(server: Server) -> Iterator[tuple[str, Engine]]:
    """An empty database of that server."""
    name = f"bench{next(NUMBERS)}"
    admin = database.open_engine(f"{server.url}/postgres").execution_options(isolation_level="AUTOCOMMIT")
    with admin.connect() as c:
        c.execute(text(f"CREATE DATABASE {name}"))
    admin.dispose()
    engine = database.open_engine(f"{server.url}/{name}")
    database.upgrade(engine)
    yield f"{server.url}/{name}", engine
    engine.dispose()


def timed(swarm: Swarm, done: Callable[[], bool]) -> float:
    """Seconds from the first page that is asked to the last row that is kept: starting up is not counted."""
    before = swarm.pages
    until(lambda: swarm.pages > before, LONG_S)
    began = time.monotonic()
    until(done, LONG_S)
    return time.monotonic() - began


def told(what: str, sources: int, seconds: float, swarm: Swarm, cpu_s: float) -> None:
    most = max(swarm.most.values())
    print(
        f"  {what:34} {sources / seconds:7.1f} checks/s  {cpu_s / sources * 1000:6.1f} ms CPU a check"
        f"  at most {most} in flight a host",
        flush=True,
    )


def cpu_of(pids: list[int]) -> float:
    """CPU seconds of processes and of the children that they have now."""
    table = {int(p.name): p for p in Path("/proc").iterdir() if p.name.isdecimal()}
    total, ticks = 0.0, os.sysconf("SC_CLK_TCK")
    parents = {}
    for pid, path in table.items():
        try:
            fields = (path / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents[pid] = int(fields[1]), (int(fields[11]) + int(fields[12])) / ticks
    wanted = set(pids)
    for _ in range(4):
        wanted |= {pid for pid, (parent, _) in parents.items() if parent in wanted}
    total += sum(parents[pid][1] for pid in wanted if pid in parents)
    return total


def alone(sources: int, hosts: int) -> None:
    """One process, SQLite, a folder: `serve` is the same passes under a daemon."""
    with swarming(hosts, LATENCY_S) as swarm, tempfile.TemporaryDirectory() as name:
        config = write_sources(Path(name), swarm, sources, delay="5ms")
        for what in ("first read", "read again"):
            command = [sys.executable, "-m", "sourcewatch.faces.cli", "--config", str(config), "run", "--all"]
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                engine = database.open_engine(database.sqlite_url(Path(name, "sourcewatch.db")))
                wanted = sources if what == "first read" else 2 * sources
                cpu = 0.0

                def done(engine: Engine = engine, wanted: int = wanted, pid: int = process.pid) -> bool:
                    nonlocal cpu
                    cpu = cpu_of([pid])
                    return count(engine, CHECKS) >= wanted

                seconds = timed(swarm, done)
                told(f"SQLite, one process, {what}", sources, seconds, swarm, cpu)
                process.wait()
                engine.dispose()


def together(server: Server, sources: int, hosts: int, workers: int) -> None:
    with (
        swarming(hosts, LATENCY_S) as swarm,
        tempfile.TemporaryDirectory() as name,
        fresh(server) as (url, engine),
        Fleet(write_sources(Path(name), swarm, sources, delay="5ms"), url) as fleet,
    ):
        for _ in range(workers):
            fleet.start(CONCURRENCY)
        pids = [process.pid for process in fleet.running]
        seconds = timed(swarm, lambda: count(engine, CHECKS) >= sources)
        first_cpu = cpu_of(pids)
        told(f"PostgreSQL, {workers} workers, first read", sources, seconds, swarm, first_cpu)
        with engine.begin() as c:
            c.execute(text("UPDATE schedule SET next_check_at = now()"))
        seconds = timed(swarm, lambda: count(engine, CHECKS) >= 2 * sources)
        told(f"PostgreSQL, {workers} workers, read again", sources, seconds, swarm, cpu_of(pids) - first_cpu)


def chaos(server: Server, way: Way, s3: str, sources: int, hosts: int) -> None:
    """Everything fails in the middle; what must hold is looked at in the end."""
    bucket = new_bucket(s3, way.endpoint)
    with (
        swarming(hosts, LATENCY_S) as swarm,
        tempfile.TemporaryDirectory() as name,
        fresh(server) as (url, engine),
    ):
        config = write_sources(Path(name), swarm, sources, more=f'storage = "{bucket.url}"\n', deadline="10s")
        with Fleet(config, url, dict(bucket.environ)) as fleet:
            began = time.monotonic()

            def at(what: str) -> None:
                print(f"  {time.monotonic() - began:6.1f} s  {count(engine, CHECKS):5} checks  {what}", flush=True)

            for _ in range(3):
                fleet.start(hosts // 3)
            until(lambda: count(engine, CHECKS) > sources // 10, LONG_S)
            killed, frozen, last = fleet.running
            killed.kill()
            at("one worker killed with SIGKILL")
            frozen.send_signal(signal.SIGSTOP)
            at("another one frozen")
            time.sleep(30)
            frozen.send_signal(signal.SIGCONT)
            at("and woken again after 30 s: its heart may stop for 6, its turns end after 16")
            until(lambda: count(engine, CHECKS) > sources // 3, LONG_S)
            at("PostgreSQL stopped as by a power cut")
            server.stop()
            time.sleep(10)
            server.start()
            engine.dispose()
            at("and started again after 10 s")
            until(lambda: count(engine, CHECKS) > sources // 2, LONG_S)
            way.fails = lambda method, path: 503
            at("S3 answers 503")
            time.sleep(60)
            at(f"for a minute; workers say: {fault(engine)}")
            way.fails = lambda method, path: None
            until(lambda: count(engine, CHECKS) >= sources, LONG_S)
            at("all checked")
            for process in (frozen, last):
                process.send_signal(signal.SIGTERM)
            print("  exit codes", [process.wait(120) for process in (frozen, last)])
            verdict(engine, swarm, fleet)


def fault(engine: Engine) -> str:
    with engine.connect() as c:
        return str(c.execute(text("SELECT max(fault) FROM workers")).scalar())[:120]


def verdict(engine: Engine, swarm: Swarm, fleet: Fleet) -> None:
    """What is to be shown, as it is in the database, at the servers, and in the bucket."""
    for what, query in (
        ("checks", CHECKS),
        ("sources checked", "SELECT count(DISTINCT source) FROM checks"),
        ("checks that were no access", "SELECT count(*) FROM checks WHERE NOT accessed"),
        ("versions", "SELECT count(*) FROM versions"),
        ("sources with a version", "SELECT count(DISTINCT source) FROM versions"),
        ("messages", "SELECT count(*) FROM messages"),
        ("incidents", "SELECT count(*) FROM incidents"),
        ("still due", "SELECT count(*) FROM schedule WHERE next_check_at <= now()"),
        ("turns still held", "SELECT count(*) FROM turns WHERE owner IS NOT NULL"),
        ("jobs in the queue", "SELECT count(*) FROM sourcewatch_queue.procrastinate_jobs"),
    ):
        print(f"  {what:28} {count(engine, query)}")
    print(f"  most in flight at a host     {max(swarm.most.values())}")
    print(f"  pages asked                  {swarm.pages}")
    print(f"  results refused by the fence {fleet.logs().count('was given to another worker')}")
    print(f"  tracebacks in logs           {fleet.logs().count('Traceback')}")
    print("  verify:", fleet.ask("verify", expect=None).strip().replace("\n", "\n          "))


def main() -> None:
    sources, hosts = (int(n) for n in (sys.argv[1:3] if len(sys.argv) > 2 else (3_000, 60)))
    wanted = sys.argv[3:] or ["speed", "chaos"]
    print(f"CPython {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; shared machine")
    print(f"{sources} sources at {hosts} hosts, {LATENCY_S * 1000:.0f} ms an answer")
    server = Server()
    try:
        if "speed" in wanted:
            alone(sources, hosts)
            for workers in (1, 2, 3):
                together(server, sources, hosts, workers)
        if "chaos" in wanted:
            with subprocess.Popen(
                [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE
            ) as child:
                assert child.stdin and child.stdout
                s3 = f"http://127.0.0.1:{int(child.stdout.readline())}"
                with way_to(s3) as way:
                    chaos(server, way, s3, sources, hosts)
                child.stdin.close()
    finally:
        server.stop()
        server.remove()


if __name__ == "__main__":
    main()
