"""A change, or any two versions of a source: what changed, side by side or in one column, and what was hidden."""

from __future__ import annotations

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from ...analysis.compare_html import stretches
from ...analysis.render import boxes
from ...domain.desk import OpenChange
from ...domain.kept import VersionRow
from ...domain.memento import Memento
from ...domain.review import Decision, Review
from ...domain.source import Source
from ...services import publish
from ...services.comparison import comparison
from .replay import MEMENTO_GUARDS
from .shell import house_of, number, show, version_or_404

MOST_IMAGE_BYTES = 8_000_000
MOST_FOLDED = 40  # unchanged blocks that a fold shows; who wants all of them reads the version
VIEWS = ("inline", "side")
_PICTURE = {**MEMENTO_GUARDS, "Cache-Control": "max-age=86400"}


def routes() -> list[BaseRoute]:
    return [
        Route("/changes/{number}", _change),
        Route("/sources/{id}/diff", _any_two),
        Route("/versions/{number}/image", _image),
        Route("/versions/{number}/screenshot", _screenshot),
    ]


def source_or_404(request: Request, wanted: str) -> Source:
    house = house_of(request)
    found = publish.known(house.settings, house.ledger).get(wanted)
    if found is None:
        raise HTTPException(404, "there is no such source")
    return found


def _change(request: Request) -> Response:
    found = number(request.path_params["number"])
    change = house_of(request).desk.change(found) if found is not None else None
    if change is None:
        raise HTTPException(404, "there is no such change")
    old = version_or_404(request, str(change.row.from_version))
    new = version_or_404(request, str(change.row.to_version))
    return _compared(request, source_or_404(request, change.row.source), old, new, change)


def _any_two(request: Request) -> Response:
    source = source_or_404(request, request.path_params["id"])
    versions = house_of(request).ledger.versions(source.id)
    if not versions:
        raise HTTPException(404, "this source has no version yet")
    asked = request.query_params
    new = version_or_404(request, asked["to"], source.id) if asked.get("to") else versions[-1]
    at = next(n for n, v in enumerate(versions) if v.id == new.id)
    old = version_or_404(request, asked["from"], source.id) if asked.get("from") else versions[max(0, at - 1)]
    neighbours = at and versions[at - 1].id == old.id
    change = house_of(request).desk.into(new.id) if neighbours else None
    if change is not None and "view" not in asked:
        return RedirectResponse(f"/changes/{change.row.id}", 302)
    return _compared(request, source, old, new, change)


def _compared(
    request: Request, source: Source, old: VersionRow, new: VersionRow, change: OpenChange | None
) -> Response:
    house = house_of(request)
    sources = publish.known(house.settings, house.ledger)
    history = house.reviews.history(source.id, new.record_id)
    own = house.reviews.history(source.id)
    view = request.query_params.get("view", "inline")
    return show(
        request, "change.html.j2", c=comparison(house.ledger, source, old, new, change.row if change else None),
        change=change, source=source, parent=sources.get(source.parent or ""), old=old, new=new,
        versions=house.ledger.versions(source.id), view=view if view in VIEWS else "inline", history=history,
        review=history[-1] if history else None, looked_at=_looked_at(own), stretches=stretches,
        around=house.desk.neighbours(change) if change else (None, None), quotes={q.key: q for q in source.quotes},
        pictures=[_is_picture(v) for v in (old, new)], dropped=house.archive.dropped(source.id),
        boxes=boxes, most=MOST_FOLDED, figures=[s for s in sources.values() if s.parent == source.id],
    )  # fmt: skip


def _looked_at(reviews: list[Review]) -> int | None:
    """The newest version that somebody has looked at and found nothing to mend in."""
    seen = {r.version: r.holds for r in reviews}
    fine = [v for v, holds in seen.items() if v is not None and holds not in (None, Decision.FIX)]
    return max(fine, default=None)


def _is_picture(version: VersionRow) -> bool:
    return version.media_type in publish.SHOWN and version.size_bytes <= MOST_IMAGE_BYTES


def _image(request: Request) -> Response:
    """A kept picture: of a raster type only, which no browser runs, and with the guards of a memento."""
    version = version_or_404(request, request.path_params["number"])
    if not _is_picture(version):
        raise HTTPException(404, "this version is no picture that is shown here")
    data = request.app.state.replay.archived(_kept(request, version)).data
    return Response(data, media_type=version.media_type, headers=_PICTURE)


def _screenshot(request: Request) -> Response:
    """What a browser saw of a version: a PNG of our own making, with the guards of a memento all the same."""
    version = version_or_404(request, request.path_params["number"])
    data = request.app.state.replay.screenshot(_kept(request, version))
    if not data:
        raise HTTPException(404, "this version has no screenshot")
    return Response(data, media_type="image/png", headers=_PICTURE)


def _kept(request: Request, version: VersionRow) -> Memento:
    kept = house_of(request).archive.of_sources([version.source])
    memento = next((m for m in kept if m.version.id == version.id), None)
    if memento is None:
        raise HTTPException(404, "this picture is not kept any more")
    return memento
