"""Commands that look back: what was read at a time, what a person read, and a package of both for others."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .base import app, export_app, opened, source_of, version_at

if TYPE_CHECKING:
    from ..domain.kept import VersionRow
    from ..domain.memento import Memento
    from .wiring import House

FORMATS = ("md", "html", "warc", "json")


@app.command()
def show(
    id_: Annotated[str, typer.Argument(metavar="ID")],
    at: Annotated[str, typer.Option(help="A time, a date, or a version's number; the newest by default.")] = "",
    format_: Annotated[str, typer.Option("--format", help="md (the text), html (the bytes), warc, json.")] = "md",
) -> int:
    """What was read at a time: its text, its bytes, its WARC (a path, or the bytes into a pipe), its facts."""
    if format_ not in FORMATS:
        raise typer.BadParameter(f"--format knows {', '.join(FORMATS)}")
    with opened() as house:
        source = source_of(house, id_)
        versions = house.ledger.versions(source.id)
        if not versions:
            raise typer.BadParameter(f"{source.id} has no version yet")
        version = version_at(versions, at, house.settings.site.timezone) if at else versions[-1]
        found = next((m for m in house.archive.of_sources([source.id]) if m.version.id == version.id), None)
        typer.echo(_headline(versions, version, found), err=True)
        if format_ == "md":
            from ..domain.document import unpack

            typer.echo(_harmless(unpack(house.ledger.packed_document(version.id)).text))
            return 0
        if found is None:
            gone = house.archive.dropped(source.id).get(version.id)
            why = f"were dropped {gone.at:%Y-%m-%d} ({gone.rule})" if gone else "are not known to any check"
            raise typer.BadParameter(f"the files of this version {why}; --format md shows its text")
        _write(house, found, format_)
    return 0


def _headline(versions: list[VersionRow], version: VersionRow, found: Memento | None) -> str:
    from ..analysis.excerpt import plain

    number = f"version {versions.index(version) + 1} of {len(versions)}"
    hand = f", BY HAND by {found.hand['by']}: {found.hand['reason']}" if found is not None and found.hand else ""
    return plain(f"{number}, {version.captured_at:%Y-%m-%dT%H:%M:%SZ}, {version.final_url}{hand}")


def _write(house: House, found: Memento, form: str) -> None:
    from ..services.replay import replay

    warc = found.version.path
    if form == "html":
        archived = replay(house.settings, house.archive, house.snapshots).archived(found)
        typer.echo(
            _harmless(archived.data.decode("utf-8", "replace")) if sys.stdout.isatty() else archived.data, nl=False
        )
    elif form == "warc" and _on_a_terminal():
        typer.echo(house.store.shown(warc))
    else:
        path = warc if form == "warc" else warc.removesuffix(".warc.gz") + ".json"
        typer.echo(house.store.get(path), nl=False)


def _harmless(text: str) -> str:
    """Foreign text for a terminal, line by line; into a pipe it goes as it is."""
    from ..analysis.excerpt import plain

    return "\n".join(plain(line) for line in text.split("\n")) if _on_a_terminal() else text


def _on_a_terminal() -> bool:
    return sys.stdout.isatty()


@app.command()
def capture(
    id_: Annotated[str, typer.Argument(metavar="ID")],
    what: Annotated[
        str, typer.Argument(metavar="FILE|URL", help="HTML, MHTML, PDF, picture, WARC, WACZ, or an address.")
    ],
    by: Annotated[str, typer.Option(help="Who read the page.")],
    reason: Annotated[str, typer.Option(help="Why a person had to.")],
    at: Annotated[str, typer.Option(help="When; by default what the file tells, else when it was last written.")] = "",
) -> int:
    """Keep a page that only a person can read, marked as theirs everywhere; it never moves "last accessed"."""
    import asyncio

    from ..domain.brought import NotUsable
    from . import lookback
    from .times import moment_of

    if not by.strip() or not reason.strip():
        raise typer.BadParameter("a capture by hand needs a name (--by) and a reason (--reason)")
    with opened() as house:
        source = source_of(house, id_)
        if not source.url:
            raise typer.BadParameter(f"{source.id} has no address yet")
        moment = moment_of(at, house.settings.site.timezone) if at else None
        try:
            kept = asyncio.run(lookback.capture(house, source, what, by.strip(), reason.strip(), moment))
        except NotUsable as error:
            raise typer.BadParameter(str(error)) from None
    where = kept.stored.path if kept.stored else "the newest version has these bytes, and was seen again"
    typer.echo(f"{source.id}: kept by hand, {kept.at:%Y-%m-%dT%H:%M:%SZ}, {kept.judgement.verdict.word}: {where}")
    if kept.judgement.sightings:
        from . import shown

        typer.echo(shown.sightings(kept.judgement.sightings, {q.key: q.exact for q in source.quotes}))
    return 0


@export_app.command("wacz")
def export_wacz(
    out: Annotated[Path, typer.Option(help="The package, such as archive.wacz.")],
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Only these; all by default.")] = None,
) -> int:
    """A WACZ package of what was accepted, for ReplayWeb.page and other archives."""
    from . import lookback, wiring

    with opened() as house:
        wanted = [source_of(house, i).id for i in ids or []] or [s.id for s in house.settings.sources]
        pages, files = lookback.export_wacz(house, wanted, out, wiring.now())
    if not pages:
        raise typer.BadParameter("nothing of this was ever accepted: there is nothing to package")
    typer.echo(f"{out}: {pages} versions in {files} WARC files")
    return 0
