"""What `verify` needs of the ledger: where versions should lie, what retention dropped, and earlier audits.

Rows that the database cannot make sense of are damage (StorageError), as a damaged file is: somebody else wrote them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime

from sqlalchemy import Connection, Engine, and_, func, insert, select

from ..domain.audit import Audit, CheckRow, Gap, Noted, Place, TextRow
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
        said = (v.captured_at, v.url, v.final_url, v.status, t.documents.c.maker)
        query = select(*columns, *said).outerjoin(t.dropped, t.dropped.c.version == v.id).order_by(v.id)
        query = query.outerjoin(t.documents, t.documents.c.version == v.id)
        with _legible("reading versions"), self._engine.connect() as c:
            may_idle(c)  # each file is read meanwhile
            for row in c.execution_options(yield_per=1_000).execute(query):
                more = {name: getattr(row, name) for name in ("captured_at", "url", "final_url", "status")}
                yield Place(*row[:6], dropped=row.version is not None, maker=row.maker or "", **more)

    def checks(self, since: datetime, before: datetime) -> list[CheckRow]:
        """Rows of checks that began before the one time and ended at or after the other."""
        k = t.checks.c
        evidence = k.facts["evidence_path"].as_string()
        gone = and_(k.new_version.is_(True), t.dropped.c.version == k.version)
        query = select(k.source, k.first_at, k.last_at, k.word, k.accessed, k.by_hand, evidence, t.dropped.c.version)
        query = query.outerjoin(t.dropped, gone).where(k.first_at < before, k.last_at >= since)
        with _legible("reading checks"), self._engine.connect() as c:
            return [CheckRow(*row[:6], row[6] or "", row[7] is not None) for row in c.execute(query)]

    def texts(self) -> Iterator[TextRow]:
        """The text of every version."""
        v, d = t.versions.c, t.documents.c
        query = select(v.source, v.path, v.text_sha256, d.packed, d.maker)
        query = query.outerjoin(t.documents, d.version == v.id).order_by(v.id)
        with _legible("reading documents"), self._engine.connect() as c:
            may_idle(c)
            for row in c.execution_options(yield_per=200).execute(query):
                yield TextRow(row.source, row.path, row.text_sha256, row.packed and bytes(row.packed), row.maker or "")

    def seen(self) -> dict[str, dict[str, tuple[str, datetime, str]]]:
        """How the quotes were seen in each version, by its record: (kind, when, by which rules) by the quote's key."""
        s, v = t.sightings.c, t.versions.c
        query = select(v.record_id, s.quote, s.kind, s.seen_at, s.maker).join(t.versions, v.id == s.version)
        found: dict[str, dict[str, tuple[str, datetime, str]]] = {}
        with _legible("reading sightings"), self._engine.connect() as c:
            for row in c.execution_options(yield_per=1_000).execute(query):
                found.setdefault(row.record_id, {})[row.quote] = row.kind, row.seen_at, row.maker
        return found

    def runs(self) -> list[tuple[datetime, datetime | None]]:
        """When each run began and ended."""
        with _legible("reading runs"), self._engine.connect() as c:
            return [(r.started_at, r.ended_at) for r in c.execute(select(t.runs).order_by(t.runs.c.started_at))]

    def pruned_until(self) -> datetime | None:
        """Rows of checks that ended before then may have been deleted by rule."""
        with _legible("reading prunings"), self._engine.connect() as c:
            return c.execute(select(func.max(t.prunings.c.until_at))).scalar()

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
