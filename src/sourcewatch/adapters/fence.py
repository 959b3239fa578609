"""What was given out is written only by whom it was given to: compared in the very transaction that writes.

A worker that was frozen or cut off may come back with results of work that others have long done. Its host's turn must
still be its own, and the source still due when it was due; both rows stay locked until the transaction ends.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import Connection, select

from ..domain.errors import TakenError
from ..domain.kept import Claim
from . import tables as t

_turn, _s = t.turns.c, t.schedule.c


def make_sure(c: Connection, claims: Collection[Claim]) -> None:
    """Raises TakenError that names the sources whose claims don't hold any more.

    Everybody locks turns before the schedule and both in order, so that no two wait for each other.
    """
    if not claims:
        return
    hosts, sources = {x.host for x in claims}, {x.source for x in claims}
    owners = select(_turn.host, _turn.owner).where(_turn.host.in_(hosts)).order_by(_turn.host)
    due = select(_s.source, _s.next_check_at).where(_s.source.in_(sources)).order_by(_s.source)
    owner_of = {row.host: row.owner for row in c.execute(owners.with_for_update(read=True))}
    due_at = {row.source: row.next_check_at for row in c.execute(due.with_for_update())}
    taken = {x.source for x in claims if owner_of.get(x.host) != x.owner or due_at.get(x.source) != x.due_at}
    if taken:
        raise TakenError(frozenset(taken))
