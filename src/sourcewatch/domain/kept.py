"""What is written and read back: a kept check, a version, a change, a quote's place in time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .capture import Capture, Exchange, Failure
from .change import Drift, Sighting, Significance
from .check import Finding
from .message import Message

HAND = "capture"  # the trigger of a run that keeps what a person brought


@dataclass(frozen=True, slots=True)
class Part:
    """One source's share of a snapshot file: a capture that is kept, or a failure that is noted beside it."""

    source: str
    fetched: Capture | Failure
    facts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stored:
    """Where a snapshot lies: *path* relative to the data folder, the record's id and byte *offset* in its file.

    *text_path* is the `.md` sidecar, or "".
    """

    path: str
    record_id: str
    offset: int
    captured_at: datetime
    url: str
    final_url: str
    status: int
    media_type: str
    body_sha256: str
    etag: str
    last_modified: str
    size_bytes: int
    text_path: str = ""


@dataclass(frozen=True, slots=True)
class Revisit:
    """A version's bytes, seen again. *record_id*, *url*, *captured_at* and *body_sha256* are those of its response.

    *answer* is what came this time: the same payload, or a 304, which has none.
    """

    answer: Exchange
    record_id: str
    url: str
    captured_at: datetime
    body_sha256: str


@dataclass(frozen=True, slots=True)
class Note:
    """A check that brought no new version, as it goes into the file of its day: the portable proof of a date.

    *url* is the address that was asked, *at* when (UTC), *facts* the fields in their order.
    """

    url: str
    at: datetime
    facts: Mapping[str, str]
    revisit: Revisit | None = None


@dataclass(frozen=True, slots=True)
class Claim:
    """A due check as a worker was given it: of *host*, in the hands of *owner*, for the due time *due_at* (UTC).

    What is written under a claim is written only while all of it still holds.
    """

    source: str
    host: str
    owner: str
    due_at: datetime


@dataclass(frozen=True, slots=True)
class Kept:
    """A finding as it goes into the ledger: file first (*stored*, *note*), then this row. *facts* are JSON values."""

    finding: Finding
    status: int
    url: str
    final_url: str
    body_sha256: str = ""
    stored: Stored | None = None
    next_check_at: datetime | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    note: Note | None = None
    messages: tuple[Message, ...] = ()
    claim: Claim | None = None

    @property
    def by_hand(self) -> bool:
        """A person read the source: the row's facts name them, in the archive too."""
        return "by" in self.facts


@dataclass(frozen=True, slots=True)
class VersionRow:
    """One version as the ledger knows it."""

    id: int
    source: str
    captured_at: datetime
    url: str
    final_url: str
    media_type: str
    payload_sha256: str
    text_sha256: str
    path: str
    record_id: str
    offset: int
    size_bytes: int
    title: str


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One change as the ledger knows it; *packed* holds the edits (`change.unpack_edits`).

    *by_hand* names the person who read the newer version, or is "".
    """

    id: int
    source: str
    from_version: int
    to_version: int
    seen_at: datetime
    confirmed_at: datetime | None
    significance: Significance
    told: int
    suppressed: int
    drift: Drift
    packed: bytes = field(repr=False)
    by_hand: str = ""


@dataclass(frozen=True, slots=True)
class Quoted:
    """A quote's sighting in the newest version, when it was made, and when the quote last stood (None: never)."""

    sighting: Sighting
    seen_at: datetime
    stood_at: datetime | None


@dataclass(frozen=True, slots=True)
class RunRow:
    """One finished pass. *void_reason* says why its failures prove nothing, or is None."""

    id: int
    started_at: datetime
    ended_at: datetime
    trigger: str
    void_reason: str | None


@dataclass(frozen=True, slots=True)
class DueRow:
    """What waits to be asked: how many sources, since when the longest (UTC), and when the next one is due."""

    waiting: int
    oldest_at: datetime | None
    next_at: datetime | None


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """A worker as it last told of itself; *silent_s* is how long ago that was, by the database's clock.

    *fault* says what it waits for (since *fault_at*, UTC), or is "".
    """

    id: str
    started_at: datetime
    silent_s: float
    hosts: int
    checks: int
    leads: bool
    fault: str
    fault_at: datetime | None
