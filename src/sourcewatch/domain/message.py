"""What editors are told: a message is a fact, written in the transaction of what it tells; deliveries carry it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from .change import Edit
from .source import Source


class MessageKind(StrEnum):
    """What a message is about, loudest first."""

    QUOTE = "quote"
    DEAD = "dead"
    FIGURE = "figure"
    FAILING = "failing"
    CHANGE = "change"
    MOVED = "moved"
    RECOVERED = "recovered"


@dataclass(frozen=True, slots=True)
class Message:
    """*key* is unique for ever: whoever writes the same message again writes nothing. *facts* are JSON values."""

    kind: MessageKind
    source: str
    key: str
    at: datetime
    facts: Mapping[str, Any] = field(default_factory=dict)
    id: int = 0


@dataclass(frozen=True, slots=True)
class News:
    """A message with what is needed to tell it: its source, the page that shows it (a figure), a change's edits."""

    message: Message
    source: Source
    parent: Source | None = None
    edits: tuple[Edit, ...] = ()


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message on its way to one address of one editor: the address is named by its environment variable.

    *digest*: it waits for the digest. *why_not* says why it is not sent: not wanted, muted, or what failed last.
    """

    message: int
    editor: str
    variable: str
    digest: bool
    next_try_at: datetime
    attempts: int = 0
    sent_at: datetime | None = None
    given_up: bool = False
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Backlog:
    """How the outbox stands: what waits for its time, what failed and is tried again, what was given up lately.

    *oldest_at* is when the oldest failing one was written, *error* what the newest failure said. Nothing in it is
    secret.
    """

    waiting: int = 0
    failing: int = 0
    given_up: int = 0
    oldest_at: datetime | None = None
    error: str = ""
