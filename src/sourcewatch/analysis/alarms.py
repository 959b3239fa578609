"""What is told of one check at once, in its own transaction: quotes, and an address that moved for good. Pure."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Any

from ..domain.change import Part, Sighting, SightingKind, sighting_facts
from ..domain.check import Finding
from ..domain.message import Message, MessageKind
from ..domain.source import Quote, Source
from ..domain.standing import Recall
from . import excerpt

MOST_FOUND_CHARS = 500
MOVED_FOR_GOOD = ("redirected_permanent", "redirected_meta")


def of_check(source: Source, finding: Finding, final_url: str, before: Recall) -> tuple[Message, ...]:
    """What this check found that the one before had not. The ledger adds the version to the keys of quotes."""
    known = {s.quote: s for s in before.memory.sightings} if before.memory else {}
    quotes = {q.key: q for q in source.quotes}
    told = [
        _of_quote(source, quotes[s.quote], s, known.get(s.quote), finding, before)
        for s in finding.judgement.sightings
        if s.quote in quotes and _is_news(s, known.get(s.quote))
    ]
    if _moved(source, finding, final_url, before):
        facts = {"final_url": final_url, "word": finding.judgement.verdict.word}
        key = f"moved:{source.id}:{sha256(final_url.encode('utf-8', 'replace')).hexdigest()[:12]}"
        told.append(Message(MessageKind.MOVED, source.id, key, finding.checked_at, facts))
    return tuple(told)


def _is_news(now: Sighting, was: Sighting | None) -> bool:
    """Whether a quote is held in another way than before. A quote that stands is news only when it had not stood."""
    if now.kind is SightingKind.UNVERIFIED:
        return False  # its evidence is a figure, which has incidents of its own
    if was is None or was.kind is SightingKind.UNVERIFIED:
        return not now.stands
    if now.stands or was.stands:
        return now.stands is not was.stands
    return (now.kind, now.numbers_new, now.negation_changed) != (was.kind, was.numbers_new, was.negation_changed)


def _of_quote(
    source: Source, quote: Quote, now: Sighting, was: Sighting | None, finding: Finding, before: Recall
) -> Message:
    stood = was is not None and was.stands
    stood_at = before.standing.last_accessed if stood else None
    facts: dict[str, Any] = {
        "event": "stands" if now.stands else ("broken" if stood else "still" if was else "never"),
        "quote": quote.key,
        "exact": quote.exact,
        "sighting": now.kind,
        "score": round(now.score, 3),
        "stood_at": stood_at.isoformat() if stood_at else None,
        **sighting_facts(_short(now)),
    }
    kind = MessageKind.RECOVERED if now.stands else MessageKind.QUOTE
    key = f"{'stands' if now.stands else 'quote'}:{source.id}:{quote.key}"
    return Message(kind, source.id, key, finding.checked_at, facts)


def _short(sighting: Sighting) -> Sighting:
    parts: tuple[Part, ...] = excerpt.shortened(sighting.parts)
    return replace(sighting, found=sighting.found[:MOST_FOUND_CHARS], parts=parts, context=("", ""))


def _moved(source: Source, finding: Finding, final_url: str, before: Recall) -> bool:
    """Read at another address for good, for the first time: the site should cite that one."""
    if finding.judgement.verdict.word not in MOVED_FOR_GOOD or source.read or source.parent:
        return False
    last = before.memory.last_verdict if before.memory else None
    return last is None or last.word not in MOVED_FOR_GOOD or before.standing.final_url != final_url
