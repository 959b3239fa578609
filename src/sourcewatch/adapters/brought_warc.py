"""The capture of one source out of somebody else's WARC or WACZ, redirects and all, read by warcio."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from warcio.archiveiterator import ArchiveIterator
from warcio.bufferedreaders import ChunkedDataException, ChunkedDataReader
from warcio.exceptions import ArchiveLoadFailed

from ..domain.brought import Brought, NotUsable
from ..domain.capture import Exchange
from ..domain.source import Source
from .redirects import REDIRECTS
from .urls import AddressError, SchemeError, address_of
from .warc import exchange_of
from .warc_walk import matches

MOST_HOPS = 10
MOST_RECORDS = 100_000
PAGES = ("response", "resource")
KNOWN_DIGESTS = ("sha1:", "sha256:")  # tools differ in what they call a payload; what a block is, all agree on
Streams = Callable[[], Iterator[IO[bytes]]]


@dataclass(frozen=True, slots=True)
class _Found:
    """A record of the file: its number in reading order, its address without fragment, and where it leads."""

    number: int
    url: str
    at: datetime
    status: int
    location: str


def from_warc(path: Path, source: Source, max_bytes: int, digest: str) -> Brought:
    """Raises NotUsable."""

    def streams() -> Iterator[IO[bytes]]:
        with path.open("rb") as file:
            yield file

    return _brought("WARC", path.name, streams, source, max_bytes, digest)


def from_wacz(path: Path, source: Source, max_bytes: int, digest: str) -> Brought:
    """Raises NotUsable."""
    with _told(path.name), zipfile.ZipFile(path) as package:
        names = [i for i in package.infolist() if i.filename.startswith("archive/") and ".warc" in i.filename]
        if not names:
            raise NotUsable(f"{path.name} is a ZIP file, but no WACZ: there is no WARC under archive/")
        if any(i.flag_bits & 1 for i in package.infolist()):
            raise NotUsable(f"{path.name} is encrypted")

    def streams() -> Iterator[IO[bytes]]:
        with zipfile.ZipFile(path) as package:
            for info in names:
                with package.open(info) as file:
                    yield file

    return _brought("WACZ", path.name, streams, source, max_bytes, digest)


def _brought(kind: str, name: str, streams: Streams, source: Source, max_bytes: int, digest: str) -> Brought:
    with _told(name):
        found = [one for record in _records(streams) if (one := _found(*record)) is not None]
        if not found:
            raise NotUsable(f"{name} holds no page")
        chain = _chain(found, source, name)
        wanted = {one.number: one for one in chain}
        read = {
            number: _whole(answer, wanted[number], max_bytes, name)
            for number, answer, _ in _records(streams)
            if number in wanted
        }
    return Brought(kind, tuple(read[one.number] for one in chain), digest, name, dated_at=chain[-1].at)


@contextmanager
def _told(name: str) -> Iterator[None]:
    """What damaged files make their readers raise, as one sentence."""
    try:
        yield
    except (ArchiveLoadFailed, zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError) as error:
        words = " ".join(str(error).split())[:200]
        raise NotUsable(f"{name} is damaged, or no web archive: {words or type(error).__name__}") from error
    except RuntimeError as error:  # zipfile's word for a password
        raise NotUsable(f"{name} is encrypted") from error


def _records(streams: Streams) -> Iterator[tuple[int, Exchange, str]]:
    """Number, answer and date of each page in the file. What warcio passes over in silence, a torn end, is raised."""
    for number, record in enumerate(r for s in streams() for r in ArchiveIterator(s, no_record_parse=True)):
        if number >= MOST_RECORDS:
            raise ValueError(f"more than {MOST_RECORDS:,} records")
        if record.rec_type in PAGES:
            block, length = record.raw_stream.read(), record.rec_headers.get_header("Content-Length") or ""
            if not length.isdigit() or int(length) != len(block):
                raise ValueError(f"record {number + 1} is cut off")
            digest = record.rec_headers.get_header("WARC-Block-Digest") or ""
            if digest.lower().startswith(KNOWN_DIGESTS) and not matches(digest, block):
                raise ValueError(f"record {number + 1} is not what its digest says")
            yield number, _answer(record, block), record.rec_headers.get_header("WARC-Date") or ""


def _answer(record: Any, block: bytes) -> Exchange:
    url = str(record.rec_headers.get_header("WARC-Target-URI") or "").strip("<>")
    kind = record.rec_headers.get_header("Content-Type") or ""
    if record.rec_type == "response" and kind.replace(" ", "").startswith("application/http"):
        return exchange_of(url, block)
    return Exchange(url, 0, (("Content-Type", kind),), block)


def _found(number: int, answer: Exchange, date: str) -> _Found | None:
    try:
        url = address_of(answer.url).url
        at = datetime.fromisoformat(date).astimezone(UTC)
    except (AddressError, SchemeError, ValueError, OverflowError):
        return None
    return _Found(number, url, at, answer.status, answer.header("location"))


def _chain(found: list[_Found], source: Source, name: str) -> list[_Found]:
    """The newest capture of the source in the file, and where its redirects lead. Raises NotUsable."""
    newest = {one.url: one for one in sorted(found, key=lambda f: f.at)}
    own = [address_of(url).url for url in (source.read, source.url) if url]
    one = next((newest[url] for url in own if url in newest), None)
    if one is None:
        others = ", ".join(sorted(newest)[:3]) + (" …" if len(newest) > 3 else "")
        raise NotUsable(f"{name} does not hold {' or '.join(own)}; it holds {others}")
    chain = [one]
    while one.status in REDIRECTS and one.location:
        target = address_of(one.location, one.url).url
        if target not in newest or len(chain) > MOST_HOPS or newest[target] in chain:
            raise NotUsable(f"{name} holds only a redirect to {target}, not what stood there")
        one = newest[target]
        chain.append(one)
    return chain


def _whole(answer: Exchange, found: _Found, max_bytes: int, name: str) -> Exchange:
    """The answer with its body as transferred but without its chunks: what our archive keeps."""
    if len(answer.body) > max_bytes:
        raise NotUsable(f"{found.url} in {name} has {len(answer.body):,} bytes; max_bytes allows {max_bytes:,}")
    body = answer.body
    if "chunked" in answer.header("transfer-encoding").lower():
        with suppress(ChunkedDataException):  # many tools have taken the chunks out and left the header
            body = ChunkedDataReader(BytesIO(body), raise_exceptions=True).read()
    return replace(answer, url=found.url, body=body, started_at=found.at)
