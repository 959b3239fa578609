"""Who may read, review and administer: tokens as bearer, as password or as a cookie; nothing written for a stranger.

On loopback without any token everybody at this machine may read and review; where readers reach us by a public address,
only read, for a proxy on this machine may carry anybody's requests. Everywhere else a token is needed for all but what
the site publishes. A page asks `require(request, "review")` and gets the name of who it is.
"""

from __future__ import annotations

import base64
import binascii
import ipaddress
import logging
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from ...domain.access import Scope, Token, holder
from ...domain.errors import ConfigError, StorageError
from .pages import said

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Send
    from starlette.types import Scope as Asked

COOKIE = "sourcewatch_token"
SAFE = ("GET", "HEAD", "OPTIONS")
ALWAYS = ("/login", "/style.css", "/healthz")
PUBLISHED = ("/last-accessed.json", "/sourcewatch.js")  # and the mementos, where readers reach us
MEMENTOS = ("/timegate/", "/timemap/", "/memento/")
LOOPBACK = ("localhost", "127.0.0.1", "::1")
CARRIED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
MOST_FAILURES, WITHIN_S = 10, 60.0  # of one address: enough for a person, too few for a log worth reading
MOST_ADDRESSES = 10_000
_WHO = "sourcewatch.who"

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Who:
    """*name* is the token's, or "" for somebody at this machine where no token is needed."""

    name: str
    scope: Scope


def require(request: Request, scope: str) -> str:
    """The name of who asks, or "" on an open loopback. Raises HTTPException 401 or 403 for who may not do this."""
    who: Who | None = request.scope.get(_WHO)
    if who is None:
        raise HTTPException(401, "this needs a token; /login takes it", {"WWW-Authenticate": "Bearer"})
    if not who.scope.covers(Scope(scope)):
        whose = "this token may" if who.name else "without a token one may here"
        raise HTTPException(403, f"{whose} {who.scope}; this needs a token for {scope}")
    return who.name


def may(request: Request, scope: str) -> bool:
    """Whether who asks may do this: for pages that leave out what they could only refuse."""
    who: Who | None = request.scope.get(_WHO)
    return who is not None and who.scope.covers(Scope(scope))


def named(request: Request) -> str | None:
    """Whose token it is; "" on an open loopback, None for a stranger."""
    who: Who | None = request.scope.get(_WHO)
    return who.name if who else None


@dataclass(slots=True)
class Failures:
    """Wrong tokens by address, so that nobody tries many."""

    clock: Callable[[], float] = time.monotonic
    _seen: dict[str, list[float]] = field(default_factory=dict)

    def wait_s(self, address: str) -> float:
        """How long this address has to wait until it is listened to again."""
        recent = [at for at in self._seen.get(address, ()) if self.clock() - at < WITHIN_S]
        return WITHIN_S - (self.clock() - recent[0]) if len(recent) >= MOST_FAILURES else 0.0

    def note(self, address: str) -> None:
        _log.warning("a wrong token was given by %s", address)
        now = self.clock()
        if len(self._seen) >= MOST_ADDRESSES:
            self._seen = {a: seen for a, seen in self._seen.items() if now - seen[-1] < WITHIN_S}
        self._seen[address] = [*self._seen.get(address, ()), now][-MOST_FAILURES:]


