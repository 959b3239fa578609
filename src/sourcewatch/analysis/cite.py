"""Citations with the true access date: CSL-JSON, BibTeX, GB/T 7714 and Robust Links. Foreign text is escaped for each.

A date is the day of the machine's last reading in the site's zone. What only a person has read has none: who read it,
and when that was by their word, stands in the note.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC
from enum import Enum, StrEnum
from html import escape
from typing import Any
from urllib.parse import quote, urlsplit

from ..domain.citation import Citation
from ..domain.source import Source
from .data_files import as_json
from .excerpt import plain, safe_href

REPOSITORIES = ("github.com", "gitlab.com", "gitee.com", "codeberg.org", "bitbucket.org")
STATED = ("updated", "published", "issued", "stated")  # the keys of a source's dates that say how old its text is
_DAY = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?(?![\d-])")


class Edition(StrEnum):
    """Of GB/T 7714."""

    Y2025 = "2025"
    Y2015 = "2015"


class Genre(Enum):
    """What is cited: as CSL, biblatex and GB/T 7714 (2025, 2015) call it. Only what the address itself proves."""

    PAGE = ("webpage", "online", "EB/OL", "EB/OL")
    SOFTWARE = ("software", "software", "CP/OL", "CP/OL")
    PREPRINT = ("article", "online", "PP/OL", "EB/OL")  # GB/T 7714-2015 has no sign for a preprint
    DATASET = ("dataset", "dataset", "DS/OL", "DB/OL")


def csl(citations: Iterable[Citation]) -> str:
    """CSL-JSON (citation-style-language/schema, csl-data.json)."""
    return as_json([_csl(c) for c in citations], 1) + "\n"


def bibtex(citations: Iterable[Citation]) -> str:
    """BibTeX entries in biblatex's fields; the key is the source's id."""
    return "\n".join(_bibtex(c) for c in citations)


def gbt7714(citations: Sequence[Citation], edition: Edition = Edition.Y2025) -> str:
    """Numbered references after GB/T 7714-2025, or the edition of 2015 that it replaces."""
    return "".join(f"[{n}] {_gbt(c, edition)}\n" for n, c in enumerate(citations, 1))


def robust_links(citations: Iterable[Citation]) -> str:
    """An HTML list of Robust Links (robustlinks.mementoweb.org/spec): each leads to its source and names the version.

    Where the machine has read none there is a plain link; an address of the version stands only where readers reach it.
    """
    items = "".join(f"<li>{_robust(c)}</li>\n" for c in citations if safe_href(c.source.url))
    return f"<ul>\n{items}</ul>\n"


def genre(url: str) -> Genre:
    try:
        parts = urlsplit(url)
    except ValueError:
        return Genre.PAGE
    host, path = (parts.hostname or "").removeprefix("www."), [p for p in parts.path.split("/") if p]
    if host in REPOSITORIES and len(path) == 2:
        return Genre.SOFTWARE
    if host == "arxiv.org" and len(path) >= 2 and path[0] in ("abs", "pdf"):
        return Genre.PREPRINT
    if host == "huggingface.co" and path[:1] == ["datasets"] and len(path) == 3:
        return Genre.DATASET
    return Genre.PAGE


def stated(source: Source) -> tuple[int, ...]:
    """When the source says that it was written, as precisely as sources.toml has it: year, month, day, or nothing."""
    given = dict(source.dates)
    for key in STATED:
        if m := _DAY.match(given.get(key, "")):
            return tuple(int(part) for part in m.groups() if part)
    return ()


def _iso(parts: tuple[int, ...]) -> str:
    return "-".join(f"{part:02}" for part in parts)


def _note(c: Citation) -> str:
    """What the date alone does not say."""
    notes = []
    if c.copy_of:
        notes.append(f"second-hand copy of {plain(c.copy_of)}")
    if c.hand:
        since = ", since the machine last did" if c.accessed else "; no machine has read it"
        notes.append(f"read by hand by {plain(c.hand[0])} on {c.hand[1].isoformat()}{since}")
    if c.second_hand:
        notes.append(f"cannot be read; a second-hand copy was, on {c.second_hand[1].isoformat()}: {c.second_hand[0]}")
    return "; ".join(notes)


def _csl(c: Citation) -> dict[str, Any]:
    source, written = c.source, stated(c.source)
    fields: dict[str, Any] = {
        "id": source.id,
        "type": genre(source.url or "").value[0],
        "title": plain(source.title),
        "publisher": plain(source.publisher),
        "language": plain(source.language),
        "URL": source.url,
        "issued": {"date-parts": [list(written)]} if written else None,
        "accessed": {"date-parts": [[c.accessed.year, c.accessed.month, c.accessed.day]]} if c.accessed else None,
        "archive": "sourcewatch" if c.memento else "",
        "archive_location": c.memento,
        "note": _note(c),
    }
    return {key: value for key, value in fields.items() if value}


_TEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\textbraceleft{}",  # BibTeX counts braces, escaped or not
        "}": r"\textbraceright{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{c: f"\\{c}" for c in "#$%&_"},
    }
)


def _bibtex(c: Citation) -> str:
    source = c.source
    fields = {
        "title": "{" + _tex(source.title) + "}",  # the inner braces keep a style from changing its case
        "organization": "{" + _tex(source.publisher) + "}" if source.publisher else "",
        "date": _iso(stated(source)),
        "url": _verbatim(source.url or ""),
        "urldate": c.accessed.isoformat() if c.accessed else "",
        "langid": {"zh": "chinese", "en": "english"}.get(source.language[:2].lower(), ""),
        "note": _tex(_note(c)),
        "addendum": rf"Archived: \url{{{_in_argument(c.memento)}}}" if c.memento else "",
    }
    lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
    return f"@{genre(source.url or '').value[1]}{{{source.id},\n{lines}}}\n"


def _tex(text: str) -> str:
    return plain(text).translate(_TEX)


def _verbatim(url: str) -> str:
    """biblatex reads addresses as they stand: only what would end the field is escaped, as the web does it."""
    return quote(url, safe="".join(chr(c) for c in range(0x21, 0x7F) if chr(c) not in '{}\\"<>^`|'), errors="replace")


def _in_argument(url: str) -> str:
    """The same inside the argument of a macro, where TeX has read % and # before \\url can keep them from it."""
    return _verbatim(url).replace("%", r"\%").replace("#", r"\#")


