"""Whole passes and what editors hear of them: once, in time, in their language, and nobody else's."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from site_of_pages import Site, page, row, write_sources
from sourcewatch.adapters.outbox import Outbox
from sourcewatch.domain.message import Backlog
from sourcewatch.domain.source import Editor, Rest, Settings
from sourcewatch.faces.wiring import House
from sourcewatch.services.messages import BACKOFF, Delivered, Postman
from watch import Watch

START = datetime(2030, 10, 20, 3, 3, tzinfo=UTC)  # ahead of the clock of whoever runs this: a Sunday
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
LI = Editor("Li", ("LI_MAIL",), "en", digest_at="08:30")
ARTICLE = "<h1>Production</h1>" + "".join(
    f"<p>Paragraph {n} tells how the scheduler places experts at night and why the cache stays warm in the day.</p>"
    for n in range(6)
)
QUOTED = "<p>Verification gains {} at the production point.</p>"


@dataclass
class Post:
    """Takes letters, or refuses them as often as it is told to."""

    refuses: int = 0
    letters: list[tuple[str, str, str]] = field(default_factory=list)

    def __call__(self, variable: str, title: str, body: str) -> str:
        if self.refuses:
            self.refuses -= 1
            return "error=500"
        self.letters.append((variable, title, body))
        return ""


@dataclass
class Office:
    """Passes at times of the test's choice, and a round of delivery after each."""

    watch: Watch
    editors: tuple[Editor, ...] = (LI,)
    post: Post = field(default_factory=Post)
    mute: Rest | None = None

    def passes(self, rows: str, at: datetime) -> list[str]:
        """The letters' first lines that went out after a pass."""
        self.enrol(START - DAY)
        self.watch.passes(rows, at)
        return self.round(at)

    def enrol(self, at: datetime) -> None:
        if not (self.watch.folder / "sources.toml").exists():
            write_sources(self.watch.folder, "")
        to = [(e.name, v) for e in self.editors for v in e.variables]
        self.watch.ask(lambda house: house.outbox.enrol(to, at))

    def round(self, at: datetime) -> list[str]:
        before = len(self.post.letters)
        self.deliver(at)
        return [title for _, title, _ in self.post.letters[before:]]

    def deliver(self, at: datetime) -> Delivered:
        def ask(house: House) -> Any:
            return Postman(self.settings(house.settings), house.outbox, self.post, lambda: at).deliver()

        done = self.watch.ask(ask)
        assert isinstance(done, Delivered)
        return done

    def settings(self, settings: Settings) -> Settings:
        sources = tuple(replace(s, mute=self.mute) for s in settings.sources)
        return replace(settings, editors=self.editors, sources=sources)


@pytest.fixture
def office(tmp_path: Path) -> Office:
    return Office(Watch(tmp_path))


def test_a_broken_quote_is_told_at_once_and_its_change_in_the_digest(site: Site, office: Office) -> None:
    rows = row("p", site.url("/p"), "Verification gains 4–7% at the production point")
    site.pages["/p"] = page("Notes", ARTICLE + QUOTED.format("4–7%"))
    assert office.passes(rows, START) == []
    site.pages["/p"] = page("Notes", ARTICLE + QUOTED.format("3–5%"))
    [title] = office.passes(rows, START + HOUR)
    assert "Figures in a quote changed" in title and "numbers changed: 4–7% → 3–5%" in office.post.letters[0][2]
    assert office.passes(rows, START + 2 * HOUR) == []  # confirmed: that waits
    [title] = office.round(START + 40 * HOUR)
    assert "daily digest" in title and "Changed (quote)" in title
    assert office.passes(rows, START + 41 * HOUR) == []


def test_a_quote_that_comes_back_is_told_and_may_break_again(site: Site, office: Office) -> None:
    rows = row("p", site.url("/p"), "Verification gains 4–7% at the production point")
    office.editors = (replace(LI, at_once=("quote", "recovered"), digest="none"),)
    told = []
    for n, figures in enumerate(("4–7%", "3–5%", "3–5%", "4–7%", "2–4%")):
        site.pages["/p"] = page("Notes", ARTICLE + QUOTED.format(figures))
        told.append([t.partition(": ")[0] for t in office.passes(rows, START + n * HOUR)])
    broken, again = ["[Field Notes] · Figures in a quote changed"], ["[Field Notes] · A quote stands again"]
    assert told == [[], broken, [], again, broken]


