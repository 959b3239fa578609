"""Commands about who may do what at the web face."""

from __future__ import annotations

from typing import Annotated

import typer

from .base import app, opened

token_app = typer.Typer(no_args_is_help=True, help="Who may read, review or administer at the web face.")
app.add_typer(token_app, name="token")
MOST_NAME_CHARS = 60


@token_app.command("add")
def token_add(
    name: Annotated[str, typer.Option(help="Whose it is; decisions that are made with it bear this name.")],
    scope: Annotated[str, typer.Option(help="read, review (and read) or admin (everything).")] = "read",
) -> int:
    """Make a token and print it, this once: only its hash is kept."""
    from ..analysis.excerpt import plain
    from ..domain.access import Scope
    from . import wiring

    name = name.strip()
    if not name or plain(name) != name or len(name) > MOST_NAME_CHARS:
        raise typer.BadParameter(f"--name is a line of at most {MOST_NAME_CHARS} visible characters")
    if scope not in list(Scope):
        raise typer.BadParameter(f"--scope knows {', '.join(Scope)}")
    with opened() as house:
        typer.echo(house.tokens.add(name, Scope(scope), wiring.now()))
    typer.echo("keep it; it is shown only now", err=True)
    return 0


@token_app.command("list")
def token_list() -> int:
    """Whose tokens there are, and what they allow."""
    from . import shown

    with opened() as house:
        rows = [(t.name, t.scope, f"{t.created_at:%Y-%m-%d %H:%M}Z") for t in house.tokens.all()]
    typer.echo(shown.columns(("name", "scope", "made"), rows) if rows else "there is no token")
    return 0


@token_app.command("remove")
def token_remove(name: Annotated[str, typer.Argument(metavar="NAME")]) -> int:
    """Shut somebody out; a running `serve` notices at once."""
    with opened() as house:
        house.tokens.remove(name)
    typer.echo(f"{name}: removed")
    return 0
