"""Decisions of editors: who, when, undone, overtaken; what an accepted version silences, and what it does not."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from site_of_pages import Site, page, row, serving
from sourcewatch.analysis import render
from sourcewatch.domain.errors import StorageError
from sourcewatch.domain.report import Report
from sourcewatch.domain.review import Decision, Overtaken, Review, Subject
from sourcewatch.faces import wiring
from sourcewatch.services import publish
from sourcewatch.services import review as service
from watch import Watch

START = datetime(2026, 10, 20, 3, 3, 7, tzinfo=UTC)
BODY = "<p>The scheduler places experts at night, and the cache holds 96% of requests.</p>" * 3
QUOTE = "the cache holds 96% of requests"


def days(n: float) -> datetime:
    return START + timedelta(days=n)


class Editors:
    """A watched page with a quote, and editors who decide about it."""

    def __init__(self, folder: Path, site: Site) -> None:
        self.watch, self.site = Watch(folder), site
        self.rows = row("p", site.url("/p"), QUOTE, more='cited_on = ["/compare/"]\n')
        self.shows(96, 0)

    def shows(self, percent: int, day: float, extra: str = "") -> None:
        self.site.pages["/p"] = page("P", BODY.replace("96%", f"{percent}%") + extra)
        self.watch.passes(self.rows, days(day))

    def decides(
        self, decision: Decision, by: str = "Lin", day: float = 1.5, note: str = "", seen: str | None = None
    ) -> Review | Overtaken | service.Refused:
        def ask(house: wiring.House) -> Review | Overtaken | service.Refused:
            subject = service.subject_of("p", house.ledger.versions("p")[-1])
            return service.decide(house.reviews, subject, decision, by, days(day), note, seen)

        return self.watch.ask(ask)  # type: ignore[no-any-return]

    def takes(self, decision: Decision, **how: object) -> Review:
        found = self.decides(decision, **how)  # type: ignore[arg-type]
        assert isinstance(found, Review), found
        return found

    def report(self, day: float) -> Report:
        ask: Callable[[wiring.House], Report] = lambda h: publish.report(  # noqa: E731
            h.settings, h.ledger, days(day), days(-1), desk=h.reviews.desk()
        )
        return self.watch.ask(ask)  # type: ignore[no-any-return]


@pytest.fixture
def editors(tmp_path: Path) -> Editors:
    with serving() as site:
        yield Editors(tmp_path, site)  # type: ignore[misc]


def test_an_accepted_quote_needs_nobody_until_it_changes_again(editors: Editors) -> None:
    editors.shows(91, 1)
    assert [g.source.id for g in editors.report(1).quotes] == ["p"]
    editors.takes(Decision.ACCEPTED, note="the page is right")
    assert not editors.report(2).quotes
    editors.shows(91, 3, extra="<p>A new paragraph tells of the night shift of the operators.</p>")
    assert not editors.report(3).quotes, "the quote reads as it was accepted"
    editors.shows(88, 4, extra="<p>A new paragraph tells of the night shift of the operators.</p>")
    assert [g.source.id for g in editors.report(4).quotes] == ["p"]


@pytest.mark.parametrize("decision", [Decision.REVIEWED, Decision.FIX, Decision.UNIMPORTANT])
def test_no_other_decision_makes_a_broken_quote_stand(editors: Editors, decision: Decision) -> None:
    editors.shows(91, 1)
    editors.takes(decision)
    assert editors.report(2).quotes
    [change] = editors.report(2).changes
    assert change.review is not None
    assert (change.review.decision, change.review.by) == (decision, "Lin")


def test_the_report_says_who_decided_what_about_a_change(editors: Editors) -> None:
    editors.shows(91, 1)
    editors.takes(Decision.FIX, by="<b>Wu</b>", note="our *page* says 96%")
    report = editors.report(2)
    told = "the site must be mended (&lt;b&gt;Wu&lt;/b&gt;, 21 October 2026 23:03) — our *page* says 96%"
    assert told in render.html(report, "en")
    assert "网站需要修改（\\<b\\>Wu\\</b\\>" in render.markdown(report, "zh-CN")
    assert json.loads(render.as_json(report))["changes"][0]["review"]["decision"] == "fix"


def test_undoing_is_a_decision_and_what_held_before_holds_again(editors: Editors) -> None:
    editors.shows(91, 1)
    editors.takes(Decision.ACCEPTED)
    editors.takes(Decision.FIX, by="Wu")
    assert editors.report(2).quotes
    assert editors.takes(Decision.UNDONE, by="Wu").holds is Decision.ACCEPTED
    assert not editors.report(2).quotes
    assert editors.takes(Decision.UNDONE, by="Lin").holds is None
    assert editors.report(2).quotes
    assert editors.decides(Decision.UNDONE) == service.Refused("r_nothing")
    history = editors.watch.ask(lambda h: [(r.decision, r.by) for r in h.reviews.history("p")])
    assert history == [("accepted", "Lin"), ("fix", "Wu"), ("undone", "Wu"), ("undone", "Lin")]


def test_a_decision_that_has_not_seen_the_newest_one_is_not_taken(editors: Editors) -> None:
    first = editors.takes(Decision.REVIEWED, seen="")
    late = editors.decides(Decision.ACCEPTED, by="Wu", seen="")
    assert isinstance(late, Overtaken)
    assert late.newest == first
    assert editors.takes(Decision.ACCEPTED, by="Wu", seen=first.key).holds is Decision.ACCEPTED


@pytest.mark.parametrize(
    ("by", "note", "why"), [("", "", "r_no_name"), ("x" * 121, "", "r_too_long"), ("Lin", "x" * 2001, "r_too_long")]
)
def test_a_decision_has_a_name_of_sensible_length(editors: Editors, by: str, note: str, why: str) -> None:
    assert editors.decides(Decision.REVIEWED, by=by, note=note) == service.Refused(why)


def test_what_was_never_read_has_no_version_to_accept(editors: Editors) -> None:
    def ask(house: wiring.House) -> list[object]:
        never = Subject("p", "")
        taken = service.decide(house.reviews, never, Decision.FIX, "Lin", days(1))
        return [service.decide(house.reviews, never, Decision.ACCEPTED, "Lin", days(1)), taken]

    refused, taken = editors.watch.ask(ask)
    assert refused == service.Refused("r_no_version")
    assert isinstance(taken, Review)


def test_each_decision_lies_beside_the_snapshots_and_comes_back_without_a_database(editors: Editors) -> None:
    editors.shows(91, 1)
    editors.takes(Decision.ACCEPTED, note="原文已改")
    editors.takes(Decision.FIX, by="Wu")  # in the same second
    editors.takes(Decision.UNDONE, day=2)
    folder = editors.watch.folder / "snapshots" / "_reviews"
    assert sorted(p.name for p in folder.iterdir()) == [
        "20261021T150307Z.1.json", "20261021T150307Z.2.json", "20261022T030307Z.1.json",
    ]  # fmt: skip
    told = json.loads((folder / "20261021T150307Z.1.json").read_text("utf-8"))
    assert (told["by"], told["decision"], told["note"], told["after"]) == ("Lin", "accepted", "原文已改", "")
    before = editors.watch.ask(lambda h: [(r.key, r.by, r.holds) for r in h.reviews.history("p")])
    for path in editors.watch.folder.glob("sourcewatch.db*"):
        path.unlink()
    done = editors.watch.ask(lambda h: asyncio.run(wiring.rebuild(h, lambda day, so_far: None, lambda: days(9))))
    assert not done.lost
    assert editors.watch.ask(lambda h: [(r.key, r.by, r.holds) for r in h.reviews.history("p")]) == before
    assert not editors.report(9).quotes


def test_rebuild_says_which_decisions_it_could_not_bring_in(editors: Editors, tmp_path: Path) -> None:
    editors.takes(Decision.REVIEWED)
    folder = editors.watch.folder / "snapshots" / "_reviews"
    [path] = folder.iterdir()
    (folder / "20261021T150308Z.1.json").write_text("{", encoding="utf-8")
    shutil.copy(path, folder / "20261021T150309Z.1.json")  # a second one after the same
    done = editors.watch.ask(lambda h: asyncio.run(wiring.rebuild(h, lambda day, so_far: None, lambda: days(9))))
    assert [where.rpartition("/")[2] for where, _ in done.lost] == [
        "20261021T150308Z.1.json", "20261021T150309Z.1.json",
    ]  # fmt: skip


def test_a_decision_whose_file_cannot_be_written_is_not_taken(editors: Editors) -> None:
    (editors.watch.folder / "snapshots" / "_reviews").write_text("in the way", encoding="utf-8")
    with pytest.raises(StorageError, match="_reviews"):
        editors.decides(Decision.REVIEWED)
    assert not editors.watch.ask(lambda h: h.reviews.history("p"))


def test_a_manifest_vouches_for_decisions_and_verify_finds_them_sound(editors: Editors) -> None:
    editors.takes(Decision.REVIEWED, day=0.1)
    editors.shows(96, 2)
    [manifest] = (editors.watch.folder / "snapshots" / "_manifest").glob("*.sha256")
    assert "_reviews/20261020T052707Z.1.json" in manifest.read_text("utf-8")
    audit = editors.watch.ask(lambda h: wiring.verify(h, days(2)))
    assert not audit.flaws
