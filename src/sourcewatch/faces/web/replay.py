"""Replay over HTTP (RFC 7089): TimeGate, TimeMaps, and mementos that can neither run a script nor phone home.

Foreign HTML is never rewritten. `/memento/STAMP/URL` is our page around it, `/memento/STAMPid_/URL` the archived bytes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from urllib.parse import unquote

from starlette.convertors import PathConvertor, register_url_convertor
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from ...analysis.address import normal
from ...domain.memento import Memento
from ...services.replay import Replay, closest
from .frame import frame
from .shell import language_of

RAW = "id_"
MEMENTO_GUARDS = {
    "content-security-policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
    "x-content-type-options": "nosniff",
    # No Content-Security-Policy stops <link rel=preconnect> and dns-prefetch. Chromium 156 obeys the first of these
    # (seen: without it a connection is opened); a browser that does not may still tell a host that somebody looks.
    "connection-allowlist": "(response-origin)",
    "x-dns-prefetch-control": "off",
    "referrer-policy": "no-referrer",
}
_STAMPED = re.compile(r"(\d{8})T(\d{6})Z|(\d{4}(?:\d\d){0,5})")
_HTTP_DATE = re.compile(r"[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT")


class _AddressConvertor(PathConvertor):
    """All that is left of a path, line breaks (%0d%0a) too: the path is decoded when it comes here."""

    regex = r"[\s\S]*"


register_url_convertor("address", _AddressConvertor())


def routes() -> list[BaseRoute]:
    return [
        Route("/timegate/{url:address}", _timegate),
        Route("/timemap/link/{url:address}", _timemap_link),
        Route("/timemap/json/{url:address}", _timemap_json),
        Route("/memento/{stamp}/{url:address}", _memento),
    ]


class Links:
    """The addresses of one original's resources, as the reader who asks sees them."""

    def __init__(self, request: Request, url: str) -> None:
        public = request.app.state.house.settings.public_url
        self.base = public or f"{request.url.scheme}://{request.headers['host']}/"
        self.original = url
        self.timegate = f"{self.base}timegate/{url}"
        self.timemap = f"{self.base}timemap/link/{url}"
        self.timemap_json = f"{self.base}timemap/json/{url}"

    def memento(self, memento: Memento, raw: str = "") -> str:
        return f"{self.base}memento/{memento.stamp}{raw}/{self.original}"

    def around(self, known: Sequence[Memento], here: Memento | None = None) -> str:
        """A Link header's value: original, timegate, timemap, and first, last, previous, next and this memento."""
        rels: dict[str, list[str]] = {known[0].stamp: ["first"]}
        rels.setdefault(known[-1].stamp, []).append("last")
        if here is not None:
            position = known.index(here)
            rels.setdefault(here.stamp, [])
            for name, at in (("prev", position - 1), ("next", position + 1)):
                if 0 <= at < len(known):
                    rels.setdefault(known[at].stamp, []).append(name)
        return ", ".join(
            [
                f'<{self.original}>; rel="original"',
                f'<{self.timegate}>; rel="timegate"',
                f'<{self.timemap}>; rel="timemap"; type="application/link-format"',
                *(self._listed(m, *rels[m.stamp]) for m in known if m.stamp in rels),
            ]
        )

    def whole(self, known: Sequence[Memento]) -> str:
        """The TimeMap in link-format."""
        span = f'from="{_http(known[0].at)}"; until="{_http(known[-1].at)}"'
        ends = {known[0].stamp: ["first"]}
        ends.setdefault(known[-1].stamp, []).append("last")
        return ",\n".join(
            [
                f'<{self.original}>; rel="original"',
                f'<{self.timegate}>; rel="timegate"',
                f'<{self.timemap}>; rel="self"; type="application/link-format"; {span}',
                *(self._listed(m, *ends.get(m.stamp, ())) for m in known),
            ]
        )

    def _listed(self, memento: Memento, *names: str) -> str:
        return f'<{self.memento(memento)}>; rel="{" ".join([*names, "memento"])}"; datetime="{_http(memento.at)}"'


def _timegate(request: Request) -> Response:
    vary = {"Vary": "accept-datetime"}
    wanted = request.headers.get("accept-datetime")
    at = _accepted(wanted) if wanted is not None else None
    if wanted is not None and at is None:
        words = "Accept-Datetime is no date; it reads like Wed, 21 Oct 2026 12:00:00 GMT"
        raise HTTPException(400, words, vary)
    links, known = _known(request, 1, vary)
    found = closest(known, at) if at is not None else known[-1]
    return _to(links.memento(found), {"Link": links.around(known, found), **vary})


