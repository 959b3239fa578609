"""What came back, in one word. First version: statuses and emptiness."""

from __future__ import annotations

from ..domain.capture import Capture
from ..domain.reading import Reading
from ..domain.verdict import Verdict

CLASSIFIER = "classify@0"

_STATUS = {
    404: "not_found",
    410: "gone",
    451: "unavailable_for_legal",
    401: "auth_required",
    407: "auth_required",
    402: "payment_required",
    403: "forbidden",
    406: "forbidden",
    999: "forbidden",
    429: "rate_limited",
    511: "network_auth",
    206: "partial_content",
}


def classify(reading: Reading) -> Verdict:
    """The verdict on one reading."""
    answer = reading.capture.answer
    status = answer.status
    if status != 200:
        word = _STATUS.get(status) or ("server_error" if status >= 500 else "client_error")
        return Verdict(word, f"status-{status}", f"HTTP {status} {answer.reason}".strip())
    if not any(b.text.strip() for b in reading.document.blocks):
        return Verdict("empty_body", "no-word", "not a word in it")
    return landing(reading.capture)


def follow(reading: Reading) -> str:
    """Where a page refers on by meta refresh or Refresh header, or ""."""
    return reading.document.refresh if reading.capture.answer.status == 200 else ""


def landing(capture: Capture) -> Verdict:
    """The word for a good page by the way that led to it."""
    hops = capture.exchanges[:-1]
    if not hops:
        return Verdict("ok", "no-objection", "")
    chain = " → ".join(e.url for e in capture.exchanges)
    if any(e.status == 200 for e in hops):
        return Verdict("redirected_meta", "refresh", chain)
    permanent = all(e.status in (301, 308) for e in hops)
    return Verdict("redirected_permanent" if permanent else "redirected_temporary", "redirect", chain)
