"""Two pictures compared as eyes compare them: what a server re-encoded or resized is the same, a changed digit is not.

Luma and both chromas are compared pixel by pixel, with a quarter of a pixel's play; what is left is summed over 5 × 5
pixels, and counts where it is more than the coarser file's quantisation explains. A place that looks the same half a
pixel or one pixel further has not changed. Figures of misses and false alarms: `benchmarks/pictures.py`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from io import BytesIO

from PIL import Image, ImageChops, ImageFilter, ImageOps

from ..domain.change import PictureChange, Region
from .boxes import Box, boxes
from .images import MOST_PIXELS, SVG_START

COMPARER = "pictures@1"
MOST_COMPARED = 16_000_000  # pixels; larger pictures are compared at half, a third… of their size
BAND = 1_024  # rows that are compared at a time: the temporaries of 16 megapixels would be 200 MB
MARGIN = 8
MOST_SHIFTED = 4_000_000  # pixels of a place that is tried one pixel further
SHIFTS = tuple((x, y) for x in (0, -1, 1) for y in (0, -1, 1))
TOO_FAINT = 16  # grey levels that nobody sees
BRIGHTEST = 64  # more than this says no more: dithering is single bright pixels
# Sums over 5 × 5 pixels of what a comparison leaves; calibrated on benchmarks/pictures.py, other fonts held out.
CALM, PER_COARSENESS = 50, 150
MOVED = 0.6  # of these: what may be left where a place is looked for half a pixel or one further
ANNEX_K = 58.0  # mean of the luma table that JPEG encoders scale (ITU-T T.81, table K.1): quality 50
LOSSY = 0.35  # coarseness of formats that do not say: WebP and AVIF at their encoders' defaults
PALETTE = 0.5  # 256 colours, dithered
RESIZED = 110
# What servers resize with; which one it was is not said, so a place has changed where it differs for all of them.
FILTERS = (Image.Resampling.LANCZOS, Image.Resampling.BICUBIC, Image.Resampling.BILINEAR, Image.Resampling.BOX)


@dataclass(frozen=True, slots=True)
class _Planes:
    """Luma, and the chromas at half the size. *coarseness*: 0 for what was kept exactly, 0.5 for JPEG of quality 75."""

    luma: Image.Image
    blue: Image.Image
    red: Image.Image
    coarseness: float
    frames: int

    @property
    def size(self) -> tuple[int, int]:
        return self.luma.size


def compare(old: bytes, new: bytes) -> PictureChange | None:
    """How *new* looks different from *old*; no regions when it looks the same. None for what is not compared: SVG,
    more than 50 megapixels, what does not open. Never raises for what the bytes are."""
    pictures = []
    for data in (old, new):
        if SVG_START.match(data[:8192]):
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = _opened(data)
        except (
            Exception
        ):  # whatever Pillow's plugins think of (images.look tells why); here it only means: not compared
            return None
        if found is None:
            return None
        pictures.append(found)
    (a, size_a), (b, size_b) = pictures
    if a.frames != b.frames:
        return PictureChange(size_a, size_b, 1.0, (_whole(size_b),))
    return _compared(a, size_a, b, size_b)


def _opened(data: bytes) -> tuple[_Planes, tuple[int, int]] | None:
    """Planes of the first frame as it is shown, on white, and the size that the file has."""
    with Image.open(BytesIO(data)) as file:
        width, height = file.size
        if width * height > MOST_PIXELS:
            return None
        coarse = _coarseness(file, data)
        frames = getattr(file, "n_frames", 1)
        picture = ImageOps.exif_transpose(file)
        size = picture.size
        times = 1
        while width * height > MOST_COMPARED * times * times:
            times += 1
        if times > 1:
            picture = picture.convert("RGBA" if picture.has_transparency_data else "RGB").reduce(times)
        luma, blue, red = _on_white(picture).convert("YCbCr").split()
        return _Planes(luma, blue.reduce(2), red.reduce(2), coarse, frames), size


def _on_white(picture: Image.Image) -> Image.Image:
    if not picture.has_transparency_data:
        return picture.convert("RGB")
    seen = picture.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", seen.size, "white"), seen).convert("RGB")


def _coarseness(file: Image.Image, data: bytes) -> float:
    tables: dict[int, list[int]] = getattr(file, "quantization", {})
    if tables:
        return sum(tables[min(tables)]) / 64 / ANNEX_K
    if file.format == "WEBP":
        return 0.0 if b"VP8L" in data[:64] else LOSSY
    if file.mode == "P":
        return PALETTE
    return LOSSY if file.format in ("AVIF", "HEIF", "JPEG2000") else 0.0


def _compared(a: _Planes, size_a: tuple[int, int], b: _Planes, size_b: tuple[int, int]) -> PictureChange:
    noise = PER_COARSENESS * max(a.coarseness, b.coarseness)
    if a.size == b.size:
        mask = _mask(a, b, CALM + noise)
    elif _same_shape(a.size, b.size):
        smaller = min(a.size, b.size)
        masks = [_mask(_resized(a, smaller, f), _resized(b, smaller, f), max(RESIZED, noise)) for f in FILTERS]
        mask = reduce(ImageChops.darker, masks)
    elif a.size[0] == b.size[0]:
        mask = _grown(a, b, CALM + noise)
    else:
        return PictureChange(size_a, size_b, 1.0, (_whole(size_b),))
    regions = tuple(_regions(mask, size_b))
    return PictureChange(size_a, size_b, _share(mask), regions)


def _whole(size: tuple[int, int]) -> Region:
    return Region(0, 0, *size, 1.0)


def _same_shape(a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Whether one size is the other's, scaled: rounding moves a side by less than a pixel, or half a per cent."""
    (w, h), (v, k) = sorted((a, b))
    return abs(w * k / v - h) <= max(1.0, 0.005 * h)


