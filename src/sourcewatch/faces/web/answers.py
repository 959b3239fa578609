"""Answers that can be kept: an ETag of the content, 304 for who has it, gzip for who takes it."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import Response

WORTH_PACKING_BYTES = 1_000
LEVEL = 5
ANYBODY = {"Access-Control-Allow-Origin": "*", "Access-Control-Expose-Headers": "ETag"}


@dataclass(frozen=True, slots=True)
class Body:
    """Bytes, plain and (where it is worth it) packed. *etag* is weak: both forms, and any time of making, share it."""

    data: bytes
    packed: bytes | None
    media_type: str
    etag: str


def body(text: str, media_type: str, *, told: str | None = None) -> Body:
    """*told* is the part of the text that matters: what else changes makes no new ETag."""
    data = text.encode()
    packed = gzip.compress(data, LEVEL, mtime=0) if len(data) > WORTH_PACKING_BYTES else None
    tag = sha256(data if told is None else told.encode()).hexdigest()[:32]
    return Body(data, packed, media_type, f'W/"{tag}"')


def answer(request: Request, body: Body, headers: dict[str, str]) -> Response:
    """The body, or 304 where the client has it already (RFC 9110, 13.1.2)."""
    headers = {"ETag": body.etag, "Vary": "Accept-Encoding", **headers}
    if _matches(request.headers.get("if-none-match"), body.etag):
        return Response(status_code=304, headers=headers)
    if body.packed is not None and _takes_gzip(request.headers.get("accept-encoding", "")):
        return Response(body.packed, media_type=body.media_type, headers={**headers, "Content-Encoding": "gzip"})
    return Response(body.data, media_type=body.media_type, headers=headers)


def _matches(wanted: str | None, etag: str) -> bool:
    """Weak comparison: W/ is of no account."""
    if wanted is None:
        return False
    known = {tag.strip().removeprefix("W/") for tag in wanted.split(",")}
    return "*" in known or etag.removeprefix("W/") in known


def _takes_gzip(accepted: str) -> bool:
    """RFC 9110, 12.5.3: gzip by its name or by *, unless its weight is 0."""
    weights: dict[str, float] = {}
    for one in accepted.lower().split(","):
        name, _, parameters = one.partition(";")
        weight = parameters.strip().removeprefix("q=") if parameters else "1"
        try:
            weights[name.strip()] = float(weight)
        except ValueError:
            weights[name.strip()] = 0.0
    return weights.get("gzip", weights.get("*", 0.0)) > 0
