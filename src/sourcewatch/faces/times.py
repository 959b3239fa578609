"""Times as people type them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

import typer

from .wiring import seconds

_DURATION = re.compile(r"\d+(?:\.\d+)?\s*[a-z]")


def since_of(text: str, zone: str, now: datetime) -> datetime:
    """A duration before now, written as in sources.toml, or a moment. UTC."""
    if not _DURATION.match(text.strip()):
        return moment_of(text, zone)
    try:
        return now - timedelta(seconds=seconds(text.strip()))
    except ValueError as error:
        raise typer.BadParameter(f"{error}, and of ten years at most") from None


def moment_of(text: str, zone: str, *, end_of_day: bool = False) -> datetime:
    """20261020T110300Z, an ISO time, or a day in the site's zone (its start, or its end). UTC."""
    text = text.strip()
    try:
        if re.fullmatch(r"\d{8}T\d{6}Z", text):
            return datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        at = datetime.fromisoformat(text)
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text) and end_of_day:
            at = datetime.combine(at.date(), time(23, 59, 59, 999_999))
        return (at if at.tzinfo else at.replace(tzinfo=ZoneInfo(zone))).astimezone(UTC)
    except (ValueError, OverflowError):  # also a year that UTC does not have
        raise typer.BadParameter(f"{text!r} is not a time; write 2026-10-20, 2026-10-20T11:03Z or 7d") from None
