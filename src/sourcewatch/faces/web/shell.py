"""The frame of the editors' pages: their language, their templates, their scripts, and their guards."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from ...analysis import excerpt
from ...analysis.address import normal
from ...analysis.dates import LANGUAGES
from ...analysis.voice import Voice
from ...domain.memento import STAMP
from .access import may, named

if TYPE_CHECKING:
    from datetime import datetime

    from ...domain.kept import VersionRow
    from ..wiring import House

LANGUAGE_COOKIE = "sourcewatch_lang"
LANGUAGE_LASTS_S = 365 * 86_400
# Scripts and styles are files of our own; nothing inline runs, whatever a title or a quote holds.
GUARDS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
}
STATIC = {
    "desk.css": "text/css",
    "desk.js": "text/javascript",
    "htmx.min.js": "text/javascript",
    "htmx.LICENSE": "text/plain",
}


def house_of(request: Request) -> House:
    house: House = request.app.state.house
    return house


def language_of(request: Request) -> str:
    """What `?lang=` asks for, what was asked for before, or the site's own."""
    for wanted in (request.query_params.get("lang"), request.cookies.get(LANGUAGE_COOKIE)):
        if wanted in LANGUAGES:
            return wanted
    return house_of(request).settings.site.language


def voice_of(request: Request) -> Voice:
    return Voice(language_of(request), house_of(request).settings.site.timezone)


def show(request: Request, template: str, *, status: int = 200, **values: Any) -> Response:
    """A page of ours. Keeps a language that was asked for."""
    voice = voice_of(request)
    path = request.url.path
    page = _environment().get_template(template).render(
        v=voice, site=house_of(request).settings.site, may_review=may(request, "review"), who=named(request) or "",
        here=_address(path, request, {}), address=lambda **more: _address(path, request, more), **values,
    )  # fmt: skip
    response = HTMLResponse(page, status, headers=GUARDS)
    if request.query_params.get("lang") in LANGUAGES:
        response.set_cookie(LANGUAGE_COOKIE, voice.language, max_age=LANGUAGE_LASTS_S, samesite="strict")
    return response


def _address(path: str, request: Request, more: dict[str, Any]) -> str:
    """This page's address with other parameters; None or "" takes one away."""
    values = {**request.query_params, **more}
    kept = {key: str(value) for key, value in values.items() if value not in (None, "")}
    return f"{path}?{urlencode(kept)}" if kept else path


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("sourcewatch.faces.web"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    made.globals |= {
        "plain": excerpt.plain,
        "href": excerpt.safe_href,
        "marked": lambda edit: Markup(excerpt.as_html(excerpt.shortened(excerpt.parts_of(edit)))),
        "marked_parts": lambda parts: Markup(excerpt.as_html(excerpt.shortened(parts))),
        "replay": replay_of,
    }
    return made


def replay_of(url: str | None, at: datetime) -> str:
    """The address of our memento of a version."""
    return f"/memento/{at:{STAMP}}/{normal(url or '') or url or ''}"


def static(request: Request) -> Response:
    name = str(request.path_params["name"])
    if name not in STATIC:
        raise HTTPException(404)
    return Response(_bytes(name), media_type=STATIC[name], headers={"Cache-Control": "max-age=3600"})


@cache
def _bytes(name: str) -> bytes:
    return files("sourcewatch.faces.web").joinpath("static", name).read_bytes()


def number(text: str, most: int = 1_000_000_000) -> int | None:
    """A number as an address gives it; None for anything else."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= 10 and int(text) <= most else None


def version_or_404(request: Request, text: str, source: str | None = None) -> VersionRow:
    """The version that an address names, of that source where given."""
    found = number(text)
    version = house_of(request).desk.version(found) if found is not None else None
    if version is None or (source is not None and version.source != source):
        raise HTTPException(404, "there is no such version")
    return version
