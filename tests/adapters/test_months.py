"""Checks lie in a part for each month on PostgreSQL: made ahead, guarded as the whole, dropped when it is empty."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from sqlalchemy import Engine, event, insert, text
from sqlalchemy.exc import DBAPIError

from sourcewatch.adapters import database
from sourcewatch.adapters import tables as t
from sourcewatch.adapters.ledger import Ledger
from sourcewatch.adapters.months import Months, month_of
from sourcewatch.adapters.queue_rows import Queue
from sourcewatch.adapters.retention import Retention
from sourcewatch.adapters.store import FolderStore
from sourcewatch.adapters.turn_rows import TurnRows
from sourcewatch.analysis import incidents
from sourcewatch.domain.capture import Capture, Exchange, Failure
from sourcewatch.domain.check import Finding, Judgement
from sourcewatch.domain.kept import Kept
from sourcewatch.domain.retention import CheckRule
from sourcewatch.domain.source import Source
from sourcewatch.domain.verdict import Verdict

NOW = datetime(2026, 11, 30, 23, 59, 59, tzinfo=UTC)
CHECK = {
    "source": "a", "n": 1, "word": "ok", "accessed": True, "rule": "r", "evidence": "", "status": 200, "url": "u",
    "final_url": "u", "new_version": False, "by_hand": False, "body_sha256": "", "facts": {}, "ms": 5,
}  # fmt: skip


@pytest.fixture
def server(server: Engine) -> Engine:
    with server.begin() as c:
        for part in set(database.parts_of(c)) - {"checks_rest"}:  # those of today
            c.execute(text(f"DROP TABLE {part}"))
    return server


def seeded(engine: Engine, *times: datetime) -> None:
    Ledger(engine).sync([Source("a", "A", "A", url="https://a.example/")], NOW)
    run = Ledger(engine).begin_run(NOW, "t", "0")
    with engine.begin() as c:
        for at in times:
            c.execute(insert(t.checks).values(**CHECK, run=run, first_at=at, last_at=at + timedelta(hours=1)))


def parts(engine: Engine) -> dict[str, int]:
    """Rows in each part."""
    with engine.connect() as c:
        return {p: int(c.execute(text(f"SELECT count(*) FROM {p}")).scalar_one()) for p in database.parts_of(c)}


def test_months_are_made_ahead_once(server: Engine) -> None:
    assert Months(server).ahead(NOW) == ["checks_202611", "checks_202612", "checks_202701"]
    assert Months(server).ahead(NOW) == []
    assert Months(server).ahead(NOW + timedelta(seconds=1)) == ["checks_202702"]
    assert database.check(server) is None


def test_a_check_lies_in_the_month_in_which_it_began_or_among_the_rest(server: Engine) -> None:
    Months(server).ahead(NOW)
    seeded(server, NOW, NOW + timedelta(seconds=1), NOW - timedelta(days=400))
    assert parts(server) == {"checks_202611": 1, "checks_202612": 1, "checks_202701": 0, "checks_rest": 1}
    Months(server).through(NOW - timedelta(days=430), NOW)
    assert "checks_202510" not in parts(server), "what began among the rest stays there"
    assert parts(server)["checks_202511"] == 0


@pytest.mark.parametrize("statement", ["UPDATE {} SET word = 'x'", "DELETE FROM {}", "TRUNCATE {}", "TRUNCATE checks"])
def test_no_part_is_a_way_round_the_guard(server: Engine, statement: str) -> None:
    Months(server).ahead(NOW)
    seeded(server, NOW, NOW - timedelta(days=400))
    for part in ("checks_202611", "checks_rest"):
        with pytest.raises(DBAPIError, match="append-only"), server.begin() as c:
            c.execute(text(statement.format(part)))


def test_pruning_drops_months_in_which_nothing_is_left_and_no_others(server: Engine, tmp_path: Path) -> None:
    months = Months(server)
    months.through(NOW - timedelta(days=200), NOW)
    may, july, september = (NOW.replace(month=m, day=10) for m in (5, 7, 9))
    seeded(server, may, july, july + timedelta(days=1), september, NOW)
    before = {p for p, n in parts(server).items() if n}
    assert before == {"checks_202605", "checks_202607", "checks_202609", "checks_202611"}
    assert months.drop(NOW.replace(month=6)) == [], "what nobody has pruned stays"
    with server.begin() as c:  # a version was born in this one
        c.execute(text("ALTER TABLE checks DISABLE TRIGGER USER"))
        c.execute(text("UPDATE checks SET new_version = true WHERE first_at = :at"), {"at": july})
        c.execute(text("ALTER TABLE checks ENABLE TRIGGER USER"))
    rule = CheckRule("A", NOW.replace(month=8, day=1), "[retain] checks of tier A")
    assert Retention(server, FolderStore(tmp_path)).prune_checks([rule], NOW) == 2
    left = parts(server)
    assert left["checks_202607"] == 1 and left["checks_202609"] == 1
    assert not {"checks_202605", "checks_202606"} & set(left), "dropped: the first was pruned, the second never used"
    assert {"checks_202608", "checks_202610", "checks_rest"} <= set(left)
    with server.connect() as c:
        assert c.execute(text("SELECT count(*) FROM prunings")).scalar_one() == 1


def test_a_month_goes_back_into_one_table_and_forth_again(server: Engine) -> None:
    with server.begin() as c:
        command.downgrade(database._config(c), "0004")
    said = "1, 'ok', true, 'r', '', 200, 'u', 'u', NULL, false, false, '', '{}', 5"
    check = f"INSERT INTO checks SELECT 1, 1, 'a', :at, :at, {said}"
    with server.begin() as c:
        c.execute(text("INSERT INTO sources VALUES ('a','page',NULL,'u','A','A',true,:at,NULL,'',NULL)"), {"at": NOW})
        c.execute(text("INSERT INTO runs VALUES (1, :at, NULL, 't', '0', NULL)"), {"at": NOW})
        c.execute(text(check), {"at": NOW})
    database.upgrade(server)
    assert parts(server)["checks_202611"] == 1 and parts(server)["checks_rest"] == 0
    assert len(parts(server)) >= 4, "and those to come"
    assert database.check(server) is None
    with pytest.raises(DBAPIError, match="append-only"), server.begin() as c:
        c.execute(text("TRUNCATE checks_202611"))
    with server.begin() as c:
        command.downgrade(database._config(c), "0004")
        assert c.execute(text("SELECT count(*) FROM checks")).scalar_one() == 1
    database.upgrade(server)
    assert parts(server)["checks_202611"] == 1


def test_sqlite_has_no_months(tmp_path: Path) -> None:
    engine = database.open_engine(database.sqlite_url(tmp_path / "x.db"))
    database.upgrade(engine)
    assert Months(engine).ahead(NOW) == Months(engine).drop(NOW) == []
    engine.dispose()


@pytest.mark.parametrize(
    ("later", "month"), [(0, "2026-11"), (1, "2026-12"), (2, "2027-01"), (-11, "2025-12"), (14, "2028-01")]
)
def test_months_follow_each_other(later: int, month: str) -> None:
    assert month_of(NOW, later).isoformat() == f"{month}-01T00:00:00+00:00"


SOURCES, SPANS = 20_000, 10


@pytest.fixture
def grown(server: Engine) -> Engine:
    """A database of some size: 20,000 sources at 500 hosts, 200,000 spans over a year, one source in 200 due."""
    Months(server).through(NOW - timedelta(days=330), NOW)
    with server.begin() as c:
        for statement in GROW.split(";"):
            c.execute(text(statement), {"now": NOW})
    with server.connect().execution_options(isolation_level="AUTOCOMMIT") as c:
        c.execute(text("ANALYZE"))
    return server


GROW = f"""
INSERT INTO sources SELECT 's'||i, 'page', NULL, 'u'||i, 's', 'A', true, :now, NULL, '', NULL
  FROM generate_series(1, {SOURCES}) i;
