"""The warm process of `torture.py`: for each line, a time, it forks a child that makes one pass at that time.

Prints the child's process id, reaps it after the next line and prints how it ended: until then the id is the child's.
"""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import signal
import sys
import tempfile
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sourcewatch.adapters import processes
from sourcewatch.faces import wiring

LONGEST_S = 60


class Here:
    """Judges in the pass's own process: starting workers takes longer than the pass that is to be killed."""

    def __init__(self, function: Any, *_: Any, **__: Any) -> None:
        self._function = function

    async def __aenter__(self) -> Here:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def __call__(self, task: Any) -> Any:
        return self._function(task)


def one_pass(folder: Path, at: datetime) -> None:
    with wiring.open_house(folder / "sources.toml", folder, {}) as house:
        tally = asyncio.run(wiring.run_pass(house, all_of_them=True, clock=lambda: at))
        if tally.defects:
            raise RuntimeError(f"defects in {tally.defects}")


def main() -> None:
    folder = Path(sys.argv[1])
    processes.Processes = Here  # type: ignore[assignment,misc]
    with tempfile.TemporaryDirectory() as name:  # a pass that imports what passes import, once for all children
        shutil.copy(folder / "sources.toml", name)
        one_pass(Path(name), datetime.now(UTC))
    gc.freeze()
    for line in sys.stdin:
        at = datetime.fromisoformat(line.strip())
        if (child := os.fork()) == 0:
            status = 1
            signal.alarm(LONGEST_S)
            try:
                one_pass(folder, at)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        print(child, flush=True)
        sys.stdin.readline()
        print(os.waitpid(child, 0)[1], flush=True)


if __name__ == "__main__":
    main()
