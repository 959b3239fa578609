"""Markdown as GitHub shows it: rendered to HTML by markdown-it, then read as any page."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from markdown_it import MarkdownIt

from sourcewatch.domain.document import Block, Document, Form, Label

from . import html

# The parser takes about 0.1 s for 100 KB of prose and 1 s for 100 KB of table (2026-12).
MOST_CHARS = 400_000
# Each bracket left open costs 40-85 µs, a thousand times a letter's.
MOST_UNCLOSED = 5_000
# The parser drops what nests deeper than it may recurse.
MOST_NESTING = 100
TOO_DEEP = re.compile(r"^[ \t]{0,3}(?:>[ \t]{0,3}){50}|^[ \t]{100,400}(?:[-*+]|\d{1,9}[.)])[ \t]", re.M)
FRONT_MATTER = re.compile(r"\A(---|\+\+\+)[ \t]*\n(.{0,20000}?)\n\1[ \t]*(?:\n|\Z)", re.S)
FRONT_TITLE = re.compile(r"^title\s{0,9}[:=]\s{0,9}[\"']?(.{1,300}?)[\"']?\s*$", re.M)
NOT_IN_SLUG = re.compile(r"[^\w\- ]")


def extract(text: str, *, url: str = "", select: str = "", ignore: tuple[str, ...] = ()) -> Document:
    """A README as a document: one block for each paragraph, item, row, heading and line of code, markup taken off.

    Front matter stays as lines of its own. Heading anchors are GitHub's. Never raises for what a text contains.
    """
    text = text.replace("\r\n", "\n").replace("\0", "\ufffd").lstrip("\ufeff")
    front, body = _front_matter(text)
    rendered = _rendered(body)
    if rendered is None:
        blocks = tuple(
            Block(line, Label.MAIN, "p", "text") for raw in body.split("\n") if (line := " ".join(raw.split()))
        )
        document = Document(Form.MARKDOWN, blocks=blocks, notes=("too long or too deep for Markdown: read as text",))
    else:
        document = html.extract(rendered, url=url, select=select, ignore=ignore, form=Form.MARKDOWN)
    heads = [block.text for block in document.blocks if block.tag in HEADINGS]
    titled = FRONT_TITLE.search(front)
    lines = tuple(
        Block(line, Label.MAIN, "pre", "front-matter") for raw in front.split("\n") if (line := " ".join(raw.split()))
    )
    return replace(
        document,
        title=titled.group(1) if titled else (heads[0] if heads else ""),
        blocks=(*lines, *document.blocks),
        anchors=document.anchors | heading_anchors(heads),
    )


HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})


def _rendered(body: str) -> str | None:
    unclosed = body.count("[") - body.count("]")
    if len(body) > MOST_CHARS or unclosed > MOST_UNCLOSED or TOO_DEEP.search(body):
        return None
    try:
        return str(_parser().render(body))
    except RecursionError:
        return None


@cache
def _parser() -> MarkdownIt:
    # The preset's own 20 levels are six lists within lists.
    return MarkdownIt("commonmark", {"html": True, "maxNesting": MOST_NESTING}).enable(["table", "strikethrough"])


def _front_matter(text: str) -> tuple[str, str]:
    found = FRONT_MATTER.match(text)
    if found is None or not re.search(r"^[\w-]{1,60}\s{0,9}[:=]", found.group(2), re.M):
        return "", text
    return found.group(2), text[found.end() :]


def heading_anchors(headings: list[str]) -> frozenset[str]:
    """The ids that GitHub gives to headings: lower case, punctuation dropped, spaces to hyphens, repeats numbered."""
    seen: dict[str, int] = {}
    anchors: set[str] = set()
    for heading in headings:
        slug = NOT_IN_SLUG.sub("", heading.strip().lower()).replace(" ", "-")
        count = seen.get(slug, 0)
        seen[slug] = count + 1
        anchors.add(f"{slug}-{count}" if count else slug)
    return frozenset(anchors)
