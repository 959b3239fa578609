"""Content codings undone, within a bound: gzip, deflate (zlib and raw), brotli, and zstd, which is never asked for."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256

import brotli
import zstandard

from sourcewatch.domain.document import Form
from sourcewatch.domain.reading import Fault, Payload

from .sniff import sniff

CHUNK_BYTES = 1 << 18
MOST_CODINGS = 8
GZIP_MAGIC = b"\x1f\x8b"
READABLE = frozenset(Form) - {Form.BINARY}


class _CodingError(Exception):
    """The bytes are not what their coding says."""


class _CutError(Exception):
    """The stream stops before its end."""


class _BombError(Exception):
    """More comes out than anyone wants."""


def unpack(body: bytes, codings: Sequence[str], *, most_bytes: int) -> Payload:
    """Undo *codings* (as `Content-Encoding` lists them, the last was applied last; RFC 9110 §8.4).

    Never raises: a fault says bad_encoding, body_truncated or decompression_bomb and comes with the bytes read so far.
    Trailing garbage is tolerated, as browsers do. At most *most_bytes* come out of any one coding.
    """
    named = tuple(name for value in codings for part in value.split(",") if (name := part.strip().lower()))
    if len(named) > MOST_CODINGS:
        return _payload(body, named, Fault("bad_encoding", "too-many-codings", ", ".join(named)[:200]))
    data, note = body, ""
    for name in reversed(named):
        if name in ("identity", "") or not data:
            continue
        decoder = DECODERS.get(name)
        if decoder is None:
            if _plainly_readable(data):
                note = f"labelled {name}, sent plain"
                continue
            return _payload(data, named, Fault("bad_encoding", "unknown-coding", name[:80]))
        data, fault = _undo(decoder, name, data, most_bytes)
        if fault is not None and fault.word == "bad_encoding" and _plainly_readable(data):
            note, fault = f"labelled {name}, sent plain", None
        if fault is not None:
            return _payload(data, named, fault)
    return _payload(data, named, None, note)


def _payload(data: bytes, codings: tuple[str, ...], fault: Fault | None, note: str = "") -> Payload:
    return Payload(data, "sha256:" + sha256(data).hexdigest(), codings, fault, note)


def _undo(decoder: Decoder, name: str, data: bytes, most_bytes: int) -> tuple[bytes, Fault | None]:
    """The decoded bytes, or as many as came before the fault; the coded ones where nothing decodes."""
    out: list[bytes] = []
    size = 0
    try:
        for piece in decoder(data):
            size += len(piece)
            if size > most_bytes:
                raise _BombError
            out.append(piece)
    except _BombError:
        ratio = size // max(1, len(data))
        evidence = f"{name}: {len(data)} bytes open to more than {most_bytes} ({ratio} times and on)"
        return b"", Fault("decompression_bomb", "over-size-unpacked", evidence)
    except _CutError:
        evidence = f"{name}: the stream stops after {len(data)} bytes, {size} decoded"
        return b"".join(out), Fault("body_truncated", "coding-unfinished", evidence)
    except _CodingError as error:
        return data, Fault("bad_encoding", "does-not-decode", f"{name}: {error}; starts {data[:12].hex(' ')}")
    return b"".join(out), None


def _plainly_readable(data: bytes) -> bool:
    """Whether bytes that do not decode were never encoded: some servers label what they send plain."""
    if data.startswith(GZIP_MAGIC):
        return False
    return sniff(data, "", "") in READABLE


def _inflated(data: bytes, wbits: int) -> Iterator[bytes]:
    """One zlib stream after another (RFC 1952 §2.2 allows several gzip members); what follows the last is let be."""
    rest: bytes = data
    first = True
    while rest:
        stream = zlib.decompressobj(wbits)
        try:
            while not stream.eof:
                piece = stream.decompress(rest, CHUNK_BYTES)
                rest = stream.unconsumed_tail
                if piece:
                    yield piece
                elif not rest:
                    break
        except zlib.error as error:
            if first:
                raise _CodingError(str(error)) from error
            return
        if not stream.eof:
            raise _CutError
        first, rest = False, stream.unused_data
        if wbits != 31 or not rest.startswith(GZIP_MAGIC):
            return


def _gzip(data: bytes) -> Iterator[bytes]:
    return _inflated(data, 31)


def _deflate(data: bytes) -> Iterator[bytes]:
    """The standard says zlib (RFC 1950), some servers send raw deflate (RFC 1951): browsers take both."""
    zlib_header = len(data) >= 2 and data[0] & 0x0F == 8 and (data[0] << 8 | data[1]) % 31 == 0
    return _inflated(data, 15 if zlib_header else -15)


def _brotli(data: bytes) -> Iterator[bytes]:
    stream = brotli.Decompressor()
    feed = data
    try:
        while not stream.is_finished():
            piece = stream.process(feed, output_buffer_limit=CHUNK_BYTES)
            if piece:
                yield piece
            elif stream.can_accept_more_data() and not feed:
                break
            feed = b""
    except brotli.error as error:
        raise _CodingError(str(error)) from error
    if not stream.is_finished():
        raise _CutError


def _zstd(data: bytes) -> Iterator[bytes]:
    if not data.startswith(b"\x28\xb5\x2f\xfd"):
        raise _CodingError("no zstd magic")
    stream = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(data)
    try:
        while piece := stream.read(CHUNK_BYTES):
            yield piece
    except zstandard.ZstdError as error:
        raise _CodingError(str(error)) from error


Decoder = Callable[[bytes], Iterable[bytes]]
DECODERS: dict[str, Decoder] = {"gzip": _gzip, "x-gzip": _gzip, "deflate": _deflate, "br": _brotli, "zstd": _zstd}
