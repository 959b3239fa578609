"""What scripts and the site's build ask for: dates, sources, checks, versions, changes, the feed.

The site's data is kept in memory and made again when the ledger has been written to since; whoever has it gets 304.
"""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ...analysis import feed
from ...analysis.data_files import as_json
from ...domain.copies import best_of
from ...domain.report import Report
from ...domain.source import Source
from ...services import listed, site_data
from ...services.threads import aside
from .access import PUBLISHED
from .answers import ANYBODY, Body, answer, body
from .openapi import DOCUMENT, LIMIT, MOST
from .script import SCRIPT

if TYPE_CHECKING:
    from ..wiring import House

OF_THE_SITE = ("/changes", "/api/v1/changes")  # the same data, for pages of any site to read
LOOK_S = 1.0  # as often as this the ledger is asked whether it was written to
SHARE = 10.0  # while it is written to all the time, at most a tenth of the time goes into making the data again
LASTS_S = 300.0  # rows from a clock that was wrong come true by themselves
FEED_DAYS, FEED_MOST = 90, 200
MOST_SHOWN = 64  # a page of 1,000 changes may have a megabyte
JSON, ATOM = "application/json", "application/atom+xml"

Shown = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Made:
    """All that was made of the ledger as it stood at one *mark*; *shown*: answers by question, with their next."""

    mark: str
    at_s: float
    took_s: float
    dates: site_data.Dates
    ids: Sequence[str]
    last_accessed: Body
    feed: Body
    shown: dict[str, tuple[Body, str | None]] = field(default_factory=dict)


