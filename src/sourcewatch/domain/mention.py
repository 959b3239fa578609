"""Addresses that a site cites, where it does, and rows for sources.toml that are made of them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mention:
    """An address that the site cites. *place* is the file or page, *line* counts from 1 (0 where there are no lines).

    *title* are its words there, or "". *embedded*: shown in the page (a picture, a frame), not followed from it.
    """

    url: str
    place: str
    line: int = 0
    title: str = ""
    embedded: bool = False


@dataclass(frozen=True, slots=True)
class NotRead:
    """Something of the site, or of a file to import, that was not taken in, and why, in a clause."""

    place: str
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.place}:{self.line}: {self.reason}" if self.line else f"{self.place}: {self.reason}"


@dataclass(frozen=True, slots=True)
class NewSource:
    """A row to be written into sources.toml. Empty values are left out; *line* is where it came from."""

    url: str
    title: str = ""
    id: str = ""
    tier: str = ""
    read: str = ""
    every: str = ""
    select: str = ""
    ignore: tuple[str, ...] = ()
    render: str = ""
    quotes: tuple[str, ...] = ()
    cited_on: tuple[str, ...] = ()
    notes: str = ""
    line: int = 0
