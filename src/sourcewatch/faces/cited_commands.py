"""Commands that hold sources.toml against what the site cites, and that bring rows into it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .base import app, given, opened, sources_app

if TYPE_CHECKING:
    from ..analysis.cited import Cited, Comparison
    from ..domain.mention import NewSource, NotRead
    from .citing import Reading

MOST_PLACES = 3  # of one address, on a terminal; --json has them all
_TIER = Annotated[str, typer.Option(help="The tier of new rows; the one that most rows are in by default.")]
_ADD = Annotated[bool, typer.Option("--add", help="Write new rows into sources.toml.")]
_WORDS = {
    "scheme": "sources.toml has {better}",
    "spelling": "sources.toml spells it {better}",
    "moved": "moved for good: cite {better}",
    "row_moved": "moved for good: the site is right, sources.toml has the old address",
}


@sources_app.command("cited")
def sources_cited(
    where: Annotated[list[str], typer.Argument(metavar="PATH|URL…", help="Files, folders, a sitemap, or the site.")],
    add: _ADD = False,
    tier: _TIER = "",
    pages: Annotated[int, typer.Option(min=1, max=100_000, help="Read at most so many pages over the web.")] = 500,
    json_: Annotated[bool, typer.Option("--json", help="Everything as one JSON object.")] = False,
) -> int:
    """What the site cites, where, and whether sources.toml knows it."""
    import asyncio

    from ..analysis.data_files import as_json
    from . import citing

    with opened() as house:
        chosen = citing.tier_of(house.settings, tier) if add else ""

        def told(url: str) -> None:
            if sys.stderr.isatty() and not json_:
                typer.echo(f"\r\x1b[K{_plain(url)[:100]}", nl=False, err=True)

        reading = asyncio.run(citing.read(house.settings, where, pages, told))
        if sys.stderr.isatty() and not json_ and reading.pages:
            typer.echo("\r\x1b[K", nl=False, err=True)
        result = citing.compared(house, reading.mentions)
        rows, refused = _fit(citing.new_rows(result))
        added = citing.add(given.config, house.settings, rows, chosen) if add else []
        reading.not_read += refused
    if json_:
        typer.echo(as_json(_json(reading, result, added), 1))
    else:
        typer.echo("\n".join([*_cited_lines(reading, result, add), *_added_lines(added, chosen if not tier else "")]))
    return 0


@sources_app.command("add")
def sources_add(
    url: Annotated[str, typer.Argument(metavar="URL")],
    id_: Annotated[
        str, typer.Option("--id", help="a–z, 0–9, hyphens; made of the title or the address by default.")
    ] = "",
    tier: _TIER = "",
    title: Annotated[str, typer.Option(help="What the site calls it.")] = "",
    quote: Annotated[list[str] | None, typer.Option(help="A sentence that the site relies on; several times.")] = None,
) -> int:
    """Write one source into sources.toml."""
    from ..domain.mention import NewSource
    from . import citing, wiring

    settings = wiring.read_settings(given.config)
    _, refused = _fit_against(str(given.config), [NewSource(url)], settings.sources)
    if refused:
        raise typer.BadParameter(refused[0].reason.removesuffix("; not added"))
    if id_ in {s.id for s in settings.sources} | {c.id for c in settings.claims}:
        raise typer.BadParameter(f"{id_!r} is used already; choose another --id")
    row = NewSource(url, title, id_, quotes=tuple(quote or ()))
    chosen = citing.tier_of(settings, tier)
    typer.echo("\n".join(_added_lines(citing.add(given.config, settings, [row], chosen), "" if tier else chosen)))
    return 0


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A watch list of another program.")],
    format_: Annotated[
        str, typer.Option("--format", help="urlwatch, webchanges, changedetection, opml or list; guessed by default.")
    ] = "",
    add: _ADD = False,
    tier: _TIER = "",
) -> int:
    """Bring in what urlwatch, webchanges, changedetection.io, a feed reader or a list watches."""
    from ..analysis import imports
    from . import citing, wiring

    if format_ and format_ not in imports.FORMATS:
        raise typer.BadParameter(f"--format knows {', '.join(imports.FORMATS)}")
    settings = wiring.read_settings(given.config)
    chosen = citing.tier_of(settings, tier)
    form, rows, lost = imports.read(str(file), citing.text_of(file), format_)
    good, refused = imports.fit(str(file), rows, settings.sources)
    added = citing.add(given.config, settings, good, chosen) if add else []
    for one in sorted([*lost, *refused], key=lambda n: n.line):
        typer.echo(_plain(str(one)))
    counted = f"{file}: {form}: {_count(len(rows), 'address', 'addresses')}, {len(good)} of them new"
    typer.echo(counted if add or not good else f"{counted}; `--add` writes them into {given.config}")
    if add:
        typer.echo("\n".join(_added_lines(added, "" if tier else chosen)))
    else:
        typer.echo("\n".join(f"  {_plain(row.url)}  {_plain(row.title)}".rstrip() for row in good))
    return 0


def _fit(rows: Sequence[NewSource]) -> tuple[list[NewSource], list[NotRead]]:
    """The rows that can be watched; of the others their places."""
    from ..analysis import spelling
    from ..domain.mention import NotRead

    good, refused = [], []
    for row in rows:
        if fault := spelling.fault(row.url):
            refused.append(NotRead(row.cited_on[0] if row.cited_on else row.url, 0, f"{fault}; not added"))
        else:
            good.append(row)
    return good, refused


def _fit_against(name: str, rows: Sequence[NewSource], declared: Any) -> tuple[list[NewSource], list[NotRead]]:
    from ..analysis import imports

    return imports.fit(name, rows, declared)


def _cited_lines(reading: Reading, result: Comparison, add: bool) -> list[str]:
    """What needs somebody first; what is watched and cited as it should be, last."""
    lines: list[str] = []
    fine = [c for c in result.watched if c.form == "same"]
    for head, some in (
        ("Not in sources.toml" + ("" if add else " (`--add` writes them)"), result.missing),
        ("Cited in an outdated form", result.outdated),
    ):
        lines += _section(head, [line for cited in some for line in _one(cited)])
    lines += _section("In sources.toml, cited nowhere in what was read", [f"{s.id}  {s.url}" for s in result.uncited])
    lines += _section("Shown from other sites, not declared", [x for c in result.embedded for x in _one(c)])
    not_read = [str(n) for n in reading.not_read]
    not_read += [f"{c.place}:{c.line}: {c.url!r} cannot be asked for on the web" for c in result.unfit]
    lines += _section("Not read", not_read)
    lines += _section("Watched", [line for cited in fine for line in _one(cited)])
    counted = [_count(reading.files, "file"), _count(reading.pages, "page")]
    lines.append(
        f"{' and '.join(c for c in counted if not c.startswith('0 ')) or 'nothing'} read: "
        f"{len(fine)} watched, {len(result.missing)} not in sources.toml, {len(result.outdated)} in an outdated form, "
        f"{len(result.uncited)} no longer cited"
    )
    if reading.left:
        lines.append(f"{_count(reading.left, 'page')} known and not read: --pages reads more")
    return lines


def _section(head: str, lines: list[str]) -> list[str]:
    return [f"{head}:", *(f"  {_plain(line)}" for line in lines), ""] if lines else []


def _one(cited: Cited) -> list[str]:
    """An address, what is wrong with it, and its first places."""
    about = _WORDS[cited.form].format(better=cited.better) if cited.form in _WORDS else cited.title
    name = f"{cited.source}: " if cited.source else ""
    lines = [f"{name}{cited.url}" + (f"  ({about})" if about else "")]
    lines += [f"    {p.place}:{p.line}" if p.line else f"    {p.place}" for p in cited.places[:MOST_PLACES]]
    more = len(cited.places) - MOST_PLACES
    return [*lines, f"    … and {more} more"] if more > 0 else lines


def _added_lines(added: Sequence[NewSource], chosen: str) -> list[str]:
    if not added:
        return ["nothing new was written"] if added is not None and chosen else []
    words = f" in tier {chosen}, the one that most rows are in (--tier takes another)" if chosen else ""
    lines = [f"{given.config}: {_count(len(added), 'new row')}{words}"]
    return [*lines, *(f"  {row.id}  {_plain(row.url)}" for row in added)]


def _json(reading: Reading, result: Comparison, added: Sequence[NewSource]) -> dict[str, Any]:
    everything = [*result.missing, *result.watched, *result.embedded]
    return {
        "files": reading.files,
        "pages": reading.pages,
        "pages_left": reading.left,
        "cited": [_json_cited(c) for c in everything],
        "missing": [c.url for c in result.missing],
        "outdated": [c.url for c in result.outdated],
        "uncited": [s.id for s in result.uncited],
        "not_read": [{"place": n.place, "line": n.line or None, "reason": n.reason} for n in reading.not_read]
        + [{"place": c.place, "line": c.line or None, "reason": f"not on the web: {c.url}"} for c in result.unfit],
        "added": [{"id": r.id, "tier": r.tier, "title": r.title, "url": r.url} for r in added],
    }


def _json_cited(c: Cited) -> dict[str, Any]:
    return {
        "url": c.url,
        "title": c.title,
        "source": c.source or None,
        "form": str(c.form),
        "better": c.better or None,
        "embedded": c.embedded,
        "places": [{"file": p.place, "line": p.line or None, "title": p.title} for p in c.places],
    }


def _count(n: int, noun: str, nouns: str = "") -> str:
    return f"{n} {noun if n == 1 else nouns or noun + 's'}"


def _plain(text: str) -> str:
    from ..analysis.excerpt import plain

    return "\n".join(plain(line) for line in text.split("\n"))
