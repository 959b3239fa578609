"""The database: how it is opened, migrated and guarded. SQLite by default, PostgreSQL by URL; one schema for both."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Engine, Table, create_engine, event, insert, inspect, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, NoSuchModuleError, OperationalError

from ..domain.errors import StorageError
from .tables import FACTS, audits

if TYPE_CHECKING:
    from alembic.config import Config

IDLE_S = 15
PART = re.compile(r"checks_(?:rest|\d{6})")  # a month of checks on PostgreSQL, or what fits into none of them
MIGRATING, MIRRORING, SETTLING = 0x50_58, 0x50_4D, 0x50_53  # any numbers that all processes agree on
HEAD = "0005"  # the newest revision, so that Alembic (0.3 s) is imported only when there is something to migrate

# The span of an unchanged access may grow, one check at a time; a run's end is written once; nothing else moves.
_MAY_CHANGE = {
    "checks": "NEW.n = OLD.n + 1 AND NEW.last_at >= OLD.last_at AND OLD.accessed AND {same}",
    "runs": "OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL AND {same}",
}
_MAY_GO = {"checks": "OLD.last_at < (SELECT max(until_at) FROM prunings)"}  # what retention has noted beforehand
_FREE = {"checks": {"n", "last_at", "ms"}, "runs": {"ended_at", "void_reason"}}

_LIVELY = {  # a server that is gone, or a network, is told within half a minute, not after hours
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}


def open_engine(url: str) -> Engine:
    """An engine with what honest storage needs. Raises StorageError for an address that no driver knows."""
    try:
        engine = create_engine(url, connect_args={"timeout": 30} if url.startswith("sqlite") else _LIVELY)
    except (ArgumentError, NoSuchModuleError, ImportError) as error:
        raise StorageError(f"the database address cannot be used: {error}") from error
    event.listen(engine, "connect", _pragmas if engine.dialect.name == "sqlite" else _no_idling)
    return engine


def _no_idling(connection: Any, _: object) -> None:
    """Who was frozen or cut off in the middle of a transaction keeps its locks from others for so long, no longer."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET idle_in_transaction_session_timeout = '{IDLE_S}s'")
    connection.commit()


def may_idle(connection: Connection) -> None:
    """This transaction is for more than the database: others wait for it, if they have to."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = '30min'"))


def _pragmas(connection: object, _: object) -> None:
    cursor = connection.cursor()  # type: ignore[attr-defined]
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",  # NORMAL may lose the last commit at a power cut; a row may not be lost after its file
        "busy_timeout=30000",
        "foreign_keys=ON",
        "temp_store=MEMORY",
        "recursive_triggers=ON",  # without it INSERT OR REPLACE walks past the append-only guard
    ):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


@contextmanager
def storage(doing: str) -> Iterator[None]:
    """Turn the database's own failures into one sentence. Programming errors pass through as the defects they are."""
    try:
        yield
    except DBAPIError as error:
        # A damaged file is a bare DatabaseError; a full disk, a lock, a lost server are OperationalErrors.
        if isinstance(error, OperationalError) or type(error) is DatabaseError or error.connection_invalidated:
            raise StorageError(f"the database failed while {doing}: {error.orig}") from error
        raise


def migrations_dir() -> Path:
    """Where the migrations lie: inside an installed wheel, else at the top of the checkout."""
    installed = Path(__file__).parents[1] / "_alembic"
    return installed if installed.is_dir() else Path(__file__).parents[3] / "alembic"


def _config(connection: Connection | None = None) -> Config:
    from alembic.config import Config

    config = Config(stdout=io.StringIO())  # alembic check talks on stdout; what it finds is raised
    config.set_main_option("script_location", str(migrations_dir()).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def upgrade(engine: Engine) -> None:
    """Bring the schema to the newest revision and (re)install the guards. Raises StorageError, changing nothing."""
    with storage("opening it"), engine.begin() as connection:
        if current_revision(connection) == HEAD and not unguarded(connection):
            return
        _alone(connection)
        current = current_revision(connection)  # by whoever was here before us, perhaps
        missing = unguarded(connection)
        if current == HEAD and not missing:
            return
        if current == HEAD:  # whoever took them away may have altered what they guarded: `verify` tells it
            note = {"at": datetime.now(UTC), "sample": True, "files": 0, "records": 0, "faults": len(missing)}
            connection.execute(insert(audits).values(**note, facts={"unguarded": missing, "paths": []}))
        if current is not None and not _knows(current):
            raise StorageError(
                f"the database has schema {current}, made by a newer sourcewatch; this one knows up to {HEAD}. "
                "Upgrade sourcewatch, or give another data folder"
            )
        from alembic import command

        command.upgrade(_config(connection), "head")
        install_guards(connection)


def _alone(connection: Connection) -> None:
    """Wait until nobody else is migrating, and keep others from it until this transaction ends, whole or not at all."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")  # the driver itself begins none before it makes tables
    one_at_a_time(connection, MIGRATING)


def unless_there(connection: Connection, table: Table) -> Any:
    """An insert that leaves alone what another process has put there since this one looked."""
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    return dialect.insert(table).on_conflict_do_nothing()


def one_at_a_time(connection: Connection, what: int) -> None:
    """Keep other processes from the same until this transaction ends. SQLite has one writer at a time, which looks
    before it is the one: see `unless_there`."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": what})


