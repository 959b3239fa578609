"""What looking back needs built: captures by hand, and packages for others. `wiring`'s third part."""

from __future__ import annotations

import logging
from collections.abc import Collection
from datetime import datetime
from pathlib import Path

from ..adapters import brought as files
from ..adapters import wacz
from ..adapters.guard import Resolve
from ..domain.brought import NotUsable
from ..domain.kept import HAND
from ..domain.source import Source, SourceKind
from ..services.by_hand import Hand, KeptByHand
from ..services.ports import Clock
from .crew import crew
from .wiring import SOFTWARE, House, close_days, now


async def capture(
    house: House,
    source: Source,
    what: str,
    by: str,
    reason: str,
    at: datetime | None = None,
    *,
    clock: Clock = now,
    resolve: Resolve | None = None,
) -> KeptByHand:
    """Keep a file, or what stands at another address, as read by a person, under the run lock.

    Raises NotUsable (nothing is kept then), BusyError, StorageError.
    """
    online = what.lower().startswith(("http://", "https://"))
    given = None if online else files.read(Path(what), source, house.settings.fetch.max_bytes)
    if given is not None and given.kind == "picture" and source.kind is not SourceKind.FIGURE:
        raise NotUsable(f"{given.name} is a picture and {source.id} is a page: bring it for the figure that it is")
    async with crew(house, HAND, clock=clock, resolve=resolve) as at_hand:
        policy = house.settings.fetch
        hand = Hand(house.ledger, house.snapshots, at_hand.judging, at_hand.threads, policy, clock)
        found = given or await hand.fetch(at_hand.web, what)
        moment = at or found.dated_at or files.modified_at(Path(what))
        kept = await hand.keep(source, found, by, reason, moment)
        for fault in await at_hand.threads.files(close_days, house, clock()):
            logging.getLogger(__name__).warning("nobody else vouches for this day yet: %s", fault)
        return kept


def export_wacz(house: House, sources: Collection[str], out: Path, at: datetime) -> tuple[int, int]:
    """Package the accepted versions of sources and their figures: (pages, WARC files). Raises StorageError."""
    figures = {f.id for f in house.ledger.figures() if f.parent in sources} - set(sources)
    pages, others = house.archive.of_sources(sources), house.archive.of_sources(figures)
    if not pages:
        return 0, 0
    written = wacz.write(out, house.store, pages, others, title=house.settings.site.name, software=SOFTWARE, at=at)
    return len(pages), written
