"""The addresses that reStructuredText cites, with their lines. What Sphinx adds is read as far as docutils goes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import replace

from docutils import nodes
from docutils.core import publish_doctree

from ..domain.mention import Mention, NotRead
from . import citing_html
from .citing_html import Found
from .citing_text import addresses

MOST_NESTED = 8  # directives that docutils does not know, within each other
_SETTINGS = {
    "report_level": 1, "halt_level": 6, "file_insertion_enabled": False, "raw_enabled": True, "_disable_config": True,
    "input_encoding": "unicode", "warning_stream": "", "smart_quotes": False, "doctitle_xform": False,
    "syntax_highlight": "none",
}  # fmt: skip


def read(place: str, text: str, first_line: int = 1, depth: int = 0) -> Found:
    """Links, targets, pictures and raw HTML. Files that it includes are not read."""
    try:
        tree = publish_doctree(text, settings_overrides=_SETTINGS)
    except (RecursionError, nodes.NodeFound, ValueError, AttributeError, TypeError) as error:
        yield NotRead(place, first_line, f"not reStructuredText that can be read: {error}")
        return
    lines = text.split("\n")
    seen: set[tuple[str, int]] = set()
    for node in tree.findall():
        for found in _node(place, node, lines, first_line):
            if not isinstance(found, Mention) or (found.url, found.line) not in seen:
                yield found
            if isinstance(found, Mention):
                seen.add((found.url, found.line))
    for block, line in _unknown(tree):
        if depth < MOST_NESTED:
            yield from read(place, block, first_line + line, depth + 1)
        else:
            yield NotRead(place, first_line + line, "too many directives within each other")


def _node(place: str, node: nodes.Node, lines: list[str], first: int) -> Found:
    if isinstance(node, (nodes.reference, nodes.target)) and node.get("refuri"):
        url = str(node["refuri"])
        if url.lower().startswith(("http://", "https://")):
            words = " ".join(node.astext().split()) if isinstance(node, nodes.reference) else ""
            yield Mention(url, place, first - 1 + _line(node, url, lines), "" if words == url else words)
    elif isinstance(node, nodes.image) and str(node.get("uri", "")).startswith(("http://", "https://")):
        url = str(node["uri"])
        yield Mention(url, place, first - 1 + _line(node, url, lines), str(node.get("alt", "")), embedded=True)
    elif isinstance(node, nodes.raw) and "html" in str(node.get("format", "")):
        for found in citing_html.read(place, node.astext()):
            needle = found.url if isinstance(found, Mention) else "<!["
            yield replace(found, line=first - 1 + _line(node, needle, lines))
    elif isinstance(node, nodes.problematic):  # a role that docutils does not know
        text = node.astext()
        for url, _ in addresses(text):
            yield Mention(url, place, first - 1 + _line(node, url, lines))


def _line(node: nodes.Node, url: str, lines: list[str]) -> int:
    """The line (from 1) that spells the address at or after its block's own; docutils knows those of blocks only."""
    block: nodes.Node | None = node
    while block is not None and not block.line:
        block = block.parent
    start = block.line if block is not None and block.line else 1
    for number in range(max(0, start - 2), len(lines)):
        if url in lines[number]:
            return number + 1
    return min(start, len(lines))


def _unknown(tree: nodes.document) -> Iterator[tuple[str, int]]:
    """What stands in directives that docutils does not know, with the lines above it: Sphinx's tabs, cards, …"""
    for message in tree.findall(nodes.system_message):
        literal = next(iter(message.findall(nodes.literal_block)), None)
        if literal is None or "Unknown directive type" not in message.astext():
            continue
        head, _, block = literal.astext().partition("\n")
        line = int(message.get("line", 1))
        if block.strip():
            yield textwrap.dedent(block), line
        for url, _ in addresses(head):
            yield url, line - 1
