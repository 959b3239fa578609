"""How often a re-encoded or resized figure is taken for a changed one, and how often a changed digit is not found.

    python benchmarks/pictures.py [PANELS] [SEED]

Draws dashboards (numbers, a line chart, some over a photograph's grain) in six themes, at text sizes of 11 to 20
pixels, with Pillow's own font and whatever of DejaVu, Liberation and Noto the system has. Each is sent again as servers
do it (other JPEG qualities, WebP, AVIF, 256 colours, smaller), once as it is and once with one digit changed. Sizes of
resized text are those that arrive; below 9 pixels nobody reads a digit for certain.
"""

from __future__ import annotations

import io
import os
import platform
import random
import resource
import sys
import time
from collections import defaultdict
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont, features

from sourcewatch.analysis import picture_diff

FOLDER = Path("/usr/share/fonts")
FONTS = (
    "DejaVuSans.ttf",
    "DejaVuSansMono.ttf",
    "DejaVuSerif-Bold.ttf",
    "LiberationSansNarrow-Regular.ttf",
    "NotoSerifCJK-Bold.ttc",
)
THEMES = (
    ((255, 255, 255), (20, 20, 20)), ((24, 26, 30), (220, 225, 230)), ((245, 246, 248), (90, 98, 110)),
    ((250, 250, 250), (150, 150, 155)), ((16, 40, 90), (150, 200, 255)), ((255, 240, 220), (200, 60, 30)),
)  # fmt: skip
SIZES = (11, 12, 13, 14, 16, 20)
FILTERS = (
    Image.Resampling.LANCZOS,
    Image.Resampling.BICUBIC,
    Image.Resampling.BILINEAR,
    Image.Resampling.BOX,
    Image.Resampling.HAMMING,
)
SENT: list[tuple[str, dict[str, int]]] = [("PNG", {}), ("PNG 256 colours", {})]
SENT += [("JPEG", {"quality": q, "subsampling": s}) for q in (60, 75, 85, 92) for s in (0, 2)]
SENT += [("WEBP", {"quality": 75})] + ([("AVIF", {"quality": 60})] if features.check("avif") else [])

Texts = list[tuple[int, int, str]]


def fonts() -> list[Path | None]:
    return [None, *(found for name in FONTS for found in sorted(FOLDER.rglob(name))[:1])]


class Panel:
    """A dashboard that can be drawn again with other texts."""

    def __init__(self, rng: random.Random, known: list[Path | None]) -> None:
        self.px, font = rng.choice(SIZES), rng.choice(known)
        self.font = ImageFont.truetype(font, self.px) if font else ImageFont.load_default(self.px)
        (self.back, self.ink), self.size = rng.choice(THEMES), rng.choice([(640, 400), (900, 500), (420, 260)])
        self.grain = rng.random() if rng.random() < 0.3 else None
        self.points = [rng.random() for _ in range(24)]
        self.texts: Texts = [
            (x, y, _number(rng))
            for y in range(10, int(self.size[1] * 0.6) - 2 * self.px, int(self.px * 1.7))
            for x in range(12, self.size[0] - 9 * self.px, 9 * self.px)
        ]

    def draw(self, texts: Texts) -> Image.Image:
        width, height = self.size
        picture = Image.new("RGB", self.size, self.back)
        if self.grain is not None:
            small = (width // 8, height // 8)
            noise = Image.frombytes("L", small, random.Random(self.grain).randbytes(small[0] * small[1]))
            picture = Image.blend(picture, noise.resize(self.size, Image.Resampling.BICUBIC).convert("RGB"), 0.25)
        pen = ImageDraw.Draw(picture)
        line = [(width * n / 23, height * (0.95 - 0.3 * y)) for n, y in enumerate(self.points)]
        pen.line(line, fill=(60, 130, 220), width=2)
        for x, y, text in texts:
            pen.text((x, y), text, font=self.font, fill=self.ink)
        return picture


def _number(rng: random.Random) -> str:
    digits = "".join(rng.choice("0123456789") for _ in range(rng.randint(2, 6)))
    return (f"{digits[:-1]}.{digits[-1]}" if rng.random() < 0.5 else digits) + rng.choice(["%", " ms", "", "K"])


def one_digit_changed(rng: random.Random, texts: Texts) -> Texts:
    at = rng.randrange(len(texts))
    x, y, text = texts[at]
    place = rng.choice([n for n, c in enumerate(text) if c.isdigit()])
    other = rng.choice([c for c in "0123456789" if c != text[place]])
    return [*texts[:at], (x, y, text[:place] + other + text[place + 1 :]), *texts[at + 1 :]]


def encoded(picture: Image.Image, kind: str, options: dict[str, int]) -> bytes:
    out = io.BytesIO()
    if kind == "PNG 256 colours":
        picture.quantize(256).save(out, "PNG")
    else:
        picture.save(out, kind, **options)
    return out.getvalue()


def decoded(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGB")


def main(panels: int, seed: int) -> None:
    print(f"{platform.platform()}, CPython {platform.python_version()}, shared machine; load {os.getloadavg()[0]:.1f}")
    rng, known = random.Random(seed), fonts()
    tally: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    seconds, megapixels = 0.0, 0.0

    def differs(old: bytes, new: bytes) -> bool:
        nonlocal seconds, megapixels
        start = time.process_time()
        found = picture_diff.compare(old, new)
        seconds += time.process_time() - start
        assert found is not None
        megapixels += found.new_size[0] * found.new_size[1] / 1e6
        return bool(found.regions)

    for _ in range(panels):
        panel = Panel(rng, known)
        changed = one_digit_changed(rng, panel.texts)
        first: tuple[str, dict[str, int]] = rng.choice([("PNG", {}), ("JPEG", {"quality": 90})])
        old, new = (encoded(panel.draw(texts), *first) for texts in (panel.texts, changed))
        for kind, options in SENT:
            scale, how = rng.choice([0.5, 0.67, 0.75, 0.9]), rng.choice(FILTERS)
            size = [round(side * scale) for side in panel.size]
            name = " ".join([kind, *(f"{key} {value}" for key, value in options.items() if key == "quality")])
            readable = "text from 9 px" if panel.px * scale >= 9 else "text below 9 px"
            for row, as_size in ((name, panel.size), (f"resized, {readable}", (size[0], size[1]))):
                shown = [decoded(data).resize(as_size, how) for data in (old, new)]
                same, other = (encoded(picture, kind, options) for picture in shown)
                tally[row][0] += 1
                tally[row][1] += differs(old, same)
                tally[row][2] += 1
                tally[row][3] += not differs(old, other)
    print(f"{panels} panels, seed {seed}, {len(known)} fonts; original kept as PNG or as JPEG of quality 90")
    print(f"{'sent as':32}{'pairs':>7}{'false alarms':>14}{'missed digits':>15}")
    for row, (pairs, false, _, missed) in sorted(tally.items()):
        print(f"{row:32}{pairs:7}{false:14}{missed:15}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{1000 * seconds / megapixels:.0f} ms CPU a megapixel; peak {peak:.0f} MB")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60, int(sys.argv[2]) if len(sys.argv) > 2 else 7)
