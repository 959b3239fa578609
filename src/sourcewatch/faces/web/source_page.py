"""One source: its checks as a strip, its facts, figures, quotes, versions, incidents and decisions."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ...analysis.strip import HEIGHT, WIDTH, kind_of, strip
from ...domain.check import Span
from ...domain.desk import Sighted
from ...domain.report import Line
from ...domain.save import SaveState
from ...domain.source import Source
from ...services import publish
from ...services.moves import not_lost
from .compare_page import source_or_404
from .moves_page import can_look
from .shell import house_of, show

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..wiring import House

MOST_COPIES = 10
MOST_CHECKS, MOST_VERSIONS = 60, 100


def routes(clock: Callable[[], datetime]) -> list[BaseRoute]:
    def source_page(request: Request) -> Response:
        return _source(request, clock())

    return [Route("/sources/{id}", source_page)]


def _source(request: Request, now: datetime) -> Response:
    house = house_of(request)
    source = source_or_404(request, request.path_params["id"])
    sources = publish.known(house.settings, house.ledger)
    spans = house.ledger.spans(source.id)
    figures = [Line(f, house.ledger.standing_of(f.id, now), source) for f in sources.values() if f.parent == source.id]
    standing, parent = house.ledger.standing_of(source.id, now), sources.get(source.parent or source.mirror_of or "")
    mirrors = [
        Line(m, house.ledger.standing_of(m.id, now), source) for m in sources.values() if m.mirror_of == source.id
    ]
    seen = publish.of_one(house.settings, house.ledger, source, now)
    versions = house.ledger.versions(source.id)
    history = house.reviews.history(source.id)
    record = next((v.record_id for v in versions if v.id == standing.version), "")
    about = [r for r in history if r.subject.record == record]
    drawn = strip(spans, now)
    newest = [s for s in spans if not s.by_hand and not s.void]
    may_look = can_look(request) and not not_lost(source, house.ledger.recall(source.id, now))
    return show(
        request, "source.html.j2", source=source, line=seen, now=now, parent=parent, mirrors=mirrors,
        outside=house.outside.of(source.id)[::-1][:MOST_COPIES],
        moves=house.moves.open(source.id), may_look=may_look, saved=_saved(house, source),
        strip=drawn, void=drawn.void if drawn else sum(s.n for s in spans), width=WIDTH, height=HEIGHT, kind_of=kind_of,
        hands={s.version: str(s.facts.get("by", "")) for s in spans if s.by_hand and s.new_version},
        spans=spans[::-1][:MOST_CHECKS], figures=figures, versions=versions[::-1],
        most_versions=MOST_VERSIONS, dropped=house.archive.dropped(source.id), last=newest[-1] if newest else None,
        read=_last_read(newest), quotes=_over_time(source, house.desk.sighted(source.id)), reviews=history[::-1],
        review=about[-1] if about else None, incidents=list(house.desk.incidents(source.id))[::-1],
        next_check=house.queue.times().get(source.id), accepted=house.reviews.desk().accepted.get(source.id),
        changes={c.to_version: c for c in house.site.changes(source.id, None, None, MOST_VERSIONS)},
        tiers=house.settings.tiers, standing=standing,
    )  # fmt: skip


def _last_read(spans: Sequence[Span]) -> Span | None:
    return next((s for s in reversed(spans) if s.verdict.accessed), None)


def _over_time(source: Source, sighted: Sequence[Sighted]) -> list[tuple[str, list[Sighted]]]:
    """Each quote with the sightings at which its state became another one, newest first."""
    found: list[tuple[str, list[Sighted]]] = []
    for quote in source.quotes:
        turns: list[Sighted] = []
        for one in sighted:
            if one.sighting.quote != quote.key:
                continue
            if not turns or (turns[-1].sighting.kind, turns[-1].sighting.found) != (
                one.sighting.kind,
                one.sighting.found,
            ):
                turns.append(one)
        found.append((quote.exact, turns[::-1]))
    return found


def _saved(house: House, source: Source) -> list[str]:
    """Addresses at which an archive says that it has saved versions, and that nobody has read; newest first."""
    said = [
        s.facts.get("url", "") for s in house.saves.all(source.id) if s.state in (SaveState.SAVED, SaveState.UNREAD)
    ]
    return said[::-1][:MOST_COPIES]
