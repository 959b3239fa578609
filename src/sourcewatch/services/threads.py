"""Two kinds of blocking work beside the event loop: rows through one writer thread, files through a few."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import ParamSpec, TypeVar, cast

from ..domain.errors import StorageError

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Threads:
    """One thread for the database (SQLite has one writer), four for fsync, which waits more than it works."""

    def __init__(self) -> None:
        self._rows = ThreadPoolExecutor(1, thread_name_prefix="rows")
        self._files = ThreadPoolExecutor(4, thread_name_prefix="files")

    def __enter__(self) -> Threads:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._files.shutdown(wait=True)
        self._rows.shutdown(wait=True)

    async def rows(self, function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._rows, lambda: function(*args, **kwargs))

    async def files(self, function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._files, lambda: function(*args, **kwargs))


async def aside(function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Blocking work in a thread of its own that doesn't hold up the end of the program, however long it takes."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[_T] = loop.create_future()

    def settle(value: _T | None, error: BaseException | None) -> None:
        if done.cancelled():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(cast(_T, value))

    def work() -> None:
        value, error = None, None
        try:
            value = function(*args, **kwargs)
        except Exception as failed:
            error = failed
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, value, error)

    threading.Thread(target=work, name="aside", daemon=True).start()
    return await done


def first_of(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one error of a task group to tell: a storage failure before all others, which mostly follow from it."""
    leaves: list[BaseException] = []
    for error in errors.exceptions:
        leaves.append(first_of(error) if isinstance(error, BaseExceptionGroup) else error)
    return next((e for e in leaves if isinstance(e, StorageError)), leaves[0])
