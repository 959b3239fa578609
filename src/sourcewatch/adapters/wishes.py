"""What an answer's headers say about when its host wants to be asked again."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from sourcewatch.domain.capture import Exchange

BUSY = frozenset({429, 503})
EPOCH_FROM = 1_000_000_000  # a larger number of seconds is a time (GitHub's), a smaller one a wait (the IETF draft's)
_ITEM = re.compile(r"""["'\w|.-]+((?:\s*;\s*[a-z]+=[^;,]+)*)""")


def refuses(answer: Exchange) -> bool:
    """Whether the host says that it is asked too much: 429, 503, or GitHub's 403 with nothing left."""
    return answer.status in BUSY or (answer.status == 403 and _left(answer) == 0)


def wish_s(answer: Exchange, now: datetime | None = None) -> float | None:
    """Seconds for which the host wants peace, by Retry-After where it refuses, or by a budget that this answer used up;
    None where it says nothing usable."""
    at = _sent_at(answer) or now or datetime.now(UTC)
    asked = retry_after_s(answer.header("retry-after"), at) if refuses(answer) or answer.status == 403 else None
    if asked is None and _left(answer) == 0:
        return _reset_s(answer, at)
    return asked


def retry_after_s(value: str, now: datetime | None = None) -> float | None:
    """Seconds that a Retry-After header asks for (RFC 9110, 10.2.3), or None when it says nothing usable."""
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text[:12])
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return max(0.0, (at - (now or datetime.now(UTC))).total_seconds())


def _left(answer: Exchange) -> int | None:
    """Requests that are left: X-RateLimit-Remaining as GitHub and others send it, or the IETF draft's `RateLimit`
    (draft-ietf-httpapi-ratelimit-headers), of several budgets the smallest."""
    for name in ("x-ratelimit-remaining", "ratelimit-remaining"):
        if (text := answer.header(name).strip()).isdigit():
            return int(text[:12])
    left = [_parameter(item, "r") for item in _budgets(answer)]
    return min((n for n in left if n is not None), default=None)


def _reset_s(answer: Exchange, now: datetime) -> float | None:
    for name in ("x-ratelimit-reset", "ratelimit-reset"):
        if (text := answer.header(name).strip().partition(".")[0]).isdigit():
            number = float(text[:12])
            return max(0.0, number - now.timestamp()) if number > EPOCH_FROM else number
    waits = [_parameter(item, "t") for item in _budgets(answer) if _parameter(item, "r") == 0]
    return max((float(t) for t in waits if t is not None), default=None)


def _budgets(answer: Exchange) -> list[str]:
    return [found[1] for found in _ITEM.finditer(answer.header("ratelimit")[:1000]) if found[1]]


def _parameter(item: str, name: str) -> int | None:
    found = re.search(rf";\s*{name}=(\d{{1,12}})\s*(?:;|$)", item)
    return int(found[1]) if found else None


def _sent_at(answer: Exchange) -> datetime | None:
    """The server's own clock: a time that it names is to be read by it."""
    try:
        at = parsedate_to_datetime(answer.header("date"))
    except (ValueError, OverflowError):
        return None
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)
