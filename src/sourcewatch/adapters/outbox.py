"""The outbox: messages are facts, written with what they tell; deliveries carry them to editors, each exactly once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, Row, and_, func, or_, select, tuple_, update
from sqlalchemy.dialects import postgresql, sqlite

from ..domain.change import Edit, Significance, unpack_edits
from ..domain.message import Backlog, Delivery, Message, MessageKind, News
from ..domain.source import Source, SourceKind
from ..domain.standing import CLOCKS_APART
from . import tables as t
from .cleaning import clean, clean_json
from .database import storage

TOLD = (Significance.QUOTE, Significance.FIGURES, Significance.TEXT)  # links and layout stay in the report
LATELY = timedelta(days=30)  # older than that, nobody waits for a message any more
FARTHEST = timedelta(days=8)  # a message waits for a weekly digest, or for the next try: no longer than that
MOST_ERROR_CHARS = 300

Recipient = tuple[str, str]
"""An editor's name, and the name of the environment's variable that holds the address."""


def post(c: Connection, messages: Iterable[Message], version: int | None = None) -> None:
    """Write messages in the transaction of what they tell. One that was written before is not written again.

    The keys of quotes end with the *version* that broke them.
    """
    dialect = sqlite if c.dialect.name == "sqlite" else postgresql
    for m in messages:
        key = f"{m.key}:{version}" if m.key.startswith(("quote:", "stands:")) else m.key
        row = {"key": key[:200], "at": m.at, "kind": m.kind, "source": m.source, "facts": clean_json(m.facts)}
        c.execute(dialect.insert(t.messages).values(**row).on_conflict_do_nothing(index_elements=["key"]))


def post_confirmed(c: Connection, change: int, at: datetime) -> None:
    """A change that was just confirmed is told, when it is about what the page says; not what a mirror makes of it."""
    k, s = t.changes.c, t.sources.c
    query = select(k.source, k.to_version, k.significance, k.told, k.seen_at, s.mirror_of)
    row = c.execute(query.join(t.sources, s.id == k.source).where(k.id == change)).one()
    if row.told and row.significance in TOLD and row.mirror_of is None:
        facts = {"version": row.to_version, "significance": row.significance, "seen_at": row.seen_at.isoformat()}
        key = f"change:{row.source}:{row.to_version}"
        post(c, [Message(MessageKind.CHANGE, row.source, key, at, facts)])


class Outbox:
    """What editors are told, on any database. Raises StorageError."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def enrol(self, recipients: Sequence[Recipient], now: datetime) -> None:
        """Who is new is told what comes from now on, not the past.

        Who was enrolled while the clock was ahead is told what came since the last pass before that.
        """
        with storage("enrolling editors"), self._engine.begin() as c:
            dialect = sqlite if c.dialect.name == "sqlite" else postgresql
            known = {(r.name, r.variable) for r in c.execute(select(t.editors))}
            for name, variable in recipients:
                if (name, variable) not in known:  # nor by another process meanwhile
                    row = dialect.insert(t.editors).values(name=name, variable=variable, since_at=now, digest_at=None)
                    c.execute(row.on_conflict_do_nothing(index_elements=["name", "variable"]))
            ahead = t.editors.c.since_at > now + CLOCKS_APART
            c.execute(update(t.editors).where(ahead).values(since_at=func.coalesce(_before_it_was_ahead(now), now)))

    def unassigned(self, recipient: Recipient, now: datetime) -> list[News]:
        """Messages since this recipient was enrolled of which nobody has decided yet whether it gets them."""
        name, variable = recipient
        m, d, e = t.messages.c, t.deliveries.c, t.editors.c
        mine = and_(d.message == m.id, d.editor == name, d.variable == variable)
        query = (
            _NEWS.join(t.editors, and_(e.name == name, e.variable == variable))
            .outerjoin(t.deliveries, mine)
            .where(d.message.is_(None), m.at >= e.since_at, m.at >= now - LATELY)
            .order_by(m.id)
        )
        with storage("reading the outbox"), self._engine.connect() as c:
            return [_news(row) for row in c.execute(query)]

    def assign(self, deliveries: Sequence[Delivery]) -> None:
        """Note who gets what, and when. What another process has noted meanwhile stays as it is."""
        if not deliveries:
            return
        with storage("filling the outbox"), self._engine.begin() as c:
            dialect = sqlite if c.dialect.name == "sqlite" else postgresql
            for d in deliveries:
                row = dialect.insert(t.deliveries).values(
                    message=d.message,
                    editor=d.editor,
                    variable=d.variable,
                    digest=d.digest,
                    attempts=d.attempts,
                    next_try_at=d.next_try_at,
                    sent_at=d.sent_at,
                    given_up=d.given_up,
                    why_not=clean(d.why_not)[:MOST_ERROR_CHARS],
                )
                c.execute(row.on_conflict_do_nothing(index_elements=["message", "editor", "variable"]))

    def claim(self, recipient: Recipient, digest: bool, now: datetime, until: datetime) -> list[tuple[Delivery, News]]:
        """Take what is due for one address, for this process alone until *until*; each take counts as an attempt.

        Whoever is killed before it notes the outcome has taken it in vain: it is due again then.
        """
        d = t.deliveries.c
        ahead = d.next_try_at > now + FARTHEST  # put there while the clock was ahead
        due = and_(_of(recipient), d.digest.is_(digest), _WAITS, or_(d.next_try_at <= now, ahead))
        take = update(t.deliveries).where(due).values(next_try_at=until, attempts=d.attempts + 1)
        with storage("emptying the outbox"), self._engine.begin() as c:
            taken = {r.message: _delivery(r) for r in c.execute(take.returning(t.deliveries))}
            rows = [row for ids in _chunks(sorted(taken)) for row in c.execute(_NEWS.where(t.messages.c.id.in_(ids)))]
            news = [_news(row, _edits(c, row)) for row in sorted(rows, key=lambda r: r.id)]
        return [(taken[n.message.id], n) for n in news]

    def sent(self, recipient: Recipient, messages: Sequence[int], at: datetime) -> None:
        self._note(recipient, messages, sent_at=at, why_not="")

    def failed(self, recipient: Recipient, message: int, why_not: str, next_try_at: datetime | None) -> None:
        """Try again at *next_try_at*, or never (None)."""
        values: dict[str, Any] = {"why_not": clean(why_not)[:MOST_ERROR_CHARS]}
        values |= {"given_up": True} if next_try_at is None else {"next_try_at": next_try_at}
        self._note(recipient, [message], **values)

    def _note(self, recipient: Recipient, messages: Sequence[int], **values: Any) -> None:
        with storage("emptying the outbox"), self._engine.begin() as c:
            for ids in _chunks(messages):
                mine = and_(_of(recipient), t.deliveries.c.message.in_(ids))
                c.execute(update(t.deliveries).where(mine).values(**values))

    def dismiss(self, recipients: Sequence[Recipient]) -> None:
        """Stop carrying anything to addresses that are no longer configured."""
        d = t.deliveries.c
        others = tuple_(d.editor, d.variable).not_in(list(recipients)) if recipients else d.editor.is_not(None)
        gone = update(t.deliveries).where(_WAITS, others)
        with storage("emptying the outbox"), self._engine.begin() as c:
            c.execute(gone.values(given_up=True, attempts=0, why_not="no longer configured"))

    def begin_digest(self, recipient: Recipient, slot: datetime) -> bool:
        """Whether the weekly digest of this time is this process's to send: said once, also to two that ask.

        A digest of a time to come was sent while the clock was ahead; it stands in the way of none.
        """
        e = t.editors.c
        name, variable = recipient
        last = func.coalesce(e.digest_at, e.since_at)
        due = or_(last < slot, last > slot + FARTHEST)
        mine = update(t.editors).where(e.name == name, e.variable == variable, due).values(digest_at=slot)
        with storage("emptying the outbox"), self._engine.begin() as c:
            return c.execute(mine).rowcount == 1

    def sent_since(self, recipient: Recipient, since: datetime) -> int:
        query = select(func.count()).select_from(t.deliveries).where(_of(recipient), t.deliveries.c.sent_at >= since)
        with storage("reading the outbox"), self._engine.connect() as c:
            return int(c.execute(query).scalar_one())

    def backlog(self, now: datetime) -> Backlog:
        d, m = t.deliveries.c, t.messages.c
        query = select(d.attempts, d.given_up, d.why_not, d.next_try_at, m.at).join(t.messages, m.id == d.message)
        lately = and_(d.given_up.is_(True), d.attempts > 0, m.at >= now - LATELY)
        with storage("reading the outbox"), self._engine.connect() as c:
            rows = c.execute(query.where(or_(_WAITS, lately))).all()
        failing = [r for r in rows if not r.given_up and r.why_not]
        return Backlog(
            waiting=sum(not r.given_up and not r.why_not for r in rows),
            failing=len(failing),
            given_up=sum(r.given_up for r in rows),
            oldest_at=min((r.at for r in failing), default=None),
            error=max(failing, key=lambda r: r.next_try_at).why_not if failing else "",
        )

    def queue(self, now: datetime) -> list[tuple[Delivery, News]]:
        """What waits, what failed and what was sent or not sent lately, newest message first."""
        query = select(t.deliveries).join(t.messages, t.messages.c.id == t.deliveries.c.message)
        query = query.where(or_(_WAITS, t.messages.c.at >= now - timedelta(days=7)))
        with storage("reading the outbox"), self._engine.connect() as c:
            deliveries = [_delivery(r) for r in c.execute(query.order_by(t.messages.c.id.desc()))]
            ids = sorted({d.message for d in deliveries})
            news = {r.id: _news(r) for some in _chunks(ids) for r in c.execute(_NEWS.where(t.messages.c.id.in_(some)))}
        return [(d, news[d.message]) for d in deliveries]

    def since(self, since: datetime | None, most: int) -> list[News]:
        """What was told since, newest first."""
        query = _NEWS.order_by(t.messages.c.at.desc(), t.messages.c.id.desc()).limit(most)
        if since is not None:
            query = query.where(t.messages.c.at >= since)
        with storage("reading the outbox"), self._engine.connect() as c:
            return [_news(row, _edits(c, row)) for row in c.execute(query).all()]


