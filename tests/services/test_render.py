"""Whole passes over pages that scripts fill: read by a browser, kept, compared, made again, replayed, or refused."""

from __future__ import annotations

import asyncio
import gzip
import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from databases import skip
from site_of_pages import Site, page, row, serving
from sourcewatch.adapters import chromium
from sourcewatch.faces import wiring
from sourcewatch.services.replay import replay
from watch import Watch

AT = datetime(2026, 11, 1, 8, tzinfo=UTC)
TEXT = " ".join(f"Line {n}: the scheduler places experts at night, and the cache stays warm." for n in range(40))
SHELL = (
    '<div id="root"></div><noscript>You need to enable JavaScript to run this app.</noscript>'
    '<script>fetch("/data").then((r) => r.json()).then((d) => { root.innerHTML = "<h1>Notes</h1><p>" + d + "</p>" })'
    "</script>"
)
QUOTE = "the cache holds 96% of requests"


def said(words: str) -> tuple[int, dict[str, str], bytes]:
    return 200, {"Content-Type": "application/json"}, json.dumps(f"{TEXT} {words}").encode()


def rendered(url: str, how: str) -> str:
    return row("p", url, QUOTE).replace("\n[[source.quote]]", f'render = "{how}"\n\n[[source.quote]]', 1)


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as found:
        found.pages["/p"] = page("Shell", SHELL)
        found.pages["/data"] = said(QUOTE)
        yield found


@pytest.fixture(autouse=True)
def _needs_chromium() -> None:
    if shutil.which("chromium") is None:
        skip("Chromium is not installed")


def archived(watch: Watch, url: str) -> list[bytes]:
    def ask(house: wiring.House) -> list[bytes]:
        found = replay(house.settings, house.archive, house.snapshots)
        return [found.archived(memento).data for memento in found.mementos(url)]

    found: list[bytes] = watch.ask(ask)
    return found


def versions(watch: Watch) -> list[tuple[Any, ...]]:
    return [
        (v.captured_at, v.payload_sha256, v.text_sha256, v.record_id, v.offset)
        for v in watch.ask(lambda house: house.ledger.versions("p"))
    ]


def test_a_script_shell_is_read_by_a_browser_and_its_changes_are_changes_of_what_readers_see(
    tmp_path: Path, site: Site
) -> None:
    watch, rows = Watch(tmp_path), rendered(site.url("/p"), "auto")
    first = watch.passes(rows, AT)["p"]
    assert (first["verdict"], first["new_version"], first["sightings"][0]["sighting"]) == ("ok", True, "verbatim")
    assert first["browser"].startswith("Chromium ")
    again = watch.passes(rows, AT + timedelta(days=1))["p"]
    assert (again["new_version"], again["last_accessed"]) == (False, "2026-11-02T08:00:00Z")
    site.pages["/data"] = said("the cache holds 91% of requests")
    third = watch.passes(rows, AT + timedelta(days=2))["p"]
    assert (third["significance"], third["sightings"][0]["sighting"]) == ("quote", "numbers_changed")

    bodies = archived(watch, site.url("/p"))
    assert [b"96%" in body for body in bodies] == [True, False] and all(b"Line 39" in body for body in bodies)
    before = versions(watch)
    assert len(before) == 2
    for path in tmp_path.glob("sourcewatch.db*"):
        path.unlink()
    done = watch.ask(lambda house: asyncio.run(wiring.rebuild(house, lambda day, so_far: None)))
    assert done.lost == [] and versions(watch) == before
    assert watch.ask(lambda house: wiring.verify(house, AT + timedelta(days=3))).flaws == ()


def test_a_page_that_plain_http_reads_needs_no_browser(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chromium, "find", _never)
    site.pages["/p"] = page("Notes", f"<h1>Notes</h1><p>{TEXT} {QUOTE}</p>")
    line = Watch(tmp_path).passes(rendered(site.url("/p"), "auto"), AT)["p"]
    assert (line["verdict"], line["browser"]) == ("ok", None)


def test_without_a_browser_a_shell_is_not_read_and_says_why(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chromium, "find", _absent)
    watch = Watch(tmp_path)
    line = watch.passes(rendered(site.url("/p"), "auto"), AT)["p"]
    assert (line["verdict"], line["accessed"], line["last_accessed"]) == ("needs_js", False, None)
    last = watch.ask(lambda house: house.ledger.recall("p").last)
    assert last.facts["events"] == ["browser: no Chromium is installed"]


