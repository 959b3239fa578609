"""Search from the command line."""

from __future__ import annotations

from typing import Annotated

import typer

from .base import app, opened

FILL_AT_ONCE = 500


@app.command()
def search(
    words: Annotated[list[str], typer.Argument(help="All of them, in one paragraph; any language.")],
    most: Annotated[int, typer.Option(min=1, max=10_000, help="As many paragraphs at most.")] = 20,
) -> int:
    """Find paragraphs in the texts of all versions, the newest first."""
    from ..analysis.excerpt import plain
    from ..analysis.find import around

    with opened() as house:
        while house.search.fill(FILL_AT_ONCE) == FILL_AT_ONCE:
            pass
        hits = house.search.find(words, most)
        for hit in hits:
            first, last = house.desk.version(hit.first), house.desk.version(hit.last)
            span = f"{first.captured_at:%Y-%m-%d} … {last.captured_at:%Y-%m-%d}" if first and last else ""
            text = "".join(f"[{piece}]" if is_word else piece for piece, is_word in around(hit.text, words))
            typer.echo(f"{hit.source}  {span}\n    {plain(text)}")
        if not hits:
            typer.echo("no version says so")
    return 0
