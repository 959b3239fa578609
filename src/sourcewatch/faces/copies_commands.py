"""Copies in archives that others keep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .base import app, opened, source_of

if TYPE_CHECKING:
    from ..domain.copies import OutsideCopy
    from ..domain.source import Source
    from ..services.copies import Asked
    from .wiring import House


@app.command()
def copies(
    ids: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]...", help="Only these; all that are dead or gone.")
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="What is known, as JSON; nobody is asked.")] = False,
) -> int:
    """Ask outside archives ([[archive]]) for the copies closest to the versions that the site cites."""
    import asyncio

    with opened() as house:
        sources = [source_of(house, i) for i in ids] if ids else _lost(house)
        if json_:
            return _say_json(house, {s.id for s in sources} if ids else None)
        if not house.settings.archives:
            raise typer.BadParameter("no archive is configured: docs/outside-archives.md says how")
        if not sources:
            typer.echo("nothing that is cited is dead or gone; name a source to ask for it all the same")
            return 0
        asyncio.run(_ask(house, sources))
    return 0


def _lost(house: House) -> list[Source]:
    from .wiring import lost, now

    return [source for source, _ in lost(house, now(), dead_too=True)]


async def _ask(house: House, sources: list[Source]) -> None:
    from .moving import ask_archives

    async for asked in ask_archives(house, sources):
        _say(asked)


def _say(asked: Asked) -> None:
    from ..analysis.excerpt import plain

    for copy in asked.copies:
        typer.echo(f"{asked.source.id}: {plain(copy.url)}\n  {plain(_words(copy))}")
    for archive, why in asked.none:
        typer.echo(f"{asked.source.id}: {archive}: {plain(why)}")


def _words(copy: OutsideCopy) -> str:
    from ..analysis.voice import Voice

    return f"{copy.archive}: {Voice('en', 'UTC').outside(copy)}"


def _say_json(house: House, wanted: set[str] | None) -> int:
    from dataclasses import asdict

    from ..analysis.data_files import as_json

    rows = []
    for copy in house.outside.of():
        if wanted is None or copy.source in wanted:
            moments = {k: f"{v:%Y-%m-%dT%H:%M:%SZ}" for k, v in asdict(copy).items() if k.endswith("_at") and v}
            rows.append({**asdict(copy), "cited_at": None, **moments, "offered": copy.offered})
    typer.echo(as_json(rows, 1))
    return 0
