"""What `verify` needs of the ledger: where versions should lie, what retention dropped, and earlier audits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime

from sqlalchemy import Engine, func, insert, select

from ..domain.audit import Audit, Closed, Place
from . import tables as t
from .database import may_idle, storage

_MANIFEST = t.audits.c.facts["manifest"].as_string()  # of rows that note a day's end, no verification
MOST_PATHS = 1_000  # of flaws that an audit's row names; an archive with more is lost as a whole


class Audits:
    """Verifications and what they compare, on any database. Raises StorageError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def places(self) -> Iterator[Place]:
        """Every version's place, those that retention dropped too."""
        v = t.versions.c
        columns = (v.source, v.path, v.record_id, v.offset, v.body_sha256, v.text_sha256, t.dropped.c.version)
        query = select(*columns).outerjoin(t.dropped, t.dropped.c.version == v.id).order_by(v.id)
        with storage("reading versions"), self._engine.connect() as c:
            may_idle(c)  # each file is read meanwhile
            for row in c.execution_options(yield_per=1_000).execute(query):
                yield Place(*row[:6], dropped=row.version is not None)

    def records(self) -> dict[str, int]:
        """The version of every record id that a row knows."""
        with storage("reading versions"), self._engine.connect() as c:
            return {row.record_id: row.id for row in c.execute(select(t.versions.c.record_id, t.versions.c.id))}

    def until(self) -> dict[str, datetime]:
        """When the newest known check of each source was."""
        query = select(t.checks.c.source, func.max(t.checks.c.last_at).label("at")).group_by(t.checks.c.source)
        with storage("reading checks"), self._engine.connect() as c:
            return {row.source: row.at for row in c.execute(query)}

    def half_made(self) -> bool:
        """Whether the newest rebuild never came to its end: what it would still bring in is no news."""
        query = select(t.runs.c.ended_at).where(t.runs.c.trigger == "rebuild").order_by(t.runs.c.id.desc()).limit(1)
        with storage("reading runs"), self._engine.connect() as c:
            row = c.execute(query).first()
        return row is not None and row.ended_at is None

    def note(self, audit: Audit) -> None:
        """Keep that it was done, and the paths that were wrong."""
        facts = {"paths": [flaw.path for flaw in audit.flaws[:MOST_PATHS]]}
        values = {"at": audit.at, "sample": audit.sample, "files": audit.files, "records": audit.records}
        with storage("noting a verification"), self._engine.begin() as c:
            c.execute(insert(t.audits).values(**values, faults=len(audit.flaws), facts=facts))

    def note_closed(self, manifests: Mapping[str, str], now: datetime) -> None:
        """Keep the digest (sha256, hex) of each manifest, by its path: the chain alone cannot tell whether its end was
        cut off or written anew. The first note of a path counts, whatever lies there by now."""
        nothing = {"at": now, "sample": True, "files": 0, "records": 0, "faults": 0}
        rows = [nothing | {"facts": {"manifest": path, "sha256": sha256}} for path, sha256 in manifests.items()]
        if rows:
            with storage("noting a day's manifest"), self._engine.begin() as c:
                c.execute(insert(t.audits), rows)

    def closed(self) -> list[Closed]:
        """The manifests that were noted, oldest note first."""
        query = select(t.audits.c.at, t.audits.c.facts).where(_MANIFEST.is_not(None)).order_by(t.audits.c.id)
        with storage("reading the days' manifests"), self._engine.connect() as c:
            return [Closed(row.facts["manifest"], row.facts["sha256"], row.at) for row in c.execute(query)]

    def whole(self) -> list[tuple[datetime, frozenset[str]]]:
        """When everything was verified, and which paths were wrong then; those with too many to name left out."""
        query = select(t.audits).where(t.audits.c.sample.is_(False), t.audits.c.faults <= MOST_PATHS)
        with storage("reading verifications"), self._engine.connect() as c:
            return [(row.at, frozenset(row.facts["paths"])) for row in c.execute(query.order_by(t.audits.c.at))]

    def last(self) -> tuple[datetime, int] | None:
        """When the newest verification was, and how many flaws it found."""
        query = select(t.audits.c.at, t.audits.c.faults).where(_MANIFEST.is_(None))
        query = query.order_by(t.audits.c.id.desc()).limit(1)
        with storage("reading verifications"), self._engine.connect() as c:
            row = c.execute(query).first()
        return (row.at, row.faults) if row is not None else None
