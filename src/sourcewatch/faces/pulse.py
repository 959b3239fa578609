"""How a daemon is: what it last did, and what is wrong with which part of it, since when."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ..analysis.voice import Voice
from ..domain.kept import DueRow
from ..domain.message import Backlog
from .doctor import LEAST_FREE_BYTES

SILENT = timedelta(minutes=5)  # ten ticks
LATE = timedelta(hours=1)  # what is due for longer waits for us, not for its host's pace
STUCK = timedelta(minutes=30)
UNSENT = timedelta(hours=1)

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Pulse:
    """*faults* by part: the sentence, and since when (UTC). Never changed in place: other threads read it."""

    started_at: datetime
    ticked_at: datetime | None = None
    run_ended_at: datetime | None = None
    faults: Mapping[str, tuple[str, datetime]] = field(default_factory=dict)

    def fault(self, part: str, sentence: str, at: datetime) -> None:
        """Something is wrong with a part; logged when that is new."""
        known = self.faults.get(part)
        if known is None or known[0] != sentence:
            _log.error("%s: %s", part, sentence)
        self.faults = {**self.faults, part: (sentence, known[1] if known else at)}

    def well(self, part: str) -> None:
        if part in self.faults:
            self.faults = {name: fault for name, fault in self.faults.items() if name != part}
            _log.info("%s: well again", part)

    def ran(self, void_reason: str | None, at: datetime) -> None:
        """A run has ended; a void one says that our own network fails, until one is not."""
        self.run_ended_at = at
        self.well("runs")
        if void_reason:
            self.fault("network", f"the last runs were void. {Voice('en', 'UTC').void(void_reason)}", at)
        else:
            self.well("network")

    def complaints(self, now: datetime, due: DueRow, free_bytes: int, outbox: Backlog) -> Iterator[str]:
        """Why the daemon is unwell, in sentences; none when it is well."""
        for part, (sentence, since) in sorted(self.faults.items()):
            yield f"{part}: {sentence} (since {since:%Y-%m-%dT%H:%M:%SZ})"
        if (silent := now - (self.ticked_at or self.started_at)) > SILENT:
            yield f"schedule: nobody has looked for what is due for {_long(silent)}"
        if due.oldest_at is not None and (lag := now - due.oldest_at) > LATE:
            yield f"lag: {due.waiting} sources are due, the oldest for {_long(lag)}"
            if (quiet := now - (self.run_ended_at or self.started_at)) > STUCK:
                yield f"runs: none has ended for {_long(quiet)} although sources are due"
        if free_bytes < LEAST_FREE_BYTES:
            yield f"disk: {free_bytes / 1e6:.0f} MB are free, less than {LEAST_FREE_BYTES / 1e6:.0f}"
        if outbox.oldest_at is not None and (waits := now - outbox.oldest_at) > UNSENT:
            yield f"messages: {outbox.failing} cannot be sent, the oldest for {_long(waits)}: {outbox.error}"


def _long(duration: timedelta) -> str:
    minutes = round(duration.total_seconds() / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h"
