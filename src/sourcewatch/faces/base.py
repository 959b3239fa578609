"""What all commands share: the applications, the options, the open house, and how faults are told."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer
import typer.core

if TYPE_CHECKING:
    from ..domain.kept import VersionRow
    from ..domain.source import Source
    from .wiring import House

FIRST = ("run", "serve", "report", "status", "review", "why", "diff", "history", "show", "search")


class Commands(typer.core.TyperGroup):
    """What is used each day comes first in the help; the rest follows by its name."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        names = super().list_commands(ctx)
        return [n for n in FIRST if n in names] + sorted(set(names) - set(FIRST))


app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="Keeps a citing web site honest: dated snapshots, diffs, quote checks, and access dates that never lie.",
)
sources_app = typer.Typer(no_args_is_help=True, help="What sources.toml declares.", rich_markup_mode=None)
db_app = typer.Typer(no_args_is_help=True, help="The database's schema.", rich_markup_mode=None)
export_app = typer.Typer(
    no_args_is_help=True, help="Data for the site, written whole or not at all.", rich_markup_mode=None
)
app.add_typer(sources_app, name="sources")
app.add_typer(db_app, name="db")
app.add_typer(export_app, name="export")


class Given:
    """The options that every command shares."""

    config = Path("sources.toml")
    data: Path | None = None


given = Given()


def told(error: Exception, code: int) -> int:
    """Say a fault on stderr, a line each; the exit code. It may name what a page or a file brought."""
    from ..analysis.excerpt import plain

    for line in str(error).splitlines():
        print(f"sourcewatch: {plain(line)}", file=sys.stderr)  # noqa: T201
    return code


@contextmanager
def opened() -> Iterator[House]:
    """The configuration and the storage that the options name. Raises ConfigError, StorageError."""
    from . import wiring

    with wiring.open_house(given.config, given.data) as house:
        yield house


def source_of(house: House, wanted: str) -> Source:
    """A declared source or a figure that a page was seen to show."""
    from ..services.publish import view
    from .wiring import now

    known = view(house.settings, house.ledger, now()).sources
    if wanted not in known:
        raise typer.BadParameter(f"no source {wanted!r}; `sourcewatch sources list` names them all")
    return known[wanted]


def version_at(versions: list[VersionRow], wanted: str, zone: str) -> VersionRow:
    """The version by number, or the one that was current at a time."""
    from .times import moment_of
    from .wiring import now

    if wanted.isdecimal() and len(wanted) < 6:
        number = int(wanted)
        if not 1 <= number <= len(versions):
            raise typer.BadParameter(f"there are versions 1 to {len(versions)}, no {number}")
        return versions[number - 1]
    at = moment_of(wanted, zone)
    if at > now():
        raise typer.BadParameter(f"{wanted} lies in the future: no version is of then")
    at = moment_of(wanted, zone, end_of_day=True)
    before = [v for v in versions if v.captured_at <= at]
    if not before:
        raise typer.BadParameter(
            f"the first version is of {versions[0].captured_at:%Y-%m-%dT%H:%M:%SZ}, after {wanted}"
        )
    return before[-1]