def _timemap_link(request: Request) -> Response:
    links, known = _known(request, 2)
    return Response(f"{links.whole(known)}\n", media_type="application/link-format", headers=_count(known))


def _timemap_json(request: Request) -> Response:
    """As Perma.cc gives it."""
    links, known = _known(request, 2)
    listed = [{"datetime": f"{m.at:%Y-%m-%dT%H:%M:%SZ}", "uri": links.memento(m)} for m in known]
    return JSONResponse(
        {
            "original_uri": links.original,
            "self": links.timemap_json,
            "timegate_uri": links.timegate,
            "timemap_uri": {"link_format": links.timemap, "json_format": links.timemap_json},
            "mementos": {"first": listed[0], "last": listed[-1], "list": listed},
        },
        headers=_count(known),
    )


def _memento(request: Request) -> Response:
    stamp = str(request.path_params["stamp"])
    raw = RAW if stamp.endswith(RAW) else ""
    at = _moment(stamp.removesuffix(RAW))
    if at is None:
        raise HTTPException(404, "a memento is named by its time, such as 20261020T110300Z")
    links, known = _known(request, 2)
    found = closest(known, at)
    if stamp.removesuffix(RAW) != found.stamp:
        return _to(links.memento(found, raw))
    headers = {"Memento-Datetime": _http(found.at), "Link": links.around(known, found)}
    replay: Replay = request.app.state.replay
    if raw:
        archived = replay.archived(found)
        return Response(archived.data, headers={"Content-Type": archived.content_type, **headers, **MEMENTO_GUARDS})
    return frame(request.app.state.house, replay, links, known, found, headers, language_of(request))


def _to(address: str, headers: Mapping[str, str] | None = None) -> Response:
    """A redirect to the very address; Starlette's own quotes it once more, and `a|b` and `a%7Cb` are two."""
    return Response(status_code=302, headers={"Location": address, **(headers or {})})


def _known(request: Request, segments: int, headers: dict[str, str] | None = None) -> tuple[Links, list[Memento]]:
    """The original that the path names after its first segments, and its mementos; 400 or 404 where there are none."""
    asked = _original(request, segments)
    url = normal(asked)
    if url is None:
        raise HTTPException(400, "after the slash belongs a web address, such as https://example.org/", headers)
    replay: Replay = request.app.state.replay
    known = replay.mementos(asked)
    if not known and not request.scope["query_string"]:  # servers do not tell an empty query from none
        asked, url = f"{asked}?", f"{url}?"
        known = replay.mementos(asked)
    if not known:
        raise HTTPException(404, f"no version of {url.rstrip('?')} was ever accepted here", headers)
    return Links(request, url), known


def _original(request: Request, segments: int) -> str:
    """The archived address as it was written into the path: its own escapes, double slashes and query are kept."""
    path = bytes(request.scope.get("raw_path") or request.scope["path"].encode()).partition(b"?")[0]
    query = bytes(request.scope["query_string"])
    whole = path.split(b"/", segments + 1)[-1] + (b"?" + query if query else b"")
    url = whole.decode("utf-8", "replace")
    if re.match(r"https?%3a", url, re.I):
        url = unquote(url)
    return re.sub(r"^(https?):/+", r"\1://", url, flags=re.I)  # proxies collapse //


def _moment(stamp: str) -> datetime | None:
    """20261020T110300Z, or as many of the 14 digits YYYYMMDDhhmmss as are known, from the year on."""
    if (m := _STAMPED.fullmatch(stamp)) is None:
        return None
    digits = m[3] or m[1] + m[2]
    try:
        return datetime.strptime(digits + "00000101000000"[len(digits) :], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None


def _accepted(text: str) -> datetime | None:
    """An HTTP date (RFC 9110, 5.6.7, in its preferred form; RFC 7089 knows no other)."""
    if not _HTTP_DATE.fullmatch(text.strip()):
        return None
    try:
        return parsedate_to_datetime(text).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _http(at: datetime) -> str:
    return format_datetime(at.astimezone(UTC), usegmt=True)


def _count(known: Sequence[Memento]) -> dict[str, str]:
    return {"X-Memento-Count": str(len(known))}
