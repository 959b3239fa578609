"""A million sources over 30 days on a fake clock, in PostgreSQL: rows, bytes, queue, lag, and the cost of checks.

    python benchmarks/million.py [SOURCES] [DAYS] [SOURCES_AT_FULL_SIZE] [CPU_MS_OF_A_CHECK]

Nothing is fetched. (1) Few sources (default 3,000) go through all 30 days with the real ledger, under real claims, as
workers write: rows and bytes are per source and scaled up. Each is read once a day; once in a hundred days it changes
(a document of 4 KB); one check in 500 fails. A host takes one check in two seconds, the fleet so many as [CPU_MS…]
lets two cores do (default 30: what `workers.py` measured for a check, judged or not); what is not done waits, which
gives lag and the number of hosts in the queue. A fifth of the sources lies at the greatest host. (2) The questions
that leader and workers ask are timed at full size (default 1,000,000), with little due and with everything due.
"""

from __future__ import annotations

import os
import platform
import random
import sys
import time
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import Engine, text

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parent))

from databases import Server
from sourcewatch.adapters.ledger import Ledger
from sourcewatch.adapters.months import Months
from sourcewatch.adapters.queue_rows import Queue
from sourcewatch.adapters.turn_rows import TurnRows
from sourcewatch.analysis import incidents
from sourcewatch.domain.kept import Claim, Kept
from sourcewatch.domain.source import Source
from workers import fresh
from year import START, Year, timed

TICK = timedelta(hours=1)
DELAY_S = 2.0
CORES = 2
TOGETHER = 100
GREATEST = 0.2
DAY_S = 86_400.0


