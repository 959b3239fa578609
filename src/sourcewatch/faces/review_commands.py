"""Decisions from the command line: the same as on the desk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from .base import app, opened, source_of, told

if TYPE_CHECKING:
    from ..domain.kept import ChangeRow, VersionRow
    from ..domain.review import Decision, Review
    from ..domain.source import Source
    from .wiring import House


@app.command()
def review(
    ids: Annotated[list[str], typer.Argument(metavar="ID…", help="Sources (their newest version), or changes: #12.")],
    accept: Annotated[bool, typer.Option("--accept", help="The site cites this version from now on.")] = False,
    unimportant: Annotated[bool, typer.Option("--unimportant", help="The change means nothing.")] = False,
    fix: Annotated[bool, typer.Option("--fix", help="The site must be mended.")] = False,
    reviewed: Annotated[bool, typer.Option("--reviewed", help="Somebody has looked; nothing else.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take the newest decision back.")] = False,
    by: Annotated[str, typer.Option(help="Who decides.")] = "",
    note: Annotated[str, typer.Option(help="Why, in a sentence.")] = "",
) -> int:
    """Decide about a change or a source's present state; without a decision, say who decided what."""
    from ..domain.review import Decision

    flags = {
        Decision.ACCEPTED: accept, Decision.UNIMPORTANT: unimportant, Decision.FIX: fix, Decision.REVIEWED: reviewed,
        Decision.UNDONE: undo,
    }  # fmt: skip
    wanted = [decision for decision, given in flags.items() if given]
    if len(wanted) > 1:
        raise typer.BadParameter("give one of --accept, --unimportant, --fix, --reviewed, --undo")
    if wanted and not by.strip():
        raise typer.BadParameter("a decision has a name: --by NAME")
    with opened() as house:
        subjects = [_named(house, id_) for id_ in ids]
        if not wanted:
            for source, version, _ in subjects:
                _say_history(house, source, version)
            return 0
        return max(_decide(house, *subject, wanted[0], by, note) for subject in subjects)


def _named(house: House, id_: str) -> tuple[Source, VersionRow | None, ChangeRow | None]:
    """The source, the version, and the change that brought it, which an id names."""
    changes = house.ledger.changes_since(None, None if id_.startswith("#") else id_)
    if id_.startswith("#"):
        change = next((c for c in changes if str(c.id) == id_[1:]), None)
        if change is None:
            raise typer.BadParameter(f"there is no change {id_}")
        versions = house.ledger.versions(change.source)
        return source_of(house, change.source), next(v for v in versions if v.id == change.to_version), change
    source = source_of(house, id_)
    versions = house.ledger.versions(source.id)
    newest = versions[-1] if versions else None
    return source, newest, next((c for c in changes if newest and c.to_version == newest.id), None)


def _decide(
    house: House,
    source: Source,
    version: VersionRow | None,
    change: ChangeRow | None,
    decision: Decision,
    by: str,
    note: str,
) -> int:
    from ..analysis.phrases import say
    from ..domain.review import Decision, Overtaken
    from ..services import review as service
    from .wiring import now

    subject = service.subject_of(source.id, version)
    found = service.decide(house.reviews, subject, decision, by, now(), note)
    if isinstance(found, service.Refused):
        return told(Exception(f"{source.id}: {say(found.why, 'en')}"), 2)
    if isinstance(found, Overtaken):
        return told(Exception(f"{source.id}: {say('r_overtaken', 'en')}"), 2)
    typer.echo(_line(found))
    if decision is Decision.UNIMPORTANT and change is not None:
        rule = service.rule_for(house.ledger, source, change)
        typer.echo(f"  {say('r_rule', 'en', rule=rule) if rule else say('r_no_rule', 'en')}")
    return 0


def _say_history(house: House, source: Source, version: VersionRow | None) -> None:
    found = house.reviews.history(source.id)
    typer.echo("\n".join(map(_line, found)) if found else f"{source.id}: nobody has decided anything yet")


def _line(review: Review) -> str:
    from ..analysis.excerpt import plain

    holds = f" ({review.holds} holds)" if review.holds not in (None, review.decision) else ""
    note = f": {plain(review.note)}" if review.note else ""
    about = f"version {review.version}" if review.version is not None else "never read"
    what = f"{review.decision}{holds} by {plain(review.by)}{note}"
    return f"{review.at:%Y-%m-%d %H:%M:%S}Z  {review.subject.source}, {about}: {what}"
