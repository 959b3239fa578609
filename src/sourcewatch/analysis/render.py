"""Report values become a page, a Markdown file or JSON. Pure; the words come from `phrases`."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from ..domain.change import Edit, EditKind, Extent, Part, PictureChange, picture_facts
from ..domain.copies import OutsideCopy
from ..domain.move import Move
from ..domain.report import ChangeLine, Line, Picture, QuoteGroup, QuoteLine, Report, SecondHand
from ..domain.source import Source
from ..domain.trend import Trends
from . import data_files, excerpt, plots
from .excerpt import safe_href
from .voice import Voice

MOST_EDITS = 40  # of one change; the rest is counted


def told_edits(change: ChangeLine) -> tuple[Edit, ...]:
    """The edits to show: none of a wholesale replacement, which is said in one line."""
    if change.drift.extent is Extent.REPLACED and change.told > 3:
        return ()
    return tuple(e for e in change.edits if not e.suppressed_by)[:MOST_EDITS]


def voice_of(report: Report, language: str | None = None) -> Voice:
    return Voice(language or report.site.language, report.site.timezone)


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("sourcewatch.analysis"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip


def html(report: Report, language: str | None = None) -> str:
    """A page that stands alone: no script, no request to anywhere."""
    voice, tiers = voice_of(report, language), dict(report.tiers)
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            r=report,
            v=voice,
            edits=told_edits,
            marked=lambda edit: Markup(excerpt.as_html(excerpt.shortened(excerpt.parts_of(edit)))),
            marked_parts=lambda parts: Markup(excerpt.as_html(excerpt.shortened(parts))),
            plain=excerpt.plain,
            href=safe_href,
            data_url=data_url,
            boxes=boxes,
            needs=needing(report),
            by_state=by_state,
            used=used_on,
            counts=counts(report, voice),
            nothing_unread=nothing_unread(report, voice),
            sections=_sections(report),
            tier=lambda id_: tiered(id_, tiers),
            named=lambda x: named(x, voice, tiers),
            lang=lang_of,
            accepting=accepting,
            plots=Markup(plots.everything(report.trends, voice, tiers)),
            plot_style=Markup(plots.STYLE),
        )
    )


def tiered(tier: str, tiers: Mapping[str, str]) -> Markup:
    """A tier's id with its title."""
    title = tiers.get(tier, "")
    words = f"{tier} · {excerpt.plain(title)}" if title and title != tier else tier
    return Markup(f'<span class="tier">{escape(words)}</span>')


def named(x: Line | ChangeLine | QuoteGroup, voice: Voice, tiers: Mapping[str, str]) -> Markup:
    """A source's name as a link, its id and its tier. Not a macro: that took 35 µs a line of 50,000."""
    source, parent = x.source, None if isinstance(x, QuoteGroup) else x.parent
    name, href = f"{escape(voice.name(source, parent))}", safe_href(source.url)
    if href:
        name = f'<a href="{escape(href)}" rel="noreferrer noopener">{name}</a>'
    return Markup(f"{name} <code>{escape(source.id)}</code> {tiered(source.tier, tiers)}")


def lang_of(source: Source) -> Markup:
    """A lang attribute for words of a source whose one language is known: screen readers change their voice by it."""
    known = source.language.strip()
    return Markup(f' lang="{known}"') if re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,2}", known) else Markup("")


def _sections(r: Report) -> list[str]:
    """The sections that this report has, in order."""
    always = {"needs", "changes", "unreadable"}
    order = (
        "needs",
        "changes",
        "moved",
        "proposals",
        "unreadable",
        "recovered",
        "claims",
        "overview",
        "quiet",
        "unchecked",
        "unlocated",
    )
    has = {"overview": r.trends != Trends()}
    return [name for name in order if name in always or has.get(name, getattr(r, name, False))]


def data_url(picture: Picture) -> str:
    """A picture inside the page itself: a report asks nobody for anything."""
    return f"data:{picture.media_type};base64,{b64encode(picture.data).decode('ascii')}"


def boxes(picture: PictureChange | None, older: bool = False) -> Markup:
    """Frames around what differs, to be laid over a picture that is shown at any size; "" where they do not fit."""
    if picture is None or (older and not _same_shape(picture)):
        return Markup("")
    (width, height), frames = picture.new_size, picture.regions
    drawn = "".join(f'<rect x="{r.x}" y="{r.y}" width="{r.width}" height="{r.height}"/>' for r in frames)
    head = f'<svg class="boxes" viewBox="0 0 {width} {height}" preserveAspectRatio="none" aria-hidden="true">'
    return Markup(f"{head}{drawn}</svg>")


