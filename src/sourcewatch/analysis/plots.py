"""Overview plots as SVG: one ink, so that they read in print, in the dark and without colours, each with its numbers.

Each function gives a <figure>, or "" where there is nothing to show yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from html import escape

from ..domain.change import Significance
from ..domain.trend import Trends
from .excerpt import plain
from .voice import Voice

WIDTH = 720
LOUD = (Significance.QUOTE, Significance.FIGURES)
_DASHES = ("", "7 3", "2 3", "10 3 2 3", "1 4", "12 4", "5 2 1 2", "3 6")
STYLE = (
    ".plot{margin:1.5rem 0}.plot svg{display:block;width:100%;height:auto;min-width:36rem;max-width:45rem}"
    ".plot text{fill:currentColor;font-size:13px}.plot figcaption{font-weight:600;margin-bottom:.25rem}"
    ".plot table{border-collapse:collapse;font-size:.85rem}"
    ".plot td,.plot th{padding:.1rem .6rem .1rem 0;text-align:start}"
    ".plot .scroll{max-height:24rem;overflow:auto}@media print{.plot svg{min-width:0}}"
)


def everything(trends: Trends, v: Voice, tiers: Mapping[str, str]) -> str:
    """All plots that have something to show."""
    return "".join((survival(trends, v, tiers), changes(trends, v), calendar(trends, v), hosts(trends, v)))


def survival(trends: Trends, v: Voice, tiers: Mapping[str, str]) -> str:
    """A line for each tier, told apart by dashes and by its name at the line's end."""
    lines = [s for s in trends.survival if s.points]
    if not lines:
        return ""
    left, top, right, height = 44, 10, 560, 200
    moments = sorted({at for s in lines for at, _, _ in s.points})
    span = max(1.0, (moments[-1] - moments[0]).total_seconds())
    parts = []
    for percent in (0, 50, 100):
        y = top + height * (1 - percent / 100)
        parts.append(f'<path d="M{left} {y:g}H{right}" stroke="currentColor" stroke-opacity=".25"/>')
        parts.append(f'<text x="{left - 6}" y="{y + 4:g}" text-anchor="end">{percent}%</text>')
    names = _apart([top + height * (1 - s.points[-1][1] / s.points[-1][2]) for s in lines], 15, top + height)
    for i, (s, name_y) in enumerate(zip(lines, names, strict=True)):
        spots = [
            (left + (right - left) * (at - moments[0]).total_seconds() / span, top + height * (1 - r / k))
            for at, r, k in s.points
        ]
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in spots)
        dash = _DASHES[i % len(_DASHES)]
        drawn = f' stroke-dasharray="{dash}"' if dash else ""
        parts.append(f'<path d="{path}" fill="none" stroke="currentColor" stroke-width="2"{drawn}/>')
        x, y = spots[-1]
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="currentColor"/>')
        end = f"{x + 5:.1f} {y:.1f}L{right + 14} {name_y - 4:.1f}"
        parts.append(f'<path d="M{end}" stroke="currentColor" stroke-opacity=".4"/>')
        parts.append(f'<text x="{right + 18}" y="{name_y:.1f}">{_short(_tier(s.tier, tiers), 18)}</text>')
    parts += _edge_dates(v.day(moments[0]), v.day(moments[-1]), left, right, top + height + 18)
    shares = [
        v.say("p_share", tier=_tier(s.tier, tiers), share=f"{r / k:.0%}", readable=r, known=k)
        for s in lines
        for _, r, k in s.points[-1:]
    ]
    weeks = round(span / timedelta(weeks=1).total_seconds())
    alt = v.say("p_survival_alt", weeks=weeks, tiers=("；" if v.language == "zh-CN" else "; ").join(shares))
    rows = [(_tier(s.tier, tiers), v.day(at), str(r), str(k)) for s in lines for at, r, k in reversed(s.points)]
    head = (v.say("tier"), v.say("p_day"), v.say("p_readable"), v.say("p_known"))
    return _figure("survival", v, "p_survival", alt, top + height + 26, parts, head, rows)


