"""Which rule each source of a file is read by, and what that means for the source and for its hosts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from ..domain.reader import Reader
from ..domain.source import HostPolicy, Source
from .config_models import FileModel
from .readers import Applied, Book, chosen

Rules = Sequence[Applied | str | None]
"""For each source of the file its rule, or what is wrong with the one that it names."""


def rules(model: FileModel, book: Book, environ: Mapping[str, str]) -> Rules:
    """Figures and declared mirrors are read as they are."""
    return [
        chosen(book, row.url, row.read, row.reader, row.render, environ)
        if row.url and row.kind == "page" and row.mirror_of is None
        else None
        for row in model.source
    ]


def faults(found: Rules) -> Iterator[tuple[tuple[str | int, ...], str]]:
    return ((("source", i, "reader"), rule) for i, rule in enumerate(found) if isinstance(rule, str))


def policies(model: FileModel, found: Iterable[Applied | str | None]) -> dict[str, HostPolicy]:
    """Manners towards each host: the file's, and for others those that a rule says its host asks for."""
    known = {name: HostPolicy(h.delay) for name, h in model.hosts.items()}
    usual = known.get("default", HostPolicy()).delay_s
    for rule in found:
        if isinstance(rule, Applied) and rule.delay_s > usual:
            known.setdefault(str(urlsplit(rule.read).hostname), HostPolicy(rule.delay_s))
    return known


def read_by(rule: Applied | str | None, source: Source) -> Source:
    """A source with its rule; what the editor wrote about reading it stays."""
    if not isinstance(rule, Applied):
        return source
    own = {h.name.lower() for h in source.headers}
    return replace(
        source,
        read=source.read or (rule.read if rule.read != source.url else None),
        headers=(*source.headers, *(h for h in rule.headers if h.name.lower() not in own)),
        select=source.select or rule.select,
        ignore=source.ignore or rule.ignore,
        reader=rule.reader if source.select in ("", rule.select) else _unselected(rule.reader),
    )


def _unselected(reader: Reader) -> Reader:
    """The rule without its selector: what the editor chose instead proves nothing about it."""
    return replace(reader, proves=tuple(p for p in reader.proves if p[0]))
