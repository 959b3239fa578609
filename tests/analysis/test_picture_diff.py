"""Pictures are compared by their looks: a changed digit is found, another encoding of the same picture is not told."""

from __future__ import annotations

import struct
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont, features

from panels import SIZE, dashboard, sent
from sourcewatch.analysis.boxes import MOST_REGIONS
from sourcewatch.analysis.picture_diff import compare
from sourcewatch.domain.change import PictureChange


def found(old: bytes, new: bytes) -> PictureChange:
    change = compare(old, new)
    assert change is not None
    return change


RE_ENCODED = [
    ("PNG", {}), ("JPEG", {"quality": 92}), ("JPEG", {"quality": 75}), ("JPEG", {"quality": 60}),
    ("JPEG", {"quality": 80, "subsampling": 0, "progressive": True}), ("WEBP", {"quality": 75}),
    ("WEBP", {"lossless": True}),
    *([("AVIF", {"quality": 60})] if features.check("avif") else []),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "options"), RE_ENCODED)
@pytest.mark.parametrize("dark", [False, True])
def test_a_picture_that_was_encoded_again_is_the_same(kind: str, options: dict[str, object], dark: bool) -> None:
    assert not found(sent(dashboard(dark=dark)), sent(dashboard(dark=dark), kind, **options)).regions


@pytest.mark.parametrize(("kind", "options"), RE_ENCODED)
@pytest.mark.parametrize(("old", "new"), [("87.3%", "81.3%"), ("87.3%", "87.8%"), ("5 ms", "6 ms"), ("0.9", "0.8")])
def test_a_changed_digit_is_found_in_any_encoding_and_boxed(
    kind: str, options: dict[str, object], old: str, new: str
) -> None:
    change = found(sent(dashboard(old), "JPEG", quality=90), sent(dashboard(new), kind, **options))
    [box] = change.regions
    assert 215 <= box.x < 270 and 10 <= box.y < 35
    assert box.width <= 40 and box.height <= 25
    assert 0 < box.share <= 1
    assert 0 < change.share < 0.01


@pytest.mark.parametrize("px", [11, 12, 16, 24])
def test_a_digit_is_found_at_the_sizes_that_people_read(px: int) -> None:
    old, new = (sent(dashboard(words, px=px), "JPEG", quality=80) for words in ("3,051 K", "3,081 K"))
    assert len(found(old, new).regions) == 1


@pytest.mark.parametrize("scale", [0.5, 0.75, 0.9])
@pytest.mark.parametrize("how", [Image.Resampling.LANCZOS, Image.Resampling.BILINEAR, Image.Resampling.BOX])
def test_a_picture_that_the_server_resized_is_the_same(scale: float, how: Image.Resampling) -> None:
    picture = dashboard(px=20)
    other = picture.resize((round(SIZE[0] * scale), round(SIZE[1] * scale)), how)
    assert not found(sent(picture), sent(other, "JPEG", quality=85)).regions


def test_a_digit_in_a_resized_picture_is_boxed_in_the_pixels_of_the_newer_one() -> None:
    small = dashboard("81.3%", px=20).resize((320, 180), Image.Resampling.LANCZOS)
    change = found(sent(dashboard(px=20)), sent(small))
    [box] = change.regions
    assert change.old_size == SIZE and change.new_size == (320, 180)
    assert 110 <= box.x < 150 and box.y < 25


@pytest.mark.parametrize("dx", [0.25, 0.5, 1])
def test_text_that_was_laid_out_a_pixel_further_is_the_same(dx: float) -> None:
    assert not found(sent(dashboard()), sent(dashboard(dx=dx))).regions


def test_text_that_moved_further_is_told() -> None:
    assert found(sent(dashboard()), sent(dashboard(dx=6))).regions


def test_a_lamp_that_turns_from_green_to_a_red_as_bright_is_found() -> None:
    change = found(
        sent(dashboard(lamp="#1a7f37"), "JPEG", quality=75), sent(dashboard(lamp="#c62f2f"), "JPEG", quality=75)
    )
    [box] = change.regions
    assert 590 <= box.x <= 602


