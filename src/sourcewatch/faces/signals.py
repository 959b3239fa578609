"""A first signal asks to stop, a second one not to wait; a third one kills as usual."""

from __future__ import annotations

import asyncio
import signal
from contextlib import suppress

HARD = 130  # the exit code of who did not wait


def stop_signals() -> tuple[asyncio.Event, asyncio.Event]:
    """Set by the first SIGTERM or SIGINT, and by the second."""
    asked, again = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def heard() -> None:
        if not asked.is_set():
            asked.set()
            return
        again.set()
        for number in (signal.SIGTERM, signal.SIGINT):
            with suppress(ValueError):
                loop.remove_signal_handler(number)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, heard)
    return asked, again
