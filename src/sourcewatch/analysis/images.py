"""A picture looked at: its format and size, whether all of it came, and whether it is more than a placeholder."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from io import BytesIO
from xml.parsers import expat

from PIL import Image, UnidentifiedImageError

from sourcewatch.domain.reading import Fault

# Decoding 50 megapixels takes about a second and 150 MB; larger pictures are believed by their header and their end.
MOST_PIXELS = 50_000_000
PLACEHOLDER_PX = 2
SVG_START = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s{1,400}|<\?.{0,2000}?\?>|<!--.{0,4000}?-->|<!doctype[^>]{0,2000}>){0,20}<(?:\w{1,20}:)?svg[\s>]",
    re.I | re.S,
)
LENGTH = re.compile(r"\s{0,9}(\d{1,6})(?:\.\d{1,6})?\s{0,9}(?:px)?\s{0,9}$")
JPEG_END, PNG_END, GIF_END = b"\xff\xd9", b"IEND\xaeB`\x82", b";"


@dataclass(frozen=True, slots=True)
class ImageFacts:
    """*format* is Pillow's name ("PNG", "JPEG") or "SVG"; sizes in pixels, 0 where an SVG names none.

    *whole* is False only for what was too large to be decoded and has no proper end. *placeholder*: at most 2 pixels
    high and wide, as hot-link guards and counters send.
    """

    format: str
    width: int
    height: int
    whole: bool = True
    placeholder: bool = False


def look(data: bytes) -> ImageFacts | Fault:
    """What a picture is, or why it does not open: document_broken. Never raises for what the bytes are."""
    if SVG_START.match(data[:8192]):
        return _svg(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow warns of odd metadata; nothing of it concerns the picture
            return _raster(data)
    except UnidentifiedImageError:
        return Fault("document_broken", "image-unknown", f"no picture: {len(data)} bytes, starts {data[:12].hex(' ')}")
    except Image.DecompressionBombError as error:
        return Fault("document_broken", "image-bomb", str(error)[:200])
    except (OSError, ValueError, SyntaxError, EOFError, IndexError, KeyError, TypeError, MemoryError) as error:
        # Pillow's plugins raise all of these for broken files: its own words, never a defect of ours
        return Fault("document_broken", "image-broken", f"does not open: {error} ({len(data)} bytes)"[:300])
    except Exception as error:  # struct.error, zlib.error, OverflowError and what plugins still think of
        return Fault("document_broken", "image-broken", f"does not open: {type(error).__name__}: {error}"[:300])


def _raster(data: bytes) -> ImageFacts | Fault:
    with Image.open(BytesIO(data)) as picture:
        width, height = picture.size
        kind = picture.format or "unknown"
        placeholder = width <= PLACEHOLDER_PX and height <= PLACEHOLDER_PX
        if width * height > MOST_PIXELS:
            return ImageFacts(kind, width, height, _has_end(kind, data), placeholder)
        picture.load()
    if kind == "JPEG" and not _has_end(kind, data):  # libjpeg fills what is missing in progressive files with grey
        return Fault("document_broken", "image-cut", f"JPEG without its end after {len(data)} bytes")
    return ImageFacts(kind, width, height, True, placeholder)


def _has_end(kind: str, data: bytes) -> bool:
    """Whether a file has its last mark; what follows it (cameras and caches append) does not matter."""
    tail = data[-65_536:]
    ends = {"JPEG": JPEG_END, "MPO": JPEG_END, "PNG": PNG_END, "GIF": GIF_END}
    return ends.get(kind, b"") in tail


def _svg(data: bytes) -> ImageFacts | Fault:
    """Well-formed, and has an <svg> root; entities are not expanded."""
    roots: list[tuple[str, dict[str, str]]] = []

    def started(name: str, attributes: dict[str, str]) -> None:
        if not roots:
            roots.append((name, attributes))

    parser = expat.ParserCreate()
    parser.StartElementHandler = started
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError) as error:
        return Fault("document_broken", "svg-broken", f"SVG is not well-formed: {error}"[:300])
    attributes = roots[0][1] if roots else {}
    width, height = (_length(attributes.get(key)) for key in ("width", "height"))
    box = (attributes.get("viewBox") or "").replace(",", " ").split()
    if not (width and height) and len(box) == 4:
        width, height = (_length(part.partition(".")[0]) for part in box[2:])
    return ImageFacts("SVG", width, height, True, False)


def _length(value: str | None) -> int:
    found = LENGTH.match(value or "")
    return int(found.group(1)) if found else 0
