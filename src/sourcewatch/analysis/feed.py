"""An Atom feed (RFC 4287) of what was told: an entry keeps its id and its time for ever."""

from __future__ import annotations

from datetime import UTC, datetime
from html import escape
from urllib.parse import quote, urlsplit
from xml.etree import ElementTree as Xml

from ..domain.message import MessageKind, News
from ..domain.report import Report
from . import excerpt, telling
from .excerpt import safe_href
from .render import voice_of
from .voice import Voice

ATOM = "http://www.w3.org/2005/Atom"
MOST_EDITS = 20  # of one change
IN_FEED = frozenset(MessageKind) - {MessageKind.FAILING, MessageKind.RECOVERED}  # what somebody has to look at


def atom(report: Report, language: str | None = None) -> str:
    """Broken quotes, dead sources, unread figures, moved addresses and confirmed changes, newest first.

    Ids are tag URIs (RFC 4151) made of the messages' keys, which never change.
    """
    v = voice_of(report, language)
    Xml.register_namespace("", ATOM)
    feed = Xml.Element(f"{{{ATOM}}}feed", {"{http://www.w3.org/XML/1998/namespace}lang": v.language})
    tag = f"tag:{urlsplit(report.site.url).hostname or 'localhost'},2026:sourcewatch"
    news = [n for n in report.news if n.message.kind in IN_FEED]
    _text(feed, "id", tag)
    _text(feed, "title", f"{excerpt.plain(report.site.name)} · {v.say('report')}")
    newest = max((n.message.at for n in news), default=report.last_run_at or report.generated_at)
    _text(feed, "updated", _z(min(newest, report.generated_at)))  # a clock may have been ahead
    _text(Xml.SubElement(feed, f"{{{ATOM}}}author"), "name", "sourcewatch")
    if href := safe_href(report.site.url):
        Xml.SubElement(feed, f"{{{ATOM}}}link", rel="related", href=href)
    for one in sorted(news, key=lambda n: (n.message.at, n.message.id), reverse=True):
        _entry(feed, tag, one, v)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(feed, encoding="unicode") + "\n"


def _entry(feed: Xml.Element, tag: str, news: News, v: Voice) -> None:
    entry = Xml.SubElement(feed, f"{{{ATOM}}}entry")
    first, *rest = telling.paragraph(news, v)
    _text(entry, "id", f"{tag}/{quote(news.message.key, safe=':-._')}")
    _text(entry, "title", first)
    _text(entry, "updated", _z(news.message.at))
    if href := safe_href(news.source.url):
        Xml.SubElement(entry, f"{{{ATOM}}}link", href=href)
    edits = [excerpt.as_html(excerpt.shortened(excerpt.parts_of(e))) for e in news.edits[:MOST_EDITS]]
    lines = edits or [escape(line) for line in rest]
    _text(entry, "content", "".join(f"<p>{line}</p>" for line in lines) or escape(first)).set("type", "html")


def _text(parent: Xml.Element, name: str, text: str) -> Xml.Element:
    child = Xml.SubElement(parent, f"{{{ATOM}}}{name}")
    child.text = excerpt.plain_lines(text)
    return child


def _z(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
