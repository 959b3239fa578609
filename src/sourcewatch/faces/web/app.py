"""The web application: which hosts it answers for, how its own pages are guarded, and its errors in one sentence.

Pages are added as routes by their modules. An endpoint that is no coroutine runs in a thread, so that a slow read of
the storage stops nobody else.
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ...domain.errors import StorageError
from ...services.replay import replay as replaying
from . import desk, login, replay
from .access import LOOPBACK, Access, Guarded, is_loopback
from .data import Data
from .pages import OWN_PAGES, said, style

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from ..wiring import House

ANYWHERE = ("0.0.0.0", "::")


def utc_now() -> datetime:
    return datetime.now(UTC)


def build(
    house: House,
    *,
    extra_routes: Sequence[BaseRoute] = (),
    bind: str = "127.0.0.1",
    clock: Callable[[], datetime] = utc_now,
) -> Starlette:
    """The application over an open house; `request.app.state.house` is that house.

    It answers for loopback, for *bind* (where it listens) and for the host of `public_url`; any other Host is refused,
    which keeps a stranger's name from being pointed at us (DNS rebinding).
    """
    public_url = house.settings.public_url
    access = Access(house.tokens.all, local=is_loopback(bind), public_url=public_url)
    data = Data(house, clock)
    app = Starlette(
        routes=[
            Route("/style.css", style),
            *data.routes(),
            *login.routes(),
            *replay.routes(),
            *desk.routes(house, clock),
            *extra_routes,
        ],
        middleware=[
            Middleware(_Manners, hosts=answered_for(bind, public_url)),
            Middleware(Guarded, access=access),
        ],
        exception_handlers={HTTPException: _refused, StorageError: _storage_failed, Exception: _defect},
    )
    app.router.redirect_slashes = False  # an archived address ends as it ends
    app.state.house, app.state.access, app.state.data = house, access, data
    app.state.replay = replaying(house.settings, house.archive, house.snapshots)
    return app


def answered_for(bind: str, public_url: str) -> frozenset[str]:
    """The host names that we answer for; "*" stands for any IP literal, which no stranger's DNS can claim."""
    named = {urlsplit(public_url).hostname or "", "*" if bind in ANYWHERE else bind.strip("[]").lower()}
    return frozenset({*LOOPBACK, *named} - {""})


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    allowed = ", ".join(sorted((error.headers or {}).get("Allow", "").split(", ")))
    if error.status_code == 405 and request.method == "OPTIONS":
        return Response(status_code=204, headers={"Allow": f"{allowed}, OPTIONS"})
    if error.status_code == 405:
        return said(request, 405, f"{request.method} is not possible here; {allowed} is", {"Allow": allowed})
    sentence = "there is nothing here" if error.detail == "Not Found" else error.detail
    return said(request, error.status_code, sentence, error.headers)


async def _storage_failed(request: Request, error: Exception) -> Response:
    logging.getLogger(__name__).error("%s: %s", request.url.path, error)  # it names folders of this machine
    return said(request, 503, "the archive cannot be read just now; its operator finds the reason in the log")


async def _defect(request: Request, _: Exception) -> Response:
    return said(request, 500, "this is a defect of sourcewatch; its operator finds the reason in the log")


class _Manners:
    """Refuses strangers' names and gives every answer its guards, unless its endpoint has set stricter ones."""

    def __init__(self, app: ASGIApp, hosts: Collection[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in OWN_PAGES.items():
                    headers.setdefault(name, value)
            await send(message)

        if scope["type"] == "http" and not self._ours(Headers(scope=scope).get("host", "")):
            refusal = said(Request(scope), 400, "this is not a host that sourcewatch answers for")
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, guarded)

    def _ours(self, host: str) -> bool:
        try:
            name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
        except ValueError:
            return False
        return name in self._hosts or ("*" in self._hosts and _is_ip(name))


def _is_ip(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
