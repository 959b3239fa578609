"""A progress bar on a terminal; nothing elsewhere."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from ..domain.source import Settings


class Progress:
    """Counts checks against the number of declared pages: what is not due is not counted, so it may end early."""

    def __init__(self, settings: Settings, *, shown: bool) -> None:
        self._bar: Any = None
        self._total = sum(bool(s.address) and s.mirror_of is None for s in settings.sources)
        self._shown = shown

    def __enter__(self) -> Progress:
        if self._shown:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as Bar

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("checking", total=self._total)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def step(self, line: Mapping[str, Any]) -> None:
        if self._bar is not None:
            self._bar.update(self._task, advance=1, description=f"{line['source'][:40]:40}")


class Reader:
    """Whoever reads our lines. When nobody does any more, the run goes on: what it keeps matters, not who watches."""

    def __init__(self) -> None:
        self._gone = False

    def line(self, text: str) -> None:
        if self._gone:
            return
        try:
            sys.stdout.write(text + "\n")
            sys.stdout.flush()
        except BrokenPipeError:
            self._gone = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it ends
