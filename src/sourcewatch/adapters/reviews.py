"""Rows of what editors decided, each beside a file that was written first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, Row, insert, select
from sqlalchemy.exc import IntegrityError

from ..domain.change import Sighting, sighting_of
from ..domain.errors import StorageError
from ..domain.review import Decision, Desk, Overtaken, Review, Subject, holding, settled
from . import tables as t
from .cleaning import clean
from .database import storage
from .review_files import ReviewFiles
from .store import Store

MOST_TRIES = 20  # decisions of others in the very second


class Reviews:
    """Decisions in, decisions out. Raises StorageError."""

    def __init__(self, engine: Engine, store: Store) -> None:
        self._engine = engine
        self.files = ReviewFiles(store)

    def decide(
        self, subject: Subject, decision: Decision, by: str, at: datetime, *, note: str = "", seen: str | None = None
    ) -> Review | Overtaken:
        """Take a decision about a subject. *seen* is the key of the decision about it that whoever decides has seen,
        "" for none, None for whichever is the newest now. The row is held back until the file is safely there.
        """
        for _ in range(MOST_TRIES):
            history = self.history(subject.source, subject.record)
            newest = history[-1] if history else None
            if seen is not None and seen != (newest.key if newest else ""):
                return Overtaken(newest)
            if (taken := self._take(history, subject, decision, clean(by), at, clean(note))) is not None:
                return taken
        raise StorageError("decisions come too fast; this one was not taken")

    def _take(
        self, history: list[Review], subject: Subject, decision: Decision, by: str, at: datetime, note: str
    ) -> Review | None:
        """None when somebody else was faster."""
        review = Review(
            self.files.free_key(at), subject, at.replace(microsecond=0), by, decision, None,
            after=history[-1].key if history else "", note=note,
        )  # fmt: skip
        review = replace(review, holds=holding([*history, review]))
        written = False
        try:
            with storage("noting a decision"), self._engine.begin() as c:
                review = replace(review, version=_version(c, subject))
                c.execute(insert(t.reviews).values(**_values(review)))  # whoever follows the same decision waits here
                self.files.write(review)
                written = True
        except IntegrityError:
            return None
        except StorageError:
            if written:
                self.files.take_back(review)
            raise
        return review

    def bring_in(self, review: Review, versions: Mapping[str, int]) -> str:
        """Note a decision that only its file tells of: "" or why that is not possible."""
        version = versions.get(review.subject.record)
        if review.subject.record and version is None:
            return f"the version of {review.subject.source} that it is about is not there"
        try:
            with storage("noting a decision"), self._engine.begin() as c:
                r = t.reviews.c
                if c.execute(select(r.id).where(r.key == review.key)).first() is None:
                    c.execute(insert(t.reviews).values(**_values(replace(review, version=version))))
        except IntegrityError:
            return f"{review.subject.source} is not known, or another decision took its place"
        return ""

    def history(self, source: str, record: str | None = None) -> list[Review]:
        """Every decision about a source, or about one version of it, oldest first."""
        query = select(t.reviews).where(t.reviews.c.source == source).order_by(t.reviews.c.id)
        if record is not None:
            query = query.where(t.reviews.c.record == record)
        with storage("reading decisions"), self._engine.connect() as c:
            return [_review(row) for row in c.execute(query)]

    def last(self) -> str:
        """The key of the newest decision of all, or ""."""
        query = select(t.reviews.c.key).order_by(t.reviews.c.id.desc()).limit(1)
        with storage("reading decisions"), self._engine.connect() as c:
            return str(c.execute(query).scalar() or "")

    def desk(self) -> Desk:
        """What holds now, of all sources."""
        with storage("reading decisions"), self._engine.connect() as c:
            newest, accepted = settled(_review(row) for row in c.execute(select(t.reviews).order_by(t.reviews.c.id)))
            sighted: dict[str, dict[str, Sighting]] = {}
            versions = {r.version: source for source, r in accepted.items() if r.version is not None}
            s = t.sightings.c
            for row in c.execute(select(t.sightings).where(s.version.in_(_accepted()))) if versions else ():
                if row.version in versions:
                    sighted.setdefault(row.source, {})[row.quote] = sighting_of(
                        row.quote, row.kind, row.score, row.facts
                    )
        return Desk(newest, accepted, sighted)


def _accepted() -> Any:
    return select(t.reviews.c.version).where(t.reviews.c.decision == Decision.ACCEPTED)


def _version(c: Connection, subject: Subject) -> int | None:
    if not subject.record:
        return None
    v = t.versions.c
    found = select(v.id).where(v.source == subject.source, v.record_id == subject.record)
    return int(c.execute(found).scalar_one())


def _values(review: Review) -> dict[str, Any]:
    return {
        "key": review.key,
        "source": review.subject.source,
        "record": review.subject.record,
        "version": review.version,
        "at": review.at,
        "by": review.by,
        "decision": review.decision,
        "holds": review.holds,
        "after": review.after,
        "note": review.note,
    }


def _review(row: Row[Any]) -> Review:
    return Review(
        key=row.key,
        subject=Subject(row.source, row.record),
        at=row.at,
        by=row.by,
        decision=Decision(row.decision),
        holds=Decision(row.holds) if row.holds else None,
        after=row.after,
        note=row.note,
        version=row.version,
    )
