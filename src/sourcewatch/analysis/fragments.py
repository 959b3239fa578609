"""Whether the cited fragment is on the page: #id, name, percent-encoded, a forge's prefix, #:~:text= directives."""

from __future__ import annotations

import re
from urllib.parse import unquote

from sourcewatch.domain.document import Form
from sourcewatch.domain.verdict import Verdict

from .normalise import folded, typographic
from .view import View, shown

# Script routes, lines of code, parameters for players and viewers: none of them names an element.
NOT_AN_ANCHOR = re.compile(r"[/!~?]|L\d+(?:C\d+)?(?:-L?\d+(?:C\d+)?)?$|[\w.-]{1,40}=|top$|$", re.I)
PREFIXES = ("user-content-", "heading-", "h-")
DIRECTIVE = re.compile(r"(?:^|&)text=([^&]*)")
ANCHORED = frozenset({Form.HTML, Form.MARKDOWN})
SLUG_LOST = re.compile(r"[^\w\- ]")


def missing(view: View) -> Verdict | None:
    """ok_fragment_missing where the cited address names a place or a text that the page does not have."""
    fragment = (view.reading.source.url or "").partition("#")[2]
    if not fragment or view.reading.form not in ANCHORED:
        return None
    name, _, directives = fragment.partition(":~:")
    if directives and (lost := _lost_text(view, directives)):
        return Verdict("ok_fragment_missing", "text-fragment", f"the page does not hold {shown(lost)}")
    if NOT_AN_ANCHOR.match(name):
        return None
    if _has_anchor(view, name):
        return None
    known = len(view.document.anchors)
    return Verdict("ok_fragment_missing", "anchor", f"#{name[:120]} is none of the page's {known} anchors")


def _has_anchor(view: View, name: str) -> bool:
    """HTML Standard, "find a potential indicated element": as it is, then percent-decoded."""
    anchors = view.document.anchors
    plain = unquote(name)
    names = {name, plain, plain.lower(), *(prefix + plain for prefix in PREFIXES)}
    names |= {plain.removeprefix(prefix) for prefix in PREFIXES}
    if not anchors.isdisjoint(names):
        return True
    return view.reading.form is Form.MARKDOWN and plain.lower() in _slugs(view)


def _slugs(view: View) -> set[str]:
    """A heading's anchor as GitHub makes it: lower case, punctuation dropped, spaces to hyphens."""
    headings = (b.text.lower() for b in view.document.blocks if b.tag in ("h1", "h2", "h3", "h4", "h5", "h6"))
    return {SLUG_LOST.sub("", text.strip()).replace(" ", "-") for text in headings}


def _lost_text(view: View, directives: str) -> str:
    """The first text directive that the page does not hold: text=[prefix-,]start[,end][,-suffix] (WICG draft)."""
    text = folded(typographic("\n".join(b.text for b in view.document.blocks)))
    for found in DIRECTIVE.finditer(directives):
        parts = [unquote(part) for part in found.group(1).split(",")]
        prefix = parts.pop(0)[:-1] if len(parts) > 1 and found.group(1).split(",")[0].endswith("-") else ""
        suffix = parts.pop()[1:] if len(parts) > 1 and found.group(1).split(",")[-1].startswith("-") else ""
        wanted = [folded(typographic(part)) for part in (prefix, *parts, suffix)]
        if not _in_order(text, [part for part in wanted if part]):
            return ", ".join(part for part in (prefix, *parts, suffix) if part)
    return ""


def _in_order(text: str, parts: list[str]) -> bool:
    at = 0
    for part in parts:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True
