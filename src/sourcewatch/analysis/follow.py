"""Pages that refer on to another one, by meta refresh or Refresh header."""

from __future__ import annotations

import re

from . import address, challenges
from .statuses import READ
from .view import THIN, View

REFRESH = re.compile(
    r"\s{0,9}(\d{1,6})(?:\.\d{0,9})?\s{0,9}[;,]\s{0,9}(?:url\s{0,9}=\s{0,9})?[\"']?([^\"']{1,4000})", re.I
)
MOST_WAIT_S = 30.0  # a notice that counts down; what waits longer renews itself


def target(view: View) -> str:
    """What a browser would load next, or "": at once, or after a while where the page carries no article itself."""
    if view.status not in READ:
        return ""
    to, after_s = view.document.refresh, view.document.refresh_after_s
    if not to and (found := REFRESH.match(view.answer.header("refresh"))):
        to, after_s = address.absolute(view.url, found.group(2).strip()) or "", float(found.group(1))
    if not to or not address.on_the_web(to) or address.same_document(to, view.url):
        return ""
    if after_s > MOST_WAIT_S or (after_s > 0 and view.prose >= THIN):
        return ""
    return "" if any(rule.find(view) for rule in challenges.RULES) else to
