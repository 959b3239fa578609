"""New versions that an outside archive is asked to save: where to ask, and how far it got."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class SavePolicy:
    """*address* is the archive's, without a slash at its end; *variable* names the environment's variable that holds
    KEY:SECRET. Versions of sources of *tiers* are sent, but of none of *excepted* (ids)."""

    address: str
    variable: str
    per_minute: int
    per_day: int
    tiers: tuple[str, ...]
    excepted: tuple[str, ...] = ()


class SaveState(StrEnum):
    """PASSED is not sent at all. SAVED is the archive's own word; CHECKED: it was read and stands among the copies;
    UNREAD: it could not be."""

    PASSED = "passed"
    WAITING = "waiting"
    ASKED = "asked"
    SAVED = "saved"
    CHECKED = "checked"
    UNREAD = "unread"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Save:
    """A version on its way into an archive. Times are UTC; *attempts* were made to have it saved.

    *newer*: another version of its source came after it. *facts*: `asks` (when it was asked for), `job`, `url` (of the
    copy), `why` (what went wrong last), `polls` and `looks` (how often it was asked about, and read), `asking` (an
    answer is owed), `lost` (answers that never came), `rests` (why the whole queue rests).
    """

    version: int
    source: str
    url: str
    captured_at: datetime
    state: SaveState
    attempts: int
    next_try_at: datetime
    newer: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)
