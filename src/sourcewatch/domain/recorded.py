"""A check as the archive itself tells it, without any database: what `rebuild` reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .source import SourceKind
from .verdict import Verdict


@dataclass(frozen=True, slots=True)
class Lies:
    """Where the response of a new version lies: *path* relative to the data folder, byte *offset* of its record."""

    path: str
    offset: int
    record_id: str
    captured_at: datetime


@dataclass(frozen=True, slots=True)
class Recorded:
    """One check of one source. *new*: the version that it brought; *saw*: the record id of the one seen again.

    *where* names the file that tells it, *run* the pass (None where it is not told), *facts* what the row should hold.
    """

    source: str
    at: datetime
    verdict: Verdict
    where: str
    kind: SourceKind = SourceKind.PAGE
    parent: str | None = None
    title: str = ""
    alt: str = ""
    cited: str = ""
    asked: str = ""
    final_url: str = ""
    status: int = 0
    seconds: float = 0.0
    attempts: int = 1
    run: int | None = None
    new: Lies | None = None
    saw: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
