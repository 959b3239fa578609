"""Hands out due work, each host to one pass at a time, so that passes may overlap."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from .ports import Queue
from .threads import Threads

MOST_HOSTS = 500  # at work at once: each holds a socket, and four pages in memory at most
PER_HOST = 20  # of one host in one go; the rest of it waits for the next, and nobody else does

Work = dict[str, list[str]]


@dataclass(slots=True)
class Desk:
    """Whoever takes work tells when a host is done. *closing*: nothing more is given out, what is begun is finished.

    *owed* are sources that were given out and came back undone: they are released before more is given out.
    """

    queue: Queue
    threads: Threads
    at_work: set[str] = field(default_factory=set)
    owed: list[str] = field(default_factory=list)
    closing: bool = False
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def take(
        self,
        now: datetime,
        *,
        due_by: datetime | None = None,
        hosts: int = MOST_HOSTS,
        per_host: int = PER_HOST,
        apart_from: Collection[str] = (),
        among: Sequence[str] | None = None,
    ) -> Work:
        """Due sources by host; none of a host that is at work. Named ones (*among*) are given though they pause."""
        async with self._one_at_a_time:
            await self.give_back()
            room = min(hosts, MOST_HOSTS - len(self.at_work))
            if self.closing or room <= 0:
                return {}
            work = await self.threads.rows(
                self.queue.claim,
                now,
                hosts=room,
                per_host=per_host,
                busy=self.at_work.union(apart_from),
                among=among,
                due_by=due_by,
                paused_too=among is not None,
            )
            self.at_work.update(work)
            return work

    async def give_back(self) -> None:
        """What came back undone is due as before. Raises StorageError; then it is still owed."""
        if owed := list(self.owed):
            await self.threads.rows(self.queue.release, owed)
            del self.owed[: len(owed)]

    def done(self, host: str) -> None:
        self.at_work.discard(host)

    def drop(self, work: Work) -> None:
        """Take work back that was not done, or not all of it."""
        for host, sources in work.items():
            self.owed.extend(sources)
            self.done(host)