class Data:
    """*clock* says what time it is (UTC), *monotonic* what has passed."""

    def __init__(
        self,
        house: House,
        clock: Callable[[], datetime],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._house, self._clock, self._monotonic = house, clock, monotonic
        self._made: Made | None = None
        self._looked_s = 0.0
        self._looking: asyncio.Task[Made] | None = None

    def routes(self) -> list[BaseRoute]:
        one = "/api/v1/sources/{id}"
        return [
            Route("/last-accessed.json", self._last_accessed),
            Route("/sourcewatch.js", _script),
            Route("/feed.atom", self._feed),
            Route("/changes", self._changes),
            Route("/api/openapi.json", _openapi),
            Route("/api/v1/sources", self._sources),
            Route("/api/v1/changes", self._changes),
            Route(one, self._source),
            Route(f"{one}/checks", self._checks),
            Route(f"{one}/versions", self._versions),
            Route(f"{one}/changes", self._changes),
        ]

    async def made(self) -> Made:
        """What the ledger holds now, no older than a second. One question to it at a time. Raises StorageError."""
        made, now = self._made, self._monotonic()
        if made is not None and now - self._looked_s < max(LOOK_S, SHARE * made.took_s):
            return made
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(aside(self._look, made))
        made = await asyncio.shield(self._looking)
        self._made = made
        return made

    def _look(self, before: Made | None) -> Made:
        began, mark = self._monotonic(), self._house.site.mark()  # first the mark: what is written now is seen again
        if before is not None and before.mark == mark and began - before.at_s < LASTS_S:
            self._looked_s = began
            return before
        made = self._make(mark, began)
        self._looked_s = self._monotonic()
        return made

    def _make(self, mark: str, began: float) -> Made:
        house, now = self._house, self._clock()
        seen = site_data.read(house.settings, house.ledger, house.site, now, best_of(house.outside.of()))
        data = site_data.as_data(seen)
        told = as_json(data["sources"])
        text = as_json({key: value for key, value in data.items() if key != "sources"})[:-1] + f',"sources":{told}}}'
        run = house.ledger.last_run()
        report = Report(
            site=house.settings.site,
            generated_at=now,
            since=None,
            news=tuple(house.outbox.since(now - timedelta(days=FEED_DAYS), FEED_MOST)),
            last_run_at=run.ended_at if run else None,
        )
        dates, news = body(text, JSON, told=told), body(feed.atom(report), ATOM)
        return Made(mark, began, self._monotonic() - began, seen, sorted(seen.sources), dates, news)

    async def _last_accessed(self, request: Request) -> Response:
        made = await self.made()
        return answer(request, made.last_accessed, {**ANYBODY, "Cache-Control": _lasting(self._house, 60, request)})

    async def _feed(self, request: Request) -> Response:
        made = await self.made()
        return answer(request, made.feed, {**ANYBODY, "Cache-Control": _lasting(self._house, 60, request)})

    async def _sources(self, request: Request) -> Response:
        """By id; `after` is the last id of the page before."""

        async def rows(made: Made) -> Shown:
            most, after = _limit(request), request.query_params.get("after", "")
            ids = made.ids[bisect_right(made.ids, after) :][: most + 1]
            found = [listed.source(made.dates, made.dates.sources[i]) for i in ids[:most]]
            return _page(request, "sources", found, ids[most - 1] if len(ids) > most else None)

        return await self._kept(request, rows)

    async def _source(self, request: Request) -> Response:
        async def whole(made: Made) -> Shown:
            source = _known(made, request)
            version = made.dates.standing(source).version
            quoted = await aside(self._house.site.quoted, source.id, version) if version is not None else []
            return listed.whole_source(made.dates, source, quoted)

        return await self._kept(request, whole)

    async def _checks(self, request: Request) -> Response:
        async def rows(made: Made) -> Shown:
            source, most, after = _known(made, request), _limit(request), _after(request)
            spans = await aside(self._house.site.checks, source.id, after, most + 1)
            return _rows(request, "checks", [listed.check(s) for s in spans], most)

        return await self._kept(request, rows)

    async def _versions(self, request: Request) -> Response:
        async def rows(made: Made) -> Shown:
            source, most, after = _known(made, request), _limit(request), _after(request)
            found = await aside(self._house.site.versions, source.id, after, most + 1)
            return _rows(request, "versions", [listed.version(made.dates, source, v) for v in found], most)

        return await self._kept(request, rows)

    async def _changes(self, request: Request) -> Response:
        """Of one source where the path names it, else of all."""

        async def rows(made: Made) -> Shown:
            source = _known(made, request).id if "id" in request.path_params else None
            most, after, since = _limit(request), _after(request), _since(request)
            return _rows(request, "changes", await aside(self._read_changes, source, since, after, most + 1), most)

        return await self._kept(request, rows)

    async def _kept(self, request: Request, show: Callable[[Made], Awaitable[Shown]]) -> Response:
        """What was shown for the same question since the ledger was last written to, or is shown now."""
        made = await self.made()
        asked = f"{request.url.path}?{request.url.query}"
        if (known := made.shown.get(asked)) is None:
            value = await show(made)
            known = body(as_json(value), JSON), value.get("next")
            if len(made.shown) >= MOST_SHOWN:
                made.shown.clear()
            made.shown[asked] = known
        shown, following = known
        headers = {"Cache-Control": "no-cache"} | (ANYBODY if request.url.path in OF_THE_SITE else {})
        headers |= {"Link": f'<{following}>; rel="next"'} if following else {}
        return answer(request, shown, headers)

    def _read_changes(
        self, source: str | None, since: datetime | None, after: int | None, most: int
    ) -> list[dict[str, Any]]:
        rows = self._house.site.changes(source, since, after, most)
        shown = self._house.site.shown({v for row in rows for v in (row.from_version, row.to_version)})
        return [listed.change(row, shown) for row in rows]


def _known(made: Made, request: Request) -> Source:
    source = made.dates.sources.get(request.path_params["id"])
    if source is None:
        raise HTTPException(404, "there is no source of that id; /api/v1/sources names them all")
    return source


def _limit(request: Request) -> int:
    given = request.query_params.get("limit", str(LIMIT))
    if not given.isascii() or not given.isdecimal() or not 1 <= int(given[:9]) <= MOST:
        raise HTTPException(400, f"limit is a number from 1 to {MOST}")
    return int(given)


def _after(request: Request) -> int | None:
    given = request.query_params.get("after")
    if given is None:
        return None
    if not given.isascii() or not given.isdecimal() or not 1 <= int(given[:20]) < 2**63:
        raise HTTPException(400, "after is the id of a row, as `next` gives it")
    return int(given)


def _since(request: Request) -> datetime | None:
    given = request.query_params.get("since")
    if given is None:
        return None
    try:
        at = datetime.fromisoformat(given)
        if at.tzinfo is not None and "T" in given and at.year >= 1900:
            return at.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise HTTPException(400, "since is a time with its zone, such as 2026-10-20T11:03:00Z")


def _rows(request: Request, name: str, rows: Sequence[Mapping[str, Any]], most: int) -> Shown:
    return _page(request, name, rows[:most], rows[most - 1]["id"] if len(rows) > most else None)


def _page(request: Request, name: str, rows: Sequence[Mapping[str, Any]], last: str | int | None) -> Shown:
    """A page of rows; *next* is where the next one is, in the answer and in its Link (RFC 8288)."""
    asked = {key: value for key, value in request.query_params.items() if key in ("limit", "since")}
    following = f"{request.url.path}?{urlencode({**asked, 'after': last})}" if last is not None else None
    return {name: rows, "next": following}


def _lasting(house: House, seconds: int, request: Request) -> str:
    """A shared cache may keep what everybody may read."""
    everybody = not house.settings.public_url or request.url.path in PUBLISHED
    return f"{'public' if everybody else 'private'}, max-age={seconds}"


_SCRIPT, _DOCUMENT = body(SCRIPT, "text/javascript"), body(as_json(DOCUMENT), JSON)


async def _script(request: Request) -> Response:
    headers = {**ANYBODY, "Cross-Origin-Resource-Policy": "cross-origin", "Cache-Control": "public, max-age=86400"}
    return answer(request, _SCRIPT, headers)


async def _openapi(request: Request) -> Response:
    return answer(request, _DOCUMENT, {"Cache-Control": "no-cache"})
