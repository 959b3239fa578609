"""A run of failures is opened, told and closed once, whatever the checks are and whenever they are settled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis.incidents import CONFIRMED, FLAPPING, settle
from sourcewatch.domain.check import Span
from sourcewatch.domain.incident import Case, Incident
from sourcewatch.domain.message import Message
from sourcewatch.domain.source import SourceKind
from sourcewatch.domain.verdict import WORDS, Verdict

START = datetime(2026, 10, 20, 3, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


class Desk:
    """Keeps rows, incidents and messages as the database does: one open incident a source, each key once."""

    def __init__(self, kind: SourceKind = SourceKind.PAGE) -> None:
        self.kind = kind
        self.spans: list[Span] = []
        self.closed: list[Incident] = []
        self.open: Incident | None = None
        self.messages: dict[str, Message] = {}

    def check(self, word: str, at: datetime, *, void: bool = False) -> None:
        accessed = WORDS[word].accessed
        before = self.spans[-1] if self.spans else None
        if accessed and before is not None and before.verdict.word == word:
            grown = Span(before.id, "s", before.first_at, at, before.n + 1, before.verdict, 200, "u", "u", version=1)
            self.spans[-1] = grown
            return
        n, version = len(self.spans), 1 if accessed else None
        self.spans.append(Span(n, "s", at, at, 1, Verdict(word, "rule"), 0, "u", "u", version=version, void=void))

    def settle(self, now: datetime, *, retired: bool = False) -> list[str]:
        """The kinds of what is newly told, as the rows that the database would hand over have it."""
        last = max((s.last_at for s in self.spans if s.verdict.accessed), default=None)
        seen = self.open.updated_at if self.open else datetime.max.replace(tzinfo=UTC)
        rows = [s for s in self.spans if last is None or s.last_at >= last or s.last_at > seen]
        found = settle(Case("s", self.kind, self.open, tuple(rows), retired), now)
        for incident in found.incidents:
            if incident.closed_at is not None:
                self.closed.append(incident)
                self.open = None
            else:
                assert self.open is None or self.open.opened_at == incident.opened_at
                self.open = incident
        new = {m.key: m for m in found.messages if m.key not in self.messages}
        self.messages |= new
        return [m.kind for m in new.values()]

    def passes(self, checks: Sequence[tuple[str, float]]) -> list[list[str]]:
        """Checks at hours after the start, each in a run of its own; what each run told."""
        told = []
        for word, hours in checks:
            self.check(word, START + hours * HOUR)
            told.append(self.settle(START + hours * HOUR))
        return told


def test_one_failure_is_not_told_and_a_second_in_a_row_is() -> None:
    assert Desk().passes([("ok", 0), ("read_timeout", 1), ("read_timeout", 1.2), ("read_timeout", 2)]) == [
        [], [], ["failing"], []
    ]  # fmt: skip


def test_an_incident_begins_with_its_first_failure_and_counts_them_all() -> None:
    desk = Desk()
    desk.passes([("ok", 0), ("read_timeout", 1), ("connect_timeout", 2), ("read_timeout", 3)])
    assert desk.open is not None
    assert (desk.open.opened_at, desk.open.failures, desk.open.word) == (START + HOUR, 3, "read_timeout")


def test_a_source_that_is_well_for_a_day_is_told_once_with_how_long_it_was_not() -> None:
    desk = Desk()
    told = desk.passes([("not_found", 0), ("not_found", 1), ("ok", 5), ("ok", 20), ("ok", 30), ("ok", 40)])
    assert told == [[], ["failing"], [], [], ["recovered"], []]
    assert desk.open is None and desk.closed[0].closed_at == START + 5 * HOUR
    assert desk.messages["recovered:s:20261020T030000Z"].facts["lasted_s"] == 5 * 3600


def test_a_source_that_fails_again_within_a_day_is_one_incident_told_once() -> None:
    desk = Desk()
    flaps = [x for n in range(0, 60, 6) for x in (("read_timeout", n), ("read_timeout", n + 1), ("ok", n + 2))]
    told = [kind for kinds in desk.passes(flaps) for kind in kinds]
    assert told == ["failing"] and desk.open is not None and desk.open.failures == 20


def test_a_source_that_fails_again_after_a_day_is_another_incident() -> None:
    desk = Desk()
    told = desk.passes([("gone", 0), ("gone", 1), ("ok", 2), ("gone", 30), ("gone", 31)])
    assert told == [[], ["failing"], [], ["recovered"], ["failing"]]


def test_another_class_of_failure_is_told_and_another_word_of_the_same_is_not() -> None:
    desk = Desk()
    told = desk.passes([("challenge", 0), ("challenge", 1), ("forbidden", 2), ("not_found", 3), ("gone", 4)])
    assert told == [[], ["failing"], [], ["failing"], []]
    assert desk.messages["class-gone:s:20261020T030000Z"].facts["was"] == "forbidden"


def test_three_strikes_over_six_days_are_dead_and_told_once() -> None:
    desk = Desk()
    told = desk.passes([("not_found", 0), ("not_found", 24), ("not_found", 100), ("not_found", 150), ("gone", 300)])
    assert told == [[], ["failing"], [], ["dead"], []]
    assert desk.open is not None and desk.open.dead


def test_what_is_found_dead_is_told_once_in_the_loudest_word() -> None:
    desk = Desk()
    for day in range(8):
        desk.check("not_found", START + day * DAY)
    assert desk.settle(START + 8 * DAY) == ["dead"] and desk.settle(START + 9 * DAY) == []


@pytest.mark.parametrize(
    "word", sorted(w for w in WORDS if WORDS[w].klass in ("walled", "refused") and not WORDS[w].strike)
)
def test_a_wall_is_told_and_is_never_death(word: str) -> None:
    told = [k for kinds in Desk().passes([(word, 24.0 * n) for n in range(20)]) for k in kinds]
    assert told == ["failing"]


def test_a_figure_that_cannot_be_read_is_told_as_such_and_is_never_called_dead() -> None:
    desk = Desk(SourceKind.FIGURE)
    told = [k for kinds in desk.passes([("tls_unknown_ca", 24.0 * n) for n in range(10)]) for k in kinds]
    assert told == ["figure"]


def test_failures_of_a_void_run_open_nothing() -> None:
    desk = Desk()
    for n in range(5):
        desk.check("dns_not_found", START + n * HOUR, void=True)
    assert desk.settle(START + DAY) == [] and desk.open is None


def test_a_source_that_left_the_file_is_closed_without_a_word() -> None:
    desk = Desk()
    desk.passes([("not_found", 0), ("not_found", 1)])
    assert desk.settle(START + DAY, retired=True) == [] and desk.open is None and len(desk.closed) == 1


def test_an_incident_of_a_clock_that_was_ahead_does_not_block_the_next() -> None:
    desk = Desk()
    desk.open = Incident("s", START + 400 * DAY, "not_found", START + 400 * DAY, 2)
    desk.check("not_found", START)
    desk.check("not_found", START + HOUR)
    assert desk.settle(START + HOUR) == ["failing"] and desk.open.opened_at == START


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[str, datetime, bool, bool]]:
    """Checks (word, time, void), and whether their run was the last before something killed the program."""
    words = st.sampled_from(["ok", "ok_partial", "not_found", "challenge", "read_timeout", "too_large", "tls_expired"])
    steps = draw(st.lists(st.tuples(words, st.integers(60, 200_000), st.booleans(), st.booleans()), max_size=40))
    at, rows = START, []
    for word, gap_s, void, settled in steps:
        at += timedelta(seconds=gap_s)
        rows.append((word, at, void and not WORDS[word].accessed, settled))
    return rows


@given(histories(), st.sampled_from(SourceKind))
def test_whatever_happens_each_incident_is_told_open_once_and_closed_at_most_once(
    history: list[tuple[str, datetime, bool, bool]], kind: SourceKind
) -> None:
    desk, opened, closed = Desk(kind), Counter[str](), Counter[str]()
    for word, at, void, settled in history:
        desk.check(word, at, void=void)
        if not settled:
            continue  # the run was killed: the next one's end tells it
        before = set(desk.messages)
        desk.settle(at)
        for key, message in desk.messages.items():
            if key in before:
                continue
            event, _, rest = key.partition(":")
            if event == "opened":
                opened[rest] += 1
            elif event == "recovered":
                closed[rest] += 1
                assert opened[rest] == 1, "closed before it was opened"
            else:
                assert opened[rest] == 1 and not closed[rest]
            assert message.at == at
    stamps = {f"s:{i.opened_at:%Y%m%dT%H%M%SZ}" for i in (*desk.closed, *([desk.open] if desk.open else []))}
    assert set(opened) == stamps and set(opened.values()) <= {1} and set(closed.values()) <= {1}
    assert all(i.closed_at is not None and i.opened_at < i.closed_at for i in desk.closed)
    for earlier, later in zip(desk.closed, [*desk.closed[1:], *([desk.open] if desk.open else [])], strict=False):
        assert later.opened_at - earlier.closed_at > FLAPPING  # type: ignore[operator]


@given(histories())
def test_settling_late_tells_the_same_incidents_as_settling_each_time(
    history: list[tuple[str, datetime, bool, bool]],
) -> None:
    """Only if nothing was lost between: a source's rows are all handed over as long as it has not recovered."""
    failing = [h for h in history if not WORDS[h[0]].accessed]
    prompt, late = Desk(), Desk()
    for word, at, void, _ in failing:
        prompt.check(word, at, void=void)
        prompt.settle(at)
        late.check(word, at, void=void)
    if failing:
        late.settle(failing[-1][1])
    opened = {k for k in prompt.messages if k.startswith("opened:")}
    assert opened == {k for k in late.messages if k.startswith("opened:")}
    assert (prompt.open and prompt.open.failures) == (late.open and late.open.failures)
    if late.open is not None:
        assert late.open.failures >= CONFIRMED


@given(histories())
def test_settling_twice_settles_nothing_new(history: list[tuple[str, datetime, bool, bool]]) -> None:
    desk = Desk()
    for word, at, void, _ in history:
        desk.check(word, at, void=void)
        desk.settle(at)
        incident, told = desk.open, len(desk.messages)
        assert desk.settle(at) == [] and desk.open == incident and len(desk.messages) == told
