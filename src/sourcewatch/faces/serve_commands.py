"""Commands of who keeps it running: the daemon, and a copy of the database."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .base import app, db_app, given, opened


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Where to listen; this machine alone by default.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8620,
    checks: Annotated[bool, typer.Option("--checks/--no-checks", help="Leave the checking to workers.")] = True,
    log_json: Annotated[bool, typer.Option("--log-json", help="Log JSON objects, one a line.")] = False,
) -> int:
    """Check what is due, for ever, and show the archive, /healthz and /metrics."""
    import asyncio

    from . import logs
    from .serve import listen
    from .serve import serve as serving
    from .web.access import may_listen
    from .worker_commands import need_postgresql

    if not checks:
        need_postgresql()
        from .serve_apart import serve as serving
    logs.set_up(as_json=log_json)
    with opened() as house:
        may_listen(host, house.tokens.all())
        with listen(host, port) as listening:
            return asyncio.run(serving(house, given.config, listening))


@db_app.command("backup")
def db_backup(
    file: Annotated[Path, typer.Argument(help="Where the copy goes; written whole or not at all.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> int:
    """Copy the database while it is in use, and make sure that the copy is sound."""
    from . import wiring

    if file.exists() and not force:
        raise typer.BadParameter(f"{file} is there already; --force replaces it")
    with opened() as house:
        typer.echo(wiring.backup(house, file))
    return 0


@db_app.command("copy")
def db_copy(
    to: Annotated[str, typer.Argument(help="postgresql://…, an empty database or one of an earlier try.")],
    storage: Annotated[str, typer.Option(help="Copy the snapshots too: s3://BUCKET/PREFIX, or a folder.")] = "",
) -> int:
    """Copy a database file, and its snapshots, to where many machines can work; each row and file is compared.

    Cut off anywhere, it goes on when it is called again. Nothing may run meanwhile; what is copied stays as it is.
    """
    from . import wiring

    with opened() as house:
        typer.echo(wiring.copy_database(house, to, storage, typer.echo))
    return 0
