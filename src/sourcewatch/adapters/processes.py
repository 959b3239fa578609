"""Worker processes with CPU and memory limits: a hostile page may kill its worker, never the run.

Lexbor is quadratic in nesting and pdfium is C++ (measured: 60,000 nested tags hold the GIL for 7.7 s), so whatever
reads foreign bytes runs here. A worker that dies is replaced; its task comes back as `Died`.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import resource
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Generic, TypeVar

START_S = 60.0  # imports on a busy machine

_T = TypeVar("_T")
_R = TypeVar("_R")


@dataclass(frozen=True, slots=True)
class Died:
    """The worker did not survive its task; *reason* is a sentence."""

    reason: str


@dataclass(frozen=True, slots=True)
class Limits:
    """*cpu_s* and *wall_s* bound one task in seconds, *memory_bytes* a worker's address space."""

    cpu_s: int = 20
    wall_s: float = 60.0
    memory_bytes: int = 2_000_000_000


class Processes(Generic[_T, _R]):
    """Runs *function* on tasks in *workers* processes, started when first needed. Use as an async context manager."""

    def __init__(
        self, function: Callable[[_T], _R], workers: int, limits: Limits = Limits(), preload: str = ""
    ) -> None:
        self._function, self._limits = function, limits
        self._context = multiprocessing.get_context("forkserver")
        if preload:
            self._context.set_forkserver_preload([preload])
        self._workers = workers
        self._idle: asyncio.Queue[_Worker | None] = asyncio.Queue()
        self._threads = ThreadPoolExecutor(workers, thread_name_prefix="worker-pipe")

    async def __aenter__(self) -> Processes[_T, _R]:
        for _ in range(self._workers):
            self._idle.put_nowait(None)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        while not self._idle.empty():
            if worker := self._idle.get_nowait():
                worker.stop()
        self._threads.shutdown(wait=True)

    async def __call__(self, task: _T) -> _R | Died:
        """The function's result, or why there is none. Its own exceptions are defects and are raised here."""
        worker = await self._idle.get()
        kept: _Worker | None = None
        try:
            worker = worker or _Worker(self._context, self._function, self._limits)
            outcome = await asyncio.get_running_loop().run_in_executor(self._threads, worker.run, task)
            kept = None if isinstance(outcome, Died) else worker
        except BaseException:
            if worker is not None:
                worker.stop()
            raise
        finally:
            self._idle.put_nowait(kept)
        if isinstance(outcome, Died):
            return outcome
        ok, value = outcome
        if not ok:
            raise value
        return value  # type: ignore[no-any-return]


class _Worker:
    def __init__(self, context: Any, function: Callable[[Any], Any], limits: Limits) -> None:
        self._limits = limits
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, function, limits), daemon=True)
        self._process.start()
        theirs.close()
        self._ready = False

    def run(self, task: Any) -> tuple[bool, Any] | Died:
        """Blocks until the task is done, the worker is dead or its time is over.

        Raises RuntimeError for a worker that cannot even start: that is a defect of ours, not of any page.
        """
        if not self._ready:
            self._wait_until_ready()
        try:
            self._pipe.send(task)
            if not self._pipe.poll(self._limits.wall_s):
                self.stop()
                return Died(f"reading it took longer than {self._limits.wall_s:g} s")
            ok, value = self._pipe.recv()
            return bool(ok), value
        except (EOFError, OSError):
            return Died(self._why())

    def _wait_until_ready(self) -> None:
        try:
            self._ready = self._pipe.poll(START_S) and self._pipe.recv() is None
        except (EOFError, OSError):
            self._ready = False
        if not self._ready:
            raise RuntimeError("a worker process does not start")

    def _why(self) -> str:
        self._process.join(5)
        code = self._process.exitcode
        if code == -signal.SIGXCPU:
            return f"reading it took more than {self._limits.cpu_s} s of CPU"
        if code is not None and code < 0:
            return f"reading it killed the worker ({signal.Signals(-code).name})"
        return f"the worker ended while reading it (exit {code})"

    def stop(self) -> None:
        self._pipe.close()
        self._process.join(0.2)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()


def _serve(pipe: Connection, function: Callable[[Any], Any], limits: Limits) -> None:
    for asked_to_stop in (signal.SIGINT, signal.SIGTERM):  # sent to the whole group: the parent's to answer
        signal.signal(asked_to_stop, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    pipe.send(None)
    while True:
        try:
            task = pipe.recv()
        except (EOFError, OSError):
            return
        used = resource.getrusage(resource.RUSAGE_SELF)
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + limits.cpu_s + 1, hard))
        try:
            answer: tuple[bool, Any] = True, function(task)
        except MemoryError:
            return  # the page was too much for this worker: die, and let a fresh one go on
        except Exception as error:
            answer = False, error
        with contextlib.suppress(BrokenPipeError):
            pipe.send(answer)