def _gbt(c: Citation, edition: Edition) -> str:
    """The 2025 edition has full-width brackets round the date of the text, the older one half-width ones."""
    source, new = c.source, edition is Edition.Y2025
    sign = genre(source.url or "").value[2 if new else 3]
    author = f"{_ended(plain(source.publisher))} " if source.publisher else ""
    written = _iso(stated(source))
    update = (f"（{written}）" if new else f"({written})") if written else ""
    read = f"[{c.accessed.isoformat()}]" if c.accessed else ""
    when = f" {update}{read}." if update and not new else f"{update}{read}." if update else f" {read}." if read else ""
    reference = f"{author}{plain(source.title)}[{sign}].{when} {_verbatim(source.url or '')}."
    return reference + (f"（{note}）" if (note := _chinese_note(c)) else "")


def _ended(name: str) -> str:
    return name if name.endswith((".", "．")) else f"{name}."


def _chinese_note(c: Citation) -> str:
    notes = []
    if c.copy_of:
        notes.append(f"{plain(c.copy_of)} 的二手镜像")
    if c.hand:
        by = f"由{plain(c.hand[0])}于{c.hand[1].isoformat()}人工读取"
        notes.append(f"其后{by}" if c.accessed else f"{by}，机器未读到")
    if c.second_hand:
        notes.append(f"来源读不到，{c.second_hand[1].isoformat()}读到的是二手镜像 {_verbatim(c.second_hand[0])}")
    return "；".join(notes)


def _robust(c: Citation) -> str:
    url = safe_href(c.source.url)
    robust = {"href": url}
    if c.version_at is not None:
        robust |= {"data-originalurl": url, "data-versiondate": f"{c.version_at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"}
        where = c.memento or (c.outside[0] if c.outside else "")
        robust |= {"data-versionurl": where} if where else {}
    elif c.outside is not None:
        robust |= {"data-originalurl": url, "data-versiondate": f"{c.outside[1].astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"}
        robust |= {"data-versionurl": c.outside[0]}
    attributes = " ".join(f'{name}="{escape(_verbatim(value))}"' for name, value in robust.items())
    return f"<a {attributes}>{escape(plain(c.source.title))}</a>"
