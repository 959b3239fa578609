"""Two versions of a source, read and compared for the change page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..analysis import compare
from ..domain.change import Edit, PictureChange, Sighting, unpack_edits, unpack_picture
from ..domain.desk import Compared
from ..domain.document import Embed, Label, unpack
from ..domain.kept import ChangeRow, VersionRow
from ..domain.source import Source
from .ports import Ledger


@dataclass(frozen=True, slots=True)
class Comparison:
    """*runs* are folded by kind (`compare.folded`); *came* and *left* are figures that only one version shows.

    *picture*: where the two look different, when they are neighbours whose pictures were compared.
    """

    source: Source
    old: VersionRow
    new: VersionRow
    runs: Sequence[tuple[str, list[Compared]]]
    title: tuple[str, str] | None
    came: Sequence[Embed]
    left: Sequence[Embed]
    before: Sequence[Sighting]
    after: Sequence[Sighting]
    picture: PictureChange | None = None

    @property
    def hidden(self) -> dict[str, int]:
        """How many edits each noise rule hides."""
        found: dict[str, int] = {}
        for _, rows in self.runs:
            for row in rows:
                if row.rule:
                    found[row.rule] = found.get(row.rule, 0) + 1
        return found

    @property
    def told(self) -> int:
        return sum(row.how != "same" and not row.rule for _, rows in self.runs for row in rows)


def comparison(
    ledger: Ledger, source: Source, old: VersionRow, new: VersionRow, change: ChangeRow | None = None
) -> Comparison:
    """Compare two versions; the edits of a *change* are those that were judged then, where they still fit.

    Raises StorageError.
    """
    a, b = (unpack(ledger.packed_document(v.id)) for v in (old, new))
    before, after = ledger.sightings(old.id), ledger.sightings(new.id)
    edits: tuple[Edit, ...] = ()
    kept = False
    if change is not None:
        edits, _ = unpack_edits(change.packed)
        kept = compare.fits(edits, a, b)
    if not kept:
        edits = compare.edits_between(a, b, source.quotes)
    runs = compare.folded(compare.compared(a, b, edits, before, after))
    title = (a.title, b.title) if a.title != b.title else None
    ours, theirs = (
        {e.url.partition("?")[0]: e for e in d.embeds if e.label is Label.MAIN} for d in (a, b)
    )  # a query is the CDN's token
    came = [e for url, e in theirs.items() if url not in ours]
    left = [e for url, e in ours.items() if url not in theirs]
    picture = unpack_picture(change.packed) if change is not None else None
    return Comparison(source, old, new, runs, title, came, left, before, after, picture)