class Access:
    """*tokens* are read at each request; *local*: only this machine reaches us; *public_url* as in the settings."""

    def __init__(
        self,
        tokens: Callable[[], Sequence[Token]],
        *,
        local: bool,
        public_url: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.tokens, self._local, self._public_url = tokens, local, public_url
        self.failures = Failures(clock)

    def who(self, request: Request) -> Who | None:
        """Raises HTTPException 429 for who has given too many wrong tokens, StorageError."""
        tokens = self.tokens()
        if not tokens and self._local and is_direct(request):
            return Who("", Scope.READ if self._public_url else Scope.REVIEW)
        secret = given(request)
        return self.check(request, tokens, secret) if secret else None

    def check(self, request: Request, tokens: Sequence[Token], secret: str) -> Who | None:
        address = request.client.host if request.client else ""
        if (wait := self.failures.wait_s(address)) > 0:
            headers = {"Retry-After": str(int(wait) + 1)}
            raise HTTPException(429, "too many wrong tokens came from here; wait a minute", headers)
        found = holder(tokens, secret)
        if found is None:
            self.failures.note(address)
            return None
        return Who(found.name, found.scope)

    def is_free(self, path: str) -> bool:
        """What anybody may read."""
        published = bool(self._public_url) and (path in PUBLISHED or path.startswith(MEMENTOS))
        return path in ALWAYS or published

    def is_ours(self, request: Request) -> bool:
        """Whether one of our own pages, or no browser, sends this write.

        Sec-Fetch-Site cannot be forged by a page, but comes only to https and loopback; Origin comes with every POST of
        a browser. Who sends neither is no browser: then only what no browser adds by itself, a bearer, is believed.
        """
        headers = request.headers
        if headers.get("authorization", "").lower().startswith("bearer "):
            return True
        site, origin = headers.get("sec-fetch-site"), headers.get("origin")
        if site is not None:
            return site in ("same-origin", "none")
        if origin is not None:
            return origin in (f"http://{headers.get('host')}", f"https://{headers.get('host')}", self._own_origin())
        return COOKIE not in request.cookies and "authorization" not in headers

    def _own_origin(self) -> str:
        own = urlsplit(self._public_url)
        return f"{own.scheme}://{own.netloc}" if own.netloc else ""


def given(request: Request) -> str:
    """The secret that comes with a request, or "". An address never carries one: addresses are logged and shared."""
    kind, _, value = request.headers.get("authorization", "").partition(" ")
    if kind.lower() == "bearer":
        return value.strip()
    if kind.lower() == "basic":  # feed readers know nothing else
        try:
            return base64.b64decode(value.strip(), validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return ""
    return request.cookies.get(COOKIE, "")


def is_direct(request: Request) -> bool:
    """Whether nothing says that a proxy carries somebody else's request: it names this machine, and no way to it."""
    named = urlsplit(f"//{request.headers.get('host', '')}").hostname or ""
    return named.rstrip(".") in LOOPBACK and not any(name in request.headers for name in CARRIED)


class Guarded:
    """Lets nobody through to a page who may not read it, and no write that another site's page sends."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app, self._access = app, access

    async def __call__(self, scope: Asked, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        refusal: Response | None = None
        try:
            scope[_WHO] = self._access.who(request)
            refusal = self._refusal(request, scope[_WHO])
        except HTTPException as error:
            if not self._access.is_free(request.url.path):
                refusal = said(request, error.status_code, error.detail, error.headers)
        except StorageError as error:
            _log.error("%s", error)
            refusal = said(request, 503, "nobody can be let in just now; the operator finds the reason in the log")
        await (refusal or self._app)(scope, receive, send)

    def _refusal(self, request: Request, who: Who | None) -> Response | None:
        if request.method not in SAFE and not self._access.is_ours(request):
            return said(request, 403, "this write was sent by a page of another site, and was not done")
        if who is not None or self._access.is_free(request.url.path):
            return None
        navigates = request.method == "GET" and "text/html" in request.headers.get("accept", "")
        if not navigates:
            return said(request, 401, "this needs a token", {"WWW-Authenticate": "Bearer"})
        if request.headers.get("sec-fetch-site") == "cross-site":
            # A link in a mail: the browser kept the strict cookie back. Our own page may ask again, and gets it.
            again = Response(status_code=200, media_type="text/html", headers={"Cache-Control": "no-store"})
            again.headers["Refresh"] = "0"
            return again
        where = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        return RedirectResponse(f"/login?next={quote(where, safe='/')}", 303, {"Cache-Control": "no-store"})


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens there: each address that the name stands for is loopback."""
    try:
        found = socket.getaddrinfo(host.strip("[]") or "0.0.0.0", None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return False
    return all(ipaddress.ip_address(str(entry[4][0]).partition("%")[0]).is_loopback for entry in found)


def may_listen(host: str, tokens: Sequence[Token]) -> None:
    """Raises ConfigError where others could reach us and nobody would be asked who they are."""
    if not tokens and not is_loopback(host):
        raise ConfigError(
            [f"{host} can be reached from elsewhere, so it needs a token first: `sourcewatch token add --name NAME`"]
        )