def test_a_quote_that_was_never_there_is_told_with_the_first_reading(site: Site, office: Office) -> None:
    site.pages["/p"] = page("Notes", ARTICLE)
    rows = row("p", site.url("/p"), "a sentence that nobody ever wrote down here")
    assert [t.partition(": ")[0] for t in office.passes(rows, START)] == [
        "[Field Notes] · A quote was never found on the page"
    ]
    assert office.passes(rows, START + HOUR) == []


def test_a_figure_that_fails_is_confirmed_soon_and_told_once(site: Site, office: Office) -> None:
    site.pages["/p"] = page("Notes", ARTICLE + '<img src="/panel.png" alt="the panel" width="900">')
    site.pages["/panel.png"] = (500, {"Content-Type": "text/plain"}, b"no")
    rows = row("p", site.url("/p"))
    assert office.passes(rows, START) == []
    due = office.watch.ask(lambda house: house.queue.times())["p"]
    assert due - START <= HOUR / 2
    told = [office.passes(rows, START + n * HOUR) for n in (1, 2, 3)]
    assert [len(x) for x in told] == [1, 0, 0] and "A figure cannot be read: the panel" in told[0][0]


def test_a_source_dies_and_comes_back(site: Site, office: Office) -> None:
    site.pages["/p"] = page("Notes", ARTICLE)
    rows = row("p", site.url("/p"))
    office.passes(rows, START)
    del site.pages["/p"]
    told = [office.passes(rows, START + n * DAY) for n in range(1, 9)]
    assert [t for x in told for t in x if "digest" not in t] == [told[6][-1]] and "Dead: p" in told[6][-1]
    assert [t for x in told for t in x if "Cannot be read" in t] and sum("Cannot be" in t for x in told for t in x) == 1
    site.pages["/p"] = page("Notes", ARTICLE)
    assert office.passes(rows, START + 9 * DAY) == [] and office.passes(rows, START + 9.5 * DAY) == []
    office.passes(rows, START + 10.5 * DAY)
    [title] = office.round(START + 12 * DAY)
    assert "Can be read again" in title and "it could not be read for 8 days" in office.post.letters[-1][2]


def test_an_address_that_fails_is_tried_again_and_again_and_then_given_up(site: Site, office: Office) -> None:
    rows = row("p", site.url("/p"), "a sentence that nobody ever wrote down here")
    site.pages["/p"] = page("Notes", ARTICLE)
    office.post.refuses = 99
    assert office.passes(rows, START) == []
    at = START
    for n, wait in enumerate(BACKOFF):
        early = office.deliver(at + wait - timedelta(seconds=1))
        at += wait
        late = office.deliver(at)
        assert (early.failed, late.failed, late.given_up) == (0, 1, int(n == len(BACKOFF) - 1))
        assert late.errors == ("Li (LI_MAIL): error=500",)
    assert timedelta(days=2.5) < at - START < timedelta(days=3.5)
    office.post.refuses = 0
    assert office.round(at + 9 * DAY) == []
    backlog = office.watch.ask(lambda house: house.outbox.backlog(at))
    assert backlog == Backlog(given_up=1) and "1 message could not be delivered" in _markdown(office, at)


def _markdown(office: Office, at: datetime) -> str:
    from sourcewatch.analysis import render
    from sourcewatch.services import publish

    return str(
        office.watch.ask(lambda h: render.markdown(publish.report(h.settings, h.ledger, at, outbox=h.outbox), "en"))
    )


def test_when_one_address_fails_the_other_is_not_told_twice(site: Site, office: Office) -> None:
    office.editors = (replace(LI, variables=("LI_CHAT", "LI_MAIL")),)
    site.pages["/p"] = page("Notes", ARTICLE)
    office.post.refuses = 1
    office.passes(row("p", site.url("/p"), "a sentence that nobody ever wrote down here"), START)
    office.round(START + HOUR)
    office.round(START + 2 * HOUR)
    assert [v for v, _, _ in office.post.letters] == ["LI_MAIL", "LI_CHAT"]


