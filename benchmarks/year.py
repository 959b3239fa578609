"""A year of hourly checks on a clock of its own, against the real ledger and schedule: rows, bytes, a tick's cost.

    python benchmarks/year.py [SOURCES] [DAYS] [SOURCES_AT_FULL_SIZE]

Nothing is fetched: made-up findings go through the ledger as a daemon's would. A year of 50,000 sources is 438 million
checks; so (1) growth is measured with few sources over a whole year (default 100 × 365 days × 24), per source, and
scaled to 50,000; (2) the schedule is measured at full size (50,000), on the state that such a year leaves in it. What a
source does: each hour it is read; once a day in a hundred it changes; in one check of 500 it fails once; it never goes
quiet for longer. Changes carry documents of 4 KB. Files under snapshots/ are not counted here (see archive.py).
"""

from __future__ import annotations

import os
import platform
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import text

from sourcewatch.adapters import database
from sourcewatch.adapters.ledger import Ledger
from sourcewatch.adapters.queue_rows import Queue
from sourcewatch.analysis import cadence, incidents
from sourcewatch.domain.capture import Capture, Exchange, Failure
from sourcewatch.domain.check import Finding, Judgement
from sourcewatch.domain.document import Block, Document, Form
from sourcewatch.domain.kept import Kept, Stored
from sourcewatch.domain.source import Source
from sourcewatch.domain.verdict import Verdict

FULL = 50_000
START = datetime(2026, 1, 1, tzinfo=UTC)
TICK = timedelta(seconds=30)
CHANGES, FAILS = 1 / 2_400, 1 / 500
TOGETHER = 100
WORDS = [
    "scheduler",
    "places",
    "experts",
    "night",
    "while",
    "cache",
    "hits",
    "stay",
    "above",
    "what",
    "operators",
    "expected",
    "traffic",
    "power",
    "prices",
]


def sources(count: int) -> list[Source]:
    return [
        Source(f"s{n:05}", "D", f"source {n}", url=f"https://h{n % 3_000}.example/p{n}", every_s=3_600)
        for n in range(count)
    ]


class Year:
    """One database, and what its sources were last seen to say."""

    def __init__(self, folder: Path, count: int) -> None:
        self.path = folder / "sourcewatch.db"
        self.engine = database.open_engine(database.sqlite_url(self.path))
        database.upgrade(self.engine)
        self.ledger, self.queue = Ledger(self.engine), Queue(self.engine)
        self.sources = {s.id: s for s in sources(count)}
        self.ledger.sync(list(self.sources.values()), START)
        self.queue.sync(self.sources.values(), "UTC", START)
        self.versions: dict[str, int] = {}
        self.random = random.Random(7)

    def finding(self, source: Source, at: datetime) -> Kept:
        """One made-up check: mostly the same as before, now and then a failure or a new version."""
        url = source.url or ""
        following = at + cadence.interval(source.id, source.every_s)
        if self.random.random() < FAILS and source.id in self.versions:
            failure = Failure(at, "read_timeout", "read-timeout", "nothing came for 20 s", url)
            judged = Judgement(Verdict("read_timeout", "read-timeout", failure.detail))
            again = at + cadence.SOON[0]
            return Kept(
                Finding(source.id, at, failure, judged, 20.0), 0, url, url, next_check_at=again, facts={"hops": []}
            )
        capture = Capture(at, (Exchange(url, 200, (("Content-Type", "text/html"),), b""),))
        known = self.versions.get(source.id)
        if known is not None and self.random.random() > CHANGES:
            judged = Judgement(Verdict("ok", "same-bytes", f"the same bytes as on {at:%Y-%m} UTC"), maker="m@1")
            return Kept(Finding(source.id, at, capture, judged, 0.3, known), 200, url, url, next_check_at=following)
        prose = " ".join(self.random.choices(WORDS, k=500))
        blocks = tuple(Block(prose[i : i + 400]) for i in range(0, len(prose), 400))
        document = Document(Form.HTML, title=source.title, blocks=blocks, extractor="x@1")
        digest = f"sha256:{self.random.getrandbits(256):064x}"
        judged = Judgement(Verdict("ok", "no-objection"), digest, document, changed=True, history="{}", maker="m@1")
        name = f"snapshots/{source.id}/{at:%Y/%Y%m%dT%H%M%SZ}.warc.gz"
        stored = Stored(name, f"<urn:uuid:{self.random.getrandbits(128):032x}>", 0, at, url, url, 200, "text/html",
                        digest, '"e"', "", 4_000)  # fmt: skip
        kept = Finding(source.id, at, capture, judged, 0.3)
        return Kept(kept, 200, url, url, digest, stored, following, {"hops": [{"url": url, "status": 200}]})

    def runs(self, until: datetime, step: timedelta) -> Iterator[tuple[datetime, float]]:
        """Tick through the time up to *until*: (when, seconds of a whole run) for each tick that found work."""
        at = START
        while at < until:
            started = time.perf_counter()
            work = [i for ids in self.queue.claim(at, hosts=10**6, per_host=10**6).values() for i in ids]
            if work:
                run = self.ledger.begin_run(at, "serve", "0")
                for i in range(0, len(work), TOGETHER):
                    groups = [[self.finding(self.sources[s], at)] for s in work[i : i + TOGETHER]]
                    for group, seen in zip(groups, self.ledger.keep(run, groups), strict=True):
                        if seen[0] is not None:
                            self.versions[group[0].finding.source] = seen[0]
                self.ledger.end_run(run, at, None, incidents.settle)
                yield at, time.perf_counter() - started
            at += step

    def size(self) -> int:
        with self.engine.connect() as c:
            c.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
            return self.path.stat().st_size

    def rows(self, table: str) -> int:
        with self.engine.connect() as c:
            return int(c.execute(text(f"SELECT count(*) FROM {table}")).scalar_one())