def _same_shape(picture: PictureChange) -> bool:
    (width, height), (w, h) = picture.new_size, picture.old_size
    return abs(w * height - width * h) <= max(width, height, w, h)


def needing(report: Report) -> int:
    """How many things need somebody: sources with quotes that do not stand or cannot be verified, and dead ones."""
    return len(report.quotes) + len(report.unverified) + len(report.dead)


def counts(report: Report, voice: Voice) -> str:
    return voice.say(
        "counts",
        needs=needing(report),
        changes=len(report.changes),
        unread=len(report.unreadable),
        quiet=len(report.quiet),
        unchecked=len(report.unchecked),
        unlocated=len(report.unlocated),
    )


def markdown(report: Report, language: str | None = None) -> str:
    """The same report as Markdown."""
    return "\n".join(_markdown(report, voice_of(report, language))).rstrip() + "\n"


def _markdown(r: Report, v: Voice) -> Iterator[str]:
    yield f"# {excerpt.markdown(r.site.name)} · {v.say('report')}\n"
    since = f" · {v.say('since', at=v.minute(r.since))}" if r.since else ""
    yield f"{v.say('generated', at=v.minute(r.generated_at))}{since} ({r.site.timezone})"
    yield f"\n{counts(r, v)}\n"
    if r.void_reason:
        yield f"> {v.void(r.void_reason)}\n"
    if r.undelivered:
        yield f"> {v.say('undelivered', n=r.undelivered)}\n"
    yield from _section(v.say("needs"), _needs(r, v), v.say("nothing_needs"))
    yield from _section(v.say("changes"), (x for c in r.changes for x in _change(c, v)), v.say("nothing_changed"))
    unread = (part for x in r.unreadable for part in _unread(x, r, v))
    yield from _section(v.say("moved"), (f"- {_named(x, v)} · {_whither(x, v)}" for x in r.moved))
    yield from _section(v.say("mv_title"), (part for x, m in r.proposals for part in _proposal(x, m, v)))
    yield from _section(v.say("unreadable"), unread, nothing_unread(r, v))
    yield from _section(v.say("oc_title"), (f"- {_named(x, v)}: {_robust(x, c, v)}" for x, c in r.outside))
    was = (f"- {_named(x, v)} · {v.last_read(x)} · {_was(x, v)}" for x in r.recovered)
    yield from _section(v.say("recovered"), was)
    yield from _section(v.say("claims"), _claims(r, v))
    yield from _section(v.say("quiet"), (f"- {_named(x, v)} · {v.last_read(x)}" for x in r.quiet))
    unchecked = (f"- {_named(x, v)}" + (f": {hand}" if (hand := v.by_hand(x)) else "") for x in r.unchecked)
    yield from _section(v.say("unchecked"), unchecked)
    yield from _section(v.say("unlocated"), (f"- {excerpt.markdown(s.title)} `{s.id}`" for s in r.unlocated))


def nothing_unread(r: Report, v: Voice) -> str:
    """ "Everything was read" is said only of a pass that proves it."""
    return v.say("unread_unknown" if r.void_reason or (r.unchecked and not r.quiet) else "nothing_unread")


def _unread(x: Line, r: Report, v: Voice) -> Iterator[str]:
    yield f"- {_named(x, v)}: {v.failing(x, r.generated_at)} · {v.last_read(x)}"
    yield from (f"  - {excerpt.markdown(words)}" for words in v.second_hand(x))


def _robust(line: Line, copy: OutsideCopy, v: Voice) -> str:
    return f"[{excerpt.markdown(v.outside(copy))}](<{excerpt.markdown_href(copy.url)}>)"


def _proposal(line: Line, move: Move, v: Voice) -> Iterator[str]:
    yield f"- {_named(line, v)}: {v.say('moved_to', url=f'<{excerpt.markdown_href(move.to_url)}>')}"
    for one in move.evidence:
        yield f"  - {v.labelled(f'mv_{one.lead}', excerpt.markdown(one.words))}"
    yield f"  - {excerpt.markdown(v.likeness(move))}"
    yield f"  - {v.labelled('mv_accept', f'`{accepting(move)}`')}"


def accepting(move: Move) -> str:
    """The command by which an editor cites a source at its new address."""
    return f"sourcewatch moved --accept {move.id} --by NAME"


def _whither(line: Line, v: Voice) -> str:
    return v.say("moved_to", url=f"<{excerpt.markdown_href(line.standing.final_url)}>")


