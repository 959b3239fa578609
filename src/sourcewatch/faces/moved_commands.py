"""Where sources moved: looking for what is gone, and citing it at its new address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .base import app, opened, source_of, told

if TYPE_CHECKING:
    from ..domain.move import Move
    from ..domain.source import Source
    from ..services.moves import Looked
    from .wiring import House


@app.command()
def moved(
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Only these; all that are gone.")] = None,
    accept: Annotated[int | None, typer.Option(help="Cite the source at this proposal's address from now on.")] = None,
    refuse: Annotated[int | None, typer.Option(help="This proposal is wrong; it is not made again.")] = None,
    by: Annotated[str, typer.Option(help="Who decides.")] = "",
    json_: Annotated[
        bool, typer.Option("--json", help="What nobody has decided about, as JSON; nobody is asked.")
    ] = False,
) -> int:
    """Look where sources that are gone have moved, and propose it with evidence; accept or refuse a proposal."""
    import asyncio

    if accept is not None and refuse is not None:
        raise typer.BadParameter("give one of --accept, --refuse")
    with opened() as house:
        if accept is not None or refuse is not None:
            return _decide(house, accept, refuse, by)
        sources = [source_of(house, i) for i in ids] if ids else _lost(house)
        if json_:
            return _say_json(house, sources if ids else None)
        if not sources:
            typer.echo("nothing that is cited is gone, and nothing leads on for good")
            return 0
        asyncio.run(_look(house, sources))
    return 0


def _lost(house: House) -> list[Source]:
    """Declared pages whose last check says that they are gone or have moved."""
    from .wiring import lost, now

    return [source for source, _ in lost(house, now(), dead_too=False)]


async def _look(house: House, sources: list[Source]) -> None:
    from .moving import look

    async for looked in look(house, sources):
        _say(looked)


def _say(looked: Looked) -> None:
    from ..analysis.excerpt import plain

    if looked.not_lost:
        typer.echo(f"{looked.source.id}: {plain(looked.not_lost)}")
    elif not looked.moves:
        typer.echo(f"{looked.source.id}: nothing was found that it moved to")
    for move in looked.moves:
        typer.echo("\n".join(plain(line) for line in _lines(move)))
    for url, why in looked.dismissed:
        typer.echo(f"  not proposed: {plain(url)}: {plain(why)}")


def _lines(move: Move) -> list[str]:
    from ..analysis.voice import Voice

    voice = Voice("en", "UTC")
    return [
        f"#{move.id}  {move.source}: {move.url}",
        f"  now at {move.to_url}",
        *(f"  {voice.say(f'mv_{e.lead}')}: {e.words}" for e in move.evidence),
        f"  {voice.likeness(move)}",
        f"  accept: sourcewatch moved --accept {move.id} --by NAME",
    ]


def _say_json(house: House, sources: list[Source] | None) -> int:
    from dataclasses import asdict

    from ..analysis.data_files import as_json

    wanted = {s.id for s in sources} if sources is not None else None
    found = [m for m in house.moves.open() if wanted is None or m.source in wanted]
    rows = [
        {**asdict(m), "proposed_at": f"{m.proposed_at:%Y-%m-%dT%H:%M:%SZ}", "same_title": m.likeness.same_title}
        for m in found
    ]
    typer.echo(as_json(rows, 1))
    return 0


def _decide(house: House, accept: int | None, refuse: int | None, by: str) -> int:
    from ..analysis.excerpt import plain
    from ..analysis.phrases import say
    from ..services.moves import ACCEPTED, REFUSED, NotTaken
    from .moving import decide
    from .wiring import now

    number = accept if accept is not None else refuse
    assert number is not None
    found = decide(house, number, ACCEPTED if accept is not None else REFUSED, by, now())
    if isinstance(found, NotTaken):
        return told(Exception(f"#{number}: {say(found.why, 'en')}"), 2)
    if accept is None:
        typer.echo(f"#{number}: refused; {plain(found.to_url)} is not proposed again")
        return 0
    typer.echo(f"{found.source}: cited at {plain(found.to_url)} from now on; formerly at {plain(found.url)}")
    typer.echo("  its date starts anew with the next check there; change the address on the site's pages, too")
    return 0
