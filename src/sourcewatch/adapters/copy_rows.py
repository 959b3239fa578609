"""Every row of one database into another: in the order of its key, compared, and gone on with where it was cut off."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from typing import Any

from sqlalchemy import Connection, Engine, Row, Table, and_, delete, func, insert, select, text, tuple_, update

from ..domain.errors import StorageError
from . import tables as t
from .database import may_idle, storage
from .months import Months

TOGETHER = 500
OWN = (t.turns, t.workers)  # of a database's own present, not of what it knows
TABLES = tuple(table for table in t.metadata.sorted_tables if table not in OWN)
# What tells one installation's facts from another's: it never changes, and two have hardly one row in common.
KNOWN_BY = {
    t.sources: ("first_seen_at",),
    t.runs: ("started_at", "trigger", "code_version"),
    t.versions: ("record_id", "captured_at"),
}

_Values = tuple[Any, ...]


def copy_rows(source: Engine, target: Engine, told: Callable[[str, int], None] = lambda table, rows: None) -> int:
    """Copy all rows into an upgraded PostgreSQL database, and compare each of them afterwards; how many there are.

    The caller keeps everybody from both. What is there already is compared and brought up to date. *told* hears of each
    table. Raises StorageError when the target holds what the source does not know, with everything as it was.
    """
    with storage("copying it"), source.connect() as a, target.connect() as b:
        for connection in (a, b):
            may_idle(connection)
        for table in (*KNOWN_BY, *OWN):
            _refuse_strangers(a, b, table)
    first, last = _span(source)
    Months(target).through(first, last)
    for table in reversed(TABLES):
        if table.name not in t.FACTS and table is not t.sources:
            _remove_others(source, target, table)
    rows = 0
    for table in TABLES:
        _bring(source, target, table)
        count = _compare(source, target, table)
        told(table.name, count)
        rows += count
    return rows


def _refuse_strangers(a: Connection, b: Connection, table: Table) -> None:
    """Raises StorageError when the target has a row that the source does not have."""
    columns: list[Any] = [*table.primary_key.columns, *(table.c[name] for name in KNOWN_BY.get(table, ()))]
    keys = list(table.primary_key.columns)
    with closing(_batches(b, table, columns)) as batches:
        for batch in batches:
            ours = select(*columns).where(_among(keys, batch))
            known = {tuple(row) for row in a.execute(ours)} if table in KNOWN_BY else set()
            if strange := [row for row in batch if tuple(row) not in known]:
                raise StorageError(
                    f"the target is not empty, and its {table.name} are not ours ({strange[0][0]}, for one): "
                    "give an empty database, or the one into which this one was being copied"
                )


def _span(source: Engine) -> tuple[Any, Any]:
    with storage("copying it"), source.connect() as a:
        found = a.execute(select(func.min(t.checks.c.first_at), func.max(t.checks.c.first_at))).one()
    return found[0], found[1]


def _remove_others(source: Engine, target: Engine, table: Table) -> None:
    """Rows that are no facts and that the source has no more, since an earlier try."""
    keys = list(table.primary_key.columns)
    with storage("copying it"), source.connect() as a, target.begin() as b:
        may_idle(b)
        for batch in list(_batches(b, table, keys)):
            here = {tuple(row) for row in a.execute(select(*keys).where(_among(keys, batch)))}
            if gone := [row for row in batch if tuple(row) not in here]:
                b.execute(delete(table).where(_among(keys, gone)))


def _bring(source: Engine, target: Engine, table: Table) -> None:
    with storage("copying it"), source.connect() as a, closing(_batches(a, table, list(table.columns))) as batches:
        for batch in batches:
            with target.begin() as b:
                _bring_batch(b, table, batch)
    with storage("copying it"), target.begin() as b:
        if "id" in table.c and table.c.id.type.python_type is int:  # the next row's number comes after all of these
            sequence = f"pg_get_serial_sequence('{table.name}', 'id')"
            b.execute(text(f"SELECT setval({sequence}, coalesce(max(id), 0) + 1, false) FROM {table.name}"))


def _bring_batch(b: Connection, table: Table, batch: Sequence[Row[Any]]) -> None:
    keys = list(table.primary_key.columns)
    at = [list(table.columns).index(key) for key in keys]
    found = b.execute(select(table).where(_among(keys, [[row[i] for i in at] for row in batch])))
    there = {tuple(row[i] for i in at): _values(row) for row in found}
    new = []
    for row in batch:
        old = there.get(tuple(row[i] for i in at))
        if old is None:
            new.append(row._asdict())
        elif old != _values(row):
            _renew(b, table, old, row)
    if new:
        b.execute(insert(table), new)


def _renew(b: Connection, table: Table, old: _Values, row: Row[Any]) -> None:
    """Bring a row up to date that was copied before; a fact only as far as facts may change: its guard looks on."""
    if table.name in t.FACTS and table not in (t.checks, t.runs):
        raise StorageError(f"the target holds something else than this installation in {table.name} at {row[0]}")
    new = row._asdict()
    mine = and_(*(key == new[key.name] for key in table.primary_key.columns))
    changed = {c.name: new[c.name] for c, was, now in zip(table.c, old, _values(row), strict=True) if was != now}
    steps: Sequence[Mapping[str, Any]] = [changed]
    if table is t.checks:
        steps = [{**changed, "n": n} for n in range(old[list(table.c).index(table.c.n)] + 1, new["n"] + 1)]
    for step in steps:
        b.execute(update(table).where(mine).values(**step))


def _compare(source: Engine, target: Engine, table: Table) -> int:
    """How many rows both have, each the same. Raises StorageError for the first one that differs."""
    columns, count = list(table.columns), 0
    with storage("comparing the copy"), source.connect() as a, target.connect() as b:
        for connection in (a, b):
            may_idle(connection)
        with closing(_batches(a, table, columns)) as ours, closing(_rows(b, table, columns)) as theirs:
            for batch in ours:
                for row, copy in zip(batch, islice(theirs, len(batch)), strict=False):
                    if _values(row) != _values(copy):
                        raise StorageError(f"the copy differs in {table.name} at {row[0]}")
                    count += 1
            more = next(theirs, None) is not None
        if more or count != _count(a, table):
            raise StorageError(f"the copy of {table.name} has {'more' if more else 'fewer'} rows than there are")
    return count


def _count(c: Connection, table: Table) -> int:
    return int(c.execute(select(func.count()).select_from(table)).scalar_one())


def _rows(c: Connection, table: Table, columns: Sequence[Any]) -> Generator[Row[Any], None, None]:
    with closing(_batches(c, table, columns)) as batches:
        for batch in batches:
            yield from batch


def _batches(c: Connection, table: Table, columns: Sequence[Any]) -> Generator[Sequence[Row[Any]], None, None]:
    """All rows in the order of their key, some hundred at a time; text by its bytes, the same in every database."""
    order = [
        key.collate("C") if c.dialect.name == "postgresql" and key.type.python_type is str else key
        for key in table.primary_key.columns
    ]
    query = select(*columns).order_by(*order).execution_options(yield_per=TOGETHER)
    with c.execute(query) as rows:
        yield from rows.partitions()


def _among(keys: Sequence[Any], rows: Sequence[Sequence[Any]]) -> Any:
    if len(keys) == 1:
        return keys[0].in_([row[0] for row in rows])
    return tuple_(*keys).in_([tuple(row[: len(keys)]) for row in rows])


def _values(row: Sequence[Any]) -> _Values:
    return tuple(bytes(value) if isinstance(value, bytes | memoryview) else value for value in row)
