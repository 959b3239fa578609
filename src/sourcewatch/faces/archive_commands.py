"""Commands about the archive as a whole: is it what it was?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .base import app, opened, told

if TYPE_CHECKING:
    from datetime import date

    from ..domain.audit import Audit, Flaw
    from ..services.rebuild import Rebuilt

MOST_SHOWN = 200  # an archive with more flaws is lost as a whole


@app.command()
def verify(
    sample: Annotated[str, typer.Option(help="Only a share of the files, another one each day: 5%.")] = "",
    json_: Annotated[bool, typer.Option("--json", help="The findings as one JSON object.")] = False,
) -> int:
    """Re-hash snapshots, records, revisits, manifests and rows; say what is wrong, where, and since when."""
    from ..analysis.data_files import as_json
    from . import wiring

    share = _share(sample)
    with opened() as house:
        audit = wiring.verify(house, wiring.now(), share)
    if json_:
        typer.echo(as_json(_as_json(audit), 1))
    else:
        for flaw in audit.flaws[:MOST_SHOWN]:
            typer.echo(_line(flaw))
        more = len(audit.flaws) - MOST_SHOWN
        looked = f"{audit.files} files, {audit.records} records verified"
        for note in audit.notes:
            typer.echo(note)
        found = f"{len(audit.flaws)} flaws" if audit.flaws else "no flaw"
        typer.echo(f"{looked}: {found}" + (f" (the first {MOST_SHOWN} are shown)" if more > 0 else ""))
    return told(Exception("the archive is not what it was"), 4) if audit.flaws else 0


@app.command()
def rebuild() -> int:
    """Make the database again out of snapshots/: into an empty one everything, else what no row knows."""
    import asyncio

    from . import wiring

    def told(day: date, so_far: Rebuilt) -> None:
        if sys.stderr.isatty():
            print(f"\r{day}: {so_far.versions} versions, {so_far.checks} checks", end="", file=sys.stderr)  # noqa: T201

    with opened() as house:
        whole = not house.audits.until()
        done = asyncio.run(wiring.rebuild(house, told))
    if sys.stderr.isatty():
        print(file=sys.stderr)  # noqa: T201
    for path, words in done.lost[:MOST_SHOWN]:
        typer.echo(f"{path}: not brought in: {words}")
    typer.echo(f"{done.versions} versions and {done.checks} checks brought in, {len(done.lost)} things could not be")
    if whole:
        typer.echo(
            "Of a day's like checks only the first is in the archive: dates may be up to a day older than they were."
        )
    return 0


@app.command()
def retain(
    apply: Annotated[bool, typer.Option("--apply", help="Do it; without this it is only said.")] = False,
) -> int:
    """What the rules of [retain] let go. Nothing that a date, a quote, a revisit or a person relies on ever is."""
    from . import wiring

    with opened() as house:
        if not house.settings.retention:
            typer.echo("sources.toml has no [retain]: everything is kept")
            return 0
        going = wiring.retain(house, wiring.now(), apply=apply)
    for version in going.versions:
        typer.echo(f"{version.path}: version of {version.source} of {version.captured_at:%Y-%m-%dT%H:%M:%SZ}")
    for path in going.refused:
        typer.echo(f"{path}: evidence of a refusal")
    kept = {
        v.path: v.relies for v in sorted(going.kept_back, key=lambda v: bool(v.relies))
    }  # a file once, with a reason
    for path, relies in sorted(kept.items()):
        typer.echo(f"{path}: kept: {relies or 'another version in this file is kept'}")
    done = "removed" if apply else "would be removed; --apply does it"
    counted = f"{len(going.versions)} versions, {len(going.refused)} refusals, {going.checks} rows of checks"
    typer.echo(f"{counted}, {going.size_bytes / 1e6:.1f} MB: {done}")
    return 0


def _share(text: str) -> float | None:
    """ "5%" → 0.05."""
    if not text:
        return None
    number = text.strip().removesuffix("%")
    try:
        share = float(number) / 100
    except ValueError:
        share = 0.0
    if not text.strip().endswith("%") or not 0 < share <= 1:
        raise typer.BadParameter(f"--sample takes a share such as 5%, not {text!r}")
    return share


def _line(flaw: Flaw) -> str:
    since = []
    if flaw.good_at is not None:
        since.append(f"good on {flaw.good_at:%Y-%m-%dT%H:%M:%SZ}")
    if flaw.changed_at is not None:
        since.append(f"written {flaw.changed_at:%Y-%m-%dT%H:%M:%SZ}")
    return f"{flaw.path}: {flaw.kind}: {flaw.words}" + (f" ({', '.join(since)})" if since else "")


def _as_json(audit: Audit) -> dict[str, Any]:
    def moment(at: Any) -> str | None:
        return at.strftime("%Y-%m-%dT%H:%M:%SZ") if at else None

    flaws = [
        {
            "kind": f.kind,
            "path": f.path,
            "words": f.words,
            "good_at": moment(f.good_at),
            "changed_at": moment(f.changed_at),
        }
        for f in audit.flaws
    ]
    return {
        "at": moment(audit.at),
        "sample": audit.sample,
        "files": audit.files,
        "records": audit.records,
        "flaws": flaws,
        "notes": list(audit.notes),
    }
