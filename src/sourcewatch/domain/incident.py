"""A run of failing checks of one source: opened once, told once, closed once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from .check import Span
from .message import Message
from .source import SourceKind


@dataclass(frozen=True, slots=True)
class Incident:
    """*word* is the verdict of the newest failure, *failures* counts them all, *updated_at* is how far they were read.

    *recovered_at* is the first access after the newest failure: it closes the incident once it has lasted. Times are
    UTC. *id* is the row's, None before it has one.
    """

    source: str
    opened_at: datetime
    word: str
    updated_at: datetime
    failures: int
    dead: bool = False
    recovered_at: datetime | None = None
    closed_at: datetime | None = None
    id: int | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """What is known of a source when its incidents are settled.

    *spans* hold all checks from the last access on, and all that came after *incident* was last updated.
    *retired*: the source left sources.toml.
    """

    source: str
    kind: SourceKind
    incident: Incident | None
    spans: tuple[Span, ...]
    retired: bool = False


@dataclass(frozen=True, slots=True)
class Settlement:
    """The incidents as they stand now (at most one of them open), and what is told of them."""

    incidents: tuple[Incident, ...] = ()
    messages: tuple[Message, ...] = ()


Settle = Callable[[Case, datetime], Settlement]
"""A case and now (UTC): what becomes of it. Settling the same case twice settles nothing new."""
