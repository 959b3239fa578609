"""The site's dates: when each source was last read, as of which version, and the same as citations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..analysis import dates
from ..analysis.address import normal
from ..domain.change import held
from ..domain.citation import Citation
from ..domain.copies import OutsideCopy
from ..domain.memento import STAMP, VersionShown
from ..domain.source import Settings, Source, SourceKind
from ..domain.standing import Standing
from .ports import Ledger, SiteRows
from .publish import known

NEVER = Standing()
_NONE: Mapping[str, OutsideCopy] = {}


@dataclass(frozen=True, slots=True)
class Dates:
    """All that the site's data needs, read once. *figures* are those of a page by its id.

    *second*: by the id of a source that cannot be read, its mirrors that were asked, with how many quotes of how many
    stand there. *outside*: by a source's id the copy in another archive that can stand for the cited version.
    """

    settings: Settings
    now: datetime
    sources: Mapping[str, Source]
    standings: Mapping[str, Standing]
    figures: Mapping[str, list[Source]]
    shown: Mapping[int, VersionShown]
    second: Mapping[str, list[tuple[Source, int, int]]] = field(default_factory=dict)
    outside: Mapping[str, OutsideCopy] = field(default_factory=dict)

    def standing(self, source: Source) -> Standing:
        return self.standings.get(source.id, NEVER)

    def version(self, source: Source) -> VersionShown | None:
        """The version that the last access saw."""
        number = self.standing(source).version
        return self.shown.get(number) if number is not None else None

    def memento(self, source: Source) -> str | None:
        """Where readers can see that version, if they can."""
        version = self.version(source)
        return memento_url(self.settings.public_url, source.url, version) if version is not None else None


def read(
    settings: Settings, ledger: Ledger, rows: SiteRows, now: datetime, outside: Mapping[str, OutsideCopy] = _NONE
) -> Dates:
    """Raises StorageError."""
    sources, standings = known(settings, ledger), ledger.standings(now)
    figures: dict[str, list[Source]] = {}
    for source in sources.values():
        if source.parent:
            figures.setdefault(source.parent, []).append(source)
    seen = {s.version for s in standings.values() if s.version is not None}
    second: dict[str, list[tuple[Source, int, int]]] = {}
    for mirror in settings.sources:
        there, original = standings.get(mirror.id), standings.get(mirror.mirror_of or "")
        if there is None or there.checked_at is None or original is None or original.failing_since is None:
            continue
        own = {q.key for q in mirror.quotes}
        quoted = rows.quoted(mirror.id, there.version) if own and there.version is not None else ()
        stand = held((q.sighting for q in quoted), own)
        second.setdefault(mirror.mirror_of or "", []).append((mirror, stand, len(own)))
    return Dates(settings, now, sources, standings, figures, rows.shown(seen), second, outside)


def memento_url(public_url: str, url: str | None, version: VersionShown) -> str | None:
    """The address of our own memento of *url*; None where readers cannot reach one, or its files are gone."""
    if not public_url or not url or version.gone:
        return None
    return f"{public_url}memento/{version.captured_at:{STAMP}}/{normal(url) or url}"


def last_accessed(
    settings: Settings, ledger: Ledger, rows: SiteRows, now: datetime, outside: Mapping[str, OutsideCopy] = _NONE
) -> dict[str, Any]:
    """The site's data (contract): every declared source, with the date of the last check that read it."""
    return as_data(read(settings, ledger, rows, now, outside))


def as_data(seen: Dates) -> dict[str, Any]:
    return {
        "generated_at": z(seen.now),
        "site": seen.settings.site.url,
        "sources": {s.id: entry(seen, seen.sources[s.id]) for s in seen.settings.sources if not s.unlisted},
    }


