"""The command line. Heavy imports stay inside the commands: `--help` answers at once."""

from __future__ import annotations

import gc
import os
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TextIO

import typer

from .. import __version__
from . import access_commands as access_commands  # each module of commands registers its own
from . import archive_commands as archive_commands
from . import cited_commands as cited_commands
from . import copies_commands as copies_commands
from . import export_commands as export_commands
from . import lookback_commands as lookback_commands
from . import moved_commands as moved_commands
from . import notify_commands
from . import readers_commands as readers_commands
from . import review_commands as review_commands
from . import save_commands as save_commands
from . import search_commands as search_commands
from . import serve_commands as serve_commands
from . import worker_commands as worker_commands
from .base import app, db_app, given, opened, source_of, sources_app, told, version_at

if TYPE_CHECKING:
    from .wiring import House

FINDINGS = ("dead", "quote", "change", "unread")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sourcewatch {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    config: Annotated[Path, typer.Option(help="The sources file.")] = Path("sources.toml"),
    data: Annotated[Path | None, typer.Option(help="The data folder; beside the sources file by default.")] = None,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version.")
    ] = False,
) -> None:
    given.config, given.data = config, data


def main() -> NoReturn:
    """Run the command. 0 done, 1 findings, 2 wrong use or configuration, 3 another run, 4 storage failed, 5 defect."""
    from ..domain.errors import BusyError, ConfigError, StorageError

    code: Any = 0
    gc.set_threshold(100_000, 50, 100)  # rows and values are no cycles: looking for some was a fifth of a long report
    sys.stdout, sys.stderr = sys.stdout or _nowhere(), sys.stderr or _nowhere()  # closed by whoever started us
    try:
        code = app(standalone_mode=False)
    except ConfigError as error:
        code = told(error, 2)
    except BusyError as error:
        code = told(error, 3)
    except StorageError as error:
        code = told(error, 4)
    except BrokenPipeError:
        sys.stderr.close()  # the reader went away; nothing more to say
    except OSError as error:  # of our own output: everything else is a StorageError by now
        code = told(Exception(f"the output cannot be written: {error.strerror or error}"), 4)
    except KeyboardInterrupt:
        code = told(Exception("stopped; what was checked is kept"), 130)
    except SystemExit:
        raise
    except BaseException as error:  # a cancelled task's, too, is no Exception
        code = _usage(error)
    sys.exit(code if isinstance(code, int) else 0)


def _usage(error: BaseException) -> int:
    if (show := getattr(error, "show", None)) is not None:  # click's own usage errors
        show()
        return int(getattr(error, "exit_code", 2))
    if type(error).__name__ == "Abort":
        return told(Exception("stopped; what was checked is kept"), 130)
    traceback.print_exception(error)  # Python's own code for it is 1, which says findings
    return 5


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


