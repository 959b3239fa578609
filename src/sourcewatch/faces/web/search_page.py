"""Search in the texts of all versions."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from ...analysis.find import around, words_of
from ...services.publish import known
from .shell import house_of, show

MOST_HITS = 100
FILL = 200  # versions that a search takes into the index first: about a second; the daemon takes in the others


def routes() -> list[BaseRoute]:
    return [Route("/search", _search)]


def _search(request: Request) -> Response:
    house = house_of(request)
    query = request.query_params.get("q", "")[:400]
    words = words_of(query)
    behind = bool(words) and house.search.fill(FILL) == FILL
    sources = known(house.settings, house.ledger)
    hits: list[dict[str, Any]] = []
    for hit in house.search.find(words, MOST_HITS):
        first, last = house.desk.version(hit.first), house.desk.version(hit.last)
        if first is not None and last is not None:
            source = sources.get(hit.source)
            pieces = around(hit.text, words)
            hits.append({"id": hit.source, "source": source, "first": first, "last": last, "pieces": pieces})
    return show(request, "search.html.j2", q=query, words=words, hits=hits, behind=behind, most=MOST_HITS)
