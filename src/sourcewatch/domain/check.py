"""What one check found, and what is kept of it. A check always leaves a trace, whatever came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .capture import Capture, Failure
from .change import Change, Sighting
from .document import Document
from .verdict import Verdict


@dataclass(frozen=True, slots=True)
class Judgement:
    """All that the judge concluded from one capture, before anything is written.

    *changed*: the source's content is new against the last accepted version. *follow*: a meta refresh or Refresh header
    to be followed before anything is believed. *history* is the noise state after this version, as JSON, or "".
    *packed* is the document of a new version, packed where it was read. *reread* is the last accepted version as
    today's extractor reads it, when another one had read it. *events* are facts that are no change of the text, such
    as another encoding.
    """

    verdict: Verdict
    payload_sha256: str = ""
    document: Document | None = None
    changed: bool = False
    change: Change | None = None
    sightings: tuple[Sighting, ...] = ()
    history: str = ""
    follow: str = ""
    maker: str = ""
    reread: Document | None = None
    packed: bytes = b""
    events: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.changed and not self.verdict.accessed:
            raise ValueError("only an access can bring a new version")


@dataclass(frozen=True, slots=True)
class Finding:
    """One finished check of one source: what came (*fetched*), what it means (*judgement*), when.

    *unchanged_of* is the version that the source still shows; *attempts* counts the requests' rounds (2 after a retry).
    """

    source: str
    checked_at: datetime
    fetched: Capture | Failure
    judgement: Judgement
    seconds: float
    unchanged_of: int | None = None
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class Span:
    """A row of the ledger: one check, or a run of *n* accessed checks that all saw the same version.

    *void*: the run was our own network's fault. *by_hand*: a person read the source, not the machine. Times are UTC.
    """

    id: int
    source: str
    first_at: datetime
    last_at: datetime
    n: int
    verdict: Verdict
    status: int
    url: str
    final_url: str
    version: int | None = None
    new_version: bool = False
    ms: int = 0
    run: int = 0
    void: bool = False
    by_hand: bool = False
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.verdict.accessed and self.version is None:
            raise ValueError("an access names the version that it saw")
        if self.last_at < self.first_at:
            raise ValueError("a span does not end before it starts")


@dataclass(frozen=True, slots=True)
class Memory:
    """What the ledger remembers of a source's newest version, as far as the next check needs it.

    *packed* is its document (`document.pack`) as *maker* read it out of the response at *path* and *offset*, whose WARC
    record is *record_id*; *history* the noise state, *sightings* those of this version.
    *unconfirmed*: its change waits for a fetch that still shows it.
    *last_verdict* is that of the last access.
    """

    version: int
    captured_at: datetime
    final_url: str
    status: int
    media_type: str
    body_sha256: str
    payload_sha256: str
    etag: str
    last_modified: str
    packed: bytes
    maker: str
    path: str
    offset: int
    sightings: tuple[Sighting, ...] = ()
    history: str = ""
    unconfirmed: bool = False
    last_verdict: Verdict | None = None
    record_id: str = ""
