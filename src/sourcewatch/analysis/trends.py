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
    """An unbroken stretch of readings counts for each of its days; a source counts once a day and kind."""
    today = dates.local_day(now, zone)
    first = today - timedelta(weeks=WEEKS) + timedelta(days=1)
    steps: Mapping[bool, Counter[date]] = {True: Counter(), False: Counter()}
    counted: dict[tuple[str, bool], date] = {}
    for one in reach:
        start = max(dates.local_day(one.first_at, zone), first)
        end = min(dates.local_day(one.last_at, zone), today)
        if (until := counted.get((one.source, one.accessed))) is not None:
            start = max(start, until + timedelta(days=1))
        if start <= end:
            steps[one.accessed][start] += 1
            steps[one.accessed][end + timedelta(days=1)] -= 1
            counted[one.source, one.accessed] = end
    read = failed = 0
    begun = False
    for n in range((today - first).days + 1):
        day = first + timedelta(days=n)
        read += steps[True][day]
        failed += steps[False][day]
        begun = begun or bool(read or failed)
        if begun:
            yield Day(day, read, failed)


def _hosts(failing: Iterable[Line]) -> Iterable[Failing]:
    """The hosts with most sources that cannot be read, and how these fail."""
    found: dict[str, Counter[str]] = {}
    for line in failing:
        if line.source.url and line.standing.verdict is not None:
            found.setdefault(address.host(line.source.url), Counter())[line.standing.verdict.word] += 1
    most = sorted(found.items(), key=lambda item: (-item[1].total(), item[0]))[:MOST_HOSTS]
    return [Failing(host, dict(words.most_common())) for host, words in most]
