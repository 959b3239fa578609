"""What a daemon does besides checking: messages, the search index, the ends of days, retention, verification."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from zoneinfo import ZoneInfo

from ..domain.source import Settings
from . import wiring
from .daemon import Job, at, each
from .wiring import House

SAMPLE = 0.05  # of the archive, another share each day: all of it within a month

INDEXED = 500  # versions a minute that the search index takes in, in about half a second

_log = logging.getLogger(__name__)


def jobs(settings: Settings) -> list[Job]:
    """The daily ones at night by the site's clock."""
    zone = ZoneInfo(settings.site.timezone)
    return [
        Job("messages", _deliver, each(minutes=1)),
        Job("search", _index, each(minutes=1), of_web=True),
        Job("days", _close_days, at(minute=12, zone=ZoneInfo("UTC"))),  # what began before midnight is noted by then
        Job("retention", _retain, at(hour=3, minute=40, zone=zone)),
        Job("strays", _strays, at(hour=3, minute=55, zone=zone)),  # by then the night's checks and removals are done
        Job("archive", _verify, at(hour=4, minute=20, zone=zone)),
    ]


def _deliver(house: House) -> Sequence[str]:
    if house.settings.editors:
        for error in wiring.deliver_due(house).errors:
            _log.warning("a message did not go out: %s", error)  # it is tried again; /healthz tells when it stays so
    return ()


def _index(house: House) -> Sequence[str]:
    house.search.fill(INDEXED)
    return ()


def _close_days(house: House) -> Sequence[str]:
    now = wiring.now()
    house.snapshots.tidy(now, cut_short=False)
    return wiring.close_days(house, now)


def _retain(house: House) -> Sequence[str]:
    if house.settings.retention:
        gone = wiring.retain(house, wiring.now(), apply=True, locked=True)
        _log.info("retention removed %d versions and %d refusals", len(gone.versions), len(gone.refused))
    return ()


def _strays(house: House) -> Sequence[str]:
    """A worker that is killed between a snapshot and its row leaves what no other worker asks about when the page reads
    otherwise by then. A run takes such things up when it starts; beside workers nobody can.
    """
    found = wiring.strays(house, wiring.now())
    words = f"{len(found)} snapshots have no row, such as {found[0]}" if found else ""
    return [f"{words}; stop the workers, and `sourcewatch rebuild` brings them in"] if found else ()


def _verify(house: House) -> Sequence[str]:
    audit = wiring.verify(house, wiring.now(), SAMPLE)
    return [f"{len(audit.flaws)} flaws in a sample; `sourcewatch verify` names them"] if audit.flaws else ()
