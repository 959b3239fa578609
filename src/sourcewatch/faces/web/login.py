"""Logging in with a token, and out again."""

from __future__ import annotations

from html import escape
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from ...analysis.excerpt import plain
from ...analysis.phrases import say
from .access import COOKIE, Access, named
from .forms import fields
from .pages import page
from .shell import language_of

LASTS_S = 30 * 86_400


def routes() -> list[BaseRoute]:
    return [
        Route("/login", _form, methods=["GET"]),
        Route("/login", _enter, methods=["POST"]),
        Route("/logout", _leave, methods=["POST"]),
    ]


def _form(request: Request) -> Response:
    return _shown(request, request.query_params.get("next", ""))


async def _enter(request: Request) -> Response:
    sent = await fields(request)
    access: Access = request.app.state.access
    secret, where = sent.get("token", "").strip(), sent.get("next", "")
    try:
        who = access.check(request, access.tokens(), secret)
    except HTTPException as error:
        wait = int((error.headers or {})["Retry-After"])
        return _shown(request, where, say("a_wait", language_of(request), n=wait), 429, {"Retry-After": str(wait)})
    if who is None:
        return _shown(request, where, say("a_wrong", language_of(request)), 401)
    entered = RedirectResponse(local(where), 303, {"Cache-Control": "no-store"})
    https = request.url.scheme == "https" or request.headers.get("origin", "").startswith("https://")
    entered.set_cookie(COOKIE, secret, max_age=LASTS_S, secure=https, httponly=True, samesite="strict")
    return entered


def _leave(_: Request) -> Response:
    left = RedirectResponse("/login", 303, {"Cache-Control": "no-store"})
    left.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return left


def local(where: str) -> str:
    """A path of our own, whatever was asked for: a login leads to no other site."""
    try:
        parts = urlsplit(where)
    except ValueError:
        return "/"
    ours = where.startswith("/") and not parts.scheme and not parts.netloc
    return where if ours and "\\" not in where and where.isascii() and where.isprintable() else "/"


def _shown(
    request: Request, where: str, fault: str = "", status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    language, name = language_of(request), named(request)
    body = f"<main><h1>{say('a_title', language)}</h1>"
    if name:
        button = f"<button>{say('a_leave', language)}</button>"
        body += f"<p>{escape(say('a_here', language, name=plain(name)))}</p>"
        body += f'<form method="post" action="/logout">{button}</form>'
    elif name == "":
        body += f"<p>{say('a_open', language)}</p>"
    if name is None:
        told = f'<p id="fault" role="alert"><strong>{escape(fault)}</strong></p>' if fault else ""
        described = ' aria-describedby="fault" aria-invalid="true"' if fault else ""
        body += (
            f'{told}<form method="post" action="/login"><p><label for="token">{say("a_token", language)}</label> '
            f'<input id="token" name="token" type="password" autocomplete="current-password" required autofocus'
            f"{described}> <button>{say('a_enter', language)}</button></p>"
            f'<input type="hidden" name="next" value="{escape(local(where))}"></form>'
            f"<p>{say('a_whence', language)}</p>"
        )
    shown = page(say("a_title", language), body + "</main>", language=language, status=status)
    shown.headers.update({"Cache-Control": "no-store", **(headers or {})})
    return shown
