"""When a source is asked next, from how it stands. Pure: the same past gives the same time on any machine."""

from __future__ import annotations

from datetime import datetime, timedelta
from hashlib import sha256

from ..domain.standing import Standing
from ..domain.verdict import Retry, Verdict

CONFIRM = timedelta(minutes=20)  # a change is told when the next fetch, 10–60 minutes later, still shows it
SOON = (timedelta(minutes=10), timedelta(hours=1), timedelta(hours=6))
DEAD_EVERY = timedelta(days=7)  # the dead are asked on, less often


def jitter(source: str) -> float:
    """A factor of 0.9–1.1 that belongs to the source: spreads the load, and a restart shifts nothing."""
    return 0.9 + 0.2 * int.from_bytes(sha256(source.encode()).digest()[:4]) / 2**32


def next_check(
    source: str, every_s: float, now: datetime, verdict: Verdict, before: Standing, *, unconfirmed: bool = False
) -> datetime:
    """The time of the next check (UTC). *before* is the standing without this check's result.

    A failure that asks to be tried again is, after 10 minutes, an hour, six hours; an unconfirmed change after 20.
    """
    usual = timedelta(seconds=every_s * jitter(source))
    if verdict.accessed:
        return now + (min(usual, CONFIRM) if unconfirmed else usual)
    if before.dead:
        return now + max(usual, DEAD_EVERY)
    if verdict.word == "redirect_to_private":
        return now + min(usual, SOON[0])  # nobody was asked; an editor may open the network at any time
    if verdict.retry is Retry.NEVER:
        return now + usual
    failures = before.failures
    return now + (min(usual, SOON[failures]) if failures < len(SOON) else usual)