def _before_it_was_ahead(now: datetime) -> Any:
    """When the last pass began before those that are dated in the future; NULL where there was none."""
    r = t.runs.c
    first = select(func.min(r.id)).where(r.started_at > now + CLOCKS_APART).scalar_subquery()
    return select(func.max(r.started_at)).where(r.id < first, r.started_at <= now).scalar_subquery()


_parents = t.sources.alias("parents")
_NEWS = (
    select(
        t.messages,
        *(t.sources.c[x].label(f"s_{x}") for x in ("tier", "title", "url", "kind", "parent", "alt")),
        *(_parents.c[x].label(f"p_{x}") for x in ("tier", "title", "url")),
    )
    .join(t.sources, t.sources.c.id == t.messages.c.source)
    .outerjoin(_parents, _parents.c.id == t.sources.c.parent)
)
_WAITS = and_(t.deliveries.c.sent_at.is_(None), t.deliveries.c.given_up.is_(False))


def _of(recipient: Recipient) -> Any:
    return and_(t.deliveries.c.editor == recipient[0], t.deliveries.c.variable == recipient[1])


def _chunks(ids: Sequence[int]) -> Iterable[Sequence[int]]:
    return (ids[n : n + 500] for n in range(0, len(ids), 500))


def _delivery(row: Row[Any]) -> Delivery:
    return Delivery(
        message=row.message,
        editor=row.editor,
        variable=row.variable,
        digest=row.digest,
        next_try_at=row.next_try_at,
        attempts=row.attempts,
        sent_at=row.sent_at,
        given_up=row.given_up,
        why_not=row.why_not,
    )


def _news(row: Row[Any], edits: tuple[Edit, ...] = ()) -> News:
    facts: Mapping[str, Any] = row.facts
    message = Message(MessageKind(row.kind), row.source, row.key, row.at, facts, row.id)
    kind = SourceKind(row.s_kind)
    source = Source(row.source, row.s_tier, row.s_title, row.s_url, kind=kind, parent=row.s_parent, alt=row.s_alt)
    parent = Source(row.s_parent, row.p_tier, row.p_title, row.p_url) if row.p_title is not None else None
    return News(message, source, parent, edits)


def _edits(c: Connection, row: Row[Any]) -> tuple[Edit, ...]:
    """What a change's message tells: the edits that no rule suppressed. Derived rows may have been made again."""
    if row.kind != MessageKind.CHANGE:
        return ()
    packed = c.execute(select(t.changes.c.edits).where(t.changes.c.to_version == row.facts["version"])).scalar()
    return tuple(e for e in unpack_edits(bytes(packed))[0] if not e.suppressed_by) if packed else ()
