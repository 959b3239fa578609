"""What `verify` needs of the ledger: where versions should lie, what retention dropped, and earlier audits.

Rows that the database cannot make sense of are damage (StorageError), as a damaged file is: somebody else wrote them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime

from sqlalchemy import Connection, Engine, func, insert, select

from ..domain.audit import Audit, Gap, Noted, Place
from ..domain.errors import StorageError
from . import tables as t
from .database import may_idle, storage, unguarded

_FILE = t.audits.c.facts["file"].as_string()  # of rows that note a file, no verification
_GAP = t.audits.c.facts["unguarded"].as_string()  # of rows that note a lack of guards
MOST_PATHS = 1_000  # of flaws that an audit's row names; an archive with more is lost as a whole


@contextmanager
def _legible(doing: str) -> Iterator[None]:
    """`storage`, and a sentence where a row holds what none of ours ever held: no time, no JSON, no UTF-8."""
    try:
        with storage(doing):
            yield
    except (ValueError, TypeError, KeyError) as error:
        raise StorageError(f"the database failed while {doing}: a row cannot be made sense of: {error}") from error


def note_files(c: Connection, files: Mapping[str, str], now: datetime) -> None:
    nothing = {"at": now, "sample": True, "files": 0, "records": 0, "faults": 0}
    rows = [nothing | {"facts": {"file": path, "sha256": sha256}} for path, sha256 in files.items()]
    if rows:
        c.execute(insert(t.audits), rows)


class Audits:
    """Verifications and what they compare, on any database. Raises StorageError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def places(self) -> Iterator[Place]:
        """Every version's place, those that retention dropped too."""
        v = t.versions.c
        columns = (v.source, v.path, v.record_id, v.offset, v.body_sha256, v.text_sha256, t.dropped.c.version)
        query = select(*columns).outerjoin(t.dropped, t.dropped.c.version == v.id).order_by(v.id)
        with _legible("reading versions"), self._engine.connect() as c:
            may_idle(c)  # each file is read meanwhile
            for row in c.execution_options(yield_per=1_000).execute(query):
                yield Place(*row[:6], dropped=row.version is not None)

    def evidence(self) -> set[str]:
        """Where the evidence of refusals should lie, as far as rows of checks name it."""
        path = t.checks.c.facts["evidence_path"].as_string()
        with _legible("reading checks"), self._engine.connect() as c:
            return set(c.execute(select(path).where(path.is_not(None)).distinct()).scalars())

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

    def note_files(self, files: Mapping[str, str], now: datetime) -> None:
        """Keep the digests (sha256, hex) of manifests and of notes of removals, by path: the chain alone cannot tell
        whether its end was cut off or written anew. The first note of a path counts, whatever lies there by now."""
        with storage("noting what was written"), self._engine.begin() as c:
            note_files(c, files, now)

    def noted(self) -> list[Noted]:
        """What was noted, oldest first."""
        query = select(t.audits.c.at, t.audits.c.facts).where(_FILE.is_not(None)).order_by(t.audits.c.id)
        with _legible("reading what was noted"), self._engine.connect() as c:
            return [Noted(row.facts["file"], row.facts["sha256"], row.at) for row in c.execute(query)]

    def gaps(self) -> list[Gap]:
        """Tables of facts that are not guarded now, or were not at some time since everything was last verified."""
        last = select(func.max(t.audits.c.id)).where(t.audits.c.sample.is_(False), _GAP.is_(None)).scalar_subquery()
        since = t.audits.c.id > func.coalesce(last, 0)
        query = select(t.audits.c.at, t.audits.c.facts).where(_GAP.is_not(None), since).order_by(t.audits.c.id)
        with _legible("reading what was guarded"), self._engine.connect() as c:
            found = [Gap(row.facts["unguarded"], row.at) for row in c.execute(query)]
            return found + ([Gap(now, datetime.now(UTC))] if (now := unguarded(c)) else [])

    def whole(self) -> list[tuple[datetime, frozenset[str]]]:
        """When everything was verified, and which paths were wrong then; those with too many to name left out."""
        query = select(t.audits).where(t.audits.c.sample.is_(False), t.audits.c.faults <= MOST_PATHS)
        with _legible("reading verifications"), self._engine.connect() as c:
            return [(row.at, frozenset(row.facts["paths"])) for row in c.execute(query.order_by(t.audits.c.at))]

    def last(self) -> tuple[datetime, int] | None:
        """When the newest verification was, and how many flaws it found."""
        query = select(t.audits.c.at, t.audits.c.faults).where(_FILE.is_(None), _GAP.is_(None))
        query = query.order_by(t.audits.c.id.desc()).limit(1)
        with storage("reading verifications"), self._engine.connect() as c:
            row = c.execute(query).first()
        return (row.at, row.faults) if row is not None else None