def _section(title: str, lines: Iterator[str], otherwise: str = "") -> Iterator[str]:
    body = list(lines)
    if body or otherwise:
        yield f"## {title}\n"
        yield "\n".join(body) if body else otherwise
        yield ""


def _named(line: Line, v: Voice) -> str:
    name = excerpt.markdown(v.name(line.source, line.parent))
    href = excerpt.markdown_href(line.source.url)
    return f"[{name}](<{href}>) `{line.source.id}`" if href else f"{name} `{line.source.id}`"


def _was(line: Line, v: Voice) -> str:
    was = line.standing.recovered_from
    return v.say("was_failing", why=v.word(was.word)) if was else ""


def _needs(r: Report, v: Voice) -> Iterator[str]:
    for group in (*r.quotes, *r.unverified):
        href, name = excerpt.markdown_href(group.source.url), excerpt.markdown(v.name(group.source))
        yield f"- {f'[{name}](<{href}>)' if href else f'**{name}**'} `{group.source.id}`"
        for states, quotes in by_state(group, v):
            for q in quotes:
                yield f"  - “{excerpt.markdown(q.quote.exact)}”"
                if q.sighting.parts:
                    yield f"    - {v.labelled('now', excerpt.as_markdown(excerpt.shortened(q.sighting.parts)))}"
            yield f"    - {excerpt.markdown(states)}"
        if used := used_on(group):
            yield f"  - {v.labelled('cited_on', ', '.join(excerpt.markdown_code(p) for p in used))}"
    for x in r.dead:
        yield from _unread(x, r, v)


def by_state(group: QuoteGroup, v: Voice) -> list[tuple[str, list[QuoteLine]]]:
    """A group's quotes under the sentence that says how they stand: what is true of three is said once."""
    states: dict[str, list[QuoteLine]] = {}
    for q in group.lines:
        states.setdefault(v.quote_state(q), []).append(q)
    return list(states.items())


def used_on(group: QuoteGroup) -> list[str]:
    """The site's pages that rely on any of a group's quotes."""
    pages = (p for q in group.lines for p in (q.quote.cited_on or q.source.cited_on))
    return list(dict.fromkeys(pages))


def _change(c: ChangeLine, v: Voice) -> Iterator[str]:
    href = excerpt.markdown_href(c.source.url)
    name = excerpt.markdown(v.name(c.source, c.parent))
    yield f"\n### {f'[{name}](<{href}>)' if href else name} `{c.source.id}`\n"
    facts = [v.span(c.from_at, c.to_at), v.say(f"s_{c.significance}"), v.extent(c)]
    facts += [v.hand(c.by_hand, c.to_at)] if c.by_hand else []
    facts += [excerpt.markdown(v.decision(c.review))] if c.review else []
    yield " · ".join(facts if c.confirmed else [*facts, v.say("unconfirmed")]) + "\n"
    if c.title:
        yield "- " + v.labelled(
            "title_changed", f"~~{excerpt.markdown(c.title[0])}~~ **{excerpt.markdown(c.title[1])}**"
        )
    shown = told_edits(c)
    for edit in shown:
        moved = f"({v.say('moved_block')}) " if edit.kind is EditKind.MOVED else ""
        yield f"- {moved}{excerpt.as_markdown(excerpt.shortened(excerpt.parts_of(edit)))}"
    if shown and c.told > len(shown):
        yield f"- {v.say('more', n=c.told - len(shown))}"
    if c.picture:
        yield from (f"- {v.box(region)}" for region in c.picture.regions)
    if c.suppressed:
        yield f"- {v.say('suppressed', n=c.suppressed)}"


def _claims(r: Report, v: Voice) -> Iterator[str]:
    for c in r.claims:
        yield f"- {excerpt.markdown(c.claim.text)} `{c.claim.id}`"
        if not c.carriers:
            yield f"  - {v.say('no_carrier')}"
        for line, stand, of in c.carriers:
            state = v.say("quotes_stand", n=stand, of=of) if line.source.url else v.say("carrier_unlocated")
            yield f"  - {v.labelled('carrier', f'{_named(line, v)} · {state}')}"


def as_json(report: Report) -> str:
    """The report's values for machines; the contract's words, UTC times."""
    body = {
        "generated_at": _z(report.generated_at),
        "since": _z(report.since),
        "site": report.site.url,
        "void_reason": report.void_reason,
        "quotes": [_json_quote(q) for g in (*report.quotes, *report.unverified) for q in g.lines],
        "changes": [_json_change(c) for c in report.changes],
        "unreadable": [_json_line(x) for x in report.unreadable],
        "outside": [
            {"source": x.source.id, "archive": c.archive, "url": c.url, "memento_at": _z(c.memento_at)}
            for x, c in report.outside
        ],
        "proposals": [_json_proposal(x, m) for x, m in report.proposals],
        "recovered": [_json_line(x) for x in report.recovered],
        "quiet": [x.source.id for x in report.quiet],
        "unchecked": [x.source.id for x in report.unchecked],
        "unlocated": [s.id for s in report.unlocated],
    }
    return data_files.as_json(body, 1) + "\n"


