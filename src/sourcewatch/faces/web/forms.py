"""What a form sends: a few short fields, read without trusting their length."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request

MOST_BYTES = 64_000
MOST_FIELDS = 100


async def fields(request: Request) -> dict[str, str]:
    """The fields of a form (`application/x-www-form-urlencoded`), the last of each name. Raises HTTPException."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/x-www-form-urlencoded":
        raise HTTPException(415, "a form comes as application/x-www-form-urlencoded")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise HTTPException(413, f"a form has at most {MOST_BYTES:,} bytes")
    try:
        return dict(parse_qsl(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError:
        raise HTTPException(400, "this is not a form") from None
