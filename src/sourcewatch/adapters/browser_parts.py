"""The answers that a page was made of, as the browser had them: whole ones only, within bounds."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urldefrag

from ..domain.capture import Exchange
from .guard_proxy import CAUSE

if TYPE_CHECKING:
    from playwright.async_api import Request

MOST_PARTS, MOST_BYTES = 300, 30_000_000
READ_WITHIN_S, ONE_WITHIN_S = 5.0, 1.0
FRAMING = frozenset({"content-encoding", "content-length", "transfer-encoding"})  # of a body that was coded


async def read_parts(asked: Iterable[Request], page_url: str, note: Callable[[str], None]) -> tuple[Exchange, ...]:
    """One exchange an address of what was *asked* and came whole, bodies decoded; *note* is told what is left out."""
    found: dict[str, Exchange] = {}
    size, until = 0, time.monotonic() + READ_WITHIN_S
    for request in asked:
        url = urldefrag(request.url).url
        if url == page_url or url in found or not url.startswith(("http:", "https:")):
            continue
        if len(found) == MOST_PARTS or size >= MOST_BYTES or time.monotonic() >= until:
            note(f"of its parts only {len(found)} are kept, {size / 1e6:.1f} MB")
            break
        exchange = await _exchange(request, url)
        if exchange is not None and size + len(exchange.body) <= MOST_BYTES:
            size += len(exchange.body)
            found[url] = exchange
    return tuple(found.values())


async def _exchange(request: Request, url: str) -> Exchange | None:
    """A response as the browser tells it: its body decoded, its head without what the coding said."""
    try:
        async with asyncio.timeout(ONE_WITHIN_S):
            response = await request.response()
            if response is None or 300 <= response.status < 400 or response.headers.get(CAUSE.lower()):
                return None
            body, headers = await response.body(), await response.headers_array()
    except Exception:  # its body went with the page that it was for
        return None
    return Exchange(
        url=url,
        status=response.status,
        headers=tuple((h["name"], h["value"].replace("\n", ", ")) for h in headers if h["name"].lower() not in FRAMING),
        body=body,
        reason=response.status_text,
        started_at=datetime.now(UTC),
    )