INSERT INTO schedule (source, host, next_check_at)
  SELECT 's'||i, 'h'||(i % 500), CAST(:now AS timestamptz) + make_interval(mins => i - {SOURCES // 200})
  FROM generate_series(1, {SOURCES}) i;
INSERT INTO runs (started_at, trigger, code_version) SELECT :now, 'worker', '0' FROM generate_series(1, 100) i;
INSERT INTO versions SELECT i, 's'||i, :now, 'u'||i, 'u'||i, 200, '', '', '', '', '', '', 'p', 'r'||i, 0, 1
  FROM generate_series(1, {SOURCES}) i;
INSERT INTO documents SELECT i, '', '', '', '' FROM generate_series(1, {SOURCES}) i;
INSERT INTO checks (run, source, first_at, last_at, n, word, accessed, version, rule, evidence, status, url, final_url,
                    new_version, by_hand, body_sha256, facts, ms)
  SELECT 1 + i % 100, 's'||i, CAST(:now AS timestamptz) - make_interval(days => 33 * k),
         CAST(:now AS timestamptz) - make_interval(days => 33 * k), 1,
         CASE WHEN k % 3 > 0 THEN 'ok' ELSE 'not_found' END, k % 3 > 0, CASE WHEN k % 3 > 0 THEN i END,
         'r', '', 200, 'u'||i, 'u'||i,
         false, false, '', '{{}}', 5
  FROM generate_series(1, {SOURCES}) i, generate_series(1, {SPANS}) k
"""


def test_hot_questions_go_by_an_index_at_some_size(grown: Engine) -> None:
    full = {part for part, rows in parts(grown).items() if rows} | {"schedule", "sources", "versions", "documents"}
    asked: dict[str, Any] = {}

    def heard(_: object, __: object, statement: str, parameters: Any, *___: object) -> None:
        if statement.startswith(("SELECT", "UPDATE", "DELETE")):
            asked[statement] = parameters

    event.listen(grown, "before_cursor_execute", heard)
    turns, ledger, queue = TurnRows(grown, "w", 60), Ledger(grown), Queue(grown)
    assert turns.hosts(NOW, 50)
    turns.take("h7")
    [claim] = turns.due("h7", NOW, 20)
    queue.due(NOW)
    assert queue.claim(NOW, hosts=20, per_host=20)
    ledger.recall(claim.source)
    failure = Failure(NOW, "read_timeout", "read-timeout", "nothing came", "u")
    found = Finding(claim.source, NOW, failure, Judgement(Verdict("read_timeout", "read-timeout", "")), 1.0)
    capture = Capture(NOW, (Exchange("u", 200, (), b""),))
    same = replace(found, fetched=capture, judgement=Judgement(Verdict("ok", "same-bytes", "")))
    run = ledger.begin_run(NOW, "worker", "0")
    ledger.keep(run, [[Kept(found, 0, "u", "u", claim=claim)], [Kept(same, 200, "u", "u")]])
    ledger.end_run(run, NOW, None, incidents.settle)
    event.remove(grown, "before_cursor_execute", heard)
    assert len(asked) > 15
    scans = {}
    with grown.connect() as c:
        for statement, parameters in asked.items():
            plan = "\n".join(c.exec_driver_sql(f"EXPLAIN {statement}", parameters).scalars())
            if full & set(re.findall(r"Seq Scan on (\w+)", plan)):
                scans[statement] = plan
    assert not scans, "\n\n".join(f"{s}\n{p}" for s, p in scans.items())