def hosts_of(count: int) -> list[str]:
    """A host for each source: a fifth at one, the others some fifty together."""
    dice = random.Random(3)
    small = max(1, count // 50)
    return ["great" if dice.random() < GREATEST else f"h{dice.randrange(small)}" for _ in range(count)]


class Month(Year):
    """Made-up findings (see year.py) through a PostgreSQL ledger, each under a claim."""

    def __init__(self, engine: Engine, count: int) -> None:
        self.engine, self.random, self.versions = engine, random.Random(7), {}
        self.ledger, self.queue, self.turns = Ledger(engine), Queue(engine), TurnRows(engine, "bench", 1e7)
        self.sources = {
            f"s{n:07}": Source(f"s{n:07}", "D", f"source {n}", url=f"https://{host}.example/p{n}", every_s=DAY_S)
            for n, host in enumerate(hosts_of(count))
        }
        self.ledger.sync(list(self.sources.values()), START)
        self.queue.sync(self.sources.values(), "UTC", START)
        with engine.begin() as c:  # nobody starts with all of them in one second
            c.execute(text("UPDATE schedule SET next_check_at = next_check_at + random() * interval '1 day'"))
            c.execute(text("INSERT INTO turns SELECT DISTINCT host, 'bench', now() FROM schedule"))

    def tick(self, now: datetime, most: int, per_host: int) -> tuple[int, int, float]:
        """Do what can be done in one tick; (checks, hosts that waited, lag in s)."""
        with self.engine.connect() as c:
            due = c.execute(
                text("SELECT source, host, next_check_at FROM schedule WHERE next_check_at <= :now ORDER BY 3"),
                {"now": now},
            ).all()
        of_host: Counter[str] = Counter()
        todo = []
        for row in due:
            if of_host[row.host] < per_host and len(todo) < most:
                todo.append(row)
                of_host[row.host] += 1
        if todo:
            run = self.ledger.begin_run(now, "worker", "0")
            for i in range(0, len(todo), TOGETHER):
                self.keep(run, todo[i : i + TOGETHER], now)
            self.ledger.end_run(run, now, None, incidents.settle)
        left = len(due) - len(todo)
        lag = (now - min(row.next_check_at for row in due)).total_seconds() if left else 0.0
        return len(todo), len({row.host for row in due}), lag

    def keep(self, run: int, rows: list, now: datetime) -> None:  # type: ignore[type-arg]
        groups: list[list[Kept]] = []
        for row in rows:
            kept = self.finding(self.sources[row.source], now)
            groups.append([replaced(kept, Claim(row.source, row.host, "bench", row.next_check_at))])
        for group, seen in zip(groups, self.ledger.keep(run, groups), strict=True):
            if seen[0] is not None:
                self.versions[group[0].finding.source] = seen[0]


def replaced(kept: Kept, claim: Claim) -> Kept:
    from dataclasses import replace

    return replace(kept, claim=claim)


def growth(server: Server, count: int, days: int, full: int, check_ms: float) -> None:
    scale = full / count
    most = max(1, round(TICK.total_seconds() * CORES / (check_ms / 1000) / scale))
    # the greatest host of a million has 200,000 sources: here it has as large a share of the time
    per_host = max(1, round(TICK.total_seconds() / DELAY_S / scale))
    with fresh(server) as (_, engine):
        Months(engine).through(START, START + timedelta(days=days))
        month = Month(engine, count)
        empty, began, cpu = size(engine), time.perf_counter(), time.process_time()
        done, deepest, worst, late = 0, 0, 0.0, 0
        for n in range(int(timedelta(days=days) / TICK)):
            checks, waiting, lag = month.tick(START + n * TICK, most, per_host)
            done, deepest, worst, late = done + checks, max(deepest, waiting), max(worst, lag), late + (lag > 7200)
        took = time.perf_counter() - began
        print(f"{count:,} sources, {days} days, {done:,} checks; simulated in {took:.0f} s (x{scale:.0f} for {full:,})")
        print(f"  one host takes {per_host * scale / TICK.total_seconds() * DAY_S:,.0f} checks a day,", end=" ")
        print(f"{CORES} cores {most * scale / TICK.total_seconds() * DAY_S:,.0f} at {check_ms:g} ms a check")
        print(
            f"  asked for a day {full:,}, at the greatest host {full * GREATEST:,.0f}; done {done * scale / days:,.0f}"
        )
        hosts = full // 50
        print(
            f"  hosts that wait in a tick: {deepest:,} at most here; "
            f"about {min(deepest * scale, hosts):,.0f} of {hosts:,}"
        )
        print(f"  lag at worst {worst / 3600:.1f} h; later than two hours in {late / (days * 24):.0%} of ticks")
        for table in ("checks", "versions", "documents", "changes", "incidents", "runs", "messages"):
            rows, total = rows_of(engine, table), size(engine, table)
            times = 1 if table == "runs" else scale
            print(f"  {table:10} {rows * times:14,.0f} rows {total * times / 1e9:8.2f} GB for {full:,}")
        grown = size(engine) - empty
        print(f"  database {grown / done:.0f} bytes a check; {grown * scale / 1e9:.1f} GB in {days} days for {full:,}")
        print(f"  writing: {(time.process_time() - cpu) / done * 1000:.2f} ms CPU of ours a check", end="")
        print(f", {took / done * 1000:.2f} ms in all; a million checks {took / done * 1e6 / 60:.0f} min of writing")
        print(f"  a million checks with fetching and judging: {check_ms * 1e6 / 3.6e6:.1f} core hours")


def size(engine: Engine, table: str = "") -> int:
    with engine.connect() as c:
        if table == "checks":
            query = "SELECT sum(pg_total_relation_size(inhrelid)) FROM pg_inherits WHERE inhparent = 'checks'::regclass"
            return int(c.execute(text(query)).scalar_one())
        what = f"pg_total_relation_size('{table}')" if table else "pg_database_size(current_database())"
        return int(c.execute(text(f"SELECT {what}")).scalar_one())


def rows_of(engine: Engine, table: str) -> int:
    with engine.connect() as c:
        return int(c.execute(text(f"SELECT count(*) FROM {table}")).scalar_one())


FILL = (
    """INSERT INTO sources SELECT 's'||i, 'page', NULL, 'u'||i, 's', 'A', true, now(), NULL, '', NULL
       FROM generate_series(1, {n}) i""",
    """INSERT INTO schedule (source, host, next_check_at)
       SELECT 's'||i, CASE WHEN i % 5 = 0 THEN 'great' ELSE 'h'||(i % {hosts}) END,
              CAST(:now AS timestamptz) + interval '1 day' * (i - {n} / 1000) / {n}
       FROM generate_series(1, {n}) i""",
)


def full_size(server: Server, count: int) -> None:
    with fresh(server) as (_, engine):
        began = time.perf_counter()
        with engine.begin() as c:
            for statement in FILL:
                c.execute(text(statement.format(n=count, hosts=count // 50)), {"now": START})
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as c:
            c.execute(text("VACUUM ANALYZE"))
        turns, queue = TurnRows(engine, "w", 60), Queue(engine)
        print(f"{count:,} sources in the schedule ({time.perf_counter() - began:.0f} s): {size(engine) / 1e6:.0f} MB")
        for what, now in (("one in a thousand is due", START), ("all are due", START + timedelta(days=2))):
            print(f"  {what}")
            print(f"    the leader's look for hosts   {timed(lambda now=now: turns.hosts(now, 1000), 5)}")  # type: ignore[misc]
            print(f"    a job's claim at a host       {timed(lambda now=now: turns.due('great', now, 20), 20)}")  # type: ignore[misc]
            print(f"    what /healthz asks            {timed(lambda now=now: queue.due(now), 5)}")  # type: ignore[misc]
        print(f"  taking a turn                   {timed(lambda: turns.take('great'), 50)}")
        print(f"  a heartbeat for 100 hosts       {timed(lambda: turns.renew([f'h{n}' for n in range(100)]), 20)}")


def main() -> None:
    given = sys.argv[1:] + ["3000", "30", "1000000", "30"][len(sys.argv) - 1 :]
    few, days, full = (int(n) for n in given[:3])
    print(f"CPython {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; shared machine")
    server = Server()
    try:
        growth(server, few, days, full, float(given[3]))
        full_size(server, full)
    finally:
        server.stop()
        server.remove()


if __name__ == "__main__":
    main()