def check(engine: Engine) -> str | None:
    """Whether the schema in the database is the one in `tables`: None, or a sentence that says what differs."""
    from alembic import command
    from alembic.util.exc import CommandError

    with storage("reading its schema"), engine.connect() as connection:
        try:
            command.check(_config(connection))
        except CommandError as error:
            return str(error)
        missing = unguarded(connection)
        return f"no append-only guard on {', '.join(missing)}" if missing else None


def current_revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def _knows(revision: str) -> bool:
    from alembic.script import ScriptDirectory
    from alembic.util.exc import CommandError

    try:
        return ScriptDirectory.from_config(_config()).get_revision(revision) is not None
    except CommandError:
        return False


def unguarded(connection: Connection) -> list[str]:
    """The tables of facts that lack one of their append-only guards, or have one that is switched off."""
    found = {
        "sqlite": "SELECT count(*) FROM sqlite_master WHERE type = 'trigger' AND tbl_name = :t"
        " AND name IN ('guard_' || :t || '_update', 'guard_' || :t || '_delete') AND sql LIKE '%append-only%'",
        "postgresql": "SELECT count(*) FROM pg_trigger WHERE tgrelid = to_regclass(:t) AND tgenabled <> 'D'"
        " AND tgname IN ('guard_' || :t || '_update', 'guard_' || :t || '_delete')",
    }[connection.dialect.name]
    return [t for t in FACTS if int(connection.execute(text(found), {"t": t}).scalar() or 0) < 2]


def damage(engine: Engine) -> str:
    """What SQLite finds wrong with its own file, or "": every page is read. PostgreSQL looks after itself."""
    if engine.dialect.name != "sqlite":
        return ""
    with storage("looking whether it is sound"), engine.connect() as connection:
        found = [str(row[0]) for row in connection.execute(text("PRAGMA quick_check(1)"))]
    return "" if found == ["ok"] else "; ".join(" ".join(words.split()) for words in found)


def install_guards(connection: Connection) -> None:
    """Append-only triggers on the facts. Alembic's batch mode drops them silently, so every upgrade calls this."""
    for table in FACTS:
        columns = [c["name"] for c in inspect(connection).get_columns(table)]
        kept = [c for c in columns if c not in _FREE.get(table, set())]
        if connection.dialect.name == "sqlite":
            same = " AND ".join(f'NEW."{c}" IS OLD."{c}"' for c in kept)
            _guard_sqlite(connection, table, _MAY_CHANGE.get(table, "0").format(same=same))
        else:
            same = " AND ".join(f'NEW."{c}" IS NOT DISTINCT FROM OLD."{c}"' for c in kept)
            _guard_postgresql(connection, table, _MAY_CHANGE.get(table, "false").format(same=same))
            for part in parts_of(connection) if table == "checks" else ():
                guard_part(connection, part)


def _guard_sqlite(connection: Connection, table: str, allowed: str) -> None:
    refuse = f"SELECT RAISE(ABORT, '{table} is append-only')"
    for name, when in (
        ("update", f"BEFORE UPDATE ON {table} WHEN NOT ({allowed})"),
        ("delete", f"BEFORE DELETE ON {table} WHEN ({_MAY_GO.get(table, '0')}) IS NOT TRUE"),
    ):
        connection.execute(text(f"DROP TRIGGER IF EXISTS guard_{table}_{name}"))
        connection.execute(text(f"CREATE TRIGGER guard_{table}_{name} {when} BEGIN {refuse}; END"))


def _guard_postgresql(connection: Connection, table: str, allowed: str) -> None:
    gone = f"IF TG_OP = 'DELETE' AND ({_MAY_GO[table]}) THEN RETURN OLD; END IF; " if table in _MAY_GO else ""
    body = f"BEGIN {gone}RAISE EXCEPTION '{table} is append-only'; END"
    connection.execute(
        text(f"CREATE OR REPLACE FUNCTION guard_{table}() RETURNS trigger LANGUAGE plpgsql AS $$ {body} $$")
    )
    for name, when, level in (
        ("update", f"BEFORE UPDATE ON {table}", f"FOR EACH ROW WHEN (NOT ({allowed}))"),
        ("delete", f"BEFORE DELETE ON {table}", "FOR EACH ROW"),
        ("truncate", f"BEFORE TRUNCATE ON {table}", "FOR EACH STATEMENT"),
    ):
        connection.execute(
            text(f"CREATE OR REPLACE TRIGGER guard_{table}_{name} {when} {level} EXECUTE FUNCTION guard_{table}()")
        )


def parts_of(connection: Connection) -> list[str]:
    """The partitions of the checks on PostgreSQL, oldest month first; none on SQLite."""
    if connection.dialect.name == "sqlite":
        return []
    found = "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = to_regclass('checks') ORDER BY 1"
    return list(connection.execute(text(found)).scalars())


def guard_part(connection: Connection, part: str) -> None:
    """A partition takes over its table's triggers for rows, but none for TRUNCATE."""
    connection.execute(
        text(
            f"CREATE OR REPLACE TRIGGER guard_{part}_truncate BEFORE TRUNCATE ON {part} "
            "FOR EACH STATEMENT EXECUTE FUNCTION guard_checks()"
        )
    )


def sqlite_url(path: Path) -> str:
    return URL.create("sqlite", database=str(path)).render_as_string()


def file_of(url: str) -> Path | None:
    """The file of an SQLite database; None for any other."""
    address = make_url(url)
    return Path(address.database or "") if address.get_backend_name() == "sqlite" else None


def shown(url: str) -> str:
    """A database address that may be printed: the password is hidden."""
    return make_url(url).render_as_string(hide_password=True)
