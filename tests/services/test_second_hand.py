"""A source that cannot be read and its mirrors: what is read second-hand is said to be so, and dates nothing else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from live import live
from site_of_pages import Site, page, row, serving, write_sources
from sourcewatch.analysis import cite, render, unread
from sourcewatch.domain.errors import ConfigError
from sourcewatch.faces import shown, wiring
from sourcewatch.services import publish, site_data
from watch import Watch

START = datetime(2026, 10, 20, 3, 3, tzinfo=UTC)
ARTICLE = "<h1>Production</h1>" + "".join(
    f"<p>Paragraph {n} tells how the scheduler places experts at night and why the cache stays warm in the day.</p>"
    for n in range(6)
)
FIGURE = '<img src="/panel.png" alt="the panel" width="800">'
QUOTE = "the cache stays warm"


@pytest.fixture
def mirror() -> Iterator[Site]:
    with serving("127.0.0.2") as site:
        site.pages["/copy"] = page("A copy", ARTICLE)
        yield site


def days(n: float) -> datetime:
    return START + timedelta(days=n)


def named(*mirrors: str) -> str:
    return "mirrors = [" + ", ".join(f'{{ url = "{url}" }}' for url in mirrors) + "]\n"


def declared(site: Site, mirror: Site, *quotes: str) -> str:
    """A source whose mirror has a row of its own."""
    more = row("copy", mirror.url("/copy"), more='mirror_of = "p"\n')
    return row("p", site.url("/p"), *quotes) + more


def report_of(watch: Watch, at: datetime) -> Any:
    return watch.ask(lambda h: publish.report(h.settings, h.ledger, at, START))


def gone(site: Site) -> None:
    site.pages["/p"] = (403, {"Content-Type": "text/plain"}, b"no")


def test_a_mirror_is_not_asked_while_its_source_can_be_read(site: Site, mirror: Site, watch: Watch) -> None:
    site.pages["/p"] = page("P", ARTICLE)
    lines = watch.passes(declared(site, mirror, QUOTE), START)
    assert list(lines) == ["p"] and "second_hand" not in lines["p"] and mirror.asked == []


def test_what_is_read_second_hand_never_dates_the_source_nor_becomes_its_version(
    site: Site, mirror: Site, watch: Watch
) -> None:
    site.pages["/p"] = page("P", ARTICLE)
    rows = declared(site, mirror, QUOTE)
    watch.passes(rows, START)
    gone(site)
    line = watch.passes(rows, days(1))["p"]
    assert (line["verdict"], line["accessed"], line["failing_since"]) == ("forbidden", False, "2026-10-21T03:03:00Z")
    assert line["last_accessed"] == "2026-10-20T03:03:00Z" and not line["new_version"]
    [second] = line["second_hand"]
    assert (second["source"], second["accessed"], second["new_version"]) == ("copy", True, True)
    assert [s["sighting"] for s in second["sightings"]] == ["verbatim"]
    assert len(watch.ask(lambda h: h.ledger.versions("p"))) == len(watch.ask(lambda h: h.ledger.versions("copy"))) == 1
    dated = watch.dates(days(1))
    assert dated["p"]["last_accessed"] == "2026-10-20T03:03:00Z"
    assert dated["copy"]["last_accessed"] == "2026-10-21T03:03:00Z" and dated["copy"]["mirror_of"] == "p"
    meta = json.loads((watch.folder / second["snapshot"].replace(".warc.gz", ".json")).read_text())
    assert meta["mirror_of"] == "p"


def test_the_source_is_compared_with_its_own_version_when_it_comes_back(site: Site, mirror: Site, watch: Watch) -> None:
    site.pages["/p"] = page("P", ARTICLE)
    mirror.pages["/copy"] = page("A copy", ARTICLE.replace("at night", "by day"))
    rows = declared(site, mirror, QUOTE)
    watch.passes(rows, START)
    gone(site)
    watch.passes(rows, days(1))
    site.pages["/p"] = page("P", ARTICLE)
    line = watch.passes(rows, days(2))["p"]
    assert line["rule"] == "same-bytes" and line["change"] is None and "second_hand" not in line
    assert watch.dates(days(2))["p"]["second_hand"] == []


def test_the_first_mirror_that_can_be_read_is_enough(site: Site, mirror: Site, watch: Watch) -> None:
    gone(site)
    mirror.pages["/other"] = page("Another copy", ARTICLE)
    rows = row("p", site.url("/p"), QUOTE, more=named(*(mirror.url(f"/{n}") for n in ("nothing", "copy", "other"))))
    line = watch.passes(rows, START)["p"]
    assert [(m["url"], m["verdict"]) for m in line["second_hand"]] == [
        (mirror.url("/nothing"), "not_found"), (mirror.url("/copy"), "ok")
    ]  # fmt: skip
    assert "/other" not in {path for path, _ in mirror.asked}


def test_a_quote_that_only_a_copy_holds_says_so(site: Site, mirror: Site, watch: Watch) -> None:
    gone(site)
    watch.passes(declared(site, mirror, QUOTE), START)
    report = watch.report(START)
    assert "unverified; the source was never read; the only evidence is second-hand" in report
    assert f"in the second-hand copy at {mirror.url('/copy')}, read 20 October 2026 11:03: verbatim" in report.replace(
        "\\", ""
    )
    [quote] = json.loads(render.as_json(report_of(watch, START)))["quotes"]
    assert quote["sighting"] == "unverified" and quote["second_hand"]["sighting"] == "verbatim"


def test_what_a_copy_lacks_is_said_with_the_pictures_names(
    site: Site, mirror: Site, watch: Watch, picture: bytes
) -> None:
    site.pages |= {"/p": page("P", ARTICLE + FIGURE), "/panel.png": (200, {"Content-Type": "image/png"}, picture)}
    mirror.pages["/copy"] = page("A copy", ARTICLE + FIGURE)
    rows = declared(site, mirror, QUOTE, "nobody wrote this sentence here")
    watch.passes(rows, START)
    gone(site)
    watch.passes(rows, days(1))
    report = report_of(watch, days(1))
    for text in (render.markdown(report).replace("\\", ""), render.html(report)):
        words = text.split("could not read")[-1]
        assert f"second-hand: the copy at {mirror.url('/copy')} was read 21 October 2026 11:03, not the source" in words
        assert "1 of 2 quotes stand in the copy" in words and "these pictures were not: “the panel”" in words
    assert "/panel.png" not in {path for path, _ in mirror.asked}
    assert "二手" in render.html(report, "zh-CN") and "只读文字，以下图片未读：“the panel”" in render.html(
        report, "zh-CN"
    )
    [line] = json.loads(render.as_json(report))["unreadable"]
    assert line["second_hand"][0]["lacks"] == ["the panel"]


def test_exports_say_it_beside_the_date_and_never_instead(site: Site, mirror: Site, watch: Watch) -> None:
    site.pages["/p"] = page("P", ARTICLE)
    rows = declared(site, mirror, QUOTE) + row("never", site.url("/never"), more=named(mirror.url("/copy")))
    watch.passes(rows, START)
    gone(site)
    watch.passes(rows, days(3))
    dated = watch.dates(days(3))
    assert set(dated) == {"p", "never", "copy"}  # a mirror without a row has no entry of its own
    assert dated["p"]["date"] == "2026-10-20" and dated["never"]["date"] is None
    second = {k: dated["p"]["second_hand"][0][k] for k in ("source", "date", "verdict", "quotes")}
    assert second == {"source": "copy", "date": "2026-10-23", "verdict": "ok", "quotes": {"held": 1, "sought": 1}}
    assert [m["date"] for m in dated["never"]["second_hand"]] == ["2026-10-23"]
    citations = watch.ask(lambda h: site_data.citations(h.settings, h.ledger, h.site, days(3)))
    cited = {c["id"]: c for c in json.loads(cite.csl(citations))}
    assert cited["p"]["accessed"] == {"date-parts": [[2026, 10, 20]]} and "accessed" not in cited["never"]
    assert cited["p"]["note"] == f"cannot be read; a second-hand copy was, on 2026-10-23: {mirror.url('/copy')}"
    assert cited["copy"]["note"] == f"second-hand copy of {site.url('/p')}"
    assert f"2026-10-23读到的是二手镜像 {mirror.url('/copy')}" in cite.gbt7714(citations)
    assert r"a second-hand copy was, on 2026-10-23" in cite.bibtex(citations)
    assert "a second-hand copy was read 23 October 2026" in unread.html(report_of(watch, days(3)))


def test_a_mirror_that_fails_is_nobodys_incident_and_its_changes_are_no_message(
    site: Site, mirror: Site, watch: Watch
) -> None:
    gone(site)
    rows = declared(site, mirror, QUOTE)
    watch.passes(rows, START)
    mirror.pages["/copy"] = page("A copy", ARTICLE.replace(QUOTE, "the cache runs cold"))
    watch.passes(rows, days(1))
    watch.passes(rows, days(1.2))  # a second reading confirms it
    mirror.pages["/copy"] = (404, {}, b"")
    for n in (2, 6, 12):
        line = watch.passes(rows, days(n))["p"]
        assert [m["verdict"] for m in line["second_hand"]] == ["not_found"]
    news = watch.ask(lambda h: h.outbox.since(None, 100))
    assert {n.message.source for n in news} <= {"p"}
    report = report_of(watch, days(12))
    assert [x.source.id for x in report.unreadable] == ["p"] and report.dead == ()
    assert {c.source.id for c in report.changes} == {"copy"}
    words = render.markdown(report).replace("\\", "")
    assert (
        "copy — second-hand copy of “p”" in words and "the copy cannot be read since, either (404, not found)" in words
    )


def test_a_mirror_that_was_never_read_is_said_to_be_unread(site: Site, mirror: Site, watch: Watch) -> None:
    gone(site)
    mirror.pages["/copy"] = (404, {}, b"")
    watch.passes(declared(site, mirror, QUOTE), START)
    assert "could not be read, either (404, not found)" in watch.report(START)
    assert watch.dates(START)["p"]["second_hand"][0]["date"] is None


def test_a_host_that_wishes_to_be_left_alone_is_not_pressed_for_a_copy(site: Site, mirror: Site, watch: Watch) -> None:
    gone(site)
    mirror.pages["/copy"] = (429, {"Retry-After": "3600"}, b"")
    mirror.pages["/other"] = page("Another copy", ARTICLE)
    rows = row("p", site.url("/p"), QUOTE, more=named(mirror.url("/copy"), mirror.url("/other")))
    line = watch.passes(rows, START)["p"]
    assert [m["verdict"] for m in line["second_hand"]] == ["rate_limited"]
    assert [path for path, _ in mirror.asked if path != "/robots.txt"] == ["/copy"]


def test_status_and_the_summary_mark_what_is_second_hand(site: Site, mirror: Site, watch: Watch) -> None:
    from sourcewatch.analysis.voice import Voice

    site.pages["/p"] = page("P", ARTICLE)
    rows = declared(site, mirror, QUOTE)
    watch.passes(rows, START)
    gone(site)
    line = watch.passes(rows, days(1))["p"]
    voice = Voice("en", "UTC")
    assert f"read second-hand:\n  p: {mirror.url('/copy')}" in shown.summary([line], None, voice)
    seen = watch.ask(lambda h: publish.view(h.settings, h.ledger, days(1)))
    table = {r[0]: r for r in shown.status_rows([seen.line(s) for s in seen.sources.values()], voice, days(1))}
    assert table["p"][3] == "2026-10-20 03:03Z (second-hand: 2026-10-21 03:03Z)"
    assert table["copy"][2] == "ok (second-hand of p)" and table["copy"][5].startswith("with its source")


def test_the_database_can_be_made_again_and_knows_what_was_second_hand(site: Site, mirror: Site, watch: Watch) -> None:
    site.pages["/p"] = page("P", ARTICLE)
    rows = row("p", site.url("/p"), QUOTE, more=named(mirror.url("/copy")))
    watch.passes(rows, START)
    gone(site)
    watch.passes(rows, days(1))
    before = watch.dates(days(1))
    for file in watch.folder.glob("sourcewatch.db*"):
        file.unlink()
    with wiring.open_house(watch.folder / "sources.toml", None, {}) as house:
        done = asyncio.run(wiring.rebuild(house, lambda day, so_far: None, lambda: days(1)))
        assert done.lost == [] and done.versions == 2
    assert watch.dates(days(1)) == before


@pytest.mark.parametrize(
    ("rows", "fault"),
    [
        (row("a", "https://a.example/", more='mirror_of = "b"\n')
         + row("b", "https://b.example/", more='mirror_of = "c"\n') + row("c", "https://c.example/"),
         "a mirror is of a page"),
        (row("a", "https://a.example/", more='mirror_of = "c"\n' + named("https://m.example/"))
         + row("c", "https://c.example/"), "a mirror has no mirrors"),
        (row("a", "https://a.example/", more='kind = "figure"\nparent = "c"\n' + named("https://m.example/"))
         + row("c", "https://c.example/"), "only text is read second-hand"),
    ],
)  # fmt: skip
def test_mirrors_that_lead_nowhere_are_told_before_anything_is_fetched(tmp_path: Path, rows: str, fault: str) -> None:
    with pytest.raises(ConfigError, match=fault):
        wiring.read_settings(write_sources(tmp_path, rows), {})


def test_the_desk_the_source_page_and_the_replay_mark_it(site: Site, mirror: Site, watch: Watch) -> None:
    def shown(base: str, path: str) -> str:
        with urlopen(Request(base.rstrip("/") + path, headers={"Accept": "text/html"}), timeout=60) as answer:
            return str(answer.read().decode())

    gone(site)
    rows = declared(site, mirror, QUOTE)
    watch.passes(rows, START)
    with live(watch.folder) as base:
        desk, source, copy = (shown(base, path) for path in ("/", "/sources/p", "/sources/copy"))
        second = f"second-hand: the copy at {mirror.url('/copy')} was read"
        assert second in desk and second in source and "the only evidence is second-hand" in desk
        assert "This is a second-hand copy, not the source." in copy and 'href="/sources/p"' in copy
        framed = shown(base, f"/memento/20261020T030300Z/{mirror.url('/copy')}")
        assert "Second-hand: a copy of “p”, not the source itself" in framed
        with pytest.raises(HTTPError, match="404"):
            shown(base, f"/timemap/link/{site.url('/p')}")
