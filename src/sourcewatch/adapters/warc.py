"""WARC 1.1 records, written and read by warcio: what was asked, what came, and what did not.

Bodies are archived as transferred, heads byte for byte. A failure is a `metadata` record of type
`application/warc-fields`: a response that nobody sent is never invented.
"""

from __future__ import annotations

import io
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import IO, Any

from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from ..domain.capture import Exchange, Failure, View
from ..domain.kept import Note, Revisit

_WHOLE_PAGE = "urn:fullPage:"  # as Webrecorder's crawlers name a screenshot of all of a page
_PROFILE = "http://netpreserve.org/warc/1.1/revisit/"
_CHUNKED = re.compile(rb"(?im)^transfer-encoding(?=[ \t]*:)")


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a response record lies in its file: its id and the byte offset of its gzip member."""

    record_id: str
    offset: int


class _ExactHead:
    """A header block that is written byte for byte: warcio would spell it anew from its parsed form."""

    def __init__(self, head: bytes) -> None:
        self.headers_buff = head
        self.headers: list[tuple[str, str]] = []

    def compute_headers_buffer(self, _filter: object = None) -> None:
        """Nothing to compute; part of what warcio calls."""

    def get_header(self, _name: str) -> None:
        return None


class Writer:
    """Writes records to an open binary file, each a gzip member of its own."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._warc = WARCWriter(out, gzip=True, warc_version="WARC/1.1")

    def info(self, filename: str, software: str, *, written_at: datetime) -> None:
        """Write what a file begins with: who wrote it, and how."""
        info = {
            "software": software,
            "format": "WARC File Format 1.1",
            "conformsTo": "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
            "http-version-note": "all archived requests were made over HTTP/1.x; heads are byte for byte",
        }
        headers = StatusAndHeaders("", [], protocol="WARC/1.1")
        for name, value in (("WARC-Type", "warcinfo"), ("WARC-Record-ID", _new_id()), ("WARC-Filename", filename)):
            headers.add_header(name, value)
        headers.add_header("WARC-Date", stamp(written_at))
        fields = _fields(info)
        self._warc.write_record(
            self._warc.create_warc_record(
                "", "warcinfo", payload=io.BytesIO(fields), length=len(fields), warc_headers=headers
            )
        )

    def exchange(self, exchange: Exchange, at: datetime, facts: Mapping[str, str]) -> Placed:
        """Write response, request and concurrent metadata; where the response lies.

        What a person brought without any server's answer (status 0) is a `resource`: an answer is never invented.
        """
        record_id, offset = _new_id(), self._out.tell()
        if not exchange.status:
            self._resource(exchange, at, record_id)
            self.metadata(exchange.url, at, facts, concurrent_to=record_id)
            return Placed(record_id, offset)
        response = {"WARC-Record-ID": record_id, "WARC-Payload-Digest": exchange.body_sha256, **_received(exchange, at)}
        self._http("response", exchange.url, _answered_head(exchange), response, exchange.body)
        if exchange.dom:
            self._dom(exchange, at, record_id)
        request = {"WARC-Date": stamp(at), "WARC-Concurrent-To": record_id}
        self._http("request", exchange.url, _request_head(exchange), request, b"")
        self.metadata(exchange.url, at, {**_measured(exchange), **facts}, concurrent_to=record_id)
        return Placed(record_id, offset)

    def _dom(self, exchange: Exchange, at: datetime, record_id: str) -> None:
        """What a browser made of the response, right behind it, as WARC's `conversion` of it."""
        headers = {"WARC-Date": stamp(at), "WARC-Refers-To": record_id}
        record = self._warc.create_warc_record(
            exchange.url,
            "conversion",
            payload=io.BytesIO(exchange.dom),
            length=len(exchange.dom),
            warc_content_type="text/html; charset=utf-8",
            warc_headers_dict=headers,
        )
        self._warc.write_record(record)

    def view(self, view: View, url: str, at: datetime, page: str) -> None:
        """What a browser saw beside the document: its screenshot, the answers that parts came from, what it missed."""
        told = {
            "browser": view.browser,
            "unloaded": "; ".join(f"{u.url} ({u.kind}: {u.code})" for u in view.unloaded),
            "broken-pictures": "; ".join(f"{b.url} ({b.alt or 'no alt text'}; {b.code})" for b in view.broken),
            "console-errors": "; ".join(view.errors),
            "notes": "; ".join(view.notes),
        }
        self.metadata(url, at, told, concurrent_to=page)
        if view.screenshot:
            shot = Exchange(f"{_WHOLE_PAGE}{url}", 0, (("Content-Type", "image/png"),), view.screenshot)
            self._resource(shot, at, _new_id())
        for other in view.others:
            self.exchange(other, at, {"via": url, "hopsFromSeed": "E", "read-by": view.browser})

    def _resource(self, exchange: Exchange, at: datetime, record_id: str) -> None:
        headers = {
            "WARC-Record-ID": record_id,
            "WARC-Date": stamp(at),
            "WARC-Payload-Digest": exchange.body_sha256,
        }
        record = self._warc.create_warc_record(
            exchange.url,
            "resource",
            payload=io.BytesIO(exchange.body),
            length=len(exchange.body),
            warc_content_type=exchange.header("content-type"),
            warc_headers_dict=headers,
        )
        self._warc.write_record(record)

    def revisit(self, revisit: Revisit, at: datetime) -> str:
        """Write that a version's payload was seen again; the record's id.

        Replay finds the payload by `WARC-Refers-To-Target-URI`: without it pywb shows another capture under that one's
        date. A 304 is written without its HTTP block, or pywb replays an empty 304 (both measured with pywb 2.10).
        """
        answer, record_id = revisit.answer, _new_id()
        not_modified = answer.status == 304
        headers = {
            "WARC-Record-ID": record_id,
            "WARC-Profile": _PROFILE + ("server-not-modified" if not_modified else "identical-payload-digest"),
            "WARC-Refers-To": revisit.record_id,
            "WARC-Refers-To-Target-URI": revisit.url,
            "WARC-Refers-To-Date": stamp(revisit.captured_at),
            "WARC-Payload-Digest": revisit.body_sha256,
            **_received(answer, at),
        }
        self._http("revisit", answer.url, None if not_modified else _answered_head(answer), headers, b"")
        return record_id

    def note(self, note: Note, at: datetime) -> None:
        """Write a check that brought no new version: its revisit, if the same bytes were seen, and its fields."""
        seen = self.revisit(note.revisit, at) if note.revisit else ""
        self.metadata(note.url, at, note.facts, concurrent_to=seen)

    def _http(self, kind: str, url: str, head: bytes | None, headers: dict[str, str], body: bytes) -> None:
        record = self._warc.create_warc_record(
            url,
            kind,
            payload=io.BytesIO(body),
            length=len(body),
            warc_headers_dict=headers,
            http_headers=None if head is None else _ExactHead(head),
        )
        self._warc.write_record(record)

    def metadata(self, url: str, at: datetime, facts: Mapping[str, str], concurrent_to: str = "") -> None:
        headers = {"WARC-Date": stamp(at)} | ({"WARC-Concurrent-To": concurrent_to} if concurrent_to else {})
        fields = _fields(facts)
        self._warc.write_record(
            self._warc.create_warc_record(
                url, "metadata", payload=io.BytesIO(fields), length=len(fields), warc_headers_dict=headers
            )
        )

    def failure(self, failure: Failure, facts: Mapping[str, str], concurrent_to: str = "") -> None:
        """Record that nothing usable came, as a note beside the page that wanted it."""
        noted = {
            "fetch-status": failure.word,
            "fetch-error": failure.detail,
            "fetchTimeMs": f"{failure.seconds * 1000:.0f}",
        }
        if leaf := failure.certificate:
            noted["tls-certificate-sha256"] = leaf.sha256
            noted["tls-certificate-subject"] = leaf.subject
            noted["tls-certificate-issuer"] = leaf.issuer
            noted["tls-not-before"] = stamp(leaf.not_before)
            noted["tls-not-after"] = stamp(leaf.not_after)
        self.metadata(failure.url, failure.failed_at, noted | dict(facts), concurrent_to)