@app.command()
def run(
    ids: Annotated[list[str] | None, typer.Argument(help="Only these sources, due or not.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Check everything, due or not.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="One JSON object per check on stdout.")] = False,
    fail_on: Annotated[str, typer.Option(help="Exit 1 on any of: dead, quote, change, unread (comma-separated).")] = "",
) -> int:
    """One pass over what is due: fetch, judge, keep, compare."""
    import asyncio

    from ..analysis.data_files import as_json
    from ..analysis.voice import Voice
    from . import shown, wiring
    from .progress import Progress, Reader

    wanted = [w for w in fail_on.split(",") if w]
    if unknown := [w for w in wanted if w not in FINDINGS]:
        raise typer.BadParameter(f"--fail-on knows {', '.join(FINDINGS)}, not {', '.join(unknown)}")
    with opened() as house:
        known = {s.id for s in house.settings.sources}
        if strange := [i for i in ids or [] if i not in known]:
            raise typer.BadParameter(
                f"no source {', '.join(map(repr, strange))}; `sourcewatch sources list` names them all"
            )
        if copies := [s for s in house.settings.sources if s.mirror_of and s.id in (ids or [])]:
            words = ", ".join(f"{s.id} is a mirror, read when {s.mirror_of} cannot be" for s in copies)
            raise typer.BadParameter(words)
        for s in house.settings.sources:
            if s.id in (ids or []) and s.pause is not None and s.pause.until_at > wiring.now():
                told(
                    Exception(f"{s.id} is paused until {s.pause.until_at:%Y-%m-%d %H:%M}Z; asked because it is named"),
                    0,
                )
        lines: list[dict[str, Any]] = []
        reader = Reader()
        with Progress(house.settings, shown=sys.stderr.isatty() and not json_) as progress:

            def checked(line: Any) -> None:
                lines.append(line)
                progress.step(line)
                if json_:
                    reader.line(as_json(line))

            tally = asyncio.run(wiring.run_pass(house, ids or [], all_of_them=all_, told=checked))
        if house.settings.editors:
            notify_commands.say_unsent(wiring.deliver_due(house))
        if not json_:
            voice = Voice(house.settings.site.language, house.settings.site.timezone)
            typer.echo(shown.summary(lines, tally.void_reason, voice))
        elif tally.void_reason:
            told(Exception(Voice("en", "UTC").void(tally.void_reason)), 0)
        if tally.defects:
            return told(Exception(f"a defect of sourcewatch kept {', '.join(tally.defects)} from being checked"), 5)
        found = _found(house, lines, wanted, ids or []) if wanted else {}
        for word, those in found.items():
            told(Exception(f"--fail-on {word}: {', '.join(sorted(those))}"), 1)
        return 1 if found else 0


def _found(house: House, lines: list[dict[str, Any]], wanted: list[str], ids: list[str]) -> dict[str, set[str]]:
    """The sources of which what --fail-on names is so now, due in this pass or not; changes are those of this pass."""
    from ..services import publish
    from .wiring import now

    seen = publish.report(house.settings, house.ledger, now(), desk=house.reviews.desk())
    found = {
        "dead": {x.source.id for x in seen.unreadable if x.standing.dead},
        "quote": {g.source.id for g in seen.quotes},
        "change": {x["source"] for x in lines if x.get("change") is not None},
        "unread": {x.source.parent or x.source.id for x in seen.unreadable},
    }
    found = {w: found[w] & set(ids) if ids else found[w] for w in wanted}
    return {w: those for w, those in found.items() if those}


@app.command()
def report(
    since: Annotated[str, typer.Option(help="A duration (7d) or a date (2026-10-20) in the site's zone.")] = "7d",
    format_: Annotated[str, typer.Option("--format", help="html, md, json, atom, unread-html, unread-md.")] = "",
    out: Annotated[
        Path | None,
        typer.Option(help="A folder; DATA/reports by default. With one format: a file, or -. A suffix is a format."),
    ] = None,
    language: Annotated[str | None, typer.Option(help="zh-CN or en; the site's language by default.")] = None,
) -> int:
    """Write the change report and print where it lies."""
    from ..analysis import feed, render, unread
    from ..services import publish
    from . import wiring
    from .files import write_whole
    from .times import since_of

    writers = {"html": render.html, "md": render.markdown, "atom": feed.atom, "json": lambda r, _: render.as_json(r)}
    writers |= {"unread-html": unread.html, "unread-md": unread.markdown}
    wanted = [f.strip() for f in (format_ or _format_of(out)).split(",") if f.strip()]
    if unknown := [f for f in wanted if f not in writers] or ([] if wanted else ["nothing"]):
        raise typer.BadParameter(f"--format knows {', '.join(writers)}, not {', '.join(unknown)}")
    if language not in (None, "zh-CN", "en"):
        raise typer.BadParameter("--language knows zh-CN and en")
    with opened() as house:
        moment = wiring.now()
        after = since_of(since, house.settings.site.timezone, moment)
        values = publish.report(
            house.settings, house.ledger, moment, after, house.snapshots, house.outbox, house.reviews.desk(),
            house.trends if "html" in wanted else None, wiring.best_copies(house), house.moves.open(),
        )  # fmt: skip
        single = out is not None and len(wanted) == 1 and (str(out) == "-" or out.suffix)
        if single and str(out) == "-":
            typer.echo(writers[wanted[0]](values, language), nl=False)
            return 0
        folder = out or house.data / "reports"
        for name in wanted:
            suffix = name.replace("unread-", "unread.")
            path = out if single and out is not None else folder / f"{moment:%Y%m%dT%H%M%SZ}.{suffix}"
            text = writers[name](values, language)
            write_whole(path, text)
            if out is None:
                write_whole(folder / f"latest.{suffix}", text)
            typer.echo(str(path))
    return 0


def _format_of(out: Path | None) -> str:
    """What a report is written as where no format was named: a file's suffix says it."""
    suffixes = {".html": "html", ".md": "md", ".json": "json", ".atom": "atom", ".xml": "atom"}
    return suffixes.get(out.suffix.lower(), "html,md") if out is not None else "html,md"


@app.command()
def status(json_: Annotated[bool, typer.Option("--json", help="The site's data as JSON.")] = False) -> int:
    """Where every source stands now."""
    from dataclasses import replace

    from ..analysis.data_files import as_json
    from ..analysis.voice import Voice
    from ..services import publish, site_data
    from . import crowd, shown, wiring

    with opened() as house:
        if json_:
            copies = wiring.best_copies(house)
            dates = site_data.last_accessed(house.settings, house.ledger, house.site, wiring.now(), copies)
            typer.echo(as_json(dates, 1))
            return 0
        seen = publish.view(house.settings, house.ledger, wiring.now())
        due = house.queue.times()
        lines = [replace(seen.line(s), next_check_at=due.get(s.id)) for s in seen.sources.values()]
        voice = Voice("en", house.settings.site.timezone)  # as the heads of its columns
        head = ("source", "tier", "verdict", "last accessed", "failing since", "next check")
        now = wiring.now()
        typer.echo(shown.columns(head, shown.status_rows(lines, voice, now)))
        typer.echo(f"\n{shown.waiting(house.queue.due(now), now)}")
        if words := crowd.summary(wiring.workers(house)):
            typer.echo(words)
        if words := wiring.ahead(house.ledger.dated_ahead(now)):
            typer.echo(words)
    return 0


@app.command()
def history(id_: Annotated[str, typer.Argument(metavar="ID")]) -> int:
    """Every check of one source, and where its versions lie."""
    from . import shown

    with opened() as house:
        source = source_of(house, id_)
        spans = house.ledger.spans(source.id)
        if not spans:
            typer.echo(f"{source.id}: not checked yet")
            return 0
        if source.mirror_of:
            typer.echo(f"{source.id}: second-hand, a copy of {source.mirror_of}; its dates are its own")
        versions, dropped = house.ledger.versions(source.id), house.archive.dropped(source.id)
        typer.echo(shown.history(spans, versions, dropped, lambda path: house.store.find(path) is not None))
    return 0


@app.command()
def why(id_: Annotated[str, typer.Argument(metavar="ID")]) -> int:
    """What the last check saw, what was told of it, what was suppressed and by which rule."""
    from ..analysis.drift import drift
    from ..domain.change import Sighting, SightingKind, unpack_edits, unpack_picture
    from ..domain.document import unpack
    from . import shown, wiring

    with opened() as house:
        source = source_of(house, id_)
        last = house.ledger.recall(source.id, wiring.now()).last
        if last is None:
            never = "" if source.url or source.parent else "; it has no address (unlocated), so it is never fetched"
            typer.echo(f"{source.id}: not checked yet{never}")
            return 0
        if source.mirror_of:
            typer.echo(f"{source.id}: second-hand, a copy of {source.mirror_of}; its dates are its own")
        typer.echo(shown.last_check(last))
        if way := shown.way(source):
            typer.echo(way)
        quotes = {q.key: q.exact for q in source.quotes}
        seen = house.ledger.sightings(last.version) if last.version else []
        typer.echo(shown.sightings(seen or [Sighting(key, SightingKind.UNVERIFIED) for key in quotes], quotes))
        changes = house.ledger.changes_since(None, source.id)
        if changes:
            edits, title = unpack_edits(changes[0].packed)
            typer.echo(shown.weighed(changes[0], edits, title, unpack_picture(changes[0].packed)))
            versions = house.ledger.versions(source.id)
            accepted = house.reviews.desk().accepted.get(source.id)
            base = next((v for v in versions if accepted and v.id == accepted.version), versions[0])
            then, here = (unpack(house.ledger.packed_document(v.id)) for v in (base, versions[-1]))
            typer.echo(shown.drifted(base, drift(then, here), accepted))
    return 0


@app.command()
def diff(
    id_: Annotated[str, typer.Argument(metavar="ID")],
    from_: Annotated[str, typer.Option("--from", help="A time, a date, or a version's number (1 is the first).")] = "",
    to: Annotated[str, typer.Option(help="The same; the newest version by default.")] = "",
    format_: Annotated[str, typer.Option("--format", help="text, md or html.")] = "text",
) -> int:
    """What changed between any two versions of a source."""
    from ..analysis import diff as differ
    from ..analysis.render import versions_diff
    from ..domain.change import unpack_picture
    from ..domain.document import unpack
    from .shown import counted, pictured

    if format_ not in ("text", "md", "html"):
        raise typer.BadParameter("--format knows text, md and html")
    with opened() as house:
        source = source_of(house, id_)
        versions = house.ledger.versions(source.id)
        if not versions:
            raise typer.BadParameter(f"{source.id} has no version yet")
        zone = house.settings.site.timezone
        new = version_at(versions, to, zone) if to else versions[-1]
        old = version_at(versions, from_, zone) if from_ else versions[max(0, versions.index(new) - 1)]
        a, b = (unpack(house.ledger.packed_document(v.id)) for v in (old, new))
        edits = differ.edits(a.visible, b.visible)
        span = f"{old.captured_at:%Y-%m-%dT%H:%M:%SZ} → {new.captured_at:%Y-%m-%dT%H:%M:%SZ}"
        only = " (there is only this version)" if len(versions) == 1 else ""
        rows = house.ledger.changes_since(None, source.id)
        between = next((r for r in rows if (r.from_version, r.to_version) == (old.id, new.id)), None)
        picture = unpack_picture(between.packed) if between else None
        head = f"{source.id}: {span}: {counted(len(edits), 'edit')}{only}"
        typer.echo(versions_diff(edits, format_, head, pictured(picture)))
    return 0


@sources_app.command("list")
def sources_list(json_: Annotated[bool, typer.Option("--json")] = False) -> int:
    """Every declared source."""
    from ..analysis.data_files import as_json
    from . import shown, wiring

    settings = wiring.read_settings(given.config)
    rows = [
        (
            s.id,
            s.tier,
            s.url or ("on its page" if s.parent else "unlocated"),
            shown.read_by(s),
            s.title + (f" (second-hand copy of {s.mirror_of})" if s.mirror_of else ""),
        )
        for s in settings.sources
    ]
    if json_:
        typer.echo(as_json([dict(zip(("id", "tier", "url", "reader", "title"), r, strict=True)) for r in rows], 1))
    else:
        typer.echo(shown.columns(("source", "tier", "address", "read by", "title"), rows))
    return 0


@sources_app.command("lint")
def sources_lint() -> int:
    """Read sources.toml strictly and say every fault."""
    from . import wiring

    settings = wiring.read_settings(given.config)
    unlocated = sum(not s.url and not s.parent for s in settings.sources)
    quotes = sum(len(s.quotes) for s in settings.sources if not s.mirror_of)
    declared = [s for s in settings.sources if not s.unlisted]
    mirrors = f", {n} mirrors" if (n := sum(bool(s.mirror_of) for s in settings.sources)) else ""
    counted = (
        f"{len(declared)} sources ({unlocated} unlocated), {len(settings.claims)} claims, {quotes} quotes{mirrors}"
    )
    typer.echo(f"{given.config}: {counted}: no fault")
    return 0


@sources_app.command("schema")
def sources_schema() -> int:
    """The JSON schema of sources.toml."""
    from . import wiring

    typer.echo(wiring.schema(), nl=False)
    return 0


@db_app.command("upgrade")
def db_upgrade() -> int:
    """Bring the database's schema up to date (every command does so by itself)."""
    from . import wiring

    with opened() as house:
        typer.echo(f"{wiring.shown_url(house.database_url)}: up to date")
    return 0


@db_app.command("check")
def db_check() -> int:
    """Whether the schema and its append-only guards are as they should be."""
    from . import wiring

    with opened() as house:
        if fault := wiring.schema_fault(house.database_url):
            return told(Exception(fault), 4)
        for gap in house.audits.gaps():  # whoever opens the database puts them back
            return told(Exception(f"{gap.words}; they are back, and `sourcewatch verify` compares rows with files"), 4)
        typer.echo("the schema is as it should be; facts are guarded")
    return 0


@app.command()
def doctor() -> int:
    """Configuration, database, trust store, clock, disk and network: is everything as it should be?"""
    from .doctor import examine

    ok = True
    for good, name, words in examine(given.config, given.data):
        ok = ok and good
        typer.echo(f"{'ok  ' if good else 'FAIL'}  {name}: {words}")
    return 0 if ok else 1


@app.command()
def demo(
    out: Annotated[
        Path | None, typer.Option(help="Where to leave the report; a new temporary folder by default.")
    ] = None,
) -> int:
    """A small rotting web on loopback, three dated passes over it, and a report to open."""
    from .demo import show

    return show(out)


if __name__ == "__main__":
    main()
