"""Two versions block by block, as an editor reads them: what changed, moved or stayed, and where quotes stand."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence

from ..domain.change import Edit, EditKind, Op, Part, Sighting
from ..domain.desk import Compared, Stretch
from ..domain.document import VISIBLE, Document
from ..domain.source import Quote
from . import noise, weigh

Ranges = dict[int, list[tuple[int, int]]]
"""Block index: the stretches of it that belong to quotes."""


def edits_between(old: Document, new: Document, quotes: Sequence[Quote]) -> tuple[Edit, ...]:
    """The edits between any two versions; only rules that need no history hide any."""
    return noise.suppress(weigh.visible_edits(old, new), old, new, noise.History(), weigh.protected(quotes))


def fits(edits: Iterable[Edit], old: Document, new: Document) -> bool:
    """Whether stored edits still speak of these texts: an extractor upgrade may have read a version again."""
    return all(
        _says(old, e.old, e.parts, Op.INSERT) and (e.kind is EditKind.MOVED or _says(new, e.new, e.parts, Op.DELETE))
        for e in edits
    )


def _says(document: Document, at: int | None, parts: Sequence[Part], other: Op) -> bool:
    if at is None:
        return True
    return at < len(document.blocks) and document.blocks[at].text == "".join(p.text for p in parts if p.op is not other)


def compared(
    old: Document, new: Document, edits: Sequence[Edit], before: Sequence[Sighting] = (), after: Sequence[Sighting] = ()
) -> list[Compared]:
    """Every visible block of both, in the order of the new version; quotes where *before* and *after* sighted them."""
    then, now = _quoted(old, before), _quoted(new, after)
    gone, came = {e.old for e in edits}, {e.new for e in edits}
    left = [i for i, b in enumerate(old.blocks) if b.label in VISIBLE and i not in gone]
    stayed = [j for j, b in enumerate(new.blocks) if b.label in VISIBLE and j not in came]
    rows: list[tuple[int, int, Compared]] = []
    for position, j in enumerate(stayed):
        part = (Part(Op.EQUAL, new.blocks[j].text),)
        same = _stretches(part, [], now.get(j, []))
        rows.append((position, 1, Compared("same", new.blocks[j].label, same, same, same)))
    for edit in edits:
        position = bisect_left(stayed, edit.new) if edit.new is not None else bisect_left(left, edit.old or 0)
        rows.append((position, 0, _edited(edit, then, now)))
    rows.sort(key=lambda row: row[:2])
    return [row for _, _, row in rows]


def _edited(edit: Edit, then: Ranges, now: Ranges) -> Compared:
    were = then.get(edit.old, []) if edit.old is not None else []
    are = now.get(edit.new, []) if edit.new is not None else []
    if edit.kind is EditKind.MOVED:
        text = (Part(Op.EQUAL, "".join(p.text for p in edit.parts if p.op is not Op.DELETE)),)
        moved = _stretches(text, [], are)
        return Compared("moved", edit.label, moved, moved, moved, edit.suppressed_by)
    old = _stretches([p for p in edit.parts if p.op is not Op.INSERT], were, [])
    new = _stretches([p for p in edit.parts if p.op is not Op.DELETE], [], are)
    inline = _stretches(edit.parts, were, are)
    return Compared(edit.kind.value, edit.label, old, new, inline, edit.suppressed_by)


def _stretches(
    parts: Sequence[Part], were: Sequence[tuple[int, int]], are: Sequence[tuple[int, int]]
) -> tuple[Stretch, ...]:
    """The parts cut where a quote begins or ends; *were* counts characters of the old text, *are* of the new one."""
    found: list[Stretch] = []
    x = y = 0
    for part in parts:
        size = len(part.text)
        in_old = part.op is not Op.INSERT
        in_new = part.op is not Op.DELETE
        inside = [False] * size
        for ranges, at, counts in ((were, x, in_old), (are, y, in_new)):
            for start, end in ranges if counts else ():
                for place in range(max(0, start - at), min(size, end - at)):
                    inside[place] = True
        found += _runs(part, inside)
        x, y = x + size * in_old, y + size * in_new
    return tuple(found)


def _runs(part: Part, inside: Sequence[bool]) -> Iterator[Stretch]:
    start = 0
    for place in range(1, len(inside) + 1):
        if place == len(inside) or inside[place] != inside[start]:
            yield Stretch(Part(part.op, part.text[start:place]), inside[start])
            start = place


def _quoted(document: Document, sightings: Sequence[Sighting]) -> Ranges:
    """Where the visible text holds quotes: a sighting counts characters of all visible blocks, one a line."""
    found: Ranges = {}
    spans = [(s.start, s.end) for s in sightings if s.layer == "visible" and s.start is not None and s.end is not None]
    at = 0
    for index, block in enumerate(document.blocks):
        if block.label not in VISIBLE:
            continue
        size = len(block.text)
        for start, end in spans:
            if start < at + size and end > at:
                found.setdefault(index, []).append((max(0, start - at), min(size, end - at)))
        at += size + 1
    return found


def folded(rows: Sequence[Compared], context: int = 1) -> list[tuple[str, list[Compared]]]:
    """Runs of rows as (kind, rows): "told" with *context* unchanged blocks around, "same" and "noise" to be folded."""
    loud = [row.how != "same" and not row.rule for row in rows]
    near = [any(loud[max(0, i - context) : i + context + 1]) for i in range(len(rows))]
    runs: list[tuple[str, list[Compared]]] = []
    for row, is_loud, is_near in zip(rows, loud, near, strict=True):
        kind = "told" if is_loud or (is_near and row.how == "same") else "noise" if row.rule else "same"
        if runs and runs[-1][0] == kind:
            runs[-1][1].append(row)
        else:
            runs.append((kind, [row]))
    return runs
