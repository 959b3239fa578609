"""Pictures are opened before they count as read."""

from __future__ import annotations

import io
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, features

from sourcewatch.analysis.images import ImageFacts, look
from sourcewatch.domain.reading import Fault

FORMATS = ["PNG", "JPEG", "GIF", "WEBP", "BMP", *(["AVIF"] if features.check("avif") else [])]


def picture(kind: str = "PNG", size: tuple[int, int] = (60, 40), **options: object) -> bytes:
    out = io.BytesIO()
    noise = Image.frombytes("RGB", size, bytes((n * 37 + n // 60 * 91) % 256 for n in range(size[0] * size[1] * 3)))
    noise.save(out, kind, **options)  # type: ignore[arg-type]
    return out.getvalue()


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


@pytest.mark.parametrize("kind", FORMATS)
def test_a_whole_picture_has_its_format_and_size(kind: str) -> None:
    assert look(picture(kind)) == ImageFacts(kind, 60, 40, whole=True, placeholder=False)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_picture_that_was_cut_off_does_not_open(kind: str, share: float) -> None:
    whole = picture(kind, (200, 150))
    fault = look(whole[: int(len(whole) * share)])
    assert isinstance(fault, Fault)
    assert fault.word == "document_broken"


@pytest.mark.parametrize("cut", [2, 40])
def test_a_jpeg_without_its_end_is_cut_even_if_it_decodes(cut: int) -> None:
    fault = look(picture("JPEG", (200, 150), progressive=True)[:-cut])
    assert isinstance(fault, Fault)


def test_bytes_after_the_end_do_no_harm() -> None:
    assert isinstance(look(picture("JPEG") + b"\r\n<!-- cache -->"), ImageFacts)
    assert isinstance(look(picture("PNG") + bytes(100)), ImageFacts)


@pytest.mark.parametrize("size", [(1, 1), (2, 2), (1, 2)])
def test_one_pixel_is_a_placeholder(size: tuple[int, int]) -> None:
    facts = look(picture("PNG", size))
    assert isinstance(facts, ImageFacts)
    assert facts.placeholder


def test_a_line_is_no_placeholder() -> None:
    facts = look(picture("PNG", (300, 1)))
    assert isinstance(facts, ImageFacts)
    assert not facts.placeholder


@pytest.mark.parametrize(
    "data",
    [b"", b"<!doctype html><p>No hot-linking</p>", b'{"error": 403}', b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff"],
)
def test_what_is_no_picture_does_not_open(data: bytes) -> None:
    fault = look(data)
    assert isinstance(fault, Fault)
    assert fault.word == "document_broken"
    assert fault.evidence


def test_a_picture_of_billions_of_pixels_is_not_decoded() -> None:
    header = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    bomb = (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    )
    assert isinstance(look(bomb), Fault)


def test_a_large_picture_is_believed_by_its_header_and_its_end() -> None:
    header = struct.pack(">IIBBBBB", 10_000, 8_000, 8, 2, 0, 0, 0)
    start = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000)))
    assert look(start + chunk(b"IEND", b"")) == ImageFacts("PNG", 10_000, 8_000, whole=True)
    assert look(start) == ImageFacts("PNG", 10_000, 8_000, whole=False)


@pytest.mark.parametrize(
    ("svg", "size"),
    [
        ('<svg xmlns="http://www.w3.org/2000/svg" width="30px" height="20"><rect/></svg>', (30, 20)),
        ('<?xml version="1.0"?><!-- x --><svg viewBox="0 0 300.5 200"><a/></svg>', (300, 200)),
        ("<svg width='100%'/>", (0, 0)),
    ],
)
def test_an_svg_is_looked_at_as_markup(svg: str, size: tuple[int, int]) -> None:
    assert look(svg.encode()) == ImageFacts("SVG", *size)


@pytest.mark.parametrize("svg", ["<svg><rect></svg>", "<svg", "<svg><rect/>"])
def test_a_broken_svg_does_not_open(svg: str) -> None:
    assert isinstance(look(svg.encode()), Fault)


@given(
    st.binary(max_size=200),
    st.sampled_from(
        [b"", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff\xe0", b"RIFF\x20\0\0\0WEBP", b"BM", b"II*\0"]
    ),
)
def test_no_bytes_make_it_raise(data: bytes, magic: bytes) -> None:
    assert isinstance(look(magic + data), ImageFacts | Fault)


@given(st.integers(0, 5000), st.integers(0, 255))
def test_a_flipped_byte_makes_it_a_fault_or_a_picture(at: int, value: int) -> None:
    data = bytearray(picture("PNG"))
    data[at % len(data)] = value
    assert isinstance(look(bytes(data)), ImageFacts | Fault)
