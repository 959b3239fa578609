"""Where a source stands now: the one definition of "last accessed". It is computed, never stored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from .check import Memory, Span
from .verdict import Verdict

CLOCKS_APART = timedelta(minutes=5)  # between machines that are set right; what is dated later, a wrong clock wrote
STRIKES_UNTIL_DEAD = 3
DEAD_AFTER = timedelta(days=6)  # three failures on one bad afternoon are no death


@dataclass(frozen=True, slots=True)
class Standing:
    """*version* is the one that the last access saw; *failing_since* the first failing check after it (UTC).

    *failures* counts the checks since the last access, *strikes* those of them that strike; *recovered_from* is the
    failure that the last access ended, *final_url* where that access read the source.

    All of this is the machine's own: what a person read and brought moves none of it, however new it is. A person's
    word is another kind of evidence (nobody can repeat the reading, its date is a claim), and the machine still cannot
    read the source. Where a person has read it since the last access, *by_hand_at* and *by_hand_by* say when and who,
    to be shown beside the machine's date and never in its place.
    """

    last_accessed: datetime | None = None
    version: int | None = None
    verdict: Verdict | None = None
    checked_at: datetime | None = None
    failing_since: datetime | None = None
    failures: int = 0
    strikes: int = 0
    striking_since: datetime | None = None
    dead: bool = False
    by_hand_at: datetime | None = None
    by_hand_by: str = ""
    recovered_from: Verdict | None = None
    recovered_at: datetime | None = None
    final_url: str = ""


def standing(spans: Iterable[Span]) -> Standing:
    """Fold a source's spans, in any order, into where it stands. Void failures count for nothing."""
    last: Span | None = None
    failing: list[Span] = []
    ended: Span | None = None
    ended_at: datetime | None = None
    newest: Span | None = None
    hand: Span | None = None
    for span in sorted(spans, key=lambda s: (s.first_at, s.last_at, s.id)):
        if span.void and not span.verdict.accessed:
            continue
        if span.by_hand:
            hand = span if hand is None or span.last_at >= hand.last_at else hand
            continue
        newest = span if newest is None or span.last_at >= newest.last_at else newest
        if span.verdict.accessed:
            if failing:
                ended, ended_at = failing[-1], span.first_at
            failing = []
            last = span if last is None or span.last_at >= last.last_at else last
        else:
            failing.append(span)
    if last is not None:  # a clock that was set back may have put failures inside the span of an access
        failing = [s for s in failing if s.last_at >= last.last_at]
    striking = [s for s in failing if s.verdict.strike]
    strikes = sum(s.n for s in striking)
    if hand is not None and last is not None and last.last_at >= hand.last_at:
        hand = None  # the machine has read it since
    lasted = striking[-1].last_at - striking[0].first_at if striking else timedelta()
    return Standing(
        last_accessed=last.last_at if last else None,
        version=last.version if last else None,
        verdict=newest.verdict if newest else None,
        checked_at=newest.last_at if newest else None,
        failing_since=failing[0].first_at if failing else None,
        failures=sum(s.n for s in failing),
        strikes=strikes,
        striking_since=striking[0].first_at if striking else None,
        dead=strikes >= STRIKES_UNTIL_DEAD and lasted >= DEAD_AFTER,
        by_hand_at=hand.last_at if hand else None,
        by_hand_by=str(hand.facts.get("by", "")) if hand else "",
        recovered_from=ended.verdict if ended and not failing else None,
        recovered_at=ended_at if not failing else None,
        final_url=last.final_url if last else "",
    )


def after(before: Standing, verdict: Verdict, at: datetime, version: int | None, final_url: str) -> Standing:
    """The standing after one more check: `standing` of the same spans and this one, without reading them again."""
    if verdict.accessed:
        newer = before.last_accessed is None or at >= before.last_accessed
        hand = before.by_hand_at is not None and before.by_hand_at > at
        return Standing(
            last_accessed=at if newer else before.last_accessed,
            version=version if newer else before.version,
            verdict=verdict,
            checked_at=at,
            final_url=final_url if newer else before.final_url,
            recovered_from=before.verdict if before.failing_since else before.recovered_from,
            recovered_at=at if before.failing_since else before.recovered_at,
            by_hand_at=before.by_hand_at if hand else None,
            by_hand_by=before.by_hand_by if hand else "",
        )
    strikes = before.strikes + verdict.strike
    since = before.striking_since or (at if verdict.strike else None)
    lasted = at - since if since and verdict.strike else timedelta()
    return replace(
        before,
        verdict=verdict,
        checked_at=at,
        failing_since=before.failing_since or at,
        failures=before.failures + 1,
        strikes=strikes,
        striking_since=since,
        dead=before.dead or (strikes >= STRIKES_UNTIL_DEAD and lasted >= DEAD_AFTER),
        recovered_from=None,
        recovered_at=None,
    )


@dataclass(frozen=True, slots=True)
class Recall:
    """What is known of a source before a check: its newest version, its newest row, and where it stands."""

    memory: Memory | None
    last: Span | None
    standing: Standing