def changes(trends: Trends, v: Voice) -> str:
    """A bar a week: filled what touches quotes and figures, outlined all else."""
    weeks = trends.weeks
    if not weeks:
        return ""
    left, top, right, height = 44, 10, WIDTH - 8, 150
    most = max(1, max(w.total for w in weeks))
    step = min(40.0, (right - left) / len(weeks))
    parts = [f'<path d="M{left} {top + height}H{right}" stroke="currentColor" stroke-opacity=".4"/>']
    parts.append(f'<text x="{left - 6}" y="{top + 10}" text-anchor="end">{most}</text>')
    parts.append(f'<text x="{left - 6}" y="{top + height}" text-anchor="end">0</text>')
    for i, week in enumerate(weeks):
        x, base = left + step * i + step * 0.15, float(top + height)
        for count, fill in (
            (sum(week.changes.get(s, 0) for s in LOUD), "currentColor"),
            (_others(week.changes), "none"),
        ):
            tall = height * count / most
            if count:
                parts.append(
                    f'<rect x="{x:.1f}" y="{base - tall:.1f}" width="{step * 0.7:.1f}" height="{tall:.1f}" '
                    f'fill="{fill}" stroke="currentColor"/>'
                )
                base -= tall
    last = min(right, left + step * len(weeks))
    if len(weeks) > 4:
        parts += _edge_dates(
            f"{weeks[0].monday:%Y-%m-%d}", f"{weeks[-1].monday:%Y-%m-%d}", left, last, top + height + 18
        )
    else:
        parts.append(f'<text x="{left}" y="{top + height + 18}">{weeks[0].monday:%Y-%m-%d}</text>')
    top_week = max(weeks, key=lambda w: w.total)
    n = sum(w.total for w in weeks)
    alt = v.say("p_changes_alt", weeks=len(weeks), n=n, monday=f"{top_week.monday:%Y-%m-%d}", most=top_week.total)
    rows = [
        (f"{w.monday:%Y-%m-%d}", str(sum(w.changes.get(s, 0) for s in LOUD)), str(_others(w.changes)))
        for w in reversed(weeks)
    ]
    head = (v.say("p_week"), v.say("p_loud"), v.say("p_other"))
    return _figure("changes-by-week", v, "p_changes", alt, top + height + 26, parts, head, rows)


def calendar(trends: Trends, v: Voice) -> str:
    """A square a day, a column a week (Monday above): darker where more was read, crossed where something failed.

    A dot marks a day that lies between readings; on a day with readings or failures it would say nothing more.
    """
    days = trends.days
    if not days:
        return ""
    size, left, top = 20, 8, 10
    monday = days[0].day - timedelta(days=days[0].day.weekday())
    most, most_failed = max(1, max(d.read for d in days)), max(1, max(d.failed for d in days))
    parts, columns = [], 0
    for d in days:
        week, weekday = divmod((d.day - monday).days, 7)
        columns = max(columns, week + 1)
        x, y = left + week * (size + 3), top + weekday * (size + 3)
        parts.append(
            f'<rect x="{x}" y="{y}" width="{size}" height="{size}" fill="currentColor" stroke="currentColor" '
            f'stroke-opacity=".3" fill-opacity="{0.55 * d.read / most:.2f}"/>'
        )
        if d.between and not d.read and not d.failed:
            parts.append(f'<circle cx="{x + size / 2:g}" cy="{y + size / 2:g}" r="1.5" fill="currentColor"/>')
        if d.failed:
            arm = 2 + 6 * d.failed / most_failed
            arms = f"{2 * arm:.1f} {2 * arm:.1f}m0 {-2 * arm:.1f}l{-2 * arm:.1f} {2 * arm:.1f}"
            cross = f"M{x + size / 2 - arm:.1f} {y + size / 2 - arm:.1f}l{arms}"
            parts.append(f'<path d="{cross}" stroke="currentColor" stroke-width="2"/>')
    bottom = top + 7 * (size + 3)
    parts += _edge_dates(
        f"{days[0].day}", f"{days[-1].day}" if columns > 8 else "", left, left + columns * (size + 3), bottom + 14
    )
    worst = max(days, key=lambda d: d.failed)
    key, more = (
        ("p_calendar_alt", {"day": f"{worst.day}", "failed": worst.failed})
        if worst.failed
        else ("p_calendar_whole", {})
    )
    alt = v.say(key, since=f"{days[0].day}", **more)
    rows = [(f"{d.day}", str(d.read), str(d.between), str(d.failed)) for d in reversed(days)]
    head = (v.say("p_day"), v.say("p_read"), v.say("p_between"), v.say("p_failed"))
    return _figure("calendar", v, "p_calendar", alt, bottom + 22, parts, head, rows)


