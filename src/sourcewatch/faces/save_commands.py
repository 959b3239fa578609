"""New versions that an outside archive is asked to save."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .base import app, opened

if TYPE_CHECKING:
    from ..domain.save import Save
    from ..services.saves import Turn
    from .wiring import House


@app.command()
def save(
    json_: Annotated[bool, typer.Option("--json", help="What is queued, as JSON; nobody is asked.")] = False,
) -> int:
    """Have an outside archive save new versions ([save]): what is due now, within its limits."""
    import asyncio
    import os

    from .moving import save as turn_of

    with opened() as house:
        if json_:
            return _say_json(house)
        if house.settings.save is None:
            raise typer.BadParameter("there is no [save] in the sources file: docs/outside-archives.md says how")
        if not os.environ.get(house.settings.save.variable, "").strip():
            raise typer.BadParameter(f"the environment has no {house.settings.save.variable}: it holds KEY:SECRET")
        _say(house, asyncio.run(turn_of(house, house.settings.save)))
    return 0


def _say(house: House, turn: Turn) -> None:
    from collections import Counter

    from ..analysis.excerpt import plain

    for one in turn.moved:
        typer.echo(f"{one.source}: {plain(words(one))}")
    counted = Counter(one.state for one in house.saves.all())
    typer.echo(", ".join(f"{n} {state}" for state, n in sorted(counted.items())) or "nothing is to be saved")
    if turn.rests:
        typer.echo(f"no more is asked for now: {plain(turn.rests)}")


def words(one: Save) -> str:
    """How far a version got, in a line."""
    why = f": {one.facts['why']}" if one.facts.get("why") else ""
    lost = "; an answer was lost, so it was asked twice" if one.facts.get("lost") else ""
    where = one.facts.get("url") or one.url
    return f"{one.state} {where}{why}{lost}"


def _say_json(house: House) -> int:
    from ..analysis.data_files import as_json

    rows = [
        {
            "source": one.source,
            "version": one.version,
            "captured_at": f"{one.captured_at:%Y-%m-%dT%H:%M:%SZ}",
            "url": one.url,
            "state": one.state,
            "attempts": one.attempts,
            "next_try_at": f"{one.next_try_at:%Y-%m-%dT%H:%M:%SZ}",
            "copy": one.facts.get("url"),
            "why": one.facts.get("why"),
            "asked_twice": bool(one.facts.get("lost")),
        }
        for one in house.saves.all()
    ]
    typer.echo(as_json(rows, 1))
    return 0
