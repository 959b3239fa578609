"""Pages that say with status 200 that there is no page, or that somebody removed it."""

from __future__ import annotations

import re

from sourcewatch.domain.document import Form

from .view import THIN, Rule, View, own_weight, shown, weight

ERROR_PATH = re.compile(
    r"(?:^|/)(?:[\w-]{0,20}[-_])?(?:40[0-9](?:error|page)?|error40[0-9]|not-?found|notfound|nopage|errors?|errorpage|err"
    r"|missing|unavailable|deleted|removed)(?:\.\w{2,5})?(?:/|$)"
)
ECHO = re.compile(r"sourcewatch-[0-9a-f]{32}|[0-9a-f]{8,}|\d+")
SOLE = 60  # prose beside a notice below which it is the page's only sentence, whatever frame is around it
LITTLE = 350  # a notice's own advice and excuse
OWN_TEXT = 90  # a short real page between the same frame has at least a sentence of its own
OWN_SHARE = 0.05


def said(view: View, kind: str) -> tuple[float, str]:
    """How strongly a page says something of a *kind*, in points, and its words; 3 points are enough.

    Title and heading count two each, a short block with a sentence that is little else one and a half, one that only
    holds it one; half a point more where the page's text starts with it, up to one for a second such block. Little
    prose beside it adds one, an article takes two away; words that are most of the page add one, those that are its
    only sentence one half.
    """
    title = view.title_says(kind)
    if not view.is_thin and not title:  # could not make three points beside so much prose
        return 0.0, ""
    heading = view.heading_says(kind)
    notices = view.notices_say(kind)
    words = heading or next(iter(notices), title)
    if not words:
        return 0.0, ""
    points = 2.0 * bool(title) + 2.0 * bool(heading)
    strong = view.notices_say(kind, 0.6)
    weights = sum(map(weight, notices[:3])) if notices else weight(words)
    beside = max(0, view.prose - weights)
    if notices and not heading:
        points += 1.5 if strong else 1.0
        points += 0.5 * bool(strong and view.opens_with(words))
    if len(notices) > 1:
        points += 1.0 if len(strong) > 1 else 0.5
    points += 1.0 if beside < LITTLE else 0.0 if beside < THIN else -1.0 if beside < 2 * THIN else -2.0
    points += 1.0 if weights >= 0.5 * view.shown else 0.5 if strong and beside < SOLE else 0.0
    return points, shown(words) + (f", title {shown(title)}" if title and title != words else "")


def _error_path(view: View) -> bool:
    return view.moved and bool(ERROR_PATH.search(view.path)) and not ERROR_PATH.search(view.cited_path)


def _not_found(view: View) -> str:
    if not view.is_page or view.is_article:
        return ""
    points, words = said(view, "not-found")
    if points and _error_path(view):
        points += 1.5
    if points and view.reading.accepted is not None and view.kept < 0.1:
        points += 0.5
    return f"{words}; {view.facts()}" if points >= 3 else ""


def _error_address(view: View) -> str:
    if view.is_page and view.is_thin and _error_path(view):
        return f"{view.cited} led to {view.url}; {view.facts()}"
    return ""


def _removed(view: View) -> str:
    if not view.is_page or view.is_article:
        return ""
    points, words = said(view, "removed")
    if said(view, "not-found")[0] > points:
        return ""  # "does not exist or was removed": nobody says that somebody removed it
    return f"{words}; {view.facts()}" if points >= 2.5 and view.is_thin else ""


def _data_says(view: View) -> str:
    """An API that answers 200 and an error: {"code": 404, "message": "not found"}."""
    if view.reading.form is not Form.JSON or view.shown > 400:
        return ""
    accepted = view.reading.accepted
    if accepted is not None and accepted.document.form is Form.JSON and view.kept > 0:
        return ""
    raw = view.raw
    if not re.search(rb'"(?:error|err|errors|errmsg|error_code|errcode|message|msg)"\s{0,4}:', raw):
        return ""
    text = view.document.text.lower()
    if re.search(r"\b(?:404|not[ _-]?found)\b|不存在|找不到|未找到", text):
        return f"data that says {shown(text.replace(chr(10), ' '))}"
    return ""


def _probe(view: View) -> str:
    """The same page as the host shows for an invented address. A probe that was answered 404 proves nothing."""
    probe = view.reading.probe
    if probe is None or probe.status != 200 or not view.is_page or view.path == "/":
        return ""
    if not view.moved and probe.final_url == view.url:
        return ""  # every unknown address leads here, and here is what was cited
    theirs = {_masked(line) for line in probe.text.splitlines()}
    if not theirs:
        return ""
    ours = {_masked(b.text): own_weight(b) for b in view.document.visible}
    own = sum(size for line, size in ours.items() if line not in theirs)
    whole = sum(ours.values())
    missing = sum(weight(line) for line in theirs if line not in ours)
    if own > max(OWN_TEXT, OWN_SHARE * whole) or missing > max(2 * OWN_TEXT, 0.2 * whole) or whole < 20:
        return ""
    if _masked(view.document.title) != _masked(probe.title) and own > OWN_TEXT // 3:
        return ""
    return f"nearly the same as {probe.asked_url}, which was invented: {own} of {whole} bytes differ; {view.facts()}"


def _masked(line: str) -> str:
    return ECHO.sub("#", line.lower())


RULES = (
    Rule("removed-notice", "removed_notice", _removed),
    Rule("not-found-notice", "soft_404", _not_found),
    Rule("error-address", "soft_404", _error_address),
    Rule("not-found-data", "soft_404", _data_says),
)
PROBE_RULES = (Rule("same-as-invented", "soft_404", _probe),)