def test_a_plain_answer_never_stands_in_for_what_a_browser_read(
    tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch, rows = Watch(tmp_path), rendered(site.url("/p"), "always")
    site.pages["/p"] = page("Notes", f"<h1>Notes</h1><p id='x'>{TEXT}</p><script>x.append(' {QUOTE}')</script>")
    assert watch.passes(rows, AT)["p"]["sightings"][0]["sighting"] == "verbatim"
    monkeypatch.setattr(chromium, "find", _absent)
    line = watch.passes(rows, AT + timedelta(days=1))["p"]
    assert (line["verdict"], line["rule"], line["new_version"]) == ("needs_js", "browser-failed", False)
    assert line["last_accessed"] == "2026-11-01T08:00:00Z"


def test_where_scripts_lead_on_is_asked_by_plain_http_and_by_robots_txt(tmp_path: Path, site: Site) -> None:
    watch, rows = Watch(tmp_path), rendered(site.url("/old"), "always")
    site.pages["/old"] = page("Old", f"<p>{TEXT}</p><script>location.replace('/p')</script>")
    line = watch.passes(rows, AT)["p"]
    assert (line["verdict"], line["final_url"]) == ("redirected_meta", site.url("/p"))
    assert line["sightings"][0]["sighting"] == "verbatim", "the page that it leads to is filled by scripts, too"

    site.pages["/robots.txt"] = 200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /p\n"
    (tmp_path / "other").mkdir()
    line = Watch(tmp_path / "other").passes(rows, AT)["p"]
    assert (line["verdict"], line["last_accessed"]) == ("robots_disallowed", None)


def test_where_scripts_lead_on_to_a_private_address_nobody_asks(tmp_path: Path, site: Site) -> None:
    site.pages["/p"] = page("P", f"<p>{TEXT}</p><script>location.replace('http://10.0.0.1/secret')</script>")
    line = Watch(tmp_path).passes(rendered(site.url("/p"), "always"), AT)["p"]
    assert (line["verdict"], line["last_accessed"]) == ("redirect_to_private", None)


def test_a_page_that_begins_a_download_stays_the_page_that_it_is(tmp_path: Path, site: Site) -> None:
    site.pages["/p"] = page("P", f"<h1>Get it</h1><p>{TEXT} {QUOTE}</p><script>location.href = '/file.zip'</script>")
    site.pages["/file.zip"] = 200, {"Content-Type": "application/zip"}, b"PK\x03\x04"
    line = Watch(tmp_path).passes(rendered(site.url("/p"), "always"), AT)["p"]
    assert (line["verdict"], line["final_url"]) == ("ok", site.url("/p"))
    assert (line["browser"] or "").startswith("Chromium ")


def test_a_coded_answer_is_shown_without_its_coding_and_kept_with_it(tmp_path: Path, site: Site) -> None:
    packed = gzip.compress(page("Shell", SHELL)[2])
    site.pages["/p"] = 200, {"Content-Type": "text/html", "Content-Encoding": "gzip"}, packed
    watch = Watch(tmp_path)
    assert watch.passes(rendered(site.url("/p"), "auto"), AT)["p"]["sightings"][0]["sighting"] == "verbatim"
    memory = watch.ask(lambda house: house.ledger.recall("p").memory)
    kept = watch.ask(lambda house: house.snapshots.exchange(memory.path, memory.offset))
    assert kept.body == packed and QUOTE.encode() in kept.dom


def test_a_challenge_stays_a_challenge(tmp_path: Path, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chromium, "find", _never)
    site.pages["/p"] = (
        403,
        {"Content-Type": "text/html", "cf-mitigated": "challenge"},
        b"<title>Just a moment...</title>",
    )
    line = Watch(tmp_path).passes(rendered(site.url("/p"), "always"), AT)["p"]
    assert (line["verdict"], line["browser"]) == ("challenge", None)


def _never(_: str = "") -> str:
    raise AssertionError("no browser is needed here")


def _absent(_: str = "") -> str:
    raise chromium.AbsentError("no Chromium is installed")
