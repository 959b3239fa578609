"""Whether what came is the kind of thing that was cited (page, PDF, picture), and whether there is anything in it."""

from __future__ import annotations

import re

from sourcewatch.domain.document import Form, Label

from .view import THIN, Rule, View

PICTURE_PATH = re.compile(r"\.(?:png|jpe?g|gif|webp|avif|bmp|svg|ico|tiff?|heic)$")
PDF_PATH = re.compile(r"\.pdf$")
PAGE_PATH = re.compile(r"\.(?:html?|xhtml|shtml|php|aspx?|jsp)$")
VIEWER_PATH = re.compile(r"/(?:blob|src|file|wiki|viewer|view|preview|abs)/|[^/]*:[^/]*$")
"""A forge's or wiki's page *about* a file ends with that file's name."""
MEDIA = ("video/", "audio/")
DATA = frozenset({Form.JSON, Form.XML, Form.FEED, Form.BINARY, Form.IMAGE})


def _wrong_figure(view: View) -> str:
    """A figure was asked for, and no picture came."""
    form = view.reading.form
    if view.reading.expect != "figure" or form is Form.IMAGE:
        return ""
    if form is Form.BINARY and view.answer.media_type.startswith(MEDIA):
        return ""
    return f"{form.value} in a picture's place ({view.answer.media_type or 'no type'}); {view.facts()}"


def _wrong_page(view: View) -> str:
    """HTML where a PDF or picture was cited, by the address or by what was there before; or the reverse."""
    if view.reading.expect == "figure":
        return ""
    form, path = view.reading.form, view.cited_path
    accepted = view.reading.accepted
    before = accepted.document.form if accepted is not None else None
    if form is Form.HTML:
        if before in (Form.PDF, Form.IMAGE, Form.BINARY):
            return f"HTML where {before.value} was before; {view.facts()}"
        if before is None and (PDF_PATH.search(path) or PICTURE_PATH.search(path)) and not VIEWER_PATH.search(path):
            return f"HTML at {path[-80:]}; {view.facts()}"
        return ""
    if form in (Form.IMAGE, Form.BINARY):
        if before is not None and before not in (Form.IMAGE, Form.BINARY, Form.PDF):
            return f"{form.value} where {before.value} was before"
        if before is None and PAGE_PATH.search(path) and view.answer.media_type in ("", "text/html"):
            return f"{form.value} at {path[-80:]}, called {view.answer.media_type or 'nothing'}"
    return ""


def _broken(view: View) -> str:
    return next((note for note in view.document.notes if note.startswith("document broken")), "")


def _empty(view: View) -> str:
    """Not a word, and nothing to look at."""
    if not view.reading.payload.data.strip(b" \t\r\n\0\xef\xbb\xbf"):
        return f"{len(view.reading.payload.data)} bytes"
    document = view.document
    if view.reading.form in DATA or view.reading.form is Form.PDF:
        return ""
    if any(c.isalnum() for b in document.visible for c in b.text) or view.unseen >= THIN:
        return ""
    if any(e.label is Label.MAIN and e.kind != "social" for e in document.embeds):
        return ""
    return f"not a word in {len(view.reading.payload.data)} bytes"


FIRST_RULES = (
    Rule(
        "no-byte",
        "empty_body",
        lambda view: _empty(view) if not view.reading.payload.data.strip() else "",
        stand_in=False,
    ),
    Rule("document-broken", "document_broken", _broken, stand_in=False),
    Rule("no-picture", "wrong_type", _wrong_figure, stand_in=False),
)
RULES = (Rule("other-type", "wrong_type", _wrong_page), Rule("no-word", "empty_body", _empty, stand_in=False))
