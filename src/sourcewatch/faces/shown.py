"""What the command line prints for people: a summary, a table, a history. Foreign text is made harmless first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ..analysis.excerpt import as_terminal, parts_of, plain, shortened
from ..analysis.phrases import word
from ..analysis.voice import Voice
from ..domain.change import Drift, Edit, PictureChange, Sighting
from ..domain.check import Span
from ..domain.kept import ChangeRow, DueRow, VersionRow
from ..domain.memento import Dropped
from ..domain.report import Line
from ..domain.review import Review
from ..domain.source import Source
from ..domain.verdict import WORDS

MOST_LINES = 20


def summary(lines: Sequence[Mapping[str, Any]], void_reason: str | None, voice: Voice) -> str:
    """What a pass found, the loudest first; whole in its numbers, short in its lists."""
    checked = [x for x in lines if "verdict" in x]
    read = sum(x["accessed"] for x in checked)
    counts = {"new": sum(x["new_version"] for x in checked), "changed": sum(x["change"] is not None for x in checked)}
    out = [voice.say("sum_checked", n=len(checked), read=read, unread=len(checked) - read, **counts)]
    if put_off := len(lines) - len(checked):
        out.append(voice.say("sum_put_off", n=put_off))
    if void_reason:
        return "\n".join([*out, voice.void(void_reason)])
    out += _listed("sum_changed", [_changed(x, voice) for x in checked if x["change"] is not None], voice)
    out += _listed("sum_quotes", [_quotes(x) for x in checked if _broken(x)], voice)
    figures = [f"{x['source']}: {f}" for x in checked if (f := _figures(x, voice))]
    out += _listed("sum_figures", figures, voice)
    out += _listed("sum_unread", [_failed(x, voice) for x in checked if not x["accessed"]], voice)
    second = [f"{x['source']}: {m['url']}" for x in checked for m in x.get("second_hand", ()) if m["accessed"]]
    out += _listed("sum_second", second, voice)
    return "\n".join(out)


def counted(n: int, what: str) -> str:
    """ "1 edit", "2 edits"."""
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def _listed(title: str, rows: Sequence[str], voice: Voice) -> list[str]:
    if not rows:
        return []
    more = [f"  {voice.say('sum_more', n=len(rows) - MOST_LINES)}"] if len(rows) > MOST_LINES else []
    return [f"\n{voice.say(title)}:", *(f"  {plain(row)}" for row in rows[:MOST_LINES]), *more]


def _changed(x: Mapping[str, Any], voice: Voice) -> str:
    change = x["change"]
    extent = voice.say(f"e_{change['extent']}", kept=f"{change['kept']:.0%}")
    kind = voice.say(f"s_{x['significance']}")
    return f"{x['source']}: {voice.say('sum_edits', n=change['edits'], kind=kind, extent=extent)}"


def _broken(x: Mapping[str, Any]) -> list[str]:
    stands = ("verbatim", "typographic", "variant")
    return [s["sighting"] for s in x["sightings"] if s["sighting"] not in stands]


def _quotes(x: Mapping[str, Any]) -> str:
    kinds = _broken(x)
    return f"{x['source']}: " + ", ".join(f"{kinds.count(k)} {k}" for k in dict.fromkeys(kinds))


def _figures(x: Mapping[str, Any], voice: Voice) -> str:
    bad = [e for e in x["embeds"] if not WORDS[e["verdict"]].accessed]
    return ", ".join(f"{e['url']} ({voice.word(e['verdict'])})" for e in bad)


def _failed(x: Mapping[str, Any], voice: Voice) -> str:
    since = f"，{voice.say('sum_since', at=x['failing_since'])}" if x["failing_since"] else ""
    since = since if voice.language == "zh-CN" else since.replace("，", ", ")
    return f"{x['source']}: {x['verdict']} – {voice.word(x['verdict'])}{since}"


def status_rows(lines: Iterable[Line], voice: Voice, now: datetime) -> list[tuple[str, ...]]:
    """id, tier, last verdict, last accessed, failing since and for how long, next check: one row a source."""
    rows: list[tuple[str, ...]] = []
    for line in lines:
        s = line.standing
        state = s.verdict.word if s.verdict else ("–" if line.source.url else "unlocated")
        rows.append(
            (
                line.source.id,
                line.source.tier,
                (f"{state} (dead)" if s.dead else state)
                + (f" (second-hand of {line.source.mirror_of})" if line.source.mirror_of else ""),
                (f"{s.last_accessed:%Y-%m-%d %H:%M}Z" if s.last_accessed else "never")
                + (f" ({voice.by_hand(line)})" if s.by_hand_at else "")
                + _second(line),
                _since(s.failing_since, now, voice) if s.failing_since else "",
                _next(line, now),
            )
        )
    return rows


def _second(line: Line) -> str:
    """When copies were read while the source cannot be; beside its date, never instead of it."""
    read = [s.standing.last_accessed for s in line.second_hand if s.standing.last_accessed is not None]
    return f" (second-hand: {max(read):%Y-%m-%d %H:%M}Z)" if read else ""


def _next(line: Line, now: datetime) -> str:
    if line.source.mirror_of and line.source.url:
        return "with its source, when that cannot be read"
    pause = line.source.pause
    if pause is not None and pause.until_at > now:
        return f"paused until {pause.until_at:%Y-%m-%d %H:%M}Z: {pause.reason}"
    if line.next_check_at is None:
        return ""
    return "due" if line.next_check_at <= now else f"{line.next_check_at:%Y-%m-%d %H:%M}Z"


def waiting(due: DueRow, now: datetime) -> str:
    """How much is due and since when, and when something is due next."""
    overdue = f"{due.waiting} due now" + (
        f", the longest since {due.oldest_at:%Y-%m-%d %H:%M}Z" if due.oldest_at else ""
    )
    lag = f" ({round((now - due.oldest_at).total_seconds() / 60)} min)" if due.oldest_at else ""
    return f"{overdue}{lag}" + (f"; next due {due.next_at:%Y-%m-%d %H:%M}Z" if due.next_at else "")


def _since(at: datetime, now: datetime, voice: Voice) -> str:
    return f"{at:%Y-%m-%d %H:%M}Z, {voice.lasted(max(0.0, (now - at).total_seconds()))}"


def columns(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A plain table for pipes and narrow terminals."""
    cells = [[plain(c) for c in row] for row in (head, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells)


def history(
    spans: Sequence[Span],
    versions: Sequence[VersionRow],
    dropped: Mapping[int, Dropped],
    there: Callable[[str], bool] = lambda path: True,
) -> str:
    """Every check of a source, newest last: who read it, the snapshot that it left, and what became of that.

    *there* says whether a file is still in the archive.
    """
    kept = {v.id: v for v in versions}
    out = []
    for s in spans:
        many = f" … {s.last_at:%Y-%m-%d %H:%M}Z ({s.n} checks)" if s.n > 1 else ""
        status = f" {s.status}" if s.status else ""
        void = " (void: our own network)" if s.void and not s.verdict.accessed else ""
        why = plain(f"[{s.verdict.rule}] {s.verdict.evidence[:160]}")
        out.append(f"{s.first_at:%Y-%m-%d %H:%M:%S}Z{many}  {s.verdict.word}{status}{void}{_hand(s)}  {why}")
        if s.new_version and s.version in kept:
            gone = dropped.get(kept[s.version].id)
            words = f" (dropped {gone.at:%Y-%m-%d}: {plain(gone.rule)})" if gone else ""
            out.append(f"    new version: {kept[s.version].path}{words}")
        if evidence := s.facts.get("evidence_path"):
            lost = "" if there(str(evidence)) else " (removed by retention, or lost: `verify` tells which)"
            out.append(f"    evidence: {evidence}{lost}")
    return "\n".join(out)


def _hand(span: Span) -> str:
    return f" BY HAND by {plain(str(span.facts.get('by', '')))}" if span.by_hand else ""


def _seen_by(view: Mapping[str, Any] | None) -> list[str]:
    """What a browser told of the page that it read."""
    if not view:
        return []
    out = [f"  read by {view['read_by']} in {view['ms']} ms"]
    out += [f"  not loaded: {u['kind']} {u['url']} ({u['code']})" for u in view["unloaded"]]
    out += [f"  broken picture: {b['alt'] or b['url']} ({b['code'] or 'no code'})" for b in view["broken"]]
    out += [f"  console: {words}" for words in view["errors"]]
    return out + [f"  {words}" for words in view["notes"]]


def last_check(span: Span) -> str:
    """The newest row: verdict, rule, evidence, the way that led to the answer, its figures."""
    out = [
        f"last check {span.last_at:%Y-%m-%d %H:%M:%S}Z: {span.verdict.word} ({word(span.verdict.word, 'en')})",
        f"  rule {span.verdict.rule}: {span.verdict.evidence or '–'}",
    ]
    out += [f"  {hop['status']} {hop['url']}" for hop in span.facts.get("hops", [])]
    out += [f"  {event}" for event in span.facts.get("events", [])]
    out += [f"  figure {e['id']}, {e['verdict']}: {e['alt'] or e['url']}" for e in span.facts.get("embeds", [])]
    out += _seen_by(span.facts.get("browser"))
    if certificate := span.facts.get("certificate"):
        issued = f"issued by {certificate['issuer']}, until {_until(certificate['not_after'])}"
        out.append(f"  certificate of {certificate['subject']}, {issued}")
    return "\n".join(plain(line) if not line.startswith("  ") else "  " + plain(line.strip()) for line in out)


def _until(told: str) -> str:
    try:
        return f"{datetime.fromisoformat(told).astimezone(UTC):%Y-%m-%d %H:%M}Z"
    except (ValueError, OverflowError):
        return told  # no time that we wrote


def read_by(source: Source) -> str:
    """The rule that a source is read by, or "" where it is read as it is."""
    return source.reader.tag if source.reader else ""


def way(source: Source) -> str:
    """Which address is read in place of the cited one, by which rule, and why that is the source itself."""
    instead = f" at {plain(source.read)}" if source.read else ""
    if source.reader is None:
        return f"read{instead}, as sources.toml says" if instead else ""
    return f"read by {source.reader.tag}{instead}\n  {plain(source.reader.official)}"


def sightings(found: Sequence[Sighting], quotes: Mapping[str, str]) -> str:
    """How the version that is shown holds each quote."""
    out = [f"quotes: {len(found)}"]
    for s in found:
        where = f" in the {s.layer} text" if s.layer not in ("", "visible") else ""
        out.append(f"  {s.kind} ({s.score:.2f}){where}: {plain(quotes.get(s.quote, s.quote))}")
    return "\n".join(out)


def pictured(picture: PictureChange | None) -> list[str]:
    """How much two pictures differ, and where."""
    voice = Voice("en", "UTC")
    return [voice.looks(picture), *map(voice.box, picture.regions)] if picture else []


def weighed(
    row: ChangeRow, edits: Sequence[Edit], title: tuple[str, str] | None, picture: PictureChange | None = None
) -> str:
    """The newest change, each edit with the rule that suppressed it or with "told"."""
    state = f"confirmed {row.confirmed_at:%Y-%m-%d %H:%M}Z" if row.confirmed_at else "not confirmed yet"
    out = [
        f"newest change {row.seen_at:%Y-%m-%d %H:%M:%S}Z: {row.significance}, {row.told} told, "
        f"{row.suppressed} suppressed, {state}",
        f"  kept {row.drift.kept:.2f} of the old text, {row.drift.novelty:.2f} of the new is new: {row.drift.extent}",
    ]
    if title:
        out.append(f"  title: {plain(title[0])} → {plain(title[1])}")
    out += [f"  {words}" for words in pictured(picture)]
    for edit in edits:
        out.append(f"  {edit.suppressed_by or 'told':16} {as_terminal(shortened(parts_of(edit)))}")
    return "\n".join(out)


def drifted(base: VersionRow, since: Drift, accepted: Review | None) -> str:
    """How far the newest version is from the one that the site cites: the one that an editor accepted, or the first."""
    which = f"version that {plain(accepted.by)} accepted" if accepted else "first version"
    return (
        f"since the {which} ({base.captured_at:%Y-%m-%d}): kept {since.kept:.2f}, "
        f"new {since.novelty:.2f}: {since.extent}"
    )
