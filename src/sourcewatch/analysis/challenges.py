"""Captchas, JavaScript proofs and WAF checkpoints, at any status."""

from __future__ import annotations

from sourcewatch.domain.capture import Exchange

from .challenge_marks import MARKS, WIDGETS, Mark
from .view import Rule, View, shown, weight

LONE_NOTICE = 700  # visible text of generic checkpoints: 20 to 600 bytes


def by_header(answer: Exchange, *, lone: bool = False) -> str:
    """The header by which a vendor marks a challenge; with *lone* also those that need not say anything."""
    headers = {name.lower(): value.lower() for name, value in answer.headers}
    for mark in MARKS:
        for name, value in mark.headers:
            if name in headers and value in headers[name] and (value or lone):
                return f"{mark.vendor}: {name}: {headers[name][:80]}"
    return ""


def _by_header(view: View) -> str:
    # a header that is merely there may stand on good pages too
    return by_header(view.answer, lone=view.status >= 400 or (view.is_page and view.is_thin))


def _by_vendor(view: View) -> str:
    if view.is_article or not (view.is_thin or view.status >= 400):
        return ""
    text = "\n".join((view.title, *(block.text.lower() for block in view.document.visible)))
    for mark in MARKS:
        if sign := _sign(mark, view, text):
            return f"{mark.vendor}: {sign}; {view.facts()}"
    return ""


def _sign(mark: Mark, view: View, text: str) -> str:
    for path in mark.path:
        if view.moved and path in view.path:
            return f"led to {path}"
    for raw in mark.raw:
        parts = raw if isinstance(raw, tuple) else (raw,)
        if all(part.lower() in view.raw for part in parts):
            return "source has " + b" and ".join(parts).decode("utf-8", "replace")
    for words in mark.text:
        parts_ = words if isinstance(words, tuple) else (words,)
        if all(part in text for part in parts_):
            return "says " + " … ".join(map(shown, parts_))
    return ""


def _generic(view: View) -> str:
    """A page that wants proof of a person: it says so in title or heading, or beside a captcha's widget."""
    if not view.is_page or not view.is_thin:
        return ""
    said = view.title_says("human") or view.heading_says("human", 0.6)
    notice = said or view.notice_says("human", 0.5)
    if not notice or view.beside(notice) > LONE_NOTICE:
        return ""
    widget = next((w for w in WIDGETS if w in view.raw), b"")
    second = view.notice_says("human", 0.5) if said else ""
    lonely = view.shown - weight(notice) < LONE_NOTICE
    if (widget and (said or lonely)) or (second and second != said and lonely):
        beside = f" beside {widget.decode()}" if widget else ""
        return f"asks for proof of a person: {shown(notice)}{beside}; {view.facts()}"
    return ""


RULES = (
    Rule("challenge-header", "challenge", _by_header),
    Rule("challenge-vendor", "challenge", _by_vendor),
    Rule("challenge-generic", "challenge", _generic),
)
