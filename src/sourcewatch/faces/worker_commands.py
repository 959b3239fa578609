"""The command of one worker among many."""

from __future__ import annotations

from typing import Annotated

import typer

from .base import app, given, opened

NEEDS = (
    "workers share their work through PostgreSQL: set SOURCEWATCH_DATABASE_URL=postgresql://…; "
    "one machine needs no workers: `sourcewatch serve` checks by itself"
)
EXTRA = "workers need the extra [pg]: pip install 'sourcewatch[pg]'"


@app.command()
def worker(
    concurrency: Annotated[int, typer.Option(min=0, help="Hosts at a time; with 0 it only leads.")] = 100,
    log_json: Annotated[bool, typer.Option("--log-json", help="Log JSON objects, one a line.")] = False,
) -> int:
    """Check what is due together with other workers, on any number of machines, through PostgreSQL."""
    import asyncio

    from . import logs

    need_postgresql()
    from .worker import work

    logs.set_up(as_json=log_json)
    with opened() as house:
        return asyncio.run(work(house, given.config, concurrency))


def need_postgresql() -> None:
    """Raises ConfigError where workers have no database to share, or nothing to reach it with."""
    from importlib.util import find_spec

    from ..domain.errors import ConfigError
    from .wiring import database_url

    if not database_url(given.data or given.config.parent).startswith("postgresql"):
        raise ConfigError([NEEDS])
    if any(find_spec(name) is None for name in ("psycopg_pool", "procrastinate")):
        raise ConfigError([EXTRA])