def test_a_page_that_grew_has_changed_only_where_it_grew() -> None:
    picture = dashboard()
    taller = Image.new("RGB", (SIZE[0], SIZE[1] + 40), "white")
    taller.paste(picture.crop((0, 0, 640, 50)), (0, 0))
    ImageDraw.Draw(taller).text((20, 62), "Maintenance tonight", font=ImageFont.load_default(14), fill="black")
    taller.paste(picture.crop((0, 50, 640, 360)), (0, 90))
    [box] = found(sent(picture), sent(taller)).regions
    assert (box.x, box.width) == (0, 640)
    assert box.y >= 40 and box.y + box.height <= 100
    [gone] = found(sent(taller), sent(picture)).regions
    assert gone.height < 20


def test_a_picture_of_another_shape_has_changed_altogether() -> None:
    [box] = found(sent(dashboard()), sent(dashboard().crop((0, 0, 500, 360)))).regions
    assert (box.width, box.height, box.share) == (500, 360, 1.0)


def test_another_picture_of_the_same_size_has_changed() -> None:
    change = found(sent(dashboard()), sent(dashboard(dark=True)))
    assert change.share > 0.8


def test_many_changed_places_are_few_boxes() -> None:
    old, new = Image.new("L", (1600, 1200), "white"), Image.new("L", (1600, 1200), "white")
    pen = ImageDraw.Draw(new)
    for n in range(300):
        pen.rectangle((n % 20 * 80, n // 20 * 80, n % 20 * 80 + 9, n // 20 * 80 + 9), fill="black")
    assert 1 <= len(found(sent(old), sent(new)).regions) <= MOST_REGIONS


def test_transparency_is_shown_on_white_and_a_turned_photograph_upright() -> None:
    clear = dashboard().convert("RGBA")
    clear.putalpha(255)
    assert not found(sent(dashboard()), sent(clear)).regions
    turned, upright = dashboard().rotate(90, expand=True), Image.Exif()
    upright[0x0112] = 6
    assert not found(sent(dashboard()), sent(turned, "JPEG", quality=90, exif=upright)).regions


def test_an_animation_of_another_length_has_changed() -> None:
    frames = [dashboard(f"{n}") for n in range(3)]
    two, three = (sent(frames[0], "GIF", save_all=True, append_images=frames[1:n]) for n in (2, 3))
    assert found(two, three).regions
    assert not found(two, two).regions


def test_the_same_pair_gives_the_same_boxes() -> None:
    old, new = sent(dashboard(), "JPEG", quality=75), sent(dashboard("12.9%", lamp="#c62f2f"), "JPEG", quality=75)
    assert len({compare(old, new) for _ in range(3)}) == 1


def test_a_large_picture_is_compared_at_a_smaller_size() -> None:
    large = Image.new("L", (6_000, 4_000), "white")
    changed = large.copy()
    ImageDraw.Draw(changed).rectangle((3_000, 1_000, 3_200, 1_100), fill="black")
    [box] = found(sent(large), sent(changed)).regions
    assert abs(box.x - 3_000) <= 16 and abs(box.width - 200) <= 32


@pytest.mark.parametrize(
    "other",
    [
        b"", b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>", b"<!doctype html><p>403",
        b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + struct.pack(">IIBBBBB", 90_000, 90_000, 8, 2, 0, 0, 0),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_left_to_its_bytes(other: bytes) -> None:
    assert compare(sent(dashboard()), other) is None
    assert compare(other, sent(dashboard())) is None


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 4_000), st.integers(0, 255), st.sampled_from(["PNG", "JPEG", "GIF", "WEBP"]))
def test_no_bytes_make_it_raise(at: int, value: int, kind: str) -> None:
    good = sent(Image.frombytes("L", (60, 40), zlib.compress(bytes(2_000)).ljust(2_400, b"\x55")), kind)
    bad = bytearray(good)
    bad[at % len(bad)] = value
    change = compare(good, bytes(bad))
    assert change is None or all(0 <= r.share <= 1 and r.width > 0 and r.height > 0 for r in change.regions)
