"""Pages whose looks are watched: what a browser's screenshot shows is compared, kept, told and rebuilt."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from live import live
from panels import dashboard, sent
from site_of_pages import Site, page, row, serving, write_sources
from sourcewatch.analysis import render
from sourcewatch.domain.capture import Capture, View
from sourcewatch.domain.change import unpack_picture
from sourcewatch.faces import wiring
from sourcewatch.faces.crew import crew
from sourcewatch.services import publish
from watch import Watch

START = datetime(2026, 10, 20, 3, 3, tzinfo=UTC)
ARTICLE = "<h1>Cluster</h1>" + "".join(f"<p>Paragraph {n} says what the panel below it shows.</p>" for n in range(6))
WATCHED = 'render = "always"\nwatch = "picture"\n'


@dataclass
class Screen:
    """A browser that shows what the test puts on it."""

    shot: bytes

    async def render(self, capture: Capture, body: bytes) -> Capture:
        answer = replace(capture.answer, dom=body)
        return replace(
            capture, exchanges=(*capture.exchanges[:-1], answer), view=View("a screen", screenshot=self.shot)
        )


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        site.pages["/p"] = page("Cluster", ARTICLE)
        yield site


def seen(watch: Watch, site: Site, shot: bytes, day: int, options: str = WATCHED) -> dict[str, Any]:
    """A pass in which a browser shows *shot* of the page."""
    at, lines = START + timedelta(days=day), list[Any]()

    async def run(house: wiring.House) -> None:
        async with crew(house, "test", clock=lambda: at) as made:
            runner = replace(made.runner, checker=replace(made.runner.checker, browser=Screen(shot)))
            await runner.run(["p"], trigger="test", told=lines.append)

    path = write_sources(watch.folder, row("p", site.url("/p"), more=options))
    with wiring.open_house(path, None, {}) as house:
        asyncio.run(run(house))
    [line] = lines
    return dict(line)


def test_a_page_whose_text_stays_and_whose_looks_change_has_changed(watch: Watch, site: Site) -> None:
    assert seen(watch, site, sent(dashboard("87.3%")), 0)["new_version"]
    assert not seen(watch, site, sent(dashboard("87.3%")), 1)["new_version"]
    line = seen(watch, site, sent(dashboard("81.3%")), 2)
    assert line["significance"] == "figures" and line["change"]["edits"] == 1
    [box] = line["change"]["picture"]["regions"]
    assert 215 <= box["x"] <= 250
    report = watch.ask(lambda h: publish.report(h.settings, h.ledger, START, START))
    assert f"px at {box['x']}, {box['y']}" in render.html(report, "en")


def test_looks_are_compared_only_where_the_editor_asks_for_it(watch: Watch, site: Site) -> None:
    seen(watch, site, sent(dashboard("87.3%")), 0, 'render = "always"\n')
    line = seen(watch, site, sent(dashboard("81.3%")), 1, 'render = "always"\n')
    assert not line["new_version"] and line["accessed"]


def test_the_first_screenshot_of_a_page_that_was_read_before_is_kept_and_told_to_nobody(
    watch: Watch, site: Site
) -> None:
    seen(watch, site, b"", 0)
    line = seen(watch, site, sent(dashboard("87.3%")), 1)
    assert line["new_version"] and line["change"] is None
    assert not seen(watch, site, sent(dashboard("87.3%")), 2)["new_version"]
    assert seen(watch, site, sent(dashboard("81.3%")), 3)["change"]["picture"]


def test_a_page_without_a_screenshot_this_time_is_compared_by_its_text(watch: Watch, site: Site) -> None:
    seen(watch, site, sent(dashboard()), 0)
    assert not seen(watch, site, b"", 1)["new_version"]
    site.pages["/p"] = page("Cluster", ARTICLE + "<p>A new paragraph about the night of the outage.</p>")
    assert seen(watch, site, b"", 2)["change"]["picture"] is None


def test_a_rebuilt_database_knows_where_the_page_looked_different(watch: Watch, site: Site) -> None:
    for day, rate in enumerate(("87.3%", "81.3%")):
        seen(watch, site, sent(dashboard(rate)), day)
    [before] = watch.ask(lambda h: h.ledger.changes_since(None, "p"))
    for file in watch.folder.glob("sourcewatch.db*"):
        file.unlink()
    with wiring.open_house(watch.folder / "sources.toml", None, {}) as house:
        asyncio.run(wiring.rebuild(house, lambda day, so_far: None))
        [after] = house.ledger.changes_since(None, "p")
    assert unpack_picture(after.packed) == unpack_picture(before.packed) != None  # noqa: E711


def test_the_first_and_the_new_screenshot_are_shown_to_editors(watch: Watch, site: Site) -> None:
    first, second = sent(dashboard("87.3%")), sent(dashboard("81.3%"))
    seen(watch, site, first, 0)
    seen(watch, site, second, 1)
    numbers = watch.ask(lambda h: [v.id for v in h.ledger.versions("p")])
    with live(watch.folder) as base:
        shown = [httpx.get(f"{base}versions/{n}/screenshot") for n in numbers]
        change = httpx.get(f"{base}sources/p/diff?view=side&from={numbers[0]}&to={numbers[1]}").text
    assert [s.content for s in shown] == [first, second]
    assert "sandbox" in shown[0].headers["content-security-policy"]
    assert f"/versions/{numbers[1]}/screenshot" in change and '<svg class="boxes" viewBox="0 0 640 360"' in change
