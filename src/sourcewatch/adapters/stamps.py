"""Whole seconds, each given to one capture of an address: of two in one second replay tools show only the last."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta

MOST_SECONDS = 3600  # captures of one address whose times lie further apart cannot meet
_START = re.compile(r"https?://(?:www\d*\.)?")


class Stamps:
    """Which addresses were captured in which second, as far as this process knows."""

    def __init__(self) -> None:
        self._taken: dict[datetime, set[str]] = {}
        self._lock = threading.Lock()

    def take(self, at: datetime, urls: Iterable[str], free: Callable[[datetime], bool] = lambda at: True) -> datetime:
        """The second of *at*, or the first later one in which none of *urls* was captured and *free* says yes."""
        keys = {key(url) for url in urls}
        at = at.astimezone(UTC).replace(microsecond=0)
        with self._lock:
            while not keys.isdisjoint(self._taken.get(at, ())) or not free(at):
                at += timedelta(seconds=1)
            self._taken.setdefault(at, set()).update(keys)
            while len(self._taken) > MOST_SECONDS:
                del self._taken[next(iter(self._taken))]
        return at


def key(url: str) -> str:
    """An address as indexes of web archives know it: in lower case, its query sorted, no scheme, www and fragment."""
    path, _, query = url.partition("#")[0].lower().partition("?")
    return f"{_START.sub('', path, count=1).rstrip('/')}?{'&'.join(sorted(query.split('&')))}"
