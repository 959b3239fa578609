"""Captchas, JavaScript proofs and WAF checkpoints, at any status."""

from __future__ import annotations

import re

from sourcewatch.domain.capture import Exchange

from .challenge_marks import MARKS, WIDGETS, Mark
from .view import Rule, View, shown, weight

LONE_NOTICE = 700  # visible text of generic checkpoints: 20 to 600 bytes
ALL_GONE = 0.04  # of the accepted text kept at most: another page has as much by chance
NEXT_TO_NONE = 60  # visible text of a page that only runs its script: a name, "please wait"
REFUSING = (403, 405, 429, 503)  # what checkpoints answer where they do not answer 200
SCRIPT = re.compile(rb"<script\b[^>]{0,2000}>(.*?)</script", re.S)
COOKIE = re.compile(rb"document\s{0,2}\.\s{0,2}cookie\s{0,4}=[^=]")
AGAIN = re.compile(
    rb"location\s{0,2}\.\s{0,2}reload\s{0,2}\(|history\s{0,2}\.\s{0,2}go\s{0,2}\(\s{0,2}0?\s{0,2}\)"
    rb"|location(?:\s{0,2}\.\s{0,2}href)?\s{0,4}=\s{0,4}(?:(?:window|self|top|document)\s{0,2}\.\s{0,2})?location\b"
    rb"|location\s{0,2}\.\s{0,2}(?:replace|assign)\s{0,2}\(\s{0,4}(?:(?:window|self|top|document)\s{0,2}\.\s{0,2})?location\b"
)


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
    """A page that wants proof of a person: it says so in title or heading, or beside a captcha's widget.

    Where nothing is left of the accepted text, a looser notice beside the title is proof enough.
    """
    if not view.is_page or not view.is_thin:
        return ""
    said = view.title_says("human") or view.heading_says("human", 0.6)
    notice = said or view.notice_says("human", 0.5)
    if not notice or view.beside(notice) > LONE_NOTICE:
        return ""
    widget = next((w for w in WIDGETS if w in view.raw), b"")
    others = view.notices_say("human", 0.3 if _all_gone(view) else 0.5) if said else []
    second = any(text != said for text in others) or (said and view.status in REFUSING)
    lonely = view.shown - weight(notice) < LONE_NOTICE
    if (widget and (said or lonely)) or (second and lonely):
        beside = f" beside {widget.decode()}" if widget else ""
        return f"asks for proof of a person: {shown(notice)}{beside}; {view.facts()}"
    return ""


def _by_script(view: View) -> str:
    """A page of a few words whose own script sets a cookie and loads the page again: proof of a browser.

    Good pages have such scripts, too: for a reader's language or consent. They have text beside it, or the text that
    was there before; this one has words about checking or waiting, next to none, or nothing of the accepted text.
    """
    if not view.is_page or not view.is_thin or view.shown >= LONE_NOTICE:
        return ""
    scripts = SCRIPT.findall(view.raw)
    if not any(COOKIE.search(script) and AGAIN.search(script) for script in scripts):
        return ""
    words = next(
        filter(None, (view.title_says(k) or view.notice_says(k) for k in ("human", "scripts", "redirecting"))), ""
    )
    if not (words or view.shown < NEXT_TO_NONE or _all_gone(view)):
        return ""
    sign = f"says {shown(words)} and " if words else ""
    return f"{sign}has a script that sets a cookie and loads the page again; {view.facts()}"


def _all_gone(view: View) -> bool:
    return view.reading.accepted is not None and view.kept <= ALL_GONE


RULES = (
    Rule("challenge-header", "challenge", _by_header),
    Rule("challenge-vendor", "challenge", _by_vendor),
    Rule("challenge-generic", "challenge", _generic),
    Rule("challenge-script", "challenge", _by_script),
)
