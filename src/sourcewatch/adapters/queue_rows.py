"""What is due, and who is at it: the schedule's rows, claimed under a lease so that a crash gives the work back."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, Row, bindparam, delete, func, or_, select, update

from ..domain.kept import DueRow
from ..domain.source import Source
from . import tables as t
from .cron import next_time
from .database import MIRRORING, may_idle, one_at_a_time, storage, unless_there

LEASE = timedelta(hours=1)  # twenty sources of a host at a minute each, twice over
PAGE = 500
AT_A_TIME = 5_000  # values in one statement; SQLite takes 32,766

_s = t.schedule.c


class Queue:
    """The schedule in the database. Synchronous; called from the one thread that writes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def sync(self, declared: Iterable[Source], timezone: str, now: datetime) -> None:
        """Mirror hosts, rhythms and pauses of sources.toml; what is fetched has a row, what is gone has none.

        A source whose rhythm has changed is due within the new one at the latest.
        """
        fetched = {s.id: s for s in declared if s.address and s.by_itself}
        with storage("reading sources.toml into it"), self._engine.begin() as c:
            one_at_a_time(c, MIRRORING)
            may_idle(c)  # a million sources are compared for longer than a second
            known = {row.source: row for row in c.execute(select(t.schedule))}
            if new := [i for i in fetched if i not in known]:
                c.execute(unless_there(c, t.schedule), [_row(fetched[i], timezone, now, None) for i in new])
            wanted = {i: _row(fetched[i], timezone, now, row) for i, row in known.items() if i in fetched}
            changed = [w for i, w in wanted.items() if any(getattr(known[i], k) != v for k, v in w.items())]
            if changed:
                keys = ("host", "rhythm", "paused_until", "next_check_at")
                statement = update(t.schedule).where(_s.source == bindparam("of"))
                statement = statement.values({k: bindparam(f"new_{k}") for k in keys})
                c.execute(statement, [{"of": w["source"], **{f"new_{k}": w[k] for k in keys}} for w in changed])
            if gone := [i for i in known if i not in fetched]:
                c.execute(delete(t.schedule).where(_s.source == bindparam("of")), [{"of": i} for i in gone])

    def claim(
        self,
        now: datetime,
        *,
        hosts: int,
        per_host: int,
        busy: Collection[str] = (),
        among: Sequence[str] | None = None,
        due_by: datetime | None = None,
        paused_too: bool = False,
    ) -> dict[str, list[str]]:
        """Lease what is due, the longest overdue first: host by host at most *hosts*, each with at most *per_host*.

        Hosts that are *busy* are left out. *among* names the only sources that come into question. *due_by* is *now*
        unless work is to be claimed early.
        """
        taken: dict[str, list[str]] = {}
        full, found = set(busy), PAGE
        query = self._due(now, due_by or now, among, paused_too)
        with storage("claiming what is due"), self._engine.begin() as c:
            while found == PAGE and len(taken) < hosts:
                rows = c.execute(query.where(_s.host.not_in(full)) if full else query).all()
                found = len(rows)
                new = _share(rows, taken, hosts, per_host)
                if not new:
                    break
                _lease(c, new, now + LEASE)
                full |= {host for host, sources in taken.items() if len(sources) >= per_host}
        return taken

    def _due(self, now: datetime, due_by: datetime, among: Sequence[str] | None, paused_too: bool) -> Any:
        query = select(_s.source, _s.host).where(_s.next_check_at <= due_by, _free(now))
        if not paused_too:
            query = query.where(awake(now))
        if among is not None:
            query = query.where(_s.source.in_(among))
        return query.order_by(_s.next_check_at, _s.source).limit(PAGE).with_for_update(skip_locked=True)

    def release(self, sources: Sequence[str] | None = None) -> None:
        """Give work back undone; all of it when nothing is named. Whoever does that holds the run lock."""
        with storage("giving work back"), self._engine.begin() as c:
            if sources is None:
                c.execute(update(t.schedule).where(_s.leased_until.is_not(None)).values(leased_until=None))
            else:
                _lease(c, sources, None)

    def advance(self, now: datetime, sources: Sequence[str] | None = None) -> None:
        """Let these sources be due now, or all of them, if they are due later."""
        later = update(t.schedule).where(_s.next_check_at > now).values(next_check_at=now)
        with storage("asking for checks"), self._engine.begin() as c:
            if sources is None:
                c.execute(later)
            else:
                for i in range(0, len(sources), AT_A_TIME):
                    c.execute(later.where(_s.source.in_(sources[i : i + AT_A_TIME])))

    def due(self, now: datetime) -> DueRow:
        """How much waits, how long, and when something is due next. Pauses do not count."""
        first = func.min(_s.next_check_at)
        with storage("asking what is due"), self._engine.connect() as c:
            overdue = c.execute(select(func.count(), first).where(_s.next_check_at <= now, awake(now))).one()
            ahead = c.execute(select(first).where(_s.next_check_at > now, awake(now))).scalar()
        return DueRow(overdue[0], overdue[1], ahead)

    def times(self) -> Mapping[str, datetime]:
        """When each source is due."""
        with storage("asking what is due"), self._engine.connect() as c:
            return {r.source: r.next_check_at for r in c.execute(select(_s.source, _s.next_check_at))}


def _free(now: datetime) -> Any:
    """Not leased. A lease that ends later than any could was given while the clock was ahead."""
    return or_(_s.leased_until.is_(None), _s.leased_until <= now, _s.leased_until > now + LEASE)


def awake(now: datetime) -> Any:
    """Not paused by then."""
    return or_(_s.paused_until.is_(None), _s.paused_until <= now)


def _share(rows: Iterable[Row[Any]], taken: dict[str, list[str]], hosts: int, per_host: int) -> list[str]:
    """Put into *taken* what there is room for; what was put."""
    new = []
    for row in rows:
        if row.host not in taken and len(taken) >= hosts:
            continue
        if len(of_host := taken.setdefault(row.host, [])) < per_host:
            of_host.append(row.source)
            new.append(row.source)
    return new


def _lease(c: Connection, sources: Sequence[str], until: datetime | None) -> None:
    for i in range(0, len(sources), AT_A_TIME):
        chunk = sources[i : i + AT_A_TIME]
        c.execute(update(t.schedule).where(_s.source.in_(chunk)).values(leased_until=until))


def _row(source: Source, timezone: str, now: datetime, known: Row[Any] | None) -> dict[str, Any]:
    """The row as sources.toml wants it."""
    rhythm = source.cron or f"{source.every_s:g} {source.slowest_s or 0:g}"
    at = known.next_check_at if known else now
    if known and known.rhythm not in ("", rhythm):
        at = min(at, next_time(source.cron, timezone, now) if source.cron else now + timedelta(seconds=source.every_s))
    return {
        "source": source.id,
        "host": host_of(source.address or ""),
        "rhythm": rhythm,
        "paused_until": source.pause.until_at if source.pause else None,
        "next_check_at": at,
    }


def host_of(address: str) -> str:
    """The host of an address that the configuration has accepted, without its port: what has one pace."""
    authority = address.partition("://")[2].partition("/")[0].partition("?")[0].partition("#")[0].lower()
    if authority.startswith("["):
        return authority.partition("]")[0][:299] + "]"
    return authority.partition(":")[0][:300]