def hosts(trends: Trends, v: Voice) -> str:
    """A bar a host, with its name, its count and the commonest reason in words."""
    found = trends.hosts
    if not found:
        return ""
    left, row = 200, 24
    most = max(h.total for h in found)
    parts = []
    for i, h in enumerate(found):
        y, wide = 8 + i * row, max(2.0, 220 * h.total / most)
        why = v.word(next(iter(h.words)))
        parts.append(f'<text x="{left - 8}" y="{y + 13}" text-anchor="end">{_short(h.host, 24)}</text>')
        parts.append(f'<rect x="{left}" y="{y}" width="{wide:.1f}" height="16" fill="currentColor" fill-opacity=".6"/>')
        parts.append(f'<text x="{left + wide + 6:.1f}" y="{y + 13}">{h.total} · {_short(why, 38)}</text>')
    alt = v.say("p_hosts_alt", hosts=len(found), host=plain(found[0].host), n=found[0].total)
    rows = [(h.host, v.word(word), str(n)) for h in found for word, n in h.words.items()]
    head = (v.say("p_host"), v.say("p_why"), v.say("p_failed"))
    return _figure("hosts", v, "p_hosts", alt, 12 + len(found) * row, parts, head, rows)


def _others(counts: Mapping[Significance, int]) -> int:
    return sum(n for s, n in counts.items() if s not in LOUD)


def _figure(
    name: str, v: Voice, title: str, alt: str, height: int, parts: Iterable[str], head: Sequence[str],
    rows: Iterable[Sequence[str]],
) -> str:  # fmt: skip
    """A figure whose picture has a text alternative, and whose numbers stand in a table beneath."""
    cells = "".join(f"<tr>{''.join(f'<td>{escape(plain(c))}</td>' for c in row)}</tr>" for row in rows)
    heads = "".join(f'<th scope="col">{escape(h)}</th>' for h in head)
    return (
        f'<figure class="plot" id="plot-{name}"><figcaption>{escape(v.say(title))}</figcaption>'
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(v.say(title))}">'
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(alt)}">{"".join(parts)}</svg></div>'
        f"<p>{escape(alt)}</p><details><summary>{escape(v.say('p_numbers'))}</summary>"
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(v.say("p_numbers"))}">'
        f"<table><thead><tr>{heads}</tr></thead><tbody>{cells}</tbody></table></div>"
        "</details></figure>\n"
    )


def _edge_dates(first: str, last: str, left: float, right: float, y: float) -> list[str]:
    ends = [f'<text x="{left:g}" y="{y:g}">{escape(first)}</text>']
    return ends + ([f'<text x="{right:g}" y="{y:g}" text-anchor="end">{escape(last)}</text>'] if last else [])


def _tier(tier: str, titles: Mapping[str, str]) -> str:
    title = titles.get(tier, "")
    return plain(f"{tier} · {title}" if title and title != tier else tier)


def _short(text: str, most: int) -> str:
    """Cut to fit, a Chinese character counting twice."""
    text, wide = plain(text), 0
    for i, c in enumerate(text):
        wide += 2 if ord(c) > 0x2E80 else 1
        if wide > most:
            return escape(text[:i] + "…")
    return escape(text)


def _apart(wanted: Sequence[float], least: float, lowest: float) -> list[float]:
    """Baselines near the *wanted* ones, no two closer than *least*."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    placed = [0.0] * len(wanted)
    above = float("-inf")
    for i in order:
        above = placed[i] = max(wanted[i] + 4, above + least)
    shift = max(0.0, above - lowest - 4)
    for i in order:
        placed[i] -= shift
    return placed