def timed(what: Callable[[], object], rounds: int = 60) -> str:
    what()
    taken = []
    for _ in range(rounds):
        started = time.perf_counter()
        what()
        taken.append(time.perf_counter() - started)
    return f"{statistics.median(taken) * 1000:.2f} ms (median of {rounds}; slowest {max(taken) * 1000:.1f})"


def growth(count: int, days: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        year = Year(Path(name), count)
        empty, started, ticks = year.size(), time.perf_counter(), 0
        for _ in year.runs(START + timedelta(days=days), timedelta(minutes=5)):
            ticks += 1
        took = time.perf_counter() - started
        checks = count * days * 24
        print(f"{count} sources, {days} days, about {checks:,} checks in {ticks:,} runs; simulated in {took:.0f} s")
        scale, per_year = FULL / count, 365 / days
        for table in ("checks", "versions", "incidents", "runs"):
            rows = year.rows(table)
            whole = rows * per_year * (1 if table == "runs" else scale)
            print(f"  {table:10} {rows:9,} rows; {rows / count:8.1f} a source; {whole:14,.0f} for {FULL:,} in a year")
        grown = year.size() - empty
        whole = grown * scale * per_year / 1e9
        print(f"  {grown / 1e6:.1f} MB: {grown / checks:.2f} bytes a check; {whole:.1f} GB for {FULL:,}")
        started = time.perf_counter()
        with year.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as c:
            c.execute(text("VACUUM"))
        print(f"  VACUUM {time.perf_counter() - started:.1f} s: {(year.size() - empty) / 1e6:.1f} MB")
        year.engine.dispose()


def full_size(count: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        started = time.perf_counter()
        year = Year(Path(name), count)
        print(f"{count:,} sources declared in {time.perf_counter() - started:.1f} s")
        taken = [seconds for _, seconds in year.runs(START + timedelta(hours=3), TICK)][1:]
        checks = year.rows("schedule")
        median, slowest = statistics.median(taken) * 1000, max(taken) * 1000
        print(f"  two hours at a tick each 30 s: a tick with work {median:.0f} ms (median), slowest {slowest:.0f} ms")
        print(f"  {checks * 2 / sum(taken):,.0f} checks/s through the ledger")
        idle = START + timedelta(minutes=1)
        busy = [f"h{n}.example" for n in range(100)]
        print(f"  tick with nothing due {timed(lambda: year.queue.claim(idle, hosts=500, per_host=20))}")
        print(
            f"  the same, 100 hosts at work {timed(lambda: year.queue.claim(idle, hosts=500, per_host=20, busy=busy))}"
        )
        due = str(year.queue._due(idle, idle, None, False).compile(year.engine, compile_kwargs={"literal_binds": True}))
        with year.engine.connect() as c:
            print(f"  the due query alone {timed(lambda: c.execute(text(due)).all())}")
        print(f"  what /healthz asks of the schedule {timed(lambda: year.queue.due(idle))}")
        started = time.perf_counter()
        year.queue.claim(START + timedelta(days=9), hosts=500, per_host=20)
        print(f"  a claim when all {count:,} are due {(time.perf_counter() - started) * 1000:.0f} ms")
        year.engine.dispose()


def main() -> None:
    few, days, many = (int(n) for n in (sys.argv[1:4] if len(sys.argv) == 4 else (100, 365, FULL)))
    print(f"CPython {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; shared machine")
    growth(few, days)
    full_size(many)


if __name__ == "__main__":
    main()
