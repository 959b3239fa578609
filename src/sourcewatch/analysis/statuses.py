"""What an answer's status says by itself (RFC 9110 §15; 451 RFC 7725, 511 RFC 6585, 999 LinkedIn, 52x Cloudflare)."""

from __future__ import annotations

from sourcewatch.domain.capture import Exchange
from sourcewatch.domain.verdict import Verdict

READ = frozenset({200, 201, 202, 203, 226})
WORDS_BY_STATUS = {
    204: "empty_body",
    205: "empty_body",
    206: "partial_content",
    304: "empty_body",  # nobody sent a validator, or the chain led elsewhere: there is nothing to read
    401: "auth_required",
    402: "payment_required",
    403: "forbidden",
    404: "not_found",
    406: "forbidden",
    407: "auth_required",
    410: "gone",
    429: "rate_limited",
    451: "unavailable_for_legal",
    511: "network_auth",
    999: "forbidden",
}
WORDS_BY_HUNDRED = {
    1: "bad_status_line",
    2: "empty_body",
    3: "redirect_bad_location",
    4: "client_error",
    5: "server_error",
}


def refused(answer: Exchange) -> Verdict | None:
    """The verdict of a status that brings no source; None for one that does."""
    status = answer.status
    if status in READ or (200 < status < 300 and status not in WORDS_BY_STATUS and answer.body):
        return None
    if status == 403 and answer.header("x-ratelimit-remaining").strip() == "0":
        status = 429  # GitHub's way: docs.github.com, "Rate limits for the REST API"
    word = WORDS_BY_STATUS.get(status) or WORDS_BY_HUNDRED.get(status // 100, "client_error")
    evidence = f"HTTP {answer.status} {answer.reason}".strip()
    if wait := answer.header("retry-after"):
        evidence += f", Retry-After: {wait[:60]}"
    if status == 206 and (part := answer.header("content-range")):
        evidence += f", Content-Range: {part[:60]}"
    return Verdict(word, f"status-{answer.status}", evidence)