def stamp(at: datetime) -> str:
    """WARC-Date in whole UTC seconds: replay tools know no finer time."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_response(file: IO[bytes], offset: int) -> Exchange:
    """The response record at a byte offset, its head and body as they were transferred; a `resource` has no status.

    Raises ValueError when no whole record of either kind stands there.
    """
    file.seek(offset)
    try:
        records = iter(ArchiveIterator(file, no_record_parse=True))
        record = next(records)
        block = record.raw_stream.read()
    except (StopIteration, ArchiveLoadFailed, EOFError, OSError) as error:
        raise ValueError(f"no WARC record at byte {offset}: {error}") from error
    length = int(record.rec_headers.get_header("Content-Length") or -1)
    if record.rec_type == "resource" and length == len(block):
        kind = record.rec_headers.get_header("Content-Type") or ""
        return Exchange(record.rec_headers.get_header("WARC-Target-URI"), 0, (("Content-Type", kind),), block)
    if record.rec_type != "response" or length != len(block):
        raise ValueError(f"no whole response record at byte {offset}")
    answer = exchange_of(record.rec_headers.get_header("WARC-Target-URI"), block)
    return replace(answer, dom=_dom_of(records, record.rec_headers.get_header("WARC-Record-ID")))


def read_screenshot(file: IO[bytes]) -> bytes:
    """The screenshot of a snapshot's page, or b"" where there is none. Raises ValueError for a damaged file."""
    try:
        for record in ArchiveIterator(file, no_record_parse=True):
            if (record.rec_headers.get_header("WARC-Target-URI") or "").startswith(_WHOLE_PAGE):
                return bytes(record.raw_stream.read())
    except (ArchiveLoadFailed, EOFError, OSError) as error:
        raise ValueError(f"damaged: {error}") from error
    return b""


