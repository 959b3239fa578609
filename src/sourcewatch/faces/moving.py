"""Help from outside: where sources moved, and copies in others' archives. `wiring` for the commands and the desk."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime

from ..adapters import sources_file
from ..adapters.guard import Resolve
from ..domain.move import Move
from ..domain.save import SavePolicy
from ..domain.source import Source
from ..services import moves
from ..services.copies import Asked, Librarian
from ..services.moves import Looked, Mover, NotTaken
from ..services.ports import Clock
from ..services.saves import Saver, Turn
from .crew import Crew, crew
from .wiring import House, now, read_settings

GITHUB_VARIABLE = "GITHUB_TOKEN"


async def look(
    house: House,
    sources: Sequence[Source],
    *,
    clock: Clock = now,
    resolve: Resolve | None = None,
    github: Mapping[str, str] = moves.GITHUB,
    doi: str = moves.DOI,
) -> AsyncIterator[Looked]:
    """Look for each of these, one after the other, under the run lock. Raises BusyError, StorageError."""
    async with crew(house, "moved", clock=clock, resolve=resolve) as at_hand:
        mover = mover_of(at_hand, github, doi)
        for source in sources:
            yield await mover.look(source)


def mover_of(
    at_hand: Crew,
    github: Mapping[str, str] = moves.GITHUB,
    doi: str = moves.DOI,
    environ: Mapping[str, str] = os.environ,
) -> Mover:
    """One that asks through the web of who is at work already."""
    house, token = at_hand.house, environ.get(GITHUB_VARIABLE, "")
    fetch = house.settings.fetch
    return Mover(
        at_hand.web,
        at_hand.judging,
        house.ledger,
        house.moves,
        at_hand.threads,
        fetch,
        at_hand.clock,
        token,
        github,
        doi,
    )


def decide(house: House, number: int, decision: str, by: str, at: datetime) -> Move | NotTaken:
    """Accept a proposal (sources.toml is changed) or refuse it. Raises ConfigError, StorageError."""
    return moves.decide(house.moves, number, decision, by, at, lambda move: _edit(house, move))


def _edit(house: House, move: Move) -> None:
    sources_file.move(house.config, move.source, move.url, move.to_url, read_settings)


async def ask_archives(
    house: House, sources: Sequence[Source], *, clock: Clock = now, resolve: Resolve | None = None
) -> AsyncIterator[Asked]:
    """Ask the configured archives for each of these, under the run lock. Raises BusyError, StorageError."""
    decided = house.reviews.desk()
    async with crew(house, "copies", clock=clock, resolve=resolve) as at_hand:
        librarian = librarian_of(at_hand)
        for source in sources:
            yield await librarian.ask(source, decided)


def librarian_of(at_hand: Crew) -> Librarian:
    """One that asks through the web of who is at work already."""
    house = at_hand.house
    return Librarian(
        at_hand.web,
        at_hand.judging,
        house.ledger,
        house.outside,
        at_hand.threads,
        house.settings.fetch,
        at_hand.clock,
        house.settings.archives,
    )


async def save(
    house: House, policy: SavePolicy, *, clock: Clock = now, environ: Mapping[str, str] = os.environ
) -> Turn:
    """One turn of the queue of what an archive is to save, under the run lock. Raises BusyError, StorageError."""
    async with crew(house, "save", clock=clock) as at_hand:
        return await save_turn(at_hand, policy, environ)


async def save_turn(at_hand: Crew, policy: SavePolicy, environ: Mapping[str, str] = os.environ) -> Turn:
    """The same by who is at work already. Raises StorageError."""
    house, secret = at_hand.house, environ.get(policy.variable, "").strip()
    librarian = librarian_of(at_hand)
    saver = Saver(at_hand.web, librarian, house.saves, at_hand.threads, policy, at_hand.clock, secret)
    return await saver.turn(house.settings.sources)
