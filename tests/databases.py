"""Real storage of the suite's own: a PostgreSQL server, both databases, and a disk that is soon full."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from sourcewatch.adapters import database

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)


def skip(reason: str) -> None:
    """Skip with a reason; where everything is to be there, that is a failure."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"CI must have it: {reason}")
    pytest.skip(reason)


class Server:
    """A PostgreSQL server on a free port, run as a user that is not root, with a data folder of its own."""

    def __init__(self) -> None:
        found = [str(b) for b in BINARIES] or [str(Path(p).parent) for p in [shutil.which("initdb")] if p]
        if not found:
            skip("PostgreSQL is not installed (initdb not found)")
        self._binaries = found[0]
        self._user = {"user": "postgres", "group": "postgres"} if os.geteuid() == 0 else {}
        self._folder = Path(tempfile.mkdtemp(prefix="sourcewatch-pg-"))
        if self._user:
            shutil.chown(self._folder, "postgres", "postgres")
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self._options = f"-p {port} -k {self._folder} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=60"
        self.url = f"postgresql+psycopg://sw@127.0.0.1:{port}"
        self._run("initdb", "-D", "data", "-U", "sw", "-A", "trust", "-N")
        self.start()

    def _run(self, tool: str, *arguments: str) -> None:
        command = [f"{self._binaries}/{tool}", *arguments]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(command, check=True, cwd=self._folder, **quiet, **self._user)  # type: ignore[call-overload]

    def start(self) -> None:
        self._run("pg_ctl", "-D", "data", "-o", self._options, "-l", "log", "-w", "start")

    def stop(self) -> None:
        """As a power cut does it."""
        self._run("pg_ctl", "-D", "data", "-m", "immediate", "-w", "stop")

    def remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """The address of a server that all tests share."""
    server = Server()
    yield server.url
    server.stop()
    server.remove()


@pytest.fixture
def empty_postgresql(postgresql: str) -> Iterator[str]:
    """A new, empty database in that server."""
    name = f"t{time.monotonic_ns()}"
    admin = database.open_engine(f"{postgresql}/postgres").execution_options(isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield f"{postgresql}/{name}"
    with admin.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    admin.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return database.sqlite_url(tmp_path / "sourcewatch.db")
    return str(request.getfixturevalue("empty_postgresql"))


@pytest.fixture
def engine(database_url: str) -> Iterator[Engine]:
    """An upgraded database, SQLite and PostgreSQL in turn."""
    with upgraded(database_url) as engine:
        yield engine


@pytest.fixture
def server(empty_postgresql: str) -> Iterator[Engine]:
    """An upgraded PostgreSQL."""
    with upgraded(empty_postgresql) as engine:
        yield engine


@contextmanager
def upgraded(url: str) -> Iterator[Engine]:
    engine = database.open_engine(url)
    database.upgrade(engine)
    yield engine
    engine.dispose()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    folder = tmp_path / "small"
    folder.mkdir()
    if (
        os.geteuid() != 0
        or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", folder], check=False).returncode
    ):
        skip("a small file system cannot be mounted here (needs root)")
    yield folder
    subprocess.run(["umount", folder], check=True)
