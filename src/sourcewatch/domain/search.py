"""A paragraph that was found, and the versions that held it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hit:
    """*first* and *last* are the first and the newest version of *source* that hold the paragraph."""

    source: str
    text: str
    first: int
    last: int
