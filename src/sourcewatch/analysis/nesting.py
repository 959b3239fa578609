"""What a tree of some markup would cost, told in linear time before it is built; and the bare text of costly ones.

Three things are quadratic in Lexbor (selectolax 1.0.2, measured 2026-12): nesting (20,000 <div> take 0.4 s, 60,000 in
300 KB 7.7 s), attributes of one tag (100,000 take 20 s), and formatting elements left open, all of which every new
paragraph opens again (HTML Standard, "reconstruct the active formatting elements"): 2,000 tags make 450,000 nodes.
"""

from __future__ import annotations

import re
from html import unescape

DEEPEST = 5_000
MOST_FORMATTING = 200
FEW_TAGS = 1_500
MOST_ATTRIBUTES = 5_000
LONG_PAGE = 200_000
LONG_TAG = 40_000
QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
BETWEEN_ATTRIBUTES = re.compile(r"[\s/]+")
TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]{0,40})")
# Formatting elements with attributes: of like ones at most three are opened again (the "Noah's Ark clause").
DRESSED = re.compile(r"<(?:[biusBIUS]|[Bb]ig|[Cc]ode|em|EM|[Ff]ont|FONT|small|strike|strong|tt|u)\s")
FORMATTING_TAG = re.compile(r"<(/?)(b|big|code|em|font|i|s|small|strike|strong|tt|u)(?=[\s/>])", re.I)
CLOSES_ITSELF = frozenset(
    "area base br col embed hr img input link meta param source track wbr p li dt dd option tr td th".split()  # noqa: SIM905
)
RAW = frozenset(("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "noscript"))


def too_costly(html: str) -> str:
    """Why a tree of this markup would cost more than reading it is worth, or ""."""
    opens = html.count("<")
    if len(html) > LONG_PAGE and any(_crowded(part) for part in html.split("<") if len(part) > LONG_TAG):
        return "too many attributes"
    if (
        opens > FEW_TAGS
        and len(DRESSED.findall(html)) > MOST_FORMATTING
        and _depth(FORMATTING_TAG, html) > MOST_FORMATTING
    ):
        return "too many formatting elements left open"
    if opens > DEEPEST and _depth(TAG, html) > DEEPEST:
        return "nested too deeply"
    return ""


def _crowded(part: str) -> bool:
    """Whether what follows a "<" is a tag with thousands of attributes; what stands in quotes does not count."""
    if not part[:1].isalpha() or (part[:6].lower() in ("script", "style>") and part.find(">") < LONG_TAG):
        return False
    return len(BETWEEN_ATTRIBUTES.findall(QUOTED.sub("", part).partition(">")[0])) > MOST_ATTRIBUTES


def _depth(tags: re.Pattern[str], html: str) -> int:
    """The deepest nesting of elements that *tags* finds; a closing tag counts only where such an element is open."""
    depth = deepest = 0
    still_open: dict[str, int] = {}
    within = ""
    for closing, raw in tags.findall(html):
        name = raw.lower()
        if within:
            within = "" if closing and name == within else within
            continue
        if name in RAW:
            within = "" if closing else name
            continue
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
