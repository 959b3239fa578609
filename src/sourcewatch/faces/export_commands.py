"""Commands that write the site's data: dates for a generator, citations for a reference manager, the small script."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .base import export_app, opened

if TYPE_CHECKING:
    from ..domain.citation import Citation

Out = Annotated[Path | None, typer.Option(help="A file, replaced whole or not at all; stdout by default.")]
FORMS = ("json", "toml", "yaml", "hugo", "jekyll", "astro", "eleventy")


@export_app.command("last-accessed")
def export_last_accessed(
    out: Annotated[
        Path | None,
        typer.Option(help="A file; or the folder of a site, where the format's own place is taken. Stdout by default."),
    ] = None,
    format_: Annotated[str, typer.Option("--format", help=", ".join(FORMS) + ".")] = "json",
) -> int:
    """When each source was last read, as of which version, as a data file of the site's generator."""
    from ..analysis import data_files
    from ..services import site_data
    from . import wiring

    if format_ not in data_files.FORMS:
        raise typer.BadParameter(f"--format knows {', '.join(data_files.FORMS)}")
    form = data_files.FORMS[format_]
    with opened() as house:
        copies = wiring.best_copies(house)
        data = site_data.last_accessed(house.settings, house.ledger, house.site, wiring.now(), copies)
    return _written(form.text(data), out / form.path if out is not None and out.is_dir() else out)


@export_app.command("csl")
def export_csl(out: Out = None) -> int:
    """Every cited page as CSL-JSON (Zotero, pandoc, citeproc)."""
    from ..analysis import cite

    return _written(cite.csl(_citations()), out)


@export_app.command("bibtex")
def export_bibtex(out: Out = None) -> int:
    """Every cited page as BibTeX, in biblatex's fields."""
    from ..analysis import cite

    return _written(cite.bibtex(_citations()), out)


@export_app.command("gbt7714")
def export_gbt7714(
    out: Out = None,
    edition: Annotated[str, typer.Option(help="2025, or 2015 that it replaces.")] = "2025",
) -> int:
    """Every cited page as a numbered reference after GB/T 7714."""
    from ..analysis import cite

    if edition not in list(cite.Edition):
        raise typer.BadParameter(f"--edition knows {', '.join(cite.Edition)}")
    return _written(cite.gbt7714(_citations(), cite.Edition(edition)), out)


@export_app.command("robust-links")
def export_robust_links(out: Out = None) -> int:
    """Every cited page as a Robust Link: an HTML list that names the version behind each date."""
    from ..analysis import cite

    return _written(cite.robust_links(_citations()), out)


@export_app.command("script")
def export_script(out: Out = None) -> int:
    """The script that fills <time data-source="ID"> from last-accessed.json."""
    from .web.script import SCRIPT

    return _written(SCRIPT, out)


def _citations() -> list[Citation]:
    from ..services import site_data
    from . import wiring

    with opened() as house:
        outside = wiring.best_copies(house)
        return site_data.citations(house.settings, house.ledger, house.site, wiring.now(), outside)


def _written(text: str, out: Path | None) -> int:
    from .files import write_whole

    if out is None or str(out) == "-":
        typer.echo(text, nl=False)
    else:
        write_whole(out, text)
        typer.echo(str(out))
    return 0
