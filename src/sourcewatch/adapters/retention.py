"""What retention may look at, and the only way in which anything is ever removed: noted first, then unlinked.

Every removal leaves `snapshots/_removed/<stamp>.txt`, which names each file with its sha256 and which the next manifest
vouches for: what was removed on purpose can be told from what was lost, without a database.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import count
from typing import Any

from sqlalchemy import Engine, and_, delete, exists, func, insert, or_, select

from ..domain.errors import UnreadableError
from ..domain.retention import CheckRule, KeptVersion
from . import tables as t
from .audits import note_files
from .database import storage
from .manifest import day_of, sha256_of
from .months import Months
from .store import FOLDER, Found, Store

REMOVED = f"{FOLDER}/_removed"
_STANDS = ("verbatim", "typographic", "variant")


class Retention:
    """Versions and rows with what relies on them, and their removal. Raises StorageError."""

    def __init__(self, engine: Engine, store: Store) -> None:
        self._engine = engine
        self._store = store

    def versions(self) -> list[KeptVersion]:
        """Every version whose files are there, with the reason why it must stay, or ""."""
        v, k, s = t.versions.c, t.checks.c, t.sightings.c
        seen_later = exists().where(
            k.version == v.id, k.accessed.is_(True), or_(k.last_at > k.first_at, k.new_version.is_(False))
        )
        query = (
            select(v.id, v.source, v.captured_at, v.path, t.sources.c.tier, seen_later.label("revisited"))
            .join(t.sources, t.sources.c.id == v.source)
            .outerjoin(t.dropped, t.dropped.c.version == v.id)
            .where(t.dropped.c.version.is_(None))
            .order_by(v.source, v.id)
        )
        stood = select(func.min(s.version), func.max(s.version)).where(s.kind.in_(_STANDS)).group_by(s.source, s.quote)
        dated = select(func.max(k.version)).where(k.accessed.is_(True), k.by_hand.is_(False)).group_by(k.source)
        by_hand = select(k.version).where(k.by_hand.is_(True))
        with storage("reading versions"), self._engine.connect() as c:
            quoted = {i for pair in c.execute(stood) for i in pair}
            dates, hands = set(c.execute(dated).scalars()), set(c.execute(by_hand).scalars())
            hands |= set(c.execute(select(t.reviews.c.version).where(t.reviews.c.version.is_not(None))).scalars())
            rows = c.execute(query).all()
        ends: dict[str, tuple[int, int]] = {}
        for row in rows:
            first, _ = ends.get(row.source, (row.id, row.id))
            ends[row.source] = first, row.id
        return [
            KeptVersion(
                row.id, row.source, row.tier, row.captured_at, row.path, _relies(row, ends, dates, quoted, hands)
            )
            for row in rows
        ]

    def refused(self) -> list[tuple[str, datetime, str]]:
        """(tier, when, path) of each piece of evidence of a refusal; the tier is "" for a source that no row knows."""
        with storage("reading sources"), self._engine.connect() as c:
            tiers = {row.id: row.tier for row in c.execute(select(t.sources.c.id, t.sources.c.tier))}
        found = []
        for name in (f.name for f in self._store.list(f"{FOLDER}/_refused") if f.name.endswith(".warc.gz")):
            *_, source, _, file = name.split("/")
            if (day := day_of(file)) is not None:
                at = datetime(day.year, day.month, day.day, tzinfo=UTC)
                found.append((tiers.get(source, ""), at, name))
        return found

    def old_checks(self, rules: Sequence[CheckRule]) -> int:
        """How many rows of checks the rules would prune."""
        with storage("counting checks"), self._engine.connect() as c:
            return sum(
                int(c.execute(select(func.count()).select_from(t.checks).where(_old(r))).scalar() or 0) for r in rules
            )

    def prune_checks(self, rules: Sequence[CheckRule], now: datetime) -> int:
        """Delete them, and note that it was done; nothing else may ever be deleted from that table."""
        count = 0
        with storage("pruning checks"), self._engine.begin() as c:
            for rule in rules:
                c.execute(insert(t.prunings).values(at=now, until_at=rule.before, rule=rule.words))
                count += c.execute(delete(t.checks).where(_old(rule))).rowcount
        if rules:
            Months(self._engine).drop(min(rule.before for rule in rules))
        return count

    def make_room(self, now: datetime) -> None:
        """Months for the checks to come, each of which may be dropped one day."""
        Months(self._engine).ahead(now)

    def note_dropped(self, versions: Iterable[int], rule: str, now: datetime) -> None:
        rows = [{"version": version, "at": now, "rule": rule} for version in versions]
        if rows:
            with storage("noting what is dropped"), self._engine.begin() as c:
                c.execute(insert(t.dropped), rows)

    def dropped_paths(self) -> list[str]:
        """Snapshot files all of whose versions are noted as dropped: what a crash may have left on disk."""
        v = t.versions.c
        kept = select(v.path).outerjoin(t.dropped, t.dropped.c.version == v.id).where(t.dropped.c.version.is_(None))
        query = select(v.path).join(t.dropped, t.dropped.c.version == v.id).where(v.path.not_in(kept)).distinct()
        with storage("reading what was dropped"), self._engine.connect() as c:
            return list(c.execute(query).scalars())

    def remove(self, warcs: Iterable[str], now: datetime, words: str) -> tuple[int, int]:
        """Remove snapshot files and what lies beside them: (files, bytes). Noted first, whole or not at all."""
        files = [found for warc in warcs for found in self._beside(warc)]
        if not files:
            return 0, 0
        named = (f"{sha256_of(self._store, f.name)}  {f.name.removeprefix(f'{FOLDER}/')}" for f in files)
        note = ("\n".join([f"# {words}", *named]) + "\n").encode()
        stamp = f"{REMOVED}/{now:%Y%m%dT%H%M%SZ}"
        path = next(name for number in count() if self._store.put(name := f"{stamp}.{number}.txt", note))
        with storage("noting what is removed"), self._engine.begin() as c:
            note_files(c, {path: hashlib.sha256(note).hexdigest()}, now)  # a note that no row knows removed nothing
        self._store.delete(found.name for found in files)
        return len(files), sum(found.size_bytes for found in files)

    def size_bytes(self, warc: str) -> int:
        return sum(found.size_bytes for found in self._beside(warc))

    def _beside(self, warc: str) -> list[Found]:
        stem = warc.removesuffix(".warc.gz")
        names = [f"{stem}{suffix}" for suffix in (".warc.gz", ".md", ".json")]
        return [found for name in names if (found := self._store.find(name)) is not None]


def notes(store: Store) -> list[str]:
    """The notes of all removals."""
    return [found.name for found in store.list(REMOVED) if found.name.endswith(".txt")]


def removed(store: Store) -> dict[str, str]:
    """Every path that a note says was removed, and which note. Raises StorageError."""
    found: dict[str, str] = {}
    for name in notes(store):
        try:
            lines = store.get(name).decode("utf-8").splitlines()
        except ValueError as error:
            raise UnreadableError(f"{store.shown(name)} cannot be read: {error}") from error
        for line in lines[1:]:
            found[f"{FOLDER}/{line.partition('  ')[2]}"] = name
    return found


def _relies(row: Any, ends: Mapping[str, tuple[int, int]], dates: set[int], quoted: set[int], by_hand: set[int]) -> str:
    first, last = ends[row.source]
    if row.id == first:
        return "the first version"
    if row.id in dates or row.id == last:
        return "a published date relies on it"
    if row.id in quoted:
        return "a quote relies on it"
    if row.id in by_hand:
        return "a person relies on it"
    return "a revisit relies on it" if row.revisited else ""


def _old(rule: CheckRule) -> Any:
    """Rows of this tier that ended before, with nothing resting on them: no version's birth, last access, or hand.

    A row that saw a version stays with it: a revisit in the archive names that version, and only the row tells so.
    """
    k = t.checks.c
    newer = t.checks.alias("newer")
    superseded = exists().where(
        newer.c.source == k.source,
        newer.c.accessed.is_(True),
        newer.c.by_hand.is_(False),
        newer.c.last_at > k.last_at,
        newer.c.id != k.id,
    )
    saw = exists().where(
        t.versions.c.id == k.version,
        t.versions.c.id.not_in(select(t.dropped.c.version)),
    )
    of_tier = exists().where(t.sources.c.id == k.source, t.sources.c.tier == rule.tier)
    return and_(k.last_at < rule.before, k.new_version.is_(False), k.by_hand.is_(False), superseded, ~saw, of_tier)
