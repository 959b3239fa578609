"""Content codings come undone, within a bound, and what does not is told apart."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable
from hashlib import sha256

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis.unpack import unpack

MOST = 1_000_000
PAGE = b"<!doctype html><title>t</title><p>" + "引擎的吞吐量。".encode() * 200


def raw_deflate(data: bytes) -> bytes:
    squeeze = zlib.compressobj(6, zlib.DEFLATED, -15)
    return squeeze.compress(data) + squeeze.flush()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


@given(st.binary(max_size=4000), st.lists(st.sampled_from(sorted(PACKERS)), max_size=3))
def test_whatever_was_packed_comes_out_again(data: bytes, codings: list[str]) -> None:
    body = data
    for name in codings:
        body = PACKERS[name](body)
    payload = unpack(body, codings, most_bytes=MOST)
    assert (payload.data, payload.fault) == (data, None)
    assert payload.sha256 == "sha256:" + sha256(data).hexdigest()
    assert payload.codings == tuple(codings)


@given(st.binary(min_size=1, max_size=4000))
def test_raw_deflate_is_read_as_browsers_read_it(data: bytes) -> None:
    assert unpack(raw_deflate(data), ["deflate"], most_bytes=MOST).data == data


@given(st.binary(max_size=600), st.lists(st.sampled_from([*sorted(PACKERS), "identity", "rot13"]), max_size=3))
def test_no_bytes_make_it_raise(body: bytes, codings: list[str]) -> None:
    payload = unpack(body, codings, most_bytes=2000)
    assert payload.fault is None or payload.fault.word in {"bad_encoding", "body_truncated", "decompression_bomb"}


def test_one_header_line_may_list_several_codings() -> None:
    body = brotli.compress(gzip.compress(PAGE))
    assert unpack(body, ["GZIP , br"], most_bytes=MOST).data == PAGE


def test_several_gzip_members_are_one_body_and_garbage_after_them_is_let_be() -> None:
    body = gzip.compress(PAGE[:500]) + gzip.compress(PAGE[500:])
    assert unpack(body, ["gzip"], most_bytes=MOST).data == PAGE
    padded = unpack(body + b"\0\0\0garbage", ["gzip"], most_bytes=MOST)
    assert (padded.data, padded.fault) == (PAGE, None)


@pytest.mark.parametrize("name", sorted(set(PACKERS) - {"zstd"}))
def test_a_stream_that_stops_early_is_truncated(name: str) -> None:
    whole = PACKERS[name](PAGE * 20)
    payload = unpack(whole[:-10], [name], most_bytes=MOST)
    assert payload.fault is not None
    assert payload.fault.word == "body_truncated"
    assert (PAGE * 20).startswith(payload.data)


@pytest.mark.parametrize("name", ["gzip", "deflate", "br"])
def test_a_bomb_is_refused_before_it_fills_the_memory(name: str) -> None:
    payload = unpack(PACKERS[name](bytes(20_000_000)), [name], most_bytes=MOST)
    assert payload.fault is not None
    assert payload.fault.word == "decompression_bomb"
    assert payload.data == b""


def test_a_bomb_within_a_bomb_is_refused_too() -> None:
    body = gzip.compress(gzip.compress(bytes(20_000_000)))
    fault = unpack(body, ["gzip", "gzip"], most_bytes=MOST).fault
    assert fault is not None
    assert fault.word == "decompression_bomb"


@pytest.mark.parametrize("name", ["gzip", "br", "deflate", "snappy"])
@pytest.mark.parametrize("data", [PAGE, b"%PDF-1.7\n%...", b"\x89PNG\r\n\x1a\n" + bytes(20), "纯文本一行。".encode()])
def test_a_label_on_plain_bytes_is_seen_through_and_noted(name: str, data: bytes) -> None:
    payload = unpack(data, [name], most_bytes=MOST)
    assert (payload.data, payload.fault) == (data, None)
    assert payload.note == f"labelled {name}, sent plain"


@pytest.mark.parametrize(
    ("body", "name", "rule"),
    [
        (b"\x1f\x8b\x08\x00broken in every way", "gzip", "does-not-decode"),
        (b"\x00\x01\x02\x03\xff\xfe" * 50, "gzip", "does-not-decode"),
        (b"\x9c\x00\x01\x02\x03\xff\xfe" * 50, "compress", "unknown-coding"),
        (gzip.compress(PAGE, mtime=0), "br", "does-not-decode"),
    ],
)
def test_what_is_neither_packed_so_nor_plain_is_badly_encoded(body: bytes, name: str, rule: str) -> None:
    fault = unpack(body, [name], most_bytes=MOST).fault
    assert fault is not None
    assert (fault.word, fault.rule) == ("bad_encoding", rule)
    assert name in fault.evidence


def test_an_empty_body_has_nothing_to_undo() -> None:
    assert unpack(b"", ["gzip"], most_bytes=MOST).fault is None


def test_a_ladder_of_codings_is_not_climbed() -> None:
    fault = unpack(b"x", ["gzip"] * 50, most_bytes=MOST).fault
    assert fault is not None
    assert fault.rule == "too-many-codings"
