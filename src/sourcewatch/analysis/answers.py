"""The characters of an answer that is no page to be judged: a list, a map, a page that cites."""

from __future__ import annotations

from ..domain.capture import Exchange
from .decode import characters
from .unpack import GZIP_MAGIC, unpack

MOST_UNPACKED = 5  # an honest page unpacks to 3–10 times its size; the limit on the wire is the caller's


def charset(content_type: str) -> str | None:
    """The charset parameter of a Content-Type, without quotes."""
    for parameter in content_type.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'") or None
    return None


def text_of(answer: Exchange, *, most_bytes: int, packed_files: bool = False) -> str | None:
    """Its characters, None where its coding does not hold. *most_bytes* is the limit that the fetch had.

    *packed_files*: a file that is a gzip itself, under no coding, is unpacked, too (`sitemap.xml.gz`).
    """
    codings = tuple(value for value in answer.all_headers("content-encoding") if value.strip(", "))
    if packed_files and not codings and answer.body.startswith(GZIP_MAGIC):
        codings = ("gzip",)
    payload = unpack(answer.body, codings, most_bytes=most_bytes * MOST_UNPACKED)
    if payload.fault is not None:
        return None
    return characters(payload.data, charset(answer.header("content-type"))).text
