"""How deep markup nests, counted in linear time before a tree is built; and its bare text, for what nests too deep.

Lexbor's tree building is quadratic in depth: 20,000 nested <div> take 0.4 s, 60,000 (300 KB) 7.7 s. Formatting
elements left open are worse: every new paragraph opens all of them again (HTML Standard, "reconstruct the active
formatting elements"), so that 2,000 tags can become two million nodes.
"""

from __future__ import annotations

import re
from html import unescape

DEEPEST = 5_000
MOST_FORMATTING = 200
FEW_TAGS = 1_000
TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]{0,40})")
FORMATTING_TAG = re.compile(r"<(/?)(b|big|code|em|font|i|s|small|strike|strong|tt|u)(?=[\s/>])", re.I)
CLOSES_ITSELF = frozenset(
    "area base br col embed hr img input link meta param source track wbr p li dt dd option tr td th".split()  # noqa: SIM905
)


def too_deep(html: str) -> bool:
    """Whether a tree of this markup would cost more than reading it is worth."""
    opens = html.count("<") - html.count("</")
    if opens <= FEW_TAGS:
        return False
    return _open_formatting(html) > MOST_FORMATTING or (opens > DEEPEST and _depth(html) > DEEPEST)


def _depth(html: str) -> int:
    """The deepest nesting; a closing tag counts only where such an element is open."""
    depth = deepest = 0
    still_open: dict[str, int] = {}
    for closing, raw in TAG.findall(html):
        name = raw.lower()
        if name in CLOSES_ITSELF:
            continue
        count = still_open.get(name, 0)
        if not closing:
            still_open[name] = count + 1
            depth += 1
            deepest = max(deepest, depth)
        elif count:
            still_open[name] = count - 1
            depth -= 1
    return deepest


def _open_formatting(html: str) -> int:
    depth = deepest = 0
    for closing, _ in FORMATTING_TAG.findall(html):
        depth = max(0, depth - 1) if closing else depth + 1
        deepest = max(deepest, depth)
    return deepest


def bare_lines(html: str) -> list[str]:
    """The text between tags, one line for each run of it; scripts, styles and comments left out. Linear."""
    lines: list[str] = []
    lower = html.lower() if len(html.lower()) == len(html) else html
    at, size = 0, len(html)
    while at < size:
        start = html.find("<", at)
        start = size if start < 0 else start
        if line := " ".join(unescape(html[at:start]).split()):
            lines.append(line)
        at = _past_markup(html, lower, start) if start < size else size
    return lines


def _past_markup(html: str, lower: str, start: int) -> int:
    """Where the tag, comment or raw element that begins at *start* ends."""
    size = len(html)
    if html.startswith("<!--", start):
        end = html.find("-->", start + 4)
        return size if end < 0 else end + 3
    if not (html[start + 1 : start + 2].isalpha() or html[start + 1 : start + 2] in ("/", "!", "?")):
        return start + 1
    for name in ("script", "style"):
        if lower.startswith(name, start + 1):
            end = lower.find("</" + name, start)
            start = size if end < 0 else end
            break
    end = html.find(">", start)
    return size if end < 0 else end + 1
