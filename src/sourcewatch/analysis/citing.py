"""Which reader reads which file of a site: by its name."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from ..domain.mention import Mention, NotRead
from . import citing_html, citing_markdown, citing_records, citing_text

MARKDOWN = frozenset({".md", ".markdown", ".mdown", ".qmd", ".rmd"})
HTML = frozenset({".html", ".htm", ".xhtml", ".vue", ".svelte", ".njk", ".liquid", ".hbs"})
DATA = frozenset({".yaml", ".yml", ".toml", ".json"})
SUFFIXES = MARKDOWN | HTML | DATA | {".mdx", ".astro", ".rst", ".bib", ".xml"}


def read(place: str, text: str) -> tuple[list[Mention], list[NotRead]]:
    """The outward addresses of one file, by its suffix; what could not be read is told. Never raises for a text."""
    text = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    found = list(_read(place, text))
    return [f for f in found if isinstance(f, Mention)], [f for f in found if isinstance(f, NotRead)]


def _read(place: str, text: str) -> Iterable[Mention | NotRead]:
    suffix = PurePosixPath(place).suffix.lower()
    if suffix in MARKDOWN or suffix == ".mdx":
        return citing_markdown.read(place, text, mdx=suffix == ".mdx")
    if suffix in HTML:
        return citing_html.read(place, text)
    if suffix == ".astro":
        return _astro(place, text)
    if suffix == ".rst":
        from . import citing_rst  # docutils takes 0.2 s to import: only where there is such a file

        return citing_rst.read(place, text)
    if suffix == ".bib":
        return citing_records.bibtex(place, text)
    if suffix == ".json":
        return _json(place, text)
    if suffix == ".xml":
        return [NotRead(place, 0, "XML that is no sitemap")]
    return citing_text.lines(place, text)


def _astro(place: str, text: str) -> Iterable[Mention | NotRead]:
    """A component's script between its fences, then its template."""
    head, body, first = "", text, 1
    if text.startswith("---\n") and (end := text.find("\n---", 3)) >= 0:
        head, body = text[4:end], text[end + 4 :]
        first = 1 + text.count("\n", 0, end + 4)
    script = (c for c in citing_text.lines(place, head, 2) if not _imports(head, c.line - 2))
    return [*script, *citing_html.read(place, body, first_line=first)]


def _imports(script: str, index: int) -> bool:
    return script.split("\n")[index].lstrip().startswith(("import ", "//", "*"))


def _json(place: str, text: str) -> Iterable[Mention | NotRead]:
    try:
        items = citing_records.csl_json(place, text)
    except (ValueError, RecursionError) as error:
        return [NotRead(place, getattr(error, "lineno", 0), f"not JSON: {getattr(error, 'msg', 'nested too deeply')}")]
    return citing_text.lines(place, text) if items is None else items
