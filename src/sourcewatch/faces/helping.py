"""What a daemon looks for outside by itself: where sources moved, copies of them, and saving new versions there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from hashlib import sha256

from ..domain.source import Source
from ..services import saves
from ..services.threads import aside
from . import moving, wiring
from .crew import Crew
from .daemon import Job, each
from .wiring import House

AGAIN = timedelta(days=7)
MOST_A_TURN = 3  # sources; a look is some twenty requests at most, each at its host's pace

AtHand = Callable[[], AbstractAsyncContextManager[Crew]]

_log = logging.getLogger(__name__)


def helping(at_hand: AtHand, clock: Callable[[], datetime] = wiring.now) -> list[Job]:
    """Jobs of a process whose event loop runs; *at_hand* gives whoever may ask hosts."""
    loop = asyncio.get_running_loop()

    def by(work: Callable[[House, AtHand, datetime], Awaitable[Sequence[str]]]) -> Callable[[House], Sequence[str]]:
        async def whole(house: House) -> Sequence[str]:
            return await work(house, at_hand, clock())

        return lambda house: asyncio.run_coroutine_threadsafe(whole(house), loop).result()

    return [
        Job("saving", by(save), each(minutes=1)),
        Job("moved", by(look), each(minutes=20)),
        Job("copies", by(ask), each(minutes=20)),
    ]


async def save(house: House, at_hand: AtHand, now: datetime) -> Sequence[str]:
    """Have new versions saved, where [save] says so; why the queue rests."""
    policy = house.settings.save
    if policy is None:
        return ()
    wanted = {s.id for s in house.settings.sources if saves.sent(s, policy)}
    await aside(house.saves.fill, wanted, now)
    if await aside(house.saves.due, now, 1):
        async with at_hand() as crew:
            turn = await moving.save_turn(crew, policy)
        for one in turn.moved:
            _log.info("%s: version %d: %s", one.source, one.version, one.state)
        if policy.variable in turn.rests:
            return [turn.rests]
    why = saves.resting(await aside(house.saves.open), now)
    return [why] if why else ()


async def look(house: House, at_hand: AtHand, now: datetime) -> Sequence[str]:
    """Look where a few of the sources that are gone have moved."""
    if not house.settings.look_for_moved:
        return ()
    if wanted := await aside(_due, house, "moved", now):
        async with at_hand() as crew:
            mover = moving.mover_of(crew)
            for source in wanted:
                await aside(house.outside.look, "moved", source.id, now)
                found = await mover.look(source)
                _log.info("%s: %d proposals where it moved", source.id, len(found.moves))
    return ()


async def ask(house: House, at_hand: AtHand, now: datetime) -> Sequence[str]:
    """Ask the archives that are configured for copies of a few of the sources that are dead or gone."""
    if not house.settings.archives:
        return ()
    if wanted := await aside(_due, house, "copies", now):
        desk = await aside(house.reviews.desk)
        async with at_hand() as crew:
            librarian = moving.librarian_of(crew)
            for source in wanted:
                await aside(house.outside.look, "copies", source.id, now)
                found = await librarian.ask(source, desk)
                _log.info("%s: %d copies in other archives", source.id, len(found.copies))
    return ()


def _due(house: House, what: str, now: datetime) -> list[Source]:
    """Those that nobody has looked for since they were lost, or within a week; who waits for longest first."""
    seen = wiring.lost(house, now, dead_too=what == "copies")
    looked = house.outside.looked(what)
    never = datetime.min.replace(tzinfo=now.tzinfo)
    due = [
        s
        for s, since in seen
        if (at := looked.get(s.id)) is None or (since is not None and at < since) or at + AGAIN + _late(s.id) <= now
    ]
    return sorted(due, key=lambda s: (looked.get(s.id, never), s.id))[:MOST_A_TURN]


def _late(source: str) -> timedelta:
    """Up to a day, the same for a source each time: what was lost together is not looked for together for ever."""
    return timedelta(seconds=int(sha256(source.encode()).hexdigest()[:8], 16) % 86_400)
