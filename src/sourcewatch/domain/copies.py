"""Copies in archives that others keep: where to ask, and what was found there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from .verdict import WORDS


@dataclass(frozen=True, slots=True)
class OutsideArchive:
    """An archive that speaks Memento (RFC 7089). Its templates hold `{url}`, where the original's address stands."""

    name: str
    timegate: str = ""
    timemap: str = ""


KNOWN = {
    a.name: a
    for a in (
        OutsideArchive(
            "internet-archive", "https://web.archive.org/web/{url}", "https://web.archive.org/web/timemap/link/{url}"
        ),
        OutsideArchive("archive-today", "https://archive.ph/timegate/{url}", "https://archive.ph/timemap/{url}"),
    )
}


@dataclass(frozen=True, slots=True)
class OutsideCopy:
    """A memento of *original* at *url*, as it was found when it was asked for. Times are UTC.

    *word* is the verdict of what stands there, *held* of *sought* quotes stand in it; *kept* is the share of the cited
    version's text that it holds (0–1), None where no version was ever accepted. *cited_at* is when that was captured.
    """

    source: str
    archive: str
    original: str
    url: str
    memento_at: datetime
    asked_at: datetime
    word: str
    held: int
    sought: int
    kept: float | None = None
    evidence: str = ""
    cited_at: datetime | None = None

    @property
    def offered(self) -> bool:
        """Whether it can stand for the cited version: it was read, and every quote stands in it. Where none is sought,
        half of the text must: of another page 4–5 % stand, of a reworded one 45–61 %."""
        if not WORDS[self.word].accessed:
            return False
        return self.held == self.sought if self.sought else self.kept is None or self.kept >= 0.5


def best_of(copies: Iterable[OutsideCopy]) -> dict[str, OutsideCopy]:
    """For each source the copy that can stand for the cited version, where one is known."""
    of: dict[str, list[OutsideCopy]] = {}
    for copy in copies:
        of.setdefault(copy.source, []).append(copy)
    return {source: found for source, known in of.items() if (found := best(known)) is not None}


def best(copies: Iterable[OutsideCopy]) -> OutsideCopy | None:
    """Of the newest answer of each archive the copy that can be offered and is closest to the cited version."""
    newest: dict[str, OutsideCopy] = {}
    for copy in copies:
        if copy.archive not in newest or copy.asked_at >= newest[copy.archive].asked_at:
            newest[copy.archive] = copy
    fit = [c for c in newest.values() if c.offered]
    return min(fit, key=lambda c: abs(c.memento_at - (c.cited_at or c.memento_at)), default=None)
