"""Whose turn each host is among many workers, and how the workers are: rows on PostgreSQL, by the database's clock.

A turn is taken, renewed by heartbeats, and left with the time until which its host wants peace. It is free again when
its holder was silent for longer than a heartbeat may be late *and* a request may last: until then the last request
of a worker that froze, or lost its network, may still be on its way.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Engine, Interval, and_, case, delete, exists, extract, func, literal, or_, select, update
from sqlalchemy.dialects.postgresql import insert

from ..domain.kept import Claim, WorkerRow
from . import tables as t
from .database import storage
from .queue_rows import awake

FORGOTTEN = literal(timedelta(days=1), Interval)  # a worker that was silent for so long is no news any more
MOST_FAULT_CHARS = 500
LOCKED_S = 1.0  # when to look again at a turn that somebody is writing to

_turn, _s, _w = t.turns.c, t.schedule.c, t.workers.c
_now = func.clock_timestamp(type_=t.Moment)  # now() is when the transaction began


class TurnRows:
    """The turns of *owner*, a worker's name of its own. *silent_s*: for how long a holder that is silent still holds.

    Raises StorageError.
    """

    def __init__(self, engine: Engine, owner: str, silent_s: float) -> None:
        self._engine = engine
        self.owner = owner
        self._silent = literal(timedelta(seconds=silent_s), Interval)

    def take(self, host: str) -> float | None:
        """None: the turn is ours, from now on or still. Else in how many seconds it may be free.

        Waits for nobody: who holds the row's lock may be frozen.
        """
        gone = _turn.beat_at < _now - self._silent
        free = or_(_turn.owner == self.owner, and_(_turn.owner.is_(None), _rested()), gone)
        free_at = case((_turn.owner.is_(None), _turn.rests_until), else_=_turn.beat_at + self._silent)
        seen = select(free.label("free"), extract("epoch", free_at - _now).label("left_s"))
        seen = seen.where(_turn.host == host).with_for_update(skip_locked=True)
        mine = {"owner": self.owner, "beat_at": _now, "rests_until": None}
        with storage("taking a host's turn"), self._engine.begin() as c:
            if (row := c.execute(seen).first()) is None:
                new = insert(t.turns).values(host=host, **mine).on_conflict_do_nothing(index_elements=["host"])
                return None if c.execute(new.returning(_turn.host)).first() is not None else LOCKED_S
            if row.free:
                c.execute(update(t.turns).where(_turn.host == host).values(**mine))
                return None
            return max(0.0, float(row.left_s))

    def renew(self, hosts: Collection[str]) -> set[str]:
        """Say that these turns are still in use; which of them are still ours."""
        mine = select(_turn.host).where(_turn.host.in_(hosts), _turn.owner == self.owner)
        mine = mine.order_by(_turn.host).with_for_update()  # in the order in which results lock them, too
        beat = update(t.turns).where(_turn.host.in_(mine.scalar_subquery())).values(beat_at=_now)
        with storage("renewing turns"), self._engine.begin() as c:
            return set(c.execute(beat.returning(_turn.host)).scalars()) if hosts else set()

    def leave(self, host: str, rests_s: float) -> None:
        """Let go of a turn; nobody takes it within the seconds for which the host wants peace."""
        rests = _now + literal(timedelta(seconds=rests_s), Interval) if rests_s > 0 else None
        mine = update(t.turns).where(_turn.host == host, _turn.owner == self.owner)
        with storage("leaving a host's turn"), self._engine.begin() as c:
            c.execute(mine.values(owner=None, rests_until=rests))

    def due(self, host: str, by: datetime, most: int) -> list[Claim]:
        """What is due at a host that is ours, the longest overdue first."""
        query = select(_s.source, _s.next_check_at).where(_s.host == host, _s.next_check_at <= by, awake(by))
        query = query.order_by(_s.next_check_at, _s.source).limit(most)
        with storage("asking what is due"), self._engine.connect() as c:
            return [Claim(row.source, host, self.owner, row.next_check_at) for row in c.execute(query)]

    def hosts(self, by: datetime, most: int) -> list[str]:
        """Hosts with sources that are due and that nobody holds, the longest overdue first."""
        held = or_(and_(_turn.owner.is_not(None), _turn.beat_at >= _now - self._silent), ~_rested())
        query = select(_s.host).where(_s.next_check_at <= by, awake(by))
        query = query.where(~exists().where(_turn.host == _s.host, held))
        query = query.group_by(_s.host).order_by(func.min(_s.next_check_at)).limit(most)
        with storage("asking what is due"), self._engine.connect() as c:
            return list(c.execute(query).scalars())

    def tell(
        self, started_at: datetime, hosts: int, checks: int, leads: bool, fault: tuple[str, datetime] | None
    ) -> None:
        """How this worker is, for everybody to see."""
        words, since = fault or ("", None)
        row = insert(t.workers).values(
            id=self.owner, started_at=started_at, beat_at=_now, hosts=hosts, checks=checks, leads=leads,
            fault=words[:MOST_FAULT_CHARS], fault_at=since,
        )  # fmt: skip
        told = {name: row.excluded[name] for name in ("hosts", "checks", "leads", "fault", "fault_at")}
        with storage("telling how a worker is"), self._engine.begin() as c:
            c.execute(row.on_conflict_do_update(index_elements=["id"], set_=told | {"beat_at": _now}))

    def bye(self) -> None:
        """This worker is no more, of its own will."""
        with storage("telling how a worker is"), self._engine.begin() as c:
            c.execute(delete(t.workers).where(_w.id == self.owner))

    def sweep(self) -> None:
        """Forget turns that mean nothing any more, and workers that nobody expects back."""
        left = and_(_turn.owner.is_(None), _rested())
        lost = and_(_turn.owner.is_not(None), _turn.beat_at < _now - self._silent - FORGOTTEN)
        with storage("clearing up turns"), self._engine.begin() as c:
            c.execute(delete(t.turns).where(or_(left, lost)))
            c.execute(delete(t.workers).where(_w.beat_at < _now - FORGOTTEN))


def workers(engine: Engine) -> list[WorkerRow]:
    """Every worker of a PostgreSQL database that was heard of within a day. Raises StorageError."""
    query = select(t.workers, extract("epoch", _now - _w.beat_at).label("silent_s")).order_by(_w.started_at, _w.id)
    with storage("asking for workers"), engine.connect() as c:
        return [
            WorkerRow(r.id, r.started_at, float(r.silent_s), r.hosts, r.checks, r.leads, r.fault, r.fault_at)
            for r in c.execute(query)
        ]


def _rested() -> Any:
    return or_(_turn.rests_until.is_(None), _turn.rests_until <= _now)
