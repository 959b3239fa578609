"""What an unimportant change teaches: a place of the page that may be ignored, where that can hide nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..domain.change import Edit, EditKind
from ..domain.document import Block, Document, Form
from ..domain.source import Quote
from .masks import plain

MOST_SHARE = 0.25  # of the visible text: who ignores more of a page is not watching it
_NAMED = re.compile(r"#([A-Za-z_][A-Za-z0-9_-]*)(?=>|$)")


def safe_rule(edits: Sequence[Edit], old: Document, new: Document, quotes: Sequence[Quote]) -> str:
    """The selector of the innermost named element that holds all *edits* (told ones), or "" where no safe one is.

    Safe: the element is a small part of both versions and holds nothing of a quote or of what stands beside one.
    """
    places = [_blocks(edit, old, new) for edit in edits]
    if not places or old.form is not Form.HTML or new.form is not Form.HTML or not all(places):
        return ""
    names = [set(_NAMED.findall(block.path)) for blocks in places for block in blocks]
    shared = set.intersection(*names)
    order = _NAMED.findall(places[0][0].path)
    for name in reversed([n for n in order if n in shared]):
        if all(_small_and_free(document, name, quotes) for document in (old, new)):
            return f"#{name}"
    return ""


def _blocks(edit: Edit, old: Document, new: Document) -> list[Block]:
    if edit.kind is EditKind.MOVED:
        return []
    sides = ((old.blocks, edit.old), (new.blocks, edit.new))
    return [blocks[at] for blocks, at in sides if at is not None and at < len(blocks)]


def _small_and_free(document: Document, name: str, quotes: Sequence[Quote]) -> bool:
    inside = [b.text for b in document.visible if name in _NAMED.findall(b.path)]
    if sum(map(len, inside)) > MOST_SHARE * max(1, len(document.text)):
        return False
    text = plain("\n".join(inside))
    wanted = (part for q in quotes for part in (q.exact, q.prefix, q.suffix) if part)
    return not any(plain(part) in text for part in wanted)
