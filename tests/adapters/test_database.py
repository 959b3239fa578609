"""One schema on SQLite and PostgreSQL; facts are append-only, after every migration too."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, insert, select, text, update
from sqlalchemy.exc import DBAPIError

from sourcewatch.adapters import database
from sourcewatch.adapters import tables as t
from sourcewatch.domain.errors import StorageError

AT = datetime(2026, 10, 20, 11, 3, tzinfo=UTC)


def seeded(engine: Engine, **of_check: Any) -> int:
    """One source, one run, one version, one check of it; the check's id."""
    with engine.begin() as c:
        source = {
            "id": "a",
            "kind": "page",
            "title": "A",
            "tier": "A",
            "declared": True,
            "first_seen_at": AT,
            "alt": "",
        }
        c.execute(insert(t.sources).values(**source))
        run = c.execute(
            insert(t.runs).values(started_at=AT, trigger="t", code_version="0").returning(t.runs.c.id)
        ).scalar_one()
        version = c.execute(insert(t.versions).values(**VERSION).returning(t.versions.c.id)).scalar_one()
        values = {**CHECK, "run": run, "version": version, **of_check}
        return int(c.execute(insert(t.checks).values(**values).returning(t.checks.c.id)).scalar_one())


VERSION = {
    "source": "a", "captured_at": AT, "url": "u", "final_url": "u", "status": 200, "media_type": "text/html",
    "body_sha256": "sha256:b", "payload_sha256": "sha256:p", "text_sha256": "sha256:t", "etag": "", "last_modified": "",
    "path": "snapshots/a/2026/x.warc.gz", "record_id": "<urn:uuid:1>", "offset": 0, "size_bytes": 1,
}  # fmt: skip
CHECK = {
    "source": "a", "first_at": AT, "last_at": AT, "n": 1, "word": "ok", "accessed": True, "rule": "r", "evidence": "",
    "status": 200, "url": "u", "final_url": "u", "new_version": True, "by_hand": False, "body_sha256": "sha256:b",
    "facts": {}, "ms": 5,
}  # fmt: skip


def test_the_migrations_make_the_schema_that_the_code_reads(engine: Engine) -> None:
    assert database.check(engine) is None


def test_the_newest_revision_is_the_one_that_the_code_names() -> None:
    assert ScriptDirectory.from_config(database._config()).get_current_head() == database.HEAD


def test_a_schema_that_differs_is_told(engine: Engine) -> None:
    with engine.begin() as c:
        c.execute(text("ALTER TABLE sources ADD COLUMN extra TEXT"))
    assert "extra" in (database.check(engine) or "")


def test_a_missing_guard_is_told(engine: Engine) -> None:
    with engine.begin() as c:
        on = " ON checks" if engine.dialect.name == "postgresql" else ""
        for name in ("update", "delete"):
            c.execute(text(f"DROP TRIGGER guard_checks_{name}{on}"))
    assert "no append-only guard on checks" in (database.check(engine) or "")
    database.upgrade(engine)
    assert database.check(engine) is None


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE checks SET word = 'ok', accessed = true",
        "UPDATE checks SET last_at = last_at",
        "UPDATE checks SET evidence = 'other', n = n + 1",
        "DELETE FROM checks",
        "UPDATE versions SET text_sha256 = 'sha256:other'",
        "DELETE FROM versions",
        "DELETE FROM runs",
        "UPDATE runs SET started_at = started_at, trigger = 'x'",
    ],
)
def test_facts_are_append_only(engine: Engine, statement: str) -> None:
    seeded(engine)
    with pytest.raises(DBAPIError, match="append-only"), engine.begin() as c:
        c.execute(text(statement))


def test_replacing_and_truncating_are_refused_as_well(engine: Engine) -> None:
    check = seeded(engine)
    tricks = {
        "sqlite": f"INSERT OR REPLACE INTO checks SELECT * FROM checks WHERE id = {check}",
        "postgresql": "TRUNCATE checks, runs, versions CASCADE",
    }
    with pytest.raises(DBAPIError, match="append-only"), engine.begin() as c:
        c.execute(text(tricks[engine.dialect.name]))


def test_a_span_may_grow_by_one_check_and_in_no_other_way(engine: Engine) -> None:
    check = seeded(engine)
    grow = update(t.checks).where(t.checks.c.id == check)
    with engine.begin() as c:
        c.execute(grow.values(n=2, last_at=AT + timedelta(hours=1), ms=7))
    for values in ({"n": 4}, {"n": 3, "last_at": AT}, {"n": 3, "word": "ok_partial"}):
        with pytest.raises(DBAPIError, match="append-only"), engine.begin() as c:
            c.execute(grow.values(**values))