def _json_proposal(x: Line, move: Move) -> dict[str, Any]:
    found = move.likeness
    return {
        "id": move.id,
        "source": x.source.id,
        "url": move.url,
        "to_url": move.to_url,
        "proposed_at": _z(move.proposed_at),
        "evidence": [{"lead": e.lead, "words": e.words} for e in move.evidence],
        "same_title": found.same_title,
        "kept": found.kept,
        "quotes": {"held": found.held, "sought": found.sought},
        "accept": accepting(move),
    }


def _json_line(x: Line) -> dict[str, Any]:
    s = x.standing
    return {
        "source": x.source.id,
        "parent": x.source.parent,
        "url": x.source.url,
        "verdict": s.verdict.word if s.verdict else None,
        "evidence": s.verdict.evidence if s.verdict else None,
        "last_accessed": _z(s.last_accessed),
        "by_hand": {"by": s.by_hand_by, "at": _z(s.by_hand_at)} if s.by_hand_at else None,
        "failing_since": _z(s.failing_since),
        "strikes": s.strikes,
        "dead": s.dead,
        "second_hand": [_json_second(second) for second in x.second_hand],
    }


def _json_second(s: SecondHand) -> dict[str, Any]:
    return {
        "source": s.mirror.id,
        "url": s.mirror.url,
        "verdict": s.standing.verdict.word if s.standing.verdict else None,
        "last_accessed": _z(s.standing.last_accessed),
        "quotes": {"held": s.held, "sought": s.sought},
        "lacks": list(s.lacks),
    }


def _json_quote(q: QuoteLine) -> dict[str, Any]:
    return {
        "source": q.source.id,
        "quote": q.quote.key,
        "exact": q.quote.exact,
        "sighting": q.sighting.kind,
        "score": q.sighting.score,
        "found": q.sighting.found,
        "stood_at": _z(q.stood_at),
        "by_hand": q.by_hand or None,
        "cited_on": list(q.quote.cited_on or q.source.cited_on),
        "unread": _json_line(q.unread) if q.unread else None,
        "second_hand": {**_json_second(q.second_hand), "sighting": q.there.kind} if q.second_hand and q.there else None,
    }


def _json_change(c: ChangeLine) -> dict[str, Any]:
    return {
        "source": c.source.id,
        "mirror_of": c.source.mirror_of,
        "from": _z(c.from_at),
        "to": _z(c.to_at),
        "significance": c.significance,
        "extent": c.drift.extent,
        "kept": c.drift.kept,
        "novelty": c.drift.novelty,
        "told": c.told,
        "suppressed": c.suppressed,
        "confirmed": c.confirmed,
        "by_hand": c.by_hand or None,
        "review": {"decision": c.review.decision, "by": c.review.by, "at": _z(c.review.at)} if c.review else None,
        "picture": picture_facts(c.picture) if c.picture else None,
        "edits": [{"kind": e.kind, "parts": [[int(p.op), p.text] for p in e.parts]} for e in told_edits(c)],
    }


def _z(at: datetime | None) -> str | None:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if at else None


def versions_diff(edits: Sequence[Edit], form: str, title: str, looks: Sequence[str] = ()) -> str:
    """A diff between any two versions for `diff ID`: md, html (a page that stands alone), or text for a terminal.

    *looks* are sentences about what differs in a picture.
    """
    if form == "html":
        template = _environment().get_template("diff.html.j2")
        marked = [Markup(excerpt.as_html(excerpt.shortened(excerpt.parts_of(e)))) for e in edits]
        return template.render(title=title, edits=[*marked, *looks])
    marks = {EditKind.INSERTED: "+", EditKind.DELETED: "-", EditKind.MOVED: ">", EditKind.REPLACED: "~"}
    lines = [title, *(f"- {words}" if form == "md" else f"# {words}" for words in looks)]
    for edit in edits:
        parts: Sequence[Part] = excerpt.shortened(excerpt.parts_of(edit))
        lines.append(
            f"- {excerpt.as_markdown(parts)}" if form == "md" else f"{marks[edit.kind]} {excerpt.as_terminal(parts)}"
        )
    return "\n".join(lines)
