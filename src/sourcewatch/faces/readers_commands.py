"""`readers`: the rules by which known kinds of addresses are read, and whether they do what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .base import app, given

readers_app = typer.Typer(
    no_args_is_help=True, help="The rules by which known kinds of addresses are read.", rich_markup_mode=None
)
app.add_typer(readers_app, name="readers")


@readers_app.command("list")
def readers_list() -> int:
    """Each rule: which addresses it is for, what is read for them, and why that is the source itself."""
    from ..analysis.excerpt import plain
    from . import reading

    for rule in reading.listed(given.config):
        named = " (only where a source names it)" if rule.only_named else ""
        typer.echo(f"{rule.name}@{rule.version}{named}")
        for cited in rule.cited:
            typer.echo(f"  {plain(cited)}")
        typer.echo(f"  → {plain(rule.read)}\n  {plain(rule.official)}")
    return 0


@readers_app.command("check")
def readers_check(
    file: Annotated[Path | None, typer.Argument(help="A readers file; the package's own rules without it.")] = None,
) -> int:
    """Run the recorded answers of a readers file through its rules. Exit code 1 when one does not do what it says."""
    from . import reading

    tried = reading.tried(file)
    for name, wrong in tried.items():
        typer.echo(f"{'FAIL' if wrong else 'ok  '}  {name}")
        for words in wrong:
            typer.echo(f"      {words}")
    return 1 if any(tried.values()) else 0