def test_a_failure_never_grows(engine: Engine) -> None:
    check = seeded(engine, word="not_found", accessed=False, version=None)
    with pytest.raises(DBAPIError, match="append-only"), engine.begin() as c:
        c.execute(update(t.checks).where(t.checks.c.id == check).values(n=2))


def test_a_runs_end_is_written_once(engine: Engine) -> None:
    seeded(engine)
    end = update(t.runs)
    with engine.begin() as c:
        c.execute(end.values(ended_at=AT))
    with pytest.raises(DBAPIError, match="append-only"), engine.begin() as c:
        c.execute(end.values(ended_at=AT + timedelta(1)))


def test_guards_are_back_after_a_batch_migration_dropped_them(tmp_path: Path) -> None:
    engine = database.open_engine(database.sqlite_url(tmp_path / "x.db"))
    database.upgrade(engine)
    seeded(engine)
    with engine.begin() as c:  # what Alembic's batch mode does on SQLite: copy, drop, rename; triggers are gone
        c.execute(text("CREATE TABLE copy AS SELECT * FROM checks"))
        c.execute(text("DROP TRIGGER guard_checks_update"))
        c.execute(text("DROP TRIGGER guard_checks_delete"))
        c.execute(text("DROP TABLE copy"))
    database.upgrade(engine)
    with pytest.raises(DBAPIError, match="append-only"), engine.begin() as c:
        c.execute(text("DELETE FROM checks"))
    engine.dispose()


def test_down_and_up_again_guards_the_facts(engine: Engine) -> None:
    with engine.begin() as c:
        command.downgrade(database._config(c), "base")
    database.upgrade(engine)
    seeded(engine)
    with pytest.raises(DBAPIError, match="append-only"), engine.begin() as c:
        c.execute(text("DELETE FROM versions"))


def test_a_newer_schema_is_left_alone(engine: Engine) -> None:
    with engine.begin() as c:
        c.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StorageError, match="made by a newer sourcewatch"):
        database.upgrade(engine)
    with engine.connect() as c:
        assert database.current_revision(c) == "9999"


def test_a_file_that_is_no_database_is_told_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "sourcewatch.db"
    path.write_bytes(b"not a database at all, but long enough to look at" * 100)
    engine = database.open_engine(database.sqlite_url(path))
    with pytest.raises(StorageError, match="failed while opening it"):
        database.upgrade(engine)
    engine.dispose()
    assert path.read_bytes().startswith(b"not a database")


@pytest.mark.parametrize("url", ["mongodb://x", "nonsense", "postgresql+psycopg://sw@127.0.0.1:1/none"])
def test_an_address_that_cannot_be_used_is_told_in_a_sentence(url: str) -> None:
    with pytest.raises(StorageError, match="database"):
        database.upgrade(database.open_engine(url))


def test_a_time_without_a_zone_is_a_defect(engine: Engine) -> None:
    with pytest.raises(Exception, match="without a zone"), engine.begin() as c:
        c.execute(insert(t.runs).values(started_at=datetime(2026, 1, 1), trigger="t", code_version="0"))  # noqa: DTZ001


def test_times_come_back_as_they_went_in(engine: Engine) -> None:
    seeded(engine)
    with engine.connect() as c:
        assert c.execute(select(t.checks.c.first_at)).scalar_one() == AT


def test_sqlite_waits_syncs_and_guards_against_replace(tmp_path: Path) -> None:
    engine = database.open_engine(database.sqlite_url(tmp_path / "x.db"))
    with engine.connect() as c:
        found = {
            p: c.execute(text(f"PRAGMA {p}")).scalar()
            for p in ("journal_mode", "synchronous", "recursive_triggers", "foreign_keys")
        }
    engine.dispose()
    assert found == {"journal_mode": "wal", "synchronous": 2, "recursive_triggers": 1, "foreign_keys": 1}
    assert sqlite3.sqlite_version_info >= (3, 35)  # RETURNING


def test_a_shown_address_hides_its_password() -> None:
    assert "s3cret" not in database.shown("postgresql+psycopg://sw:s3cret@db.example/x")


def test_processes_that_open_a_new_database_at_once_wait_for_each_other(database_url: str) -> None:
    script = (
        "import sys; from sourcewatch.adapters import database\n"
        "database.upgrade(database.open_engine(sys.argv[1])); sys.stdin.read()"
    )
    several = [
        subprocess.Popen([sys.executable, "-c", script, database_url], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    told = [process.communicate(timeout=60)[1].decode() for process in several]
    assert [p.returncode for p in several] == [0] * 4, told
    engine = database.open_engine(database_url)
    assert database.check(engine) is None
    engine.dispose()
