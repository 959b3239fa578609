"""The desk's values: kept while nothing is written, never held up by a slow ledger, decisions always the newest."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from site_of_pages import page, row, serving
from sourcewatch.domain.review import Decision
from sourcewatch.faces import wiring
from sourcewatch.services import overview, review
from sourcewatch.services.overview import Overview, Overviews, Wanted
from watch import Watch

START = datetime(2026, 10, 20, 3, 3, 7, tzinfo=UTC)
BODY = "<p>The cache holds 96% of requests, the operators say.</p>" * 4


def days(n: float) -> datetime:
    return START + timedelta(days=n)


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    found = Watch(tmp_path)
    with serving() as site:
        for n, percent in enumerate((96, 91, 88)):
            site.pages["/p"] = page("P", BODY.replace("96", str(percent)))
            found.passes(row("p", site.url("/p"), "holds 96% of requests"), days(n))
    return found


class Slow:
    """A ledger whose standings take their time; it counts how often it is asked for them."""

    def __init__(self, house: wiring.House) -> None:
        self._house, self.asked = house, 0

    def __getattr__(self, name: str) -> object:
        self.asked += name == "standings"
        return getattr(self._house.ledger, name)


def made(house: wiring.House, ledger: object = None) -> Overviews:
    return Overviews(house.settings, ledger or house.ledger, house.desk, house.site, house.reviews)  # type: ignore[arg-type]


def decide(house: wiring.House, version: int, decision: Decision) -> None:
    subject = review.subject_of("p", house.ledger.versions("p")[version])
    assert not isinstance(review.decide(house.reviews, subject, decision, "Lin", days(3)), review.Refused)


def told(found: Overview) -> tuple[int, int]:
    return found.counts["needs"], found.counts["changes"]


def test_a_decided_change_leaves_the_desk_and_comes_back_when_it_is_asked_for(watch: Watch) -> None:
    def ask(house: wiring.House) -> None:
        desk = made(house)
        assert told(desk.make(Wanted(), days(3))) == (1, 2)
        decide(house, 1, Decision.REVIEWED)
        assert told(desk.make(Wanted(), days(3))) == (1, 1)
        both = desk.make(Wanted(decided=True), days(3))
        assert [c.review.by if c.review else None for c in both.changes] == [None, "Lin"]
        decide(house, 1, Decision.UNDONE)
        assert told(desk.make(Wanted(), days(3))) == (1, 2)

    watch.ask(ask)


def test_accepting_a_version_settles_its_quote_and_all_changes_before_it(watch: Watch) -> None:
    def ask(house: wiring.House) -> None:
        decide(house, 2, Decision.ACCEPTED)
        assert told(made(house).make(Wanted(), days(3))) == (0, 0)
        decide(house, 2, Decision.FIX)
        found = made(house).make(Wanted(), days(3))
        assert told(found) == (1, 1)
        [need] = found.needs
        assert need.review is not None
        assert need.review.decision is Decision.FIX

    watch.ask(ask)


def test_what_stands_is_read_again_only_when_the_ledger_was_written_to(watch: Watch) -> None:
    def ask(house: wiring.House) -> None:
        slow = Slow(house)
        desk = made(house, slow)
        for _ in range(3):
            desk.make(Wanted(), days(3))
        assert slow.asked == 1
        decide(house, 1, Decision.REVIEWED)
        desk.make(Wanted(), days(3))
        assert slow.asked == 2

    watch.ask(ask)


def test_a_slow_ledger_holds_no_page_up_and_hides_no_decision(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overview, "QUICK_S", 0.0)  # every ledger is slow

    def ask(house: wiring.House) -> None:
        desk = made(house)
        assert desk.make(Wanted(), days(3)).made_at == days(3)
        decide(house, 2, Decision.ACCEPTED)
        here = desk.make(Wanted(), days(3) + timedelta(seconds=9))
        assert here.made_at == days(3)
        assert told(here) == (0, 0)
        for _ in range(500):
            if desk.make(Wanted(), days(3) + timedelta(seconds=10)).made_at > days(3):
                break
            time.sleep(0.01)  # another thread reads
        assert desk.make(Wanted(), days(3) + timedelta(seconds=11)).made_at > days(3)

    watch.ask(ask)
