"""Last accessed is one function over what was recorded, and it never lies."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.domain.check import Judgement, Span
from sourcewatch.domain.standing import after, standing
from sourcewatch.domain.verdict import WORDS, Verdict

START = datetime(2026, 10, 20, tzinfo=UTC)


def span(
    id_: int, word: str, at: datetime, *, n: int = 1, until: datetime | None = None, void: bool = False, by: str = ""
) -> Span:
    return Span(
        id=id_,
        source="s",
        first_at=at,
        last_at=until or at,
        n=n,
        verdict=Verdict(word, "rule"),
        status=200,
        url="https://a.example/",
        final_url="https://a.example/",
        version=1 if WORDS[word].accessed else None,
        void=void,
        by_hand=bool(by),
        facts={"by": by} if by else {},
    )


@st.composite
def histories(draw: st.DrawFn) -> list[Span]:
    words = draw(st.lists(st.sampled_from(sorted(WORDS)), max_size=25))
    gaps = draw(st.lists(st.integers(1, 100_000), min_size=len(words), max_size=len(words)))
    at, spans = START, []
    for i, (word, gap) in enumerate(zip(words, gaps, strict=True)):
        at += timedelta(seconds=gap)
        by = draw(st.sampled_from(["", "", "Mei"])) if WORDS[word].accessed else ""
        spans.append(span(i, word, at, void=draw(st.booleans()), by=by))
    return spans


@given(histories(), st.randoms())
def test_last_accessed_is_the_newest_access_whatever_the_order(history: list[Span], random: object) -> None:
    expected = max((s.last_at for s in history if s.verdict.accessed and not s.by_hand), default=None)
    random.shuffle(history)  # type: ignore[attr-defined]
    assert standing(history).last_accessed == expected


@given(histories())
def test_no_wall_failure_or_refusal_moves_last_accessed(history: list[Span]) -> None:
    before = standing(history).last_accessed
    after_all = (history[-1].last_at if history else START) + timedelta(days=1)
    for word in (w for w in WORDS if not WORDS[w].accessed):
        assert standing([*history, span(99, word, after_all)]).last_accessed == before


@given(histories())
def test_a_tail_from_the_last_access_stands_as_the_whole_does(history: list[Span]) -> None:
    last = max((s.id for s in history if s.verdict.accessed and not s.by_hand), default=0)
    whole, tail = standing(history), standing([s for s in history if s.id >= last])
    assert replace(tail, recovered_from=None, recovered_at=None) == replace(
        whole, recovered_from=None, recovered_at=None
    )


@given(histories(), st.sampled_from(sorted(WORDS)))
def test_one_more_check_can_be_added_without_reading_the_others_again(history: list[Span], word: str) -> None:
    at = (history[-1].last_at if history else START) + timedelta(hours=1)
    added = span(99, word, at)
    assert after(standing(history), added.verdict, at, added.version, added.final_url) == standing([*history, added])


@given(histories())
def test_what_a_person_read_moves_nothing_of_the_machines(history: list[Span]) -> None:
    at = (history[-1].last_at if history else START) + timedelta(days=1)
    before, found = standing(history), standing([*history, span(99, "ok", at, by="Mei")])
    assert (found.by_hand_at, found.by_hand_by) == (at, "Mei")
    assert replace(found, by_hand_at=before.by_hand_at, by_hand_by=before.by_hand_by) == before


def test_a_persons_date_is_told_until_the_machine_has_read_the_source_itself() -> None:
    machine, person = span(0, "ok", START), span(1, "ok", START + timedelta(1), by="Mei")
    assert standing([machine, person]).by_hand_by == "Mei" and standing([machine, person]).last_accessed == START
    again = standing([machine, person, span(2, "ok", START + timedelta(2))])
    assert (again.by_hand_at, again.by_hand_by) == (None, "")


@pytest.mark.parametrize(
    ("words_and_days", "dead", "strikes"),
    [
        ([("not_found", 0), ("not_found", 3), ("not_found", 6)], True, 3),
        ([("not_found", 0), ("not_found", 1), ("not_found", 2)], False, 3),  # a bad weekend
        ([("not_found", 0), ("not_found", 9)], False, 2),
        ([("challenge", 0), ("challenge", 5), ("challenge", 10)], False, 0),  # a wall is no death
        ([("too_large", 0), ("too_large", 5), ("too_large", 10)], False, 0),
        ([("not_found", 0), ("challenge", 2), ("not_found", 3), ("not_found", 7)], True, 3),
        ([("not_found", 0), ("not_found", 3), ("ok", 4), ("not_found", 5), ("not_found", 12)], False, 2),
    ],
)
def test_three_strikes_over_six_days_make_dead(words_and_days: list[tuple[str, int]], dead: bool, strikes: int) -> None:
    found = standing([span(i, w, START + timedelta(days=d)) for i, (w, d) in enumerate(words_and_days)])
    assert (found.dead, found.strikes) == (dead, strikes)


def test_a_void_run_strikes_nobody_but_its_accesses_count() -> None:
    days = [timedelta(days=d) for d in range(0, 20, 4)]
    spans = [span(i, "dns_not_found", START + d, void=True) for i, d in enumerate(days)]
    assert standing(spans).strikes == 0 and standing(spans).failing_since is None
    read = span(9, "ok", START + timedelta(days=30), void=True)
    assert standing([*spans, read]).last_accessed == read.last_at


def test_a_recovery_remembers_what_it_ended() -> None:
    found = standing(
        [span(0, "ok", START), span(1, "tls_expired", START + timedelta(1)), span(2, "ok", START + timedelta(2))]
    )
    assert found.recovered_from is not None and found.recovered_from.word == "tls_expired"
    assert found.recovered_at == START + timedelta(2) and found.failing_since is None


def test_an_access_that_names_no_version_cannot_be_written_down() -> None:
    with pytest.raises(ValueError, match="names the version"):
        Span(0, "s", START, START, 1, Verdict("ok", "r"), 200, "u", "u", version=None)


def test_only_an_access_can_bring_a_version() -> None:
    with pytest.raises(ValueError, match="only an access"):
        Judgement(Verdict("challenge", "r"), changed=True)


def test_there_are_sixty_seven_words_and_no_other_can_be_said() -> None:
    assert len(WORDS) == 67
    with pytest.raises(ValueError, match="no such verdict"):
        Verdict("fine", "r")
    assert all(not w.accessed for w in WORDS.values() if w.klass not in ("ok", "moved"))
