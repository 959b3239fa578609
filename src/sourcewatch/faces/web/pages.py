"""Our own pages: their frame, their style, their guards, and one sentence for what cannot be done."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response

OWN_PAGES = {
    "content-security-policy": "default-src 'none'; style-src 'self'; img-src 'self' data:; frame-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with no-referrer a browser gives a form's Origin as null, even to ourselves
}
JSON_TOO = ("/last-accessed.json", "/changes")
STYLE = """\
:root { color-scheme: light dark; font: 16px/1.5 system-ui, "Noto Sans CJK SC", sans-serif }
body { margin: 0 auto; max-width: 72rem; padding: 0 1rem }
header, nav { margin: .75rem 0 }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem } dd { margin: 0; overflow-wrap: anywhere }
nav a { margin-right: 1rem }
iframe { width: 100%; height: 75vh; border: 1px solid; background: #fff }
figure { display: inline-block; margin: .5rem; vertical-align: top } figure img { max-width: 20rem; max-height: 15rem }
.hand { border-left: .25rem solid; padding-left: .5rem; font-weight: bold }
"""


def page(title: str, body: str, *, language: str = "en", status: int = 200) -> HTMLResponse:
    """One of our own pages. *body* is HTML, *title* and *language* are text."""
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title>'
    style = '<link rel="icon" href="data:,"><link rel="stylesheet" href="/style.css">'
    return HTMLResponse(
        f'<!doctype html>\n<html lang="{escape(language)}"><head>{head}{style}</head>\n<body>{body}</body></html>\n',
        status,
    )


def said(request: Request, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    """One sentence: as JSON where JSON is asked for, as a page to who prefers HTML, else as text."""
    response: Response
    if request.url.path.startswith("/api/") or request.url.path in JSON_TOO:
        response = JSONResponse({"error": sentence}, status)
    elif "text/html" in request.headers.get("accept", ""):
        response = page(sentence, f"<p>{escape(sentence)}</p>", status=status)
    else:
        response = PlainTextResponse(f"{sentence}\n", status)
    response.headers.update({**OWN_PAGES, **(headers or {})})
    return response


def style(_: Request) -> Response:
    return Response(STYLE, media_type="text/css", headers={"Cache-Control": "max-age=3600"})
