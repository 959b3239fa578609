"""A database goes from a file to a server, row by row the same, goes on where it was cut off, and spoils nobody's."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, insert, select, text, update

from databases import upgraded
from sourcewatch.adapters import copy_rows, database
from sourcewatch.adapters import tables as t
from sourcewatch.adapters.copy_rows import TABLES
from sourcewatch.domain.errors import StorageError

AT = datetime(2026, 1, 20, 11, 3, 0, 123456, tzinfo=UTC)
DAY = timedelta(days=1)
TEXT = {"url": "https://a.example/页", "final_url": "u", "media_type": "text/html", "etag": '"e"', "last_modified": ""}


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Engine]:
    with upgraded(database.sqlite_url(tmp_path / "sourcewatch.db")) as engine:
        filled(engine)
        yield engine


@pytest.fixture
def target(server: Engine) -> Engine:
    return server


def filled(engine: Engine, sources: int = 30) -> None:
    """Rows in every table, names in an order that databases do not agree on, times over half a year."""
    names = [f"{'aZ-_9é'[n % 6]}{n}" for n in range(sources)]
    with engine.begin() as c:
        first = {"kind": "page", "tier": "A", "declared": True, "first_seen_at": AT, "alt": "", "url": "u"}
        c.execute(insert(t.sources), [{"id": i, "title": f"题 {i}", **first} for i in names])
        c.execute(insert(t.schedule), [{"source": i, "next_check_at": AT + DAY, "host": "a.example"} for i in names])
        c.execute(
            insert(t.runs), [{"started_at": AT + n * DAY, "trigger": "run", "code_version": ""} for n in range(3)]
        )
        for n, i in enumerate(names):
            one(c, n, i, AT + n * 6 * DAY)


def one(c: Connection, n: int, i: str, seen: datetime) -> None:
    """What there is to know of one source."""
    at = {"status": 200, "body_sha256": "b", "url": "https://a.example/页", "final_url": "u"}
    lies = {"path": f"snapshots/{i}", "record_id": f"<urn:{n}>", "offset": n, "size_bytes": 2**33}
    version = {"source": i, "captured_at": seen, "payload_sha256": "p", "text_sha256": "t", "media_type": "text/html"}
    whole = insert(t.versions).values(**version, **at, **lies, etag='"e"', last_modified="").returning(t.versions.c.id)
    v = c.execute(whole).scalar_one()
    packed = {"title": "T", "language": "zh", "packed": bytes(range(256)), "maker": "m"}
    c.execute(insert(t.documents).values(version=v, **packed))
    facts = {"hops": [{"url": "u", "status": 200}], "ratio": 0.1, "none": None, "b": {"z": 1, "a": [True]}}
    span = {"run": 1 + n % 3, "source": i, "first_at": seen, "last_at": seen + DAY, "n": 2, "version": v, "ms": 5}
    said = {"word": "ok", "accessed": True, "rule": "r", "evidence": "", "new_version": False, "by_hand": False}
    c.execute(insert(t.checks).values(**span, **said, **at, facts=facts))
    sighting = {"version": v, "quote": "q", "source": i, "kind": "verbatim", "score": 0.1 + 0.2, "seen_at": seen}
    c.execute(insert(t.sightings).values(**sighting, facts={}, maker="m"))
    told = {"key": f"k:{i}", "at": seen, "kind": "change", "source": i, "facts": facts}
    m = c.execute(insert(t.messages).values(**told).returning(t.messages.c.id)).scalar_one()
    delivery = {"message": m, "editor": "lin", "variable": "V", "digest": False, "attempts": 0, "next_try_at": seen}
    c.execute(insert(t.deliveries).values(**delivery, given_up=False, why_not=""))


def rows(engine: Engine, table: str) -> int:
    with engine.connect() as c:
        return int(c.execute(text(f"SELECT count(*) FROM {table}")).scalar_one())


def test_every_row_arrives_and_the_next_one_gets_a_number_of_its_own(source: Engine, target: Engine) -> None:
    told: dict[str, int] = {}
    assert copy_rows.copy_rows(source, target, told.__setitem__) == sum(told.values()) > 200
    assert told == {table.name: rows(source, table.name) for table in TABLES}
    with target.begin() as c:
        new = c.execute(insert(t.runs).values(started_at=AT, trigger="t", code_version="0").returning(t.runs.c.id))
        assert new.scalar_one() == 4
        assert c.execute(text("SELECT count(*) FROM checks_rest")).scalar_one() == 0, "each month has its part"
    assert database.check(target) is None


def test_a_copy_that_was_cut_off_goes_on_and_takes_in_what_is_new(
    source: Engine, target: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(table: str, count: int) -> None:
        if table == "checks":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_rows.copy_rows(source, target, breaks)
    assert rows(target, "checks") == 30 and rows(target, "deliveries") == 0
    with source.begin() as c:
        for n in (3, 4):
            grown = update(t.checks).where(t.checks.c.id == 7).values(n=n, last_at=AT + 99 * DAY, ms=9)
            c.execute(grown)
        c.execute(update(t.runs).where(t.runs.c.id == 2).values(ended_at=AT))
        c.execute(update(t.schedule).values(next_check_at=AT + 2 * DAY))
        c.execute(t.schedule.delete().where(t.schedule.c.source == "a0"))
    copy_rows.copy_rows(source, target)
    copy_rows.copy_rows(source, target)
    with target.connect() as c:
        assert c.execute(select(t.checks.c.n).where(t.checks.c.id == 7)).scalar_one() == 4
    assert rows(target, "schedule") == 29


@pytest.mark.parametrize("begun", [False, True], ids=["another's", "one that has gone on by itself"])
def test_a_target_with_rows_of_its_own_is_refused_and_left_as_it_is(
    source: Engine, target: Engine, begun: bool
) -> None:
    if begun:
        copy_rows.copy_rows(source, target)
    with target.begin() as c:
        c.execute(insert(t.runs).values(started_at=AT + 9 * DAY, trigger="worker", code_version="0"))
    before = rows(target, "sources")
    with pytest.raises(StorageError, match="not empty, and its runs are not ours"):
        copy_rows.copy_rows(source, target)
    assert rows(target, "sources") == before == (30 if begun else 0)


def test_a_target_at_which_workers_are_is_refused(source: Engine, target: Engine) -> None:
    with target.begin() as c:
        c.execute(text("INSERT INTO turns (host, beat_at) VALUES ('a.example', now())"))
    with pytest.raises(StorageError, match="its turns are not ours"):
        copy_rows.copy_rows(source, target)


def test_a_copy_that_differs_is_told(source: Engine, target: Engine) -> None:
    copy_rows.copy_rows(source, target)
    with target.begin() as c:
        c.execute(text("ALTER TABLE messages DISABLE TRIGGER USER"))
        c.execute(text("UPDATE messages SET kind = 'other' WHERE id = 5"))
        c.execute(text("ALTER TABLE messages ENABLE TRIGGER USER"))
    with pytest.raises(StorageError, match="something else than this installation in messages at 5"):
        copy_rows.copy_rows(source, target)
    with pytest.raises(StorageError, match="differs in messages at 5"):
        copy_rows._compare(source, target, t.messages)