def entry(seen: Dates, source: Source) -> dict[str, Any]:
    """One source's date, with its precision, the version that it is of, and what could not be read."""
    standing, zone, version = seen.standing(source), seen.settings.site.timezone, seen.version(source)
    at = standing.last_accessed
    return {
        "url": source.url,
        "title": source.title,
        "tier": source.tier,
        "last_accessed": z(at),
        "precision": "minute" if at else None,
        "date": dates.local_day(at, zone).isoformat() if at else None,
        "text": {code: dates.accessed(at, zone, code) for code in dates.LANGUAGES} if at else None,
        "version_at": z(version.captured_at) if version else None,
        "as_of": {code: dates.as_of(version.captured_at, zone, code) for code in dates.LANGUAGES} if version else None,
        "by_hand": _by_hand(standing, zone),
        "verdict": standing.verdict.word if standing.verdict else None,
        "failing_since": z(standing.failing_since),
        "dead": standing.dead,
        "memento": seen.memento(source),
        "unread": [
            {
                "url": figure.url,
                "alt": figure.alt,
                "verdict": there.verdict.word if there.verdict else None,
                "since": z(there.failing_since),
            }
            for figure in seen.figures.get(source.id, ())
            if (there := seen.standing(figure)).failing_since is not None
        ],
        "mirror_of": source.mirror_of,
        "second_hand": [_second_hand(seen, source, *found) for found in seen.second.get(source.id, ())],
        "outside": _outside(seen, source),
    }


def _outside(seen: Dates, source: Source) -> dict[str, Any] | None:
    """Where readers find what is cited while the source cannot be read; never its date."""
    copy = seen.outside.get(source.id)
    if copy is None or seen.standing(source).failing_since is None:
        return None
    return {
        "archive": copy.archive,
        "url": copy.url,
        "memento_at": z(copy.memento_at),
        "date": dates.local_day(copy.memento_at, seen.settings.site.timezone).isoformat(),
        "quotes": {"held": copy.held, "sought": copy.sought},
    }


def _second_hand(seen: Dates, source: Source, mirror: Source, held: int, sought: int) -> dict[str, Any]:
    """What was read in the source's place: beside its date, never instead of it."""
    there, zone = seen.standing(mirror), seen.settings.site.timezone
    at = there.last_accessed
    return {
        "source": mirror.id,
        "url": mirror.url,
        "last_accessed": z(at),
        "date": dates.local_day(at, zone).isoformat() if at else None,
        "verdict": there.verdict.word if there.verdict else None,
        "quotes": {"held": held, "sought": sought},
        "lacks": [f.called for f in seen.figures.get(source.id, ())],
    }


def _by_hand(standing: Standing, zone: str) -> dict[str, Any] | None:
    """Who read the source since the machine did: a claim of that person's, beside the machine's date."""
    if standing.by_hand_at is None:
        return None
    day = dates.local_day(standing.by_hand_at, zone).isoformat()
    return {"by": standing.by_hand_by, "at": z(standing.by_hand_at), "date": day}


def citations(
    settings: Settings, ledger: Ledger, rows: SiteRows, now: datetime, outside: Mapping[str, OutsideCopy] = _NONE
) -> list[Citation]:
    """Every declared page that has an address, in the order of sources.toml."""
    seen = read(settings, ledger, rows, now)
    return [
        _cited(seen, s, outside.get(s.id))
        for s in settings.sources
        if s.url and s.kind is SourceKind.PAGE and not s.unlisted
    ]


def _cited(seen: Dates, source: Source, copy: OutsideCopy | None) -> Citation:
    standing, zone, version = seen.standing(source), seen.settings.site.timezone, seen.version(source)
    hand = standing.by_hand_at
    person = (standing.by_hand_by, dates.local_day(hand, zone)) if hand else None
    original = seen.sources.get(source.mirror_of or "")
    copy_of = original.url or original.title if original else ""
    copies = ((m.url or "", seen.standing(m).last_accessed) for m, _, _ in seen.second.get(source.id, ()))
    second = next(((url, dates.local_day(at, zone)) for url, at in copies if at is not None), None)
    return Citation(
        source,
        dates.local_day(standing.last_accessed, zone) if standing.last_accessed else None,
        hand=person,
        version_at=version.captured_at if version else None,
        memento=seen.memento(source) or "",
        second_hand=second,
        copy_of=copy_of,
        outside=(copy.url, copy.memento_at) if copy else None,
    )


def z(at: datetime | None) -> str | None:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ") if at else None
