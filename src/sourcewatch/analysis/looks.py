"""What a comparison of pictures means for a check: another file of the same picture, or a change to be told."""

from __future__ import annotations

from dataclasses import replace

from ..domain.change import Change, Edit, EditKind, Op, Part, PictureChange, Significance
from ..domain.document import Document, Form
from ..domain.verdict import Verdict
from . import diff
from .drift import drift


def with_looks(change: Change | None, picture: PictureChange | None, old: Document, new: Document) -> Change | None:
    """A page that looks different has changed, whatever its text says; the edit of no block tells where, in pixels."""
    if picture is None or new.form is Form.IMAGE:
        return replace(change, picture=picture) if change is not None else None
    if not picture.regions:
        return change
    boxes = ", ".join(f"{r.width} × {r.height} @ {r.x}, {r.y}" for r in picture.regions)
    said = f"{picture.new_size[0]} × {picture.new_size[1]} px, {picture.share:.2%}: {boxes}"
    edit = Edit(EditKind.REPLACED, None, None, (Part(Op.INSERT, said),))
    if change is None:
        return Change((edit,), Significance.FIGURES, drift(old, new), diff.DIFFER, picture=picture)
    loud = min(change.significance, Significance.FIGURES, key=list(Significance).index)
    return replace(change, edits=(*change.edits, edit), significance=loud, picture=picture)


def same_picture(verdict: Verdict, old: Document, new: Document) -> Verdict:
    """The server sent other bytes of the same picture: counted by this rule's name, no change of the figure."""
    before, after = (document.text.partition(" bytes, ")[0].rpartition(", ")[0] for document in (old, new))
    return replace(verdict, rule="same-picture", evidence=f"another file that looks the same: {before} → {after}")
