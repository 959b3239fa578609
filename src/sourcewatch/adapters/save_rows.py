"""The queue of versions that an outside archive is asked to save. No run waits for it, and none fills it: new versions
are found by looking for those without a row."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Engine, Row, Select, exists, func, insert, select, update

from ..domain.save import Save, SaveState
from . import tables as t
from .cleaning import clean, clean_json
from .database import storage

LOOK_BACK = timedelta(days=1)  # before the feature's first use: what a first run brings is new, a history is not
LATE_IDS = 1_000  # rows that are committed in another order than they are numbered

_OPEN = (SaveState.WAITING, SaveState.ASKED, SaveState.SAVED)


class SaveRows:
    """Raises StorageError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def fill(self, sources: Collection[str], now: datetime) -> int:
        """Take in versions of these sources that have no row; how many. Those that a person brought are left out."""
        v, s = t.versions.c, t.saves.c
        by_hand = exists().where(t.checks.c.version == v.id, t.checks.c.by_hand.is_(True))
        with storage("looking for versions to save"), self._engine.begin() as c:
            oldest, newest = c.execute(select(func.min(s.version), func.max(s.version))).one()
            if newest is None:
                before = select(func.max(v.id)).where(v.captured_at < now - LOOK_BACK)
                oldest = newest = c.execute(before).scalar()
                if newest is not None:
                    c.execute(insert(t.saves).values(_row(newest, "", SaveState.PASSED, now)))
            start = max(oldest, newest - LATE_IDS) if newest is not None else 0
            query = select(v.id, v.source, v.url, by_hand.label("by_hand")).outerjoin(t.saves, s.version == v.id)
            found = c.execute(query.where(v.id > start, s.version.is_(None)).order_by(v.id)).all()
            wanted = {r.id for r in found if r.source in sources and r.url and not r.by_hand}
            rows = [_row(r.id, r.url, SaveState.WAITING, now) for r in found if r.id in wanted]
            if found and found[-1].id not in wanted and found[-1].id > (newest or 0):
                rows.append(_row(found[-1].id, "", SaveState.PASSED, now))  # the next look begins here
            if rows:
                c.execute(insert(t.saves), rows)
            return len(wanted)

    def due(self, now: datetime, most: int) -> list[Save]:
        """What is to be done now: what was asked for first, then what waits, oldest first."""
        s = t.saves.c
        query = _SAVES.where(s.state.in_(_OPEN), s.next_try_at <= now)
        with storage("reading what is to be saved"), self._engine.connect() as c:
            rows = c.execute(query.order_by(s.state == SaveState.WAITING, s.next_try_at, s.version).limit(most))
            return [_save(row) for row in rows]

    def put(self, save: Save) -> None:
        values = {"state": save.state, "attempts": save.attempts, "next_try_at": save.next_try_at}
        with storage("noting what was saved"), self._engine.begin() as c:
            mine = update(t.saves).where(t.saves.c.version == save.version)
            c.execute(mine.values(**values, facts=clean_json(save.facts)))

    def rest(self, until: datetime) -> None:
        """Let nothing that waits be asked for before a time."""
        s = t.saves.c
        mine = update(t.saves).where(s.state == SaveState.WAITING, s.next_try_at < until)
        with storage("letting what is to be saved rest"), self._engine.begin() as c:
            c.execute(mine.values(next_try_at=until))

    def asked_since(self, since: datetime) -> list[datetime]:
        """When the archive was asked, since a time; each ask sets a next try after itself."""
        with storage("counting what was asked"), self._engine.connect() as c:
            facts = c.execute(select(t.saves.c.facts).where(t.saves.c.next_try_at >= since)).scalars().all()
        asks = (datetime.fromisoformat(at) for f in facts for at in f.get("asks", ()))
        return sorted(at for at in asks if at >= since)

    def open(self) -> list[Save]:
        """What is on its way."""
        with storage("reading what is to be saved"), self._engine.connect() as c:
            return [_save(row) for row in c.execute(_SAVES.where(t.saves.c.state.in_(_OPEN)))]

    def all(self, source: str | None = None) -> list[Save]:
        """Whatever was taken in, oldest first."""
        query = _SAVES.where(t.saves.c.state != SaveState.PASSED).order_by(t.saves.c.version)
        query = query.where(t.versions.c.source == source) if source is not None else query
        with storage("reading what was saved"), self._engine.connect() as c:
            return [_save(row) for row in c.execute(query)]


_newer = t.versions.alias("newer")
_SAVES: Select[Any] = select(
    t.saves,
    t.versions.c.source,
    t.versions.c.captured_at,
    exists().where(_newer.c.source == t.versions.c.source, _newer.c.id > t.versions.c.id).label("newer"),
).join(t.versions, t.versions.c.id == t.saves.c.version)


def _row(version: int, url: str, state: SaveState, now: datetime) -> dict[str, Any]:
    common = {"attempts": 0, "next_try_at": now, "facts": {}}
    return {"version": version, "url": clean(url), "state": state, **common}


def _save(row: Row[Any]) -> Save:
    return Save(
        version=row.version,
        source=row.source,
        url=row.url,
        captured_at=row.captured_at,
        state=SaveState(row.state),
        attempts=row.attempts,
        next_try_at=row.next_try_at,
        newer=bool(row.newer),
        facts=row.facts,
    )
