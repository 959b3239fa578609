"""Puts a change together and says how much it matters: quote > figures > text > links > cosmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sourcewatch.analysis import diff, noise, targets
from sourcewatch.analysis.drift import drift
from sourcewatch.analysis.normalise import simplified, typographic
from sourcewatch.analysis.numbers import facts
from sourcewatch.domain.change import Change, Edit, Op, Sighting, SightingKind, Significance
from sourcewatch.domain.document import VISIBLE, Block, Document, Label
from sourcewatch.domain.source import Quote

# Shorter prefixes and suffixes ("the ") stand anywhere on a page: they would shield noise.
LEAST_CONTEXT_CHARS = 12
# Width, quotes, spaces: the sentence is the same.
_AS_GOOD = {SightingKind.VERBATIM, SightingKind.TYPOGRAPHIC}


def change(
    old: Document,
    new: Document,
    history: noise.History,
    quotes: Sequence[Quote] = (),
    before: Sequence[Sighting] = (),
    after: Sequence[Sighting] = (),
) -> Change | None:
    """What *new* changes in *old*, or None when nothing differs; edits index `old.blocks` and `new.blocks`.

    *history* knows all versions up to *old*; *before* and *after* are the sightings of *quotes* in both. When only
    noise differs the change has edits but tells none.
    """
    edits = noise.suppress(visible_edits(old, new), old, new, history, protected(quotes))
    title = _title(old, new, history)
    weight = significance(edits, old, new, before, after)
    if not edits and not title and weight is Significance.COSMETIC:
        return None
    if title and weight in (Significance.LINKS, Significance.COSMETIC):
        weight = Significance.TEXT
    return Change(edits, weight, drift(old, new), diff.DIFFER, title)


def significance(
    edits: Sequence[Edit], old: Document, new: Document, before: Sequence[Sighting], after: Sequence[Sighting]
) -> Significance:
    """The loudest of what differs; suppressed edits count as nothing."""
    told = [edit for edit in edits if not edit.suppressed_by]
    if _quotes_differ(before, after):
        return Significance.QUOTE
    if any(_figures_differ(edit) for edit in told) or _embeds(old) != _embeds(new):
        return Significance.FIGURES
    if told:
        return Significance.TEXT
    return Significance.LINKS if targets.differ(_links(old), _links(new)) else Significance.COSMETIC


def visible_edits(old: Document, new: Document) -> tuple[Edit, ...]:
    """Edits of what readers see; hidden text and scripts are searched for quotes, not compared."""
    ours, theirs = _visible(old), _visible(new)
    found = diff.edits([block for _, block in ours], [block for _, block in theirs])
    return tuple(
        replace(
            edit,
            old=None if edit.old is None else ours[edit.old][0],
            new=None if edit.new is None else theirs[edit.new][0],
        )
        for edit in found
    )


def protected(quotes: Sequence[Quote]) -> list[str]:
    """The texts that no noise rule may hide."""
    contexts = [text for quote in quotes for text in (quote.prefix, quote.suffix) if len(text) >= LEAST_CONTEXT_CHARS]
    return [quote.exact for quote in quotes if not quote.figure] + contexts


def _visible(document: Document) -> list[tuple[int, Block]]:
    return [(place, block) for place, block in enumerate(document.blocks) if block.label in VISIBLE]


def _title(old: Document, new: Document, history: noise.History) -> tuple[str, str] | None:
    """Both titles where they differ in meaning and the new one has not been seen before."""
    if noise.key(old.title) == noise.key(new.title) or history.knows(new.title):
        return None
    return old.title, new.title


def _quotes_differ(before: Sequence[Sighting], after: Sequence[Sighting]) -> bool:
    earlier = {sighting.quote: sighting for sighting in before}
    return any(_differ(earlier[s.quote], s) for s in after if s.quote in earlier)


def _differ(before: Sighting, after: Sighting) -> bool:
    if before.kind in _AS_GOOD and after.kind in _AS_GOOD:
        return before.layer != after.layer
    return (before.kind, before.layer, before.numbers_new) != (after.kind, after.layer, after.numbers_new)


def _figures_differ(edit: Edit) -> bool:
    """Whether a number of the old text is gone or another; a new sentence with a number in it is text."""
    old, new = (
        [
            f.value
            for f in facts(simplified(typographic("".join(p.text for p in edit.parts if p.op in (Op.EQUAL, side)))))
        ]
        for side in (Op.DELETE, Op.INSERT)
    )
    return bool(old) and old != new


def _embeds(document: Document) -> set[str]:
    """Pictures without the query of their address: that is the CDN's token, different at every visit."""
    return {embed.url.partition("?")[0] for embed in document.embeds if embed.label is Label.MAIN}


def _links(document: Document) -> set[str]:
    return {link.url for link in document.links if link.label is Label.MAIN}
