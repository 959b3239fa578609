"""A source's checks as a strip of SVG: one mark a span, its kind told by height and shape as well as by colour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ..domain.check import Span
from ..domain.standing import CLOCKS_APART

WIDTH, HEIGHT = 960, 56
MOST_MARKS = 1_000
KINDS = ("read", "changed", "walled", "failed", "hand")


@dataclass(frozen=True, slots=True)
class Mark:
    """*x* and *width* in the strip's own units; *kind* is one of KINDS."""

    x: float
    width: float
    kind: str


@dataclass(frozen=True, slots=True)
class Strip:
    """*ticks* are (x, when); *counts* says how many checks there were of each kind; *void* ones are none of them."""

    marks: tuple[Mark, ...]
    ticks: tuple[tuple[float, datetime], ...]
    counts: dict[str, int]
    since: datetime
    until: datetime
    void: int = 0


def strip(spans: Sequence[Span], now: datetime) -> Strip | None:
    """None before the first check. Void failures are none of the source's, and what lies ahead was written while the
    clock was wrong; they are left out."""
    own = [s for s in spans if (s.verdict.accessed or not s.void) and s.last_at <= now + CLOCKS_APART]
    if not own:
        return None
    since = min(s.first_at for s in own)
    until = max(now, *(s.last_at for s in own))
    whole = (until - since).total_seconds() or 1.0

    def place(at: datetime) -> float:
        return round((at - since).total_seconds() / whole * WIDTH, 1)

    counts = dict.fromkeys(KINDS, 0)
    for span in own:
        later = span.n - 1 if span.new_version and not span.by_hand else 0  # only the first of them brought the version
        counts[kind_of(span)] += span.n - later
        counts["read"] += later
    shown = own[-MOST_MARKS:]
    marks = [Mark(x, round(max(3.0, place(s.last_at) - x), 1), kind_of(s)) for s in shown for x in (place(s.first_at),)]
    marks.sort(key=lambda m: KINDS.index(m.kind) != 0)  # what is rarer lies above
    ticks = tuple((round(WIDTH * n / 4, 1), since + (until - since) * n / 4) for n in range(5))
    return Strip(
        tuple(m for m in marks),
        ticks,
        counts,
        since,
        until,
        sum(s.n for s in spans if s.void and not s.verdict.accessed),
    )


def kind_of(span: Span) -> str:
    if span.by_hand:
        return "hand"
    if span.verdict.accessed:
        return "changed" if span.new_version else "read"
    return "walled" if span.verdict.klass in ("walled", "refused") else "failed"
