"""Dashboards drawn with Pillow's own font: figures whose digits, size and encoding a test chooses."""

from __future__ import annotations

import io

from PIL import Image, ImageDraw, ImageFont

SIZE = (640, 360)


def dashboard(
    hit_rate: str = "87.3%", dark: bool = False, px: int = 13, dx: float = 0, lamp: str = "#1a7f37"
) -> Image.Image:
    """A panel of numbers, a line chart and a lamp, as monitoring tools draw them."""
    ink, back = ("#d8dde4", "#16181c") if dark else ("#30343a", "#ffffff")
    picture = Image.new("RGB", SIZE, back)
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(px)
    pen.text((20 + dx, 20), "KV cache hit rate", font=font, fill=ink)
    pen.text((220 + dx, 20), hit_rate, font=font, fill=ink)
    for row in range(5):
        pen.text(
            (20, 60 + 24 * row), f"node-{row}   {1234 + 77 * row} tok/s   {row * 3.5 + 9:.1f} ms", font=font, fill=ink
        )
    pen.line([(20 + 25 * n, 330 - (n * 37 % 90)) for n in range(24)], fill="#3c82dc", width=2)
    pen.ellipse((600, 16, 616, 32), fill=lamp)
    return picture


def sent(picture: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    out = io.BytesIO()
    picture.save(out, kind, **options)
    return out.getvalue()
