"""Rows as the API lists them: the contract's words, times in UTC with Z."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..domain.change import picture_facts, unpack_edits, unpack_picture
from ..domain.check import Span
from ..domain.kept import ChangeRow, Quoted
from ..domain.memento import VersionListed, VersionShown
from ..domain.source import Source
from .site_data import Dates, entry, memento_url, z


def source(seen: Dates, one: Source) -> dict[str, Any]:
    """A source as it stands: its entry in the site's data, and what the machine found last."""
    standing = seen.standing(one)
    return {
        "id": one.id,
        "kind": one.kind,
        "parent": one.parent,
        **entry(seen, one),
        "class": standing.verdict.klass if standing.verdict else None,
        "rule": standing.verdict.rule if standing.verdict else None,
        "evidence": standing.verdict.evidence if standing.verdict else None,
        "checked_at": z(standing.checked_at),
        "strikes": standing.strikes,
        "final_url": standing.final_url or None,
    }


def whole_source(seen: Dates, one: Source, quoted: list[Quoted]) -> dict[str, Any]:
    """The same with its quotes as the version behind its date holds them, and where its rows are listed."""
    known = {q.sighting.quote: q for q in quoted}
    here = f"/api/v1/sources/{one.id}"
    return {
        **source(seen, one),
        "cited_on": list(one.cited_on),
        "quotes": [
            {
                "quote": quote.key,
                "exact": quote.exact,
                "cited_on": list(quote.cited_on or one.cited_on),
                "sighting": found.sighting.kind if (found := known.get(quote.key)) else None,
                "score": round(found.sighting.score, 3) if found else None,
                "seen_at": z(found.seen_at) if found else None,
                "stood_at": z(found.stood_at) if found else None,
            }
            for quote in one.quotes
        ],
        "checks": f"{here}/checks",
        "versions": f"{here}/versions",
        "changes": f"{here}/changes",
    }


def check(span: Span) -> dict[str, Any]:
    """One check, or *n* of them that saw the same."""
    return {
        "id": span.id,
        "first_at": z(span.first_at),
        "last_at": z(span.last_at),
        "n": span.n,
        "verdict": span.verdict.word,
        "class": span.verdict.klass,
        "accessed": span.verdict.accessed,
        "rule": span.verdict.rule,
        "evidence": span.verdict.evidence,
        "status": span.status,
        "url": span.url,
        "final_url": span.final_url,
        "version": span.version,
        "new_version": span.new_version,
        "void": span.void and not span.verdict.accessed,
        "by_hand": str(span.facts.get("by", "")) if span.by_hand else None,
        "ms": span.ms,
    }


def version(seen: Dates, one: Source, listed: VersionListed) -> dict[str, Any]:
    row, dropped = listed.version, listed.dropped
    shown = VersionShown(row.captured_at, dropped is not None)
    return {
        "id": row.id,
        "captured_at": z(row.captured_at),
        "title": row.title,
        "url": row.url,
        "final_url": row.final_url,
        "media_type": row.media_type,
        "size_bytes": row.size_bytes,
        "payload_sha256": row.payload_sha256,
        "text_sha256": row.text_sha256,
        "by_hand": listed.by_hand or None,
        "dropped": {"at": z(dropped.at), "rule": dropped.rule} if dropped else None,
        "memento": memento_url(seen.settings.public_url, one.url, shown),
    }


def change(row: ChangeRow, shown: Mapping[int, VersionShown]) -> dict[str, Any]:
    """A change with the edits that no noise rule suppressed, each in parts: [-1 deleted, 0 kept, 1 inserted; text]."""
    edits, title = unpack_edits(row.packed)
    picture = unpack_picture(row.packed)
    return {
        "id": row.id,
        "source": row.source,
        "seen_at": z(row.seen_at),
        "from": {"version": row.from_version, "captured_at": z(shown[row.from_version].captured_at)},
        "to": {"version": row.to_version, "captured_at": z(shown[row.to_version].captured_at)},
        "significance": row.significance,
        "confirmed": row.confirmed_at is not None,
        "confirmed_at": z(row.confirmed_at),
        "told": row.told,
        "suppressed": row.suppressed,
        "extent": row.drift.extent,
        "kept": round(row.drift.kept, 4),
        "novelty": round(row.drift.novelty, 4),
        "title": {"from": title[0], "to": title[1]} if title else None,
        "by_hand": row.by_hand or None,
        "picture": picture_facts(picture) if picture else None,
        "edits": [
            {"kind": e.kind, "parts": [[int(p.op), p.text] for p in e.parts]} for e in edits if not e.suppressed_by
        ],
    }
