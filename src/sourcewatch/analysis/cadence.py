"""When a source is asked next, from how it stands. Pure: the same past gives the same time on any machine."""

from __future__ import annotations

from datetime import datetime, timedelta
from hashlib import sha256

from ..domain.standing import Standing
from ..domain.verdict import Retry, Verdict

CONFIRM = timedelta(minutes=20)  # a change is told when the next fetch, 10–60 minutes later, still shows it
SOON = (timedelta(minutes=10), timedelta(hours=1), timedelta(hours=6))
DEAD_EVERY = timedelta(days=7)  # the dead are asked on, less often
OF_ITS_AGE = 10  # what has stood for thirty days is asked every three: a change is found within a tenth of its time


def jitter(source: str) -> float:
    """A factor of 0.9–1.1 that belongs to the source: spreads the load, and a restart shifts nothing."""
    return 0.9 + 0.2 * int.from_bytes(sha256(source.encode()).digest()[:4]) / 2**32


def interval(
    source: str, every_s: float, slowest_s: float | None = None, unchanged: timedelta = timedelta()
) -> timedelta:
    """How long a source that reads well is left alone: *every_s*, and a tenth of the time for which it has not
    changed if that is longer, up to *slowest_s* (None: it stays at *every_s*)."""
    usual = timedelta(seconds=every_s)
    if slowest_s is not None:
        usual = max(usual, min(timedelta(seconds=slowest_s), unchanged / OF_ITS_AGE))
    return usual * jitter(source)


def next_check(
    now: datetime, usual_at: datetime, verdict: Verdict, before: Standing, *, unconfirmed: bool = False
) -> datetime:
    """The time of the next check (UTC); *usual_at* is when its interval or its cron line wants it.

    *before* is the standing without this check's result. A failure that asks to be tried again is, after 10 minutes,
    an hour, six hours; an unconfirmed change after 20 minutes; the dead once a week at most.
    """
    if verdict.accessed:
        return min(usual_at, now + CONFIRM) if unconfirmed else usual_at
    if before.dead:
        return max(usual_at, now + DEAD_EVERY)
    if verdict.word == "redirect_to_private":
        return min(usual_at, now + SOON[0])  # nobody was asked; an editor may open the network at any time
    if verdict.retry is Retry.NEVER or before.failures >= len(SOON):
        return usual_at
    return min(usual_at, now + SOON[before.failures])
