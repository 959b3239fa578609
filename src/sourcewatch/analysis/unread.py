"""What we could not read, as a piece that the site may publish as it is: no ids, no rules, nobody's name."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from html import escape

from ..domain.report import Line, Report
from . import dates, excerpt
from .excerpt import plain, safe_href
from .render import voice_of
from .voice import Voice


def html(report: Report, language: str | None = None) -> str:
    """A <section> in the report's language, to be put into a page. It brings no style of its own."""
    v = voice_of(report, language)
    return "\n".join(_html(report, v)) + "\n"


def _html(r: Report, v: Voice) -> Iterator[str]:
    yield f'<section class="sourcewatch-unread" lang="{escape(v.language)}">'
    yield f"<h2>{escape(v.say('unreadable'))}</h2>"
    yield f"<p>{escape(_lead(r, v))}</p>"
    if r.unreadable:
        yield "<ul>"
        for line in r.unreadable:
            yield f"<li>{_name(line, v)}<br>"
            facts = [escape(_why(line, v)), *(_time(words, at, r) for words, at in _dated(line, v))]
            yield "；".join(facts) if v.language == "zh-CN" else "; ".join(facts)
            if quotes := _quotes(r, line):
                yield f"<br>{escape(v.labelled('u_unverified', ''))}{_quoted_html(quotes, v)}"
            yield "</li>"
        yield "</ul>"
        yield f"<p><small>{escape(v.say('u_date'))}</small></p>"
    yield "</section>"


def markdown(report: Report, language: str | None = None) -> str:
    """The same as Markdown."""
    v = voice_of(report, language)
    lines = [f"## {v.say('unreadable')}\n", _lead(report, v), ""]
    for line in report.unreadable:
        href, name = excerpt.markdown_href(line.source.url), excerpt.markdown(v.name(line.source, line.parent))
        facts = [_why(line, v), *(words for words, _ in _dated(line, v))]
        lines.append(f"- {f'[{name}](<{href}>)' if href else name}: {v.joined(facts)}")
        if quotes := _quotes(report, line):
            words = ("、" if v.language == "zh-CN" else ", ").join(f"“{excerpt.markdown(q)}”" for q in quotes)
            lines.append(f"  - {v.labelled('u_unverified', words)}")
    if report.unreadable:
        lines += ["", v.say("u_date")]
    return "\n".join(lines).rstrip() + "\n"


def _lead(r: Report, v: Voice) -> str:
    """ "Everything was read" is said only of a pass that proves it."""
    if r.unreadable:
        return v.say("u_as_of", at=v.day(r.generated_at))
    unknown = r.void_reason is not None or (bool(r.unchecked) and not r.quiet)
    return v.say("u_unknown" if unknown else "u_nothing", at=v.day(r.generated_at))


def _name(line: Line, v: Voice) -> str:
    name, href = escape(v.name(line.source, line.parent)), safe_href(line.source.url)
    return f'<a href="{escape(href)}" rel="noreferrer">{name}</a>' if href else f"<strong>{name}</strong>"


def _why(line: Line, v: Voice) -> str:
    return v.word(line.standing.verdict.word) if line.standing.verdict else ""


def _dated(line: Line, v: Voice) -> Iterator[tuple[str, datetime | None]]:
    """Sentences with the moment that each of them is about."""
    s = line.standing
    if s.failing_since:
        yield v.say("u_since", at=v.day(s.failing_since)), s.failing_since
    yield (v.say("u_last", at=v.day(s.last_accessed)), s.last_accessed) if s.last_accessed else (v.say("u_never"), None)
    if s.by_hand_at:
        yield v.say("u_by_person", at=v.day(s.by_hand_at)), s.by_hand_at
    for second in line.second_hand:
        if at := second.standing.last_accessed:
            yield v.say("u_second", at=v.day(at)), at


def _time(words: str, at: datetime | None, r: Report) -> str:
    if at is None:
        return escape(words)
    return f'<time datetime="{dates.local_day(at, r.site.timezone).isoformat()}">{escape(words)}</time>'


def _quotes(r: Report, line: Line) -> list[str]:
    """The quotes whose only evidence is this picture."""
    of = (q for group in r.unverified for q in group.lines if q.unread is not None)
    return [plain(q.quote.exact) for q in of if q.unread is not None and q.unread.source.id == line.source.id]


def _quoted_html(quotes: list[str], v: Voice) -> str:
    return ("、" if v.language == "zh-CN" else ", ").join(f"<q>{escape(q)}</q>" for q in quotes)