def _dom_of(records: Iterator[Any], record_id: str) -> bytes:
    """What a browser made of the response before: the next record, where that is its conversion."""
    try:
        record = next(records, None)
    except (ArchiveLoadFailed, EOFError, OSError):
        return b""  # what is torn behind a whole response is no part of it
    if record is None or record.rec_type != "conversion":
        return b""
    headers = record.rec_headers
    try:
        dom = bytes(record.raw_stream.read()) if headers.get_header("WARC-Refers-To") == record_id else b""
    except (ArchiveLoadFailed, EOFError, OSError) as error:
        raise ValueError(f"the record behind it is damaged: {error}") from error
    if dom and len(dom) != int(headers.get_header("Content-Length") or -1):
        raise ValueError("what a browser made of it is cut off")
    return dom


def exchange_of(url: str, block: bytes) -> Exchange:
    """The answer that a response record's block holds."""
    head, _, body = block.partition(b"\r\n\r\n")
    return Exchange(
        url=url,
        status=_status_of(head),
        headers=tuple(_headers_of(head)),
        body=body,
        response_head=head + b"\r\n\r\n",
    )


def _status_of(head: bytes) -> int:
    parts = head.split(b" ", 2)
    return int(parts[1][:3]) if len(parts) > 1 and parts[1][:3].isdigit() else 0


def _headers_of(head: bytes) -> Iterator[tuple[str, str]]:
    for line in head.split(b"\r\n")[1:]:
        name, colon, value = line.partition(b":")
        if colon:
            yield name.decode("latin-1").strip(), value.decode("latin-1").strip()


def _new_id() -> str:
    return f"<urn:uuid:{uuid.uuid4()}>"


def _fields(facts: Mapping[str, Any]) -> bytes:
    lines = (f"{name}: {' '.join(str(value).split())}\r\n" for name, value in facts.items() if value not in ("", None))
    return "".join(lines).encode("utf-8", "replace")


def _received(exchange: Exchange, at: datetime) -> dict[str, str]:
    headers = {
        "WARC-Date": stamp(at),
        "WARC-Protocol": "http/1.0" if exchange.http_version.endswith("1.0") else "http/1.1",
    }
    if exchange.address:
        headers["WARC-IP-Address"] = exchange.address
    if exchange.tls:
        headers["WARC-Cipher-Suite"] = exchange.tls.cipher
    return headers


def _answered_head(exchange: Exchange) -> bytes:
    """The answer's head; its framing renamed, since bodies are archived without their chunks."""
    return _CHUNKED.sub(b"X-Orig-Transfer-Encoding", _response_head(exchange))


def _response_head(exchange: Exchange) -> bytes:
    if exchange.response_head:
        return _ended(exchange.response_head)
    lines = [f"HTTP/1.1 {exchange.status} {exchange.reason}".rstrip()]
    lines += [f"{name}: {value}" for name, value in exchange.headers]
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "replace")


def _request_head(exchange: Exchange) -> bytes:
    return _ended(exchange.request_head) if exchange.request_head else f"GET {exchange.url} HTTP/1.1\r\n\r\n".encode()


def _ended(head: bytes) -> bytes:
    """A head that ends in one blank line; servers with bare line feeds get the blank line that parsers look for."""
    return head if head.endswith(b"\r\n\r\n") else head.rstrip(b"\r\n") + b"\r\n\r\n"


def _measured(exchange: Exchange) -> dict[str, str]:
    facts = {"fetchTimeMs": f"{exchange.timing.total_s * 1000:.0f}"}
    if exchange.tls:
        facts["tls-version"] = exchange.tls.version
        if leaf := exchange.tls.certificate:
            facts["tls-certificate-sha256"] = leaf.sha256
            facts["tls-not-after"] = stamp(leaf.not_after)
    return facts


def chain(exchanges: Sequence[Exchange]) -> Iterator[tuple[Exchange, dict[str, str]]]:
    """Each hop with what it followed from: WARC's `via` and `hopsFromSeed` (R: a redirect)."""
    for position, exchange in enumerate(exchanges):
        yield exchange, {"via": exchanges[position - 1].url, "hopsFromSeed": "R" * position} if position else {}
