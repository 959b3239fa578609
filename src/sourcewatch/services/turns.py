"""Before every request: is its host ours to ask? Heartbeats keep hosts in hand, and what was lost is not asked.

Among many workers a host is asked by who holds its turn, for whatever reason it is asked: as a source, as the host of
a figure, as where a redirect leads. A worker asks only while its last heartbeat proves that the turn is its own; one
that was frozen finds that out before its next request, and makes sure first.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from ..domain.errors import StorageError

BEAT_S = 2.0
STALLED_S = 6.0  # three beats; a turn that was proven longer ago is proven again before its host is asked
SPARE_S = 1.0  # by how much sooner its holder believes a turn to be lost than anybody else may
GUEST_WAITS_S = 20.0  # for a host that another worker is at; then the check is put off
GUEST_RESTS_S = 1.0
POLL_S = 0.25

_T = TypeVar("_T")


class Rows(Protocol):
    """Turns as rows. Raises StorageError."""

    def take(self, host: str) -> float | None: ...
    def renew(self, hosts: Collection[str]) -> set[str]: ...
    def leave(self, host: str, rests_s: float) -> None: ...


def silence_s(deadline_s: float) -> float:
    """How long a turn's holder may be silent before another takes it: a request may have begun just before it fell
    silent, and lasts for the fetch's deadline at most."""
    return STALLED_S + deadline_s


def elapsed() -> float:
    """Seconds of a clock that goes on while this process, or the whole machine, sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


@dataclass(slots=True)
class Turns:
    """The hosts in this worker's hand. *rests_s* says for how many seconds a host wants peace."""

    rows: Rows
    rests_s: Callable[[str], float] = lambda host: 0.0
    clock: Callable[[], float] = elapsed
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    proven: dict[str, float] = field(default_factory=dict)
    ours: set[str] = field(default_factory=set)  # that a job is at; the others are guests' hosts
    asking: dict[str, int] = field(default_factory=dict)
    _left_at: dict[str, float] = field(default_factory=dict)
    _begun_at: dict[str, float] = field(default_factory=dict)
    _beat_at: float | None = None
    _woke_at: float = float("-inf")
    _thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="turns"))

    async def take(self, host: str) -> bool:
        """Whether a job may begin at this host."""
        if await self._take(host) is not None:
            return False
        self.ours.add(host)
        return True

    async def still(self, host: str) -> bool:
        """Whether a turn is still our own; once lost, it is for good. Raises StorageError."""
        if not self._proven(host):
            began = self.clock()
            if host not in await self._in_thread(self.rows.renew, [host]):
                self.proven.pop(host, None)
                return False
            self.proven[host] = began
        return True

    async def leave(self, host: str) -> None:
        """A job's end. When the storage does not hear of it, the turn ends by silence."""
        self.ours.discard(host)
        if not self.asking.get(host):
            await self._leave(host)

    async def begin(self, host: str) -> float | None:
        """Make sure that this host may be asked now: None, or the seconds for which it must not be.

        Raises StorageError when that cannot be known.
        """
        self.asking[host] = self.asking.get(host, 0) + 1  # from now on nobody here lets go of it
        wish_s: float | None = POLL_S
        try:
            wish_s = await self._secure(host)
        finally:
            if wish_s is not None:
                self.end(host)
        self._begun_at[host] = self.clock()
        return wish_s

    async def _secure(self, host: str) -> float | None:
        waited_s = 0.0
        while not self._proven(host):
            if host in self.ours:  # never taken anew: another may have done the job's work meanwhile
                if not await self.still(host):
                    return POLL_S
                continue
            wish_s = await self._take(host)
            if wish_s is None:
                continue
            if waited_s >= GUEST_WAITS_S:
                return max(wish_s, POLL_S)
            await self.sleep(POLL_S)
            waited_s += POLL_S
        return None

    def end(self, host: str) -> None:
        """The request is over."""
        left = self.asking.pop(host) - 1
        if left:
            self.asking[host] = left
        self._begun_at.pop(host, None)
        self._left_at[host] = self.clock()

    def sure(self, host: str) -> bool:
        """Whether this host is ours by the last heartbeat, and this process has not slept since its request began:
        what failed while it slept, failed by our own fault."""
        return self._proven(host) and self._begun_at.get(host, float("inf")) > self._woke_at

    def _proven(self, host: str) -> bool:
        at = self.proven.get(host)
        return at is not None and self.clock() - at < STALLED_S - SPARE_S

    async def beat(self) -> None:
        """One heartbeat: whatever it does not prove is lost. Raises StorageError; then nothing is proven anew."""
        if self._beat_at is not None and self.clock() - self._beat_at >= STALLED_S - SPARE_S:
            self._woke_at = self.clock()
        self._beat_at = self.clock()
        for host in self._idle_guests():
            await self._leave(host)
        hosts, began = list(self.proven), self.clock()
        mine = await self._in_thread(self.rows.renew, hosts)
        for host in hosts:
            if host not in mine:
                self.proven.pop(host, None)
            elif host in self.proven:
                self.proven[host] = max(began, self.proven[host])

    async def leave_all(self) -> None:
        """The end of this worker: nobody is to wait for it."""
        self.ours.clear()
        for host in list(self.proven):
            await self._leave(host)

    def close(self) -> None:
        self._thread.shutdown(wait=False)

    async def _take(self, host: str) -> float | None:
        began = self.clock()
        wish_s = await self._in_thread(self.rows.take, host)
        if wish_s is None:
            self.proven[host] = began
            self._left_at.setdefault(host, began)
        else:
            self.proven.pop(host, None)
        return wish_s

    async def _leave(self, host: str) -> None:
        self.proven.pop(host, None)
        self._left_at.pop(host, None)
        await self._in_thread(self.rows.leave, host, self.rests_s(host))

    def _idle_guests(self) -> list[str]:
        now = self.clock()
        return [
            host
            for host in self.proven
            if host not in self.ours
            and not self.asking.get(host)
            and now - self._left_at.get(host, 0.0) >= GUEST_RESTS_S
        ]

    async def _in_thread(self, function: Callable[..., _T], *args: object) -> _T:
        """In a thread of its own: a heartbeat must not wait for a hundred rows to be written."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, function, *args)
        except RuntimeError as error:
            raise StorageError("this worker is stopping") from error
