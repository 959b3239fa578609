"""A page that a person read and brought: in a file, or from another address."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from .capture import Exchange


class NotUsable(Exception):  # noqa: N818 - a person's file is at fault, not the program
    """What was brought cannot be kept; the message is one sentence that says why. Nothing was kept."""


@dataclass(frozen=True, slots=True)
class Brought:
    """*exchanges* lead from the source's address to the page; one with status 0 is a file that no server sent.

    *kind* names the format for people. *said_url* and *dated_at* (UTC) are what the file itself tells, "" and None
    where it tells nothing; *sha256* is the digest of the whole file, *original* its bytes where the page is only a part
    of it.
    """

    kind: str
    exchanges: tuple[Exchange, ...]
    sha256: str
    name: str = ""
    said_url: str = ""
    dated_at: datetime | None = None
    original: Exchange | None = field(default=None, repr=False)
