"""Snapshots that a worker wrote for a check whose row it never could write: it died in between, or was too late."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Engine, or_, select

from ..domain.kept import Claim
from . import tables as t
from .database import storage
from .retention import Retention
from .store import FOLDER, Store

WORDS = "snapshots of a check that another worker did again"


class Strays:
    """Removes them, noted as all removals are: else verification asks about files that no row will ever name.

    Raises StorageError.
    """

    def __init__(self, engine: Engine, store: Store, retention: Retention) -> None:
        self._engine, self._store, self._retention = engine, store, retention

    def clear(self, claim: Claim, now: datetime) -> None:
        """What was written for this very check by who had its claim before. To be called by who has it now."""
        since = f"{claim.due_at:%Y%m%dT%H%M%S}Z"  # older ones are of another check: not ours to judge
        names = [found.name for found in self._store.list(f"{FOLDER}/{claim.source}")]
        young = {n for n in names if n.endswith(".warc.gz") and n.rpartition("/")[2] >= since}
        if young and (strays := young - self._known(claim.source)):
            self.discard(strays, now)

    def discard(self, paths: Collection[str], now: datetime) -> None:
        """These, which we wrote ourselves and whose rows were refused."""
        self._retention.remove(sorted(paths), now, WORDS)

    def _known(self, source: str) -> set[str]:
        """Where versions of a page and of its figures lie: in one file, perhaps."""
        figures = select(t.sources.c.id).where(t.sources.c.parent == source)
        v = t.versions.c
        with storage("reading versions"), self._engine.connect() as c:
            return set(c.execute(select(v.path).where(or_(v.source == source, v.source.in_(figures)))).scalars())
