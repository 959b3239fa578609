"""A source's new address, accepted or refused with one click; and a look for it, where a daemon is at work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from ...domain.errors import ConfigError
from ...domain.source import Source
from ...services.moves import ACCEPTED, REFUSED, NotTaken
from ...services.threads import aside
from .access import require
from .compare_page import source_or_404
from .forms import fields
from .shell import house_of, number, voice_of

Look = Callable[[Source], Awaitable[object]]


def routes(clock: Callable[[], datetime]) -> list[BaseRoute]:
    async def decide(request: Request) -> Response:
        return await _decide(request, clock())

    return [Route("/moves", decide, methods=["POST"])]


def looking(look: Look) -> list[BaseRoute]:
    """The route by which an editor lets a daemon look."""

    async def looks(request: Request) -> Response:
        require(request, "review")
        source = source_or_404(request, request.path_params["id"])
        await look(source)
        return _back(source.id)

    return [Route("/sources/{id}/moves", looks, methods=["POST"], name="look")]


def can_look(request: Request) -> bool:
    return any(getattr(route, "name", "") == "look" for route in request.app.routes)


async def _decide(request: Request, now: datetime) -> Response:
    from ..moving import decide

    who = require(request, "review")
    sent = await fields(request)
    wanted, decision = number(sent.get("move", "")), sent.get("decision")
    if wanted is None or decision not in (ACCEPTED, REFUSED):
        raise HTTPException(400, "a form must say which proposal is accepted or refused")
    try:
        found = await aside(decide, house_of(request), wanted, decision, who or sent.get("by", ""), now)
    except ConfigError as error:
        raise HTTPException(409, error.faults[0]) from None
    if isinstance(found, NotTaken):
        status = {"mv_none": 404, "mv_decided": 409}.get(found.why, 400)
        raise HTTPException(status, voice_of(request).say(found.why))
    return _back(found.source)


def _back(source: str) -> Response:
    return RedirectResponse(f"/sources/{source}", 303, {"Cache-Control": "no-store"})
