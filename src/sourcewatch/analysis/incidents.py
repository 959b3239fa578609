"""What becomes of a source's incident when a run ends. Pure: the same checks give the same incidents and messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from ..domain.check import Span
from ..domain.incident import Case, Incident, Settlement
from ..domain.message import Message, MessageKind
from ..domain.source import SourceKind
from ..domain.standing import CLOCKS_APART, Standing, standing
from ..domain.verdict import WORDS

CONFIRMED = 2  # failing checks in a row: what is not about a quote waits for the next fetch to confirm it
FLAPPING = timedelta(hours=24)  # who fails again so soon never recovered


def settle(case: Case, now: datetime) -> Settlement:
    """Carry the incident on over what was checked since, tell what is new of it, and close it once it is over.

    An incident opens when a second failing check confirms the first, and closes when the source has been readable for
    a day. Failures of void runs and rows from a clock that was wrong count for nothing.
    """
    spans = [s for s in case.spans if not (s.void and not s.verdict.accessed) and s.last_at <= now + CLOCKS_APART]
    spans.sort(key=lambda s: (s.first_at, s.last_at, s.id))
    book = _Book(case, now, standing(spans), case.incident)
    incident = case.incident
    if incident is not None and (case.retired or not spans or incident.opened_at > now + CLOCKS_APART):
        book.drop()  # nobody asks for it any more, or at another address, or it was opened by a wrong clock
    for span in spans if not case.retired else ():
        book.read(span)
    return book.settled()


@dataclass(slots=True)
class _Book:
    """The incident that is open now, those that were changed, and what is told."""

    case: Case
    now: datetime
    stands: Standing
    incident: Incident | None
    streak: list[Span] = field(default_factory=list)
    closed: list[Incident] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    opened_now: bool = False

    def read(self, span: Span) -> None:
        """One more row, oldest first; rows that the incident has taken in before change nothing."""
        if self.incident is not None and span.last_at <= self.incident.updated_at:
            return
        if span.verdict.accessed:
            self.streak = []
            if self.incident is not None and self.incident.recovered_at is None:
                at = max(span.first_at, self.incident.updated_at)
                self.incident = replace(self.incident, recovered_at=at, dead=False)
            return
        if self.incident is not None and _over(self.incident, span.first_at):
            self.close()
        if self.incident is None:
            self.streak.append(span)
            if sum(s.n for s in self.streak) >= CONFIRMED:
                self.open()
        else:
            self.go_on(self.incident, span)

    def open(self) -> None:
        first, last = self.streak[0], self.streak[-1]
        failures = sum(s.n for s in self.streak)
        self.incident = Incident(self.case.source, first.first_at, last.verdict.word, last.last_at, failures)
        self.opened_now = True
        kind = MessageKind.FIGURE if self._of_figure else MessageKind.FAILING
        self.tell(kind, "opened", self.incident, {"evidence": last.verdict.evidence[:400]})

    def go_on(self, incident: Incident, span: Span) -> None:
        """The incident goes on, perhaps in another way; a way of another class is told, each class once."""
        was, word = incident.word, span.verdict.word
        self.incident = replace(
            incident, word=word, updated_at=span.last_at, failures=incident.failures + span.n, recovered_at=None
        )
        if WORDS[word].klass is not WORDS[was].klass:
            kind = MessageKind.FIGURE if self._of_figure else MessageKind.FAILING
            facts = {"was": was, "evidence": span.verdict.evidence[:400]}
            self.tell(kind, f"class-{WORDS[word].klass}", self.incident, facts)

    def close(self) -> None:
        incident = self.incident
        assert incident is not None and incident.recovered_at is not None
        self.closed.append(replace(incident, closed_at=incident.recovered_at))
        lasted_s = round((incident.recovered_at - incident.opened_at).total_seconds())
        facts = {"recovered_at": incident.recovered_at.isoformat(), "lasted_s": lasted_s}
        self.tell(MessageKind.RECOVERED, "recovered", incident, facts)
        self.incident, self.opened_now = None, False

    def drop(self) -> None:
        """Close it without a word: nothing is known of how the source stands."""
        assert self.incident is not None
        self.closed.append(replace(self.incident, closed_at=self.now))
        self.incident = None

    def settled(self) -> Settlement:
        incident = self.incident
        if incident is not None and _over(incident, self.now):
            self.close()
        elif incident is not None and incident.recovered_at is None and self.stands.dead and not incident.dead:
            self.incident = replace(incident, dead=True)
            if not self._of_figure:  # of a picture only its reading is known
                self._tell_dead(self.incident)
        open_now = () if self.incident is None or self.incident == self.case.incident else (self.incident,)
        return Settlement((*self.closed, *open_now), tuple(self.messages))

    def _tell_dead(self, incident: Incident) -> None:
        if self.opened_now:  # found dead: said once, in the loudest word
            opened = next(m for m in reversed(self.messages) if m.facts["event"] == "opened")
            self.messages.remove(opened)
            self.messages.append(replace(opened, kind=MessageKind.DEAD))
        else:
            self.tell(MessageKind.DEAD, "dead", incident, {})

    def tell(self, kind: MessageKind, event: str, incident: Incident, facts: Mapping[str, Any]) -> None:
        read = self.stands.last_accessed
        self.messages.append(
            Message(
                kind=kind,
                source=incident.source,
                key=f"{event}:{incident.source}:{incident.opened_at:%Y%m%dT%H%M%SZ}",
                at=self.now,
                facts={
                    "event": event,
                    "word": incident.word,
                    "opened_at": incident.opened_at.isoformat(),
                    "failures": incident.failures,
                    "last_accessed": read.isoformat() if read else None,
                    **facts,
                },
            )
        )

    @property
    def _of_figure(self) -> bool:
        return self.case.kind is SourceKind.FIGURE


def _over(incident: Incident, at: datetime) -> bool:
    return incident.recovered_at is not None and at - incident.recovered_at > FLAPPING
