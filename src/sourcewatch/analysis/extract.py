"""Bytes to a document, whatever their form: the one door to all readers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sourcewatch.domain.document import Document, Form
from sourcewatch.domain.reader import Reader

from . import html, markdown, readers, structured
from .decode import characters

CLOSING = re.compile(r"</(?:body|html)\s*>", re.I)
EXTRACTOR = "blocks@1"  # raise it with every change that makes another document of the same bytes


def extract(
    payload: bytes,
    *,
    form: Form,
    media_type: str = "",
    http_charset: str | None = None,
    url: str = "",
    select: str = "",
    ignore: Sequence[str] = (),
    reader: Reader | None = None,
) -> Document:
    """Read a payload of a known *form* (see `sniff`). *url* is the final address, for relative ones.

    *select* and *ignore* are CSS, for HTML and Markdown; *reader* is the rule for this kind of source. Never raises for
    what a payload contains; what an editor must know of the reading is in the document's notes. A PDF belongs into a
    limited child process (see `pdf`).
    """
    if form in (Form.IMAGE, Form.BINARY):
        return Document(form, extractor=EXTRACTOR)
    if form is Form.PDF:
        from . import pdf  # 150 ms to load

        return replace(pdf.extract(payload), extractor=EXTRACTOR)
    read = characters(payload, http_charset)
    if reader is not None and reader.form == form:
        document = readers.document(read.text, reader, url)
    else:
        document = _read(read.text, form, url, select, tuple(ignore))
    if reader is not None:
        document = readers.selected(document, reader)
    if form is Form.HTML:
        document = replace(document, closed=CLOSING.search(read.text) is not None)
    notes = document.notes
    if read.replaced:
        notes = (*notes, f"{read.replaced} characters do not decode as {read.codec}")
    return replace(document, extractor=EXTRACTOR, codec=read.codec, codec_origin=read.origin, notes=notes)


def selector_error(css: str) -> str | None:
    """What is wrong with a CSS selector of an editor's, or None."""
    return html.selector_error(css)


def _read(text: str, form: Form, url: str, select: str, ignore: tuple[str, ...]) -> Document:
    if form is Form.MARKDOWN:
        return markdown.extract(text, url=url, select=select, ignore=ignore)
    if form is Form.JSON:
        return structured.from_json(text, url=url)
    if form in (Form.FEED, Form.XML):
        return structured.from_xml(text, form, url=url)
    if form is Form.TEXT:
        return structured.from_text(text, url=url)
    return html.extract(text, url=url, select=select, ignore=ignore)