def _resized(planes: _Planes, size: tuple[int, int], how: Image.Resampling) -> _Planes:
    if planes.size == size:
        return planes
    half = (-(-size[0] // 2), -(-size[1] // 2))
    return _Planes(
        planes.luma.resize(size, how),
        planes.blue.resize(half, how),
        planes.red.resize(half, how),
        planes.coarseness,
        planes.frames,
    )


def _grown(a: _Planes, b: _Planes, least: float) -> Image.Image:
    """A page that grew or shrank: what is the same from the top down and from the bottom up has not changed."""
    (width, old), (_, new) = a.size, b.size
    common = min(old, new)
    top = _mask(_strip(a, 0, common), _strip(b, 0, common), least).getbbox()
    first = top[1] if top else common
    low = _mask(_strip(a, old - common, common), _strip(b, new - common, common), least).getbbox()
    last = max(first, new - (common - low[3])) if low else new - common
    mask = Image.new("L", (width, new))
    mask.paste(255, (0, min(first, new - 1), width, max(last, first + 1)))
    return mask


def _strip(planes: _Planes, top: int, height: int) -> _Planes:
    width, half = planes.size[0], planes.blue.size[0]
    box = (0, top // 2, half, top // 2 + (height + 1) // 2)
    return _Planes(
        planes.luma.crop((0, top, width, top + height)),
        planes.blue.crop(box),
        planes.red.crop(box),
        planes.coarseness,
        planes.frames,
    )


def _mask(a: _Planes, b: _Planes, least: float) -> Image.Image:
    """255 where the two differ, by bands; places that only moved by a pixel are taken out."""
    mask = Image.new("L", a.size)
    for top in range(0, a.size[1], BAND):
        first, height = max(0, top - MARGIN), min(a.size[1] - top, BAND)
        rows = min(a.size[1], top + height + MARGIN) - first
        band = _differing(_strip(a, first, rows), _strip(b, first, rows), least)
        mask.paste(band.crop((0, top - first, a.size[0], top - first + height)), (0, top))
    for box in list(boxes(mask)):
        if _only_moved(a, b, box, least):
            mask.paste(0, box)
    return mask


def _differing(a: _Planes, b: _Planes, least: float) -> Image.Image:
    luma = _unlike(a.luma, b.luma, least)
    chroma = ImageChops.lighter(_unlike(a.blue, b.blue, least), _unlike(a.red, b.red, least))
    return ImageChops.lighter(luma, chroma.resize(luma.size, Image.Resampling.NEAREST))


def _unlike(a: Image.Image, b: Image.Image, least: float, reach: float = 0.25) -> Image.Image:
    """255 where two planes differ by more than *least* in 5 × 5 pixels, and a shift by *reach* does not explain it."""
    left = ImageChops.lighter(_beyond(a, b, reach), _beyond(b, a, reach))
    scale = 255 / BRIGHTEST
    left = left.point([round(scale * min(BRIGHTEST, max(0, v - TOO_FAINT))) for v in range(256)])
    enough = least * scale / 25
    return left.filter(ImageFilter.BoxBlur(2)).point([255 if v > enough else 0 for v in range(256)])


def _beyond(a: Image.Image, b: Image.Image, reach: float) -> Image.Image:
    """How far *a* lies outside of what *b* shows within *reach* pixels."""
    over = ImageChops.subtract(a, _spread(b, ImageChops.lighter, reach))
    return ImageChops.lighter(over, ImageChops.subtract(_spread(b, ImageChops.darker, reach), a))


def _spread(
    plane: Image.Image, extreme: Callable[[Image.Image, Image.Image], Image.Image], reach: float
) -> Image.Image:
    out = plane
    for step in ((1, 0), (0, 1)):
        from_ = out
        for sign in (1, -1):
            shifted = ImageChops.offset(from_, sign * step[0], sign * step[1])
            out = extreme(out, Image.blend(from_, shifted, reach))
    return out


def _only_moved(a: _Planes, b: _Planes, box: Box, least: float) -> bool:
    """Whether a place of *b* is in *a* half a pixel or one further: text that a browser laid out anew."""
    left, top, right, bottom = box
    wide = (
        max(1, left - MARGIN),
        max(1, top - MARGIN),
        min(b.size[0] - 1, right + MARGIN),
        min(b.size[1] - 1, bottom + MARGIN),
    )
    if wide[0] >= wide[2] or wide[1] >= wide[3] or (wide[2] - wide[0]) * (wide[3] - wide[1]) > MOST_SHIFTED:
        return False
    half = (left // 2, top // 2, (right + 1) // 2, (bottom + 1) // 2)
    for ours, theirs in ((a.blue, b.blue), (a.red, b.red)):  # of another colour: a pixel is half of one there
        if _unlike(ours.crop(half), theirs.crop(half), least, 0.5).getbbox():
            return False
    place = b.luma.crop(wide)
    inner = (left - wide[0], top - wide[1], right - wide[0], bottom - wide[1])
    for x, y in SHIFTS:
        there = a.luma.crop((wide[0] + x, wide[1] + y, wide[2] + x, wide[3] + y))
        if _unlike(there, place, MOVED * least, 0.5).crop(inner).getbbox() is None:
            return True
    return False


def _share(mask: Image.Image) -> float:
    return round(mask.histogram()[255] / (mask.width * mask.height), 6)


def _regions(mask: Image.Image, size: tuple[int, int]) -> Iterator[Region]:
    """What changed as boxes in the newer picture's own pixels, the largest first."""
    across, down = size[0] / mask.width, size[1] / mask.height
    places = sorted(boxes(mask), key=lambda b: ((b[0] - b[2]) * (b[3] - b[1]), b[1], b[0]))
    for left, top, right, bottom in places:
        share = _share(mask.crop((left, top, right, bottom)))
        x, y = int(left * across), int(top * down)
        yield Region(x, y, max(1, round(right * across) - x), max(1, round(bottom * down) - y), share)
