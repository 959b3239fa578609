"""Files that a person brings, recognised by what they hold: HTML, MHTML, PDF, a picture, WARC, WACZ."""

from __future__ import annotations

import email.policy
import re
from collections.abc import Callable
from datetime import UTC, datetime
from email.message import EmailMessage, Message
from email.parser import BytesParser
from email.utils import parsedate_to_datetime
from hashlib import sha256
from html import unescape
from pathlib import Path

from ..domain.brought import Brought, NotUsable
from ..domain.capture import Exchange
from ..domain.source import Source
from .brought_warc import from_wacz, from_warc

ARCHIVES_ARE_LARGER = 10  # a WARC or WACZ holds a page with all that it shows; each record is bounded by itself
HEAD_BYTES = 4_096
PICTURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"BM", "image/bmp"),
)
_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s{1,2000}|<!--.{0,3000}?-->|<\?xml.{0,500}?\?>){0,20}<(?:!doctype\s+html|html|head|body|title|meta)\b",
    re.I | re.S,
)
_MHTML = re.compile(rb"^content-type:\s*multipart/related", re.I | re.M)
# SingleFile and browsers name the address in a comment at the head of the file, SingleFile the time, too.
_SAVED_FROM = re.compile(r"(?:url:\s*|saved from url=\(\d{4}\))(https?://[^\s>]{1,2000})", re.I)
_SAVED_ON = re.compile(r"saved date:\s*([A-Z][a-z]{2} [A-Z][a-z]{2} \d{2} \d{4} \d{2}:\d{2}:\d{2} GMT[+-]\d{4})", re.I)


def read(path: Path, source: Source, max_bytes: int) -> Brought:
    """The page of *source* in a file. Raises NotUsable with one sentence for what cannot be used."""
    data = _bytes(path, max_bytes)
    head = data[:HEAD_BYTES]
    digest, url = f"sha256:{sha256(data).hexdigest()}", source.address or ""
    if head.startswith((b"WARC/1.", b"\x1f\x8b")):
        return from_warc(path, source, max_bytes, digest)
    if head.startswith(b"PK\x03\x04"):
        return from_wacz(path, source, max_bytes, digest)
    if len(data) > max_bytes:
        raise NotUsable(f"{path.name} has {len(data):,} bytes; max_bytes allows {max_bytes:,}")
    if b"%PDF-" in head[:1_024]:
        return Brought("PDF", (_page(url, "application/pdf", data),), digest, path.name)
    if (kind := _picture(head)) is not None:
        return Brought("picture", (_page(url, kind, data),), digest, path.name)
    if _HTML.match(head):
        return _html(path.name, data, url, digest)
    if _MHTML.search(head):
        return _mhtml(path.name, data, url, digest)
    raise NotUsable(f"{path.name} is none of HTML, MHTML, PDF, a picture, WARC and WACZ")


def _bytes(path: Path, max_bytes: int) -> bytes:
    try:
        size = path.stat().st_size
        if not path.is_file():
            raise NotUsable(f"{path.name} is no file")
        if size > max_bytes * ARCHIVES_ARE_LARGER:
            raise NotUsable(f"{path.name} has {size:,} bytes; {max_bytes * ARCHIVES_ARE_LARGER:,} are the most")
        data = path.read_bytes()
    except OSError as error:
        raise NotUsable(f"{path.name} cannot be read: {error.strerror or error}") from error
    if not data.strip(b"\0 \r\n\t"):
        raise NotUsable(f"{path.name} is empty")
    return data


def _page(url: str, content_type: str, body: bytes) -> Exchange:
    """A page of which no server's answer is known."""
    return Exchange(url, 0, (("Content-Type", content_type),), body)


def _picture(head: bytes) -> str | None:
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    if head[4:8] == b"ftyp" and head[8:12] in (b"avif", b"avis"):
        return "image/avif"
    return next((kind for magic, kind in PICTURES if head.startswith(magic)), None)


def _html(name: str, data: bytes, url: str, digest: str) -> Brought:
    head = data[:HEAD_BYTES].decode("utf-8", "replace")
    said = _SAVED_FROM.search(head)
    on = _SAVED_ON.search(head)
    kind = "SingleFile HTML" if "SingleFile" in head else "HTML"
    return Brought(
        kind,
        (_page(url, "text/html", data),),
        digest,
        name,
        unescape(said[1]) if said else "",
        _moment(lambda: datetime.strptime(on[1], "%a %b %d %Y %H:%M:%S GMT%z")) if on else None,
    )


def _mhtml(name: str, data: bytes, url: str, digest: str) -> Brought:
    """The root part of a `multipart/related` file (RFC 2557), and the whole file beside it."""
    message = BytesParser(policy=email.policy.default).parsebytes(data)
    root = _root(message)
    if root is None:
        raise NotUsable(f"{name} is an MHTML file without a page in it; it may be damaged")
    body = root.get_payload(decode=True)
    if not isinstance(body, bytes) or not body.strip():
        raise NotUsable(f"{name} is an MHTML file whose page is empty; it may be damaged")
    charset = root.get_content_charset()
    return Brought(
        "MHTML",
        (_page(url, f"text/html; charset={charset}" if charset else "text/html", body),),
        digest,
        name,
        str(message.get("Snapshot-Content-Location") or root.get("Content-Location") or ""),
        _moment(lambda: parsedate_to_datetime(str(message["Date"]))) if message.get("Date") else None,
        Exchange(f"urn:sha256:{sha256(data).hexdigest()}", 0, (("Content-Type", "multipart/related"),), data),
    )


def _root(message: Message) -> EmailMessage | None:
    parts = [p for p in message.walk() if isinstance(p, EmailMessage) and not p.is_multipart()]
    wanted = message.get_param("start")
    named = [p for p in parts if wanted and str(p.get("Content-ID", "")) == str(wanted)]
    pages = [p for p in named + parts if p.get_content_type() in ("text/html", "application/xhtml+xml")]
    return pages[0] if pages else None


def _moment(read: Callable[[], datetime]) -> datetime | None:
    try:
        at = read()
        return at.astimezone(UTC) if at.tzinfo else None
    except (ValueError, TypeError, OverflowError):
        return None


def modified_at(path: Path) -> datetime:
    """When a file was last written: the date of a page that does not tell one itself. Raises NotUsable."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError as error:
        raise NotUsable(f"{path.name} cannot be read: {error.strerror or error}") from error
