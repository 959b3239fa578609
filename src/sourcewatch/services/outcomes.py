"""What `run --json` says of one check, and what a daemon logs and counts of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ..domain.capture import Capture, Deferred, Fetched
from ..domain.change import Sighting, SightingKind, picture_facts
from ..domain.kept import Stored
from ..domain.source import Source, SourceKind
from ..domain.standing import Standing
from .check import Checked


def stamp(at: datetime) -> str:
    """ISO 8601 in UTC with Z, whole seconds."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def final_url_of(checked: Checked) -> str:
    """Where the way ended, or the address itself when there was no answer at all."""
    exchanges = checked.page.fetched.exchanges
    return exchanges[-1].url if exchanges else checked.source.address or ""


def as_line(checked: Checked, standing: Standing, version: int | None, stored: Mapping[str, Stored]) -> dict[str, Any]:
    """The object that `run --json` prints for one check."""
    source, finding, judgement = checked.source, checked.page, checked.page.judgement
    verdict, change = judgement.verdict, judgement.change
    where = stored.get(source.id)
    told = change if change is not None and change.told else None
    second = {"second_hand": [_second_hand(m, stored) for m in checked.mirrors]} if checked.mirrors else {}
    return {
        "source": source.id,
        "parent": source.parent,
        "url": source.url,
        "final_url": final_url_of(checked),
        "reader": source.reader.tag if source.reader else None,
        "checked_at": stamp(finding.checked_at),
        "verdict": verdict.word,
        "class": verdict.klass,
        "accessed": verdict.accessed,
        "rule": verdict.rule,
        "evidence": verdict.evidence,
        "status": finding.fetched.answer.status if isinstance(finding.fetched, Capture) else 0,
        "new_version": judgement.changed,
        "change": None
        if told is None
        else {
            "from": checked.memory.version if checked.memory else None,
            "to": version,
            "edits": len(told.told),
            "suppressed": len(told.edits) - len(told.told),
            "kept": round(told.drift.kept, 4),
            "novelty": round(told.drift.novelty, 4),
            "extent": told.drift.extent,
            "picture": picture_facts(told.picture) if told.picture else None,
        },
        "confirmed": None if told is None else False,
        "significance": told.significance if told else None,
        "sightings": _told(_sightings(checked)),
        "last_accessed": stamp(standing.last_accessed) if standing.last_accessed else None,
        "failing_since": stamp(standing.failing_since) if standing.failing_since else None,
        "strikes": standing.strikes,
        "embeds": [{"url": f.embed.url, "verdict": f.finding.judgement.verdict.word} for f in checked.figures],
        "snapshot": where.path if where else None,
        "text_path": where.text_path if where else None,
        "browser": _browser(finding.fetched),
        "ms": round(finding.seconds * 1000),
        **second,
    }


def _second_hand(mirror: Checked, stored: Mapping[str, Stored]) -> dict[str, Any]:
    """What a mirror showed while its source could not be read: evidence about the mirror alone."""
    verdict, where = mirror.page.judgement.verdict, stored.get(mirror.source.id)
    found = _sightings(mirror) if verdict.accessed else ()
    return {
        "source": mirror.source.id,
        "url": mirror.source.url,
        "checked_at": stamp(mirror.page.checked_at),
        "verdict": verdict.word,
        "accessed": verdict.accessed,
        "rule": verdict.rule,
        "evidence": verdict.evidence,
        "new_version": mirror.page.judgement.changed,
        "sightings": _told(found),
        "snapshot": where.path if where else None,
    }


def _told(sightings: Sequence[Sighting]) -> list[dict[str, Any]]:
    return [{"quote": s.quote, "sighting": s.kind, "score": round(s.score, 3)} for s in sightings]


def _browser(fetched: Fetched) -> str | None:
    """Which browser read the page, or None for plain HTTP."""
    return fetched.view.browser if isinstance(fetched, Capture) and fetched.view else None


def as_deferred(source: Source, deferred: Deferred) -> dict[str, Any]:
    """The object for a source that was not asked, because its host wishes to be left alone."""
    until = stamp(deferred.until_at)
    return {"source": source.id, "url": source.url, "deferred_until": until, "reason": deferred.reason}


def in_words(line: Mapping[str, Any]) -> str:
    """One of these objects as a sentence for the log."""
    if "verdict" not in line:
        return f"put off until {line['deferred_until']}: {line['reason']}"
    new = ", new version" if line["new_version"] else ""
    return f"{line['verdict']} ({line['rule']}){new}, {line['ms']} ms"


def _sightings(checked: Checked) -> Sequence[Sighting]:
    """Those of this check, or of the version still shown; a figure's quotes are unverified while it is unread."""
    found = checked.page.judgement.sightings or (checked.memory.sightings if checked.memory else ())
    if found or checked.source.kind is not SourceKind.FIGURE:
        return found
    return [Sighting(q.key, SightingKind.UNVERIFIED) for q in checked.source.quotes]
