"""What archives say in Memento's words (RFC 7089): dates, TimeMaps in link-format (RFC 6690), raw forms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_LINK = re.compile(r"<([^<>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:\"[^\"]*\"|[^\s,;\"]+))*)")
_ATTRIBUTE = re.compile(r";\s*([\w*-]+)\s*=\s*(?:\"([^\"]*)\"|([^\s,;\"]+))")
_STAMPED = re.compile(r"/(\d{14})(?:[a-z]{2}_)?/(?=https?:)")


def moment(text: str) -> datetime | None:
    """An HTTP date; None for anything else."""
    try:
        return parsedate_to_datetime(text).astimezone(UTC)
    except (ValueError, OverflowError, TypeError):
        return None


def timemap(text: str) -> list[tuple[datetime, str]]:
    """The mementos that a TimeMap lists, as (when, address), oldest first."""
    found = []
    for address, rest in _LINK.findall(text):
        named = {m[1].lower(): m[2] or m[3] for m in _ATTRIBUTE.finditer(rest)}
        at = moment(named.get("datetime", ""))
        if at is not None and "memento" in named.get("rel", "").split():
            found.append((at, address))
    return sorted(found)


def closest(listed: Sequence[tuple[datetime, str]], at: datetime) -> tuple[datetime, str] | None:
    return min(listed, key=lambda m: (abs(m[0] - at), m[0]), default=None)


def raw(url: str) -> str:
    """The address of a memento's bytes as they were archived, where the archive has pywb's or Wayback's form."""
    return _STAMPED.sub(r"/\1id_/", url, count=1)


def stamped(url: str) -> datetime | None:
    """The time in the address of a memento, where it has one."""
    m = _STAMPED.search(url)
    try:
        return datetime.strptime(m[1], "%Y%m%d%H%M%S").replace(tzinfo=UTC) if m else None
    except ValueError:
        return None
