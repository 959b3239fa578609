"""Rows of checks and changes become the numbers of the overview plots. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta

from ..domain.change import Significance
from ..domain.report import Line
from ..domain.trend import Day, Failing, Reach, Survival, Trends, Week
from . import address, dates

WEEKS = 26
MOST_HOSTS = 12


def since(now: datetime) -> datetime:
    """From when on rows are wanted."""
    return now - timedelta(weeks=WEEKS)


def trends(
    reach: Sequence[Reach],
    changes: Iterable[tuple[datetime, Significance]],
    failing: Iterable[Line],
    tiers: Sequence[str],
    now: datetime,
    zone: str,
) -> Trends:
    """*reach* is by source, oldest first; *tiers* are in the order in which they are shown."""
    return Trends(
        survival=tuple(_survival(reach, tiers, now)),
        weeks=tuple(_weeks(changes, now, zone)),
        days=tuple(_days(reach, now, zone)),
        hosts=tuple(_hosts(failing)),
    )


def _survival(reach: Sequence[Reach], tiers: Sequence[str], now: datetime) -> Iterable[Survival]:
    """Week by week; points before a tier's first check are left out."""
    moments = [now - timedelta(weeks=n) for n in range(WEEKS, -1, -1)]
    readable = {tier: [0] * len(moments) for tier in tiers}
    known = {tier: [0] * len(moments) for tier in tiers}
    by_source: dict[str, list[Reach]] = {}
    for one in reach:
        by_source.setdefault(one.source, []).append(one)
    for own in by_source.values():
        if (tier := own[-1].tier) not in known:
            continue
        at, newest = 0, None
        for i, moment in enumerate(moments):
            while at < len(own) and own[at].first_at <= moment:
                newest, at = own[at], at + 1
            if newest is not None:
                known[tier][i] += 1
                readable[tier][i] += newest.accessed
    for tier in tiers:
        points = tuple((m, r, k) for m, r, k in zip(moments, readable[tier], known[tier], strict=True) if k)
        if points:
            yield Survival(tier, points)


def _weeks(changes: Iterable[tuple[datetime, Significance]], now: datetime, zone: str) -> Iterable[Week]:
    """Every week since the first change, quiet ones too."""
    counts: dict[date, Counter[Significance]] = {}
    for at, significance in changes:
        counts.setdefault(_monday(dates.local_day(at, zone)), Counter())[significance] += 1
    if not counts:
        return
    monday, last = min(counts), _monday(dates.local_day(now, zone))
    while monday <= last:
        yield Week(monday, dict(counts.get(monday, {})))
        monday += timedelta(weeks=1)


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _days(reach: Sequence[Reach], now: datetime, zone: str) -> Iterable[Day]:
    """A source counts once a day and kind. A stretch proves a reading on its first and on its last day alone: on which
    of the days between it was asked the ledger does not say."""
    today = dates.local_day(now, zone)
    first = today - timedelta(weeks=WEEKS) + timedelta(days=1)
    certain: Mapping[bool, set[tuple[date, str]]] = {True: set(), False: set()}
    steps: Counter[date] = Counter()
    covered: dict[str, date] = {}
    for one in reach:
        start, end = dates.local_day(one.first_at, zone), min(dates.local_day(one.last_at, zone), today)
        certain[one.accessed] |= {(day, one.source) for day in (start, end) if first <= day <= today}
        inner = max(start + timedelta(days=1), first, covered.get(one.source, first))
        if one.accessed and inner < end:
            steps[inner] += 1
            steps[end] -= 1
            covered[one.source] = end
    read, failed = (Counter(day for day, _ in certain[kind]) for kind in (True, False))
    between, begun = 0, False
    for n in range((today - first).days + 1):
        day = first + timedelta(days=n)
        between += steps[day]
        begun = begun or bool(read[day] or failed[day] or between)
        if begun:
            yield Day(day, read[day], failed[day], between)


def _hosts(failing: Iterable[Line]) -> Iterable[Failing]:
    """The hosts with most sources that cannot be read, and how these fail."""
    found: dict[str, Counter[str]] = {}
    for line in failing:
        if line.source.url and line.standing.verdict is not None:
            found.setdefault(address.host(line.source.url), Counter())[line.standing.verdict.word] += 1
    most = sorted(found.items(), key=lambda item: (-item[1].total(), item[0]))[:MOST_HOSTS]
    return [Failing(host, dict(words.most_common())) for host, words in most]
