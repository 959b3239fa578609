"""Boxes around what is set in a mask."""

from __future__ import annotations

from collections.abc import Iterator

from PIL import Image

CELL = 8  # pixels: what is closer than two cells is one place
MOST_REGIONS = 20

Box = tuple[int, int, int, int]
"""Left, top, right and bottom."""


def boxes(mask: Image.Image) -> list[Box]:
    """At most MOST_REGIONS boxes around all of what is set: neighbours are joined, from ever further off."""
    grid = mask.reduce(CELL)
    set_ = grid.tobytes()
    here = {(at % grid.width, at // grid.width) for at in range(len(set_)) if set_[at]}
    found = [_box(cells) for cells in _islands(here)]
    reach = 2
    while len(found) > MOST_REGIONS:
        found, reach = _joined(found, reach), 2 * reach
    whole = (mask.width, mask.height)
    return [
        _tight(mask, (x * CELL, y * CELL, min(u * CELL, whole[0]), min(v * CELL, whole[1]))) for x, y, u, v in found
    ]


def _islands(cells: set[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    near = [(x, y) for x in range(-2, 3) for y in range(-2, 3)]
    for start in sorted(cells, key=lambda c: (c[1], c[0])):
        if start not in cells:
            continue
        cells.discard(start)
        found, at = [start], 0
        while at < len(found):
            x, y = found[at]
            at += 1
            for dx, dy in near:
                if (cell := (x + dx, y + dy)) in cells:
                    cells.discard(cell)
                    found.append(cell)
        yield found


def _box(cells: list[tuple[int, int]]) -> Box:
    xs, ys = [x for x, _ in cells], [y for _, y in cells]
    return min(xs), min(ys), max(xs) + 1, max(ys) + 1


def _joined(boxes: list[Box], reach: int) -> list[Box]:
    """Boxes that are less than *reach* cells apart become one."""
    out: list[Box] = []
    for box in boxes:
        while True:
            close = next((o for o in out if _close(o, box, reach)), None)
            if close is None:
                break
            out.remove(close)
            box = (min(close[0], box[0]), min(close[1], box[1]), max(close[2], box[2]), max(close[3], box[3]))
        out.append(box)
    return out


def _close(a: Box, b: Box, reach: int) -> bool:
    return a[0] - reach <= b[2] and b[0] - reach <= a[2] and a[1] - reach <= b[3] and b[1] - reach <= a[3]


def _tight(mask: Image.Image, box: Box) -> Box:
    """The box without its empty margin."""
    inner = mask.crop(box).getbbox() or (0, 0, box[2] - box[0], box[3] - box[1])
    return box[0] + inner[0], box[1] + inner[1], box[0] + inner[2], box[1] + inner[3]