@pytest.mark.parametrize(
    ("editor", "mute", "letters"),
    [
        (LI, None, 1),
        (replace(LI, tiers=("A",)), None, 1),
        (replace(LI, tiers=("Z",)), None, 0),
        (replace(LI, at_once=("dead",), digest="none"), None, 0),
        (LI, Rest(START + DAY, "the author is rewriting it"), 0),
        (LI, Rest(START - DAY, "over by now"), 1),
    ],
)
def test_who_is_told_at_all(site: Site, office: Office, editor: Editor, mute: Rest | None, letters: int) -> None:
    office.editors, office.mute = (editor,), mute
    site.pages["/p"] = page("Notes", ARTICLE)
    rows = row("p", site.url("/p"), "a sentence that nobody ever wrote down here")
    assert len(office.passes(rows, START)) == letters
    assert office.round(START + 30 * DAY) == []
    [(delivery, _)] = office.watch.ask(lambda house: house.outbox.queue(START))
    assert bool(delivery.why_not) == (not letters), "kept, and it says why nobody was told"


def test_two_editors_each_get_their_language(site: Site, office: Office) -> None:
    office.editors = (LI, Editor("陈", ("CHEN",), "zh-CN"))
    site.pages["/p"] = page("Notes", ARTICLE)
    titles = office.passes(row("p", site.url("/p"), "a sentence that nobody ever wrote down here"), START)
    assert ["A quote was never" in t for t in titles] == [True, False] and "引文从未" in titles[1]


def test_after_a_week_of_downtime_there_is_one_digest(site: Site, office: Office) -> None:
    office.editors = (replace(LI, at_once=()),)
    rows = ""
    for n in range(4):
        site.pages[f"/{n}"] = page("Notes", ARTICLE)
        rows += row(f"p{n}", site.url(f"/{n}"), "a sentence that nobody ever wrote down here")
        office.enrol(START - DAY)
        office.watch.passes(rows, START + n * DAY)
    [title] = office.round(START + 11 * DAY)
    assert "daily digest · 4 things" in title and office.round(START + 12 * DAY) == []


def test_a_quiet_day_is_silent_and_a_quiet_week_says_so_once(site: Site, office: Office) -> None:
    office.editors = (LI, Editor("Chen", ("CHEN",), "en", digest="weekly", digest_at="08:30"))
    site.pages["/p"] = page("Notes", ARTICLE)
    office.passes(row("p", site.url("/p")), START)
    sent = [office.round(START + n * HOUR) for n in range(0, 24 * 14, 12)]
    assert [t for x in sent for t in x] == ["[Field Notes] · weekly digest"] * 2
    assert all("All quiet this week" in body for _, _, body in office.post.letters)


def test_a_quiet_digest_is_not_made_up_for_days_later(site: Site, office: Office) -> None:
    office.editors = (Editor("Chen", ("CHEN",), "en", digest="weekly", digest_at="08:30"),)
    site.pages["/p"] = page("Notes", ARTICLE)
    office.passes(row("p", site.url("/p")), START)
    assert office.round(START + 5 * DAY) == [] and len(office.round(START + 8.1 * DAY)) == 1


def test_a_kill_between_sending_and_noting_sends_again_and_loses_nothing(site: Site, office: Office) -> None:
    class Killed(BaseException):
        pass

    def killed(variable: str, title: str, body: str) -> str:
        raise Killed

    site.pages["/p"] = page("Notes", ARTICLE)
    rows = row("p", site.url("/p"), "a sentence that nobody ever wrote down here")
    good, office.post = office.post, killed  # type: ignore[assignment]
    office.enrol(START - DAY)
    office.watch.passes(rows, START)
    with pytest.raises(Killed):
        office.deliver(START)
    office.post = good
    assert office.round(START + timedelta(minutes=5)) == [] and len(office.round(START + timedelta(minutes=10))) == 1
    assert isinstance(office.watch.ask(lambda house: house.outbox), Outbox)
