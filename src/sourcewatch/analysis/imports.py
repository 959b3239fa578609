"""Watch lists of other programs as rows for sources.toml. What has no counterpart here is told, line by line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from xml.parsers import expat

from ..domain.errors import ConfigError
from ..domain.mention import NewSource, NotRead
from ..domain.source import Source
from . import html, imports_changedetection, spelling
from .citing_text import addresses
from .naming import is_name

Rows = Iterator[NewSource | NotRead]


def read(name: str, text: str, form: str = "") -> tuple[str, list[NewSource], list[NotRead]]:
    """The file's format (*form*, or what it looks like), its rows, and what was not carried over.

    Raises ConfigError for a file that is not of its format, with the line.
    """
    text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    form = form or _looks_like(name, text)
    found = list(_FORMATS[form](name, text))
    return form, [f for f in found if isinstance(f, NewSource)], [f for f in found if isinstance(f, NotRead)]


def fit(name: str, rows: Iterable[NewSource], declared: Iterable[Source]) -> tuple[list[NewSource], list[NotRead]]:
    """The rows that can be added: new addresses of the web, each once, with selectors that parse. The rest is told."""
    known = {spelling.key(url): s.id for s in declared for url in (s.url, s.read) if url}
    lines: dict[str | None, int] = {}
    good: list[NewSource] = []
    told: list[NotRead] = []
    for row in rows:
        key = spelling.key(row.url)
        if fault := spelling.fault(row.url) or (spelling.fault(row.read) if row.read else ""):
            told.append(NotRead(name, row.line, f"{fault}; not added"))
        elif key in known:
            told.append(NotRead(name, row.line, f"{row.url} is watched already, as {known[key]}"))
        elif key in lines:
            told.append(NotRead(name, row.line, f"{row.url} stands in line {lines[key]} already"))
        else:
            lines[key] = row.line
            whole, faults = _sound(name, row)
            good.append(whole)
            told += faults
    return good, told


def _sound(name: str, row: NewSource) -> tuple[NewSource, list[NotRead]]:
    """A row without the selectors that sourcewatch cannot parse."""
    bad = [css for css in (row.select, *row.ignore) if css and html.selector_error(css)]
    told = [NotRead(name, row.line, f"not carried over: {css!r} is no CSS selector here") for css in bad]
    select = "" if row.select in bad else row.select
    return replace(row, select=select, ignore=tuple(css for css in row.ignore if css not in bad)), told


def _looks_like(name: str, text: str) -> str:
    lower, start = name.lower(), text.lstrip()[:400].lower()
    if lower.endswith(".opml") or "<opml" in start:
        return "opml"
    if lower.endswith(".json") or start.startswith("{"):
        return "changedetection"
    if lower.endswith((".yaml", ".yml")) or re.search(r"^(?:url|navigate|command|name|kind)\s*:", text, re.M):
        return "urlwatch"
    return "list"


def _opml(name: str, text: str) -> Rows:
    """Outlines with htmlUrl (what is cited) and xmlUrl (the feed, which is then what is read). http://opml.org/spec2.opml"""
    found: list[NewSource | NotRead] = []
    parser = expat.ParserCreate("utf-8")

    def element(tag: str, attributes: Mapping[str, str]) -> None:
        given = {key.lower(): value.strip() for key, value in attributes.items()}
        page, feed = given.get("htmlurl", ""), given.get("xmlurl", "") or given.get("url", "")
        if tag.lower() != "outline" or not (page or feed):
            return
        title = given.get("title") or given.get("text", "")
        notes = given.get("description", "")
        read_ = feed if page and spelling.key(feed) != spelling.key(page) else ""
        found.append(NewSource(page or feed, title, read=read_, notes=notes, line=parser.CurrentLineNumber))

    def entity(*_: object) -> None:
        raise ConfigError([f"{name}:{parser.CurrentLineNumber}: an OPML file that defines entities is not read"])

    parser.StartElementHandler = element
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(text.encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        raise ConfigError([f"{name}:{error.lineno}: not valid XML: {expat.ErrorString(error.code)}"]) from None
    yield from found


def _list(name: str, text: str) -> Rows:
    """One address a line, whatever else stands there its title; `#` begins a comment."""
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        found = list(addresses(bare))
        if not found:
            yield NotRead(name, number, f"no address in {bare[:80]!r}")
        for url, _ in found:
            words = bare.replace(url, " ").strip(" \t-*•<>()[],;|")
            yield NewSource(url, words if len(found) == 1 and is_name(words) else "", line=number)


def _changedetection(name: str, text: str) -> Rows:
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise ConfigError([f"{name}:{line}: not valid JSON: {getattr(error, 'msg', 'nested too deeply')}"]) from None
    return imports_changedetection.read(name, text, rows)


def _urlwatch(name: str, text: str) -> Rows:
    from . import imports_yaml  # YAML is imported where it is read

    return imports_yaml.read(name, text)


_FORMATS: Mapping[str, Callable[[str, str], Rows]] = {
    "urlwatch": _urlwatch,
    "webchanges": _urlwatch,
    "changedetection": _changedetection,
    "opml": _opml,
    "list": _list,
}
FORMATS = tuple(_FORMATS)
