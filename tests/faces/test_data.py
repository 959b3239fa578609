"""The site's data over HTTP: true, kept in memory until the ledger is written to, and paged where it is long."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from asking import Answer, ask
from sqlalchemy import Engine, insert

from live import live
from pictures import png
from site_of_pages import Site, page, row, serving, write_sources
from sourcewatch.adapters import tables as t
from sourcewatch.adapters.site_rows import SiteRows
from sourcewatch.faces import wiring
from sourcewatch.faces.web.answers import _takes_gzip
from sourcewatch.faces.web.app import build
from sourcewatch.faces.web.data import Data
from watch import Watch

FIRST = datetime(2026, 10, 20, 11, 3, tzinfo=UTC)
DAY = timedelta(days=1)
PARAGRAPH = "<p>A paragraph that says what the operators of the cluster measured over a whole week of service.</p>"
PUBLIC = '[serve]\nurl = "https://sw.example/w/"\n'


def notes(edition: int, more: str = "") -> Any:
    return page("Notes", f"<h1>Notes</h1>{PARAGRAPH * 4}<p>Edition {edition} measured {edition}7 units.</p>{more}")


@dataclass(frozen=True, slots=True)
class Face:
    base: str
    site: Site

    def ask(self, path: str, method: str = "GET", **headers: str) -> Answer:
        return ask(self.base, path, method, **headers)


@pytest.fixture(scope="module")
def face(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Face]:
    folder = tmp_path_factory.mktemp("site")
    with serving() as site:
        site.pages["/panel.png"] = (200, {"Content-Type": "image/png"}, png())
        rows = PUBLIC + row("notes", site.url("/notes"), "Edition 1 measured 17 units.", more='cited_on = ["/x/"]\n')
        rows += row("gone", site.url("/gone"), more='embeds = "none"\n')
        rows += '[[source]]\nid = "later"\ntier = "A"\ntitle = "later"\n'
        watch = Watch(folder)
        for n in (1, 2, 3):
            shown = '<img src="/panel.png" alt="the panel"><img src="/lost.png" alt="lost">'
            site.pages["/notes"] = notes(n, shown)
            watch.passes(rows, FIRST + (n - 1) * DAY)
        watch.passes(rows, FIRST + 2 * DAY + timedelta(hours=1))
        with live(folder) as base:
            yield Face(base, site)


def test_the_dates_are_as_the_contract_has_them_with_the_version_that_they_are_of(face: Face) -> None:
    found = face.ask("/last-accessed.json").json
    assert list(found) == ["generated_at", "site", "sources"] and set(found["sources"]) == {"notes", "gone", "later"}
    one = found["sources"]["notes"]
    assert (one["last_accessed"], one["precision"], one["date"]) == ("2026-10-22T12:03:00Z", "minute", "2026-10-22")
    assert one["text"] == {"zh-CN": "访问于 2026 年 10 月 22 日", "en": "accessed 22 October 2026"}
    assert one["version_at"] == "2026-10-22T11:03:00Z"
    assert one["as_of"] == {"zh-CN": "2026 年 10 月 22 日的版本", "en": "version of 22 October 2026"}
    assert one["memento"] == f"https://sw.example/w/memento/20261022T110300Z/{face.site.url('/notes')}"
    assert [u["alt"] for u in one["unread"]] == ["lost"]
    gone = found["sources"]["gone"]
    assert (gone["last_accessed"], gone["memento"], gone["verdict"]) == (None, None, "not_found")
    assert found["sources"]["later"]["url"] is None


def test_the_memento_that_the_dates_name_is_there(face: Face) -> None:
    named = face.ask("/last-accessed.json").json["sources"]["notes"]["memento"]
    path = named.removeprefix("https://sw.example/w")
    answer = face.ask(path)
    assert answer.status == 200 and answer.headers["memento-datetime"] == "Thu, 22 Oct 2026 11:03:00 GMT"


def test_whoever_has_the_dates_is_told_so_in_a_few_bytes(face: Face) -> None:
    whole = face.ask("/last-accessed.json")
    etag = whole.headers["etag"]
    assert whole.headers["access-control-allow-origin"] == "*" and "max-age" in whole.headers["cache-control"]
    for known in (etag, etag.removeprefix("W/"), f'"other", {etag}', "*"):
        again = face.ask("/last-accessed.json", If_None_Match=known)
        assert (again.status, again.body, again.headers["etag"]) == (304, b"", etag)
        assert again.headers["access-control-allow-origin"] == "*"
    assert face.ask("/last-accessed.json", If_None_Match='"other"').status == 200
    assert face.ask("/last-accessed.json", "HEAD").headers["content-length"] == str(len(whole.body))


def test_who_takes_gzip_gets_it(face: Face) -> None:
    packed, plain = face.ask("/last-accessed.json", Accept_Encoding="br, gzip"), face.ask("/last-accessed.json")
    assert packed.headers["content-encoding"] == "gzip" and len(packed.body) < len(plain.body)
    assert packed.json == plain.json and packed.headers["vary"] == plain.headers["vary"] == "Accept-Encoding"
    assert packed.headers["etag"] == plain.headers["etag"]


@pytest.mark.parametrize(
    ("accepted", "taken"),
    [
        ("gzip", True), ("GZIP;q=0.5", True), ("*", True), ("gzip;q=0, *", False), ("br", False), ("", False),
        ("gzip;q=x", False),
    ],
)  # fmt: skip
def test_gzip_is_taken_by_its_weight(accepted: str, taken: bool) -> None:
    assert _takes_gzip(accepted) is taken


def test_every_source_is_listed_a_page_at_a_time(face: Face) -> None:
    path, ids = "/api/v1/sources?limit=2", []
    for _ in range(9):
        answer = face.ask(path)
        ids += [s["id"] for s in answer.json["sources"]]
        if (path := answer.json["next"]) is None:
            break
        assert answer.headers["link"] == f'<{path}>; rel="next"'
    declared = [i for i in ids if "--" not in i]
    assert ids == sorted(ids) and declared == ["gone", "later", "notes"] and len(ids) == 5


def test_one_source_is_shown_with_its_quotes_and_what_the_machine_found_last(face: Face) -> None:
    one = face.ask("/api/v1/sources/notes").json
    assert (one["id"], one["kind"], one["class"], one["strikes"], one["cited_on"]) == (
        "notes", "page", "ok", 0, ["/x/"],
    )  # fmt: skip
    assert one["checked_at"] == "2026-10-22T12:03:00Z" and one["final_url"] == face.site.url("/notes")
    [quote] = one["quotes"]
    assert (quote["sighting"], quote["stood_at"]) == ("numbers_changed", "2026-10-20T11:03:00Z")
    assert face.ask(one["versions"]).json["versions"][0]["captured_at"] == one["version_at"]
    assert face.ask("/api/v1/sources/later").json["checked_at"] is None


def test_checks_come_newest_first_and_page_by_page(face: Face) -> None:
    first = face.ask("/api/v1/sources/notes/checks?limit=2").json
    rest = face.ask(first["next"]).json
    rows = first["checks"] + rest["checks"]
    assert [r["new_version"] for r in rows] == [True, True, True] and rest["next"] is None
    assert (rows[0]["n"], rows[0]["last_at"], rows[0]["verdict"]) == (2, "2026-10-22T12:03:00Z", "ok_partial")
    assert [r["id"] for r in rows] == sorted((r["id"] for r in rows), reverse=True)
    [lost] = face.ask("/api/v1/sources/gone/checks?limit=1").json["checks"]
    assert (lost["accessed"], lost["class"], lost["status"], lost["version"]) == (False, "gone", 404, None)


def test_versions_and_changes_name_each_other(face: Face) -> None:
    versions = {v["id"]: v for v in face.ask("/api/v1/sources/notes/versions").json["versions"]}
    changes = face.ask("/api/v1/sources/notes/changes").json["changes"]
    assert len(versions) == 3 and [c["significance"] for c in changes] == ["quote", "quote"]
    for change in changes:
        for side in ("from", "to"):
            assert versions[change[side]["version"]]["captured_at"] == change[side]["captured_at"]
    assert any(-1 in [op for op, _ in e["parts"]] for e in changes[0]["edits"])
    assert face.ask("/changes").json == face.ask("/api/v1/changes").json
    since = face.ask("/api/v1/changes?since=2026-10-22T00:00:00Z").json["changes"]
    assert [c["id"] for c in since] == [changes[0]["id"]]


def test_only_the_published_data_is_open_to_other_sites_scripts(face: Face) -> None:
    for path in ("/last-accessed.json", "/feed.atom", "/changes", "/sourcewatch.js"):
        assert face.ask(path).headers["access-control-allow-origin"] == "*", path


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/api/v1/sources/nobody", 404, "no source of that id"),
        ("/api/v1/sources/nobody/checks", 404, "no source of that id"),
        ("/api/v1/sources?limit=0", 400, "from 1 to 1000"),
        ("/api/v1/sources?limit=%D9%A3", 400, "from 1 to 1000"),
        ("/api/v1/sources/notes/checks?after=x", 400, "id of a row"),
        ("/api/v1/sources/notes/checks?after=99999999999999999999", 400, "id of a row"),
        ("/changes?since=yesterday", 400, "a time with its zone"),
        ("/changes?since=2026-10-20", 400, "a time with its zone"),
        ("/changes?since=9999-12-31T23:59:59-23:59", 400, "a time with its zone"),
        ("/api/v1/changes?since=9999-12-31T23:59:59-23:59", 400, "a time with its zone"),
        ("/api/v1/changes?since=0001-01-01T00:00:00%2B23:59", 400, "a time with its zone"),
        ("/api/v2", 404, "nothing here"),
    ],
)
def test_errors_are_json_in_one_sentence(face: Face, path: str, status: int, words: str) -> None:
    answer = face.ask(path)
    assert answer.status == status and list(answer.json) == ["error"] and words in answer.json["error"]


def test_without_a_public_address_nobody_is_sent_to_a_memento(tmp_path: Path) -> None:
    with serving() as site:
        site.pages["/notes"] = notes(1)
        watch = Watch(tmp_path)
        watch.passes(row("notes", site.url("/notes")), FIRST)
    assert watch.dates(FIRST)["notes"]["memento"] is None and watch.dates(FIRST)["notes"]["version_at"]


def test_a_version_whose_files_are_gone_is_still_named_but_not_linked(tmp_path: Path) -> None:
    with serving() as site:
        site.pages["/notes"] = notes(1)
        watch = Watch(tmp_path)
        watch.passes(PUBLIC + row("notes", site.url("/notes")), FIRST)

    def drop(house: wiring.House) -> None:
        with house.site._engine.begin() as c:
            c.execute(insert(t.dropped).values(version=1, at=FIRST, rule="by hand"))

    watch.ask(drop)
    one = watch.dates(FIRST)["notes"]
    assert (one["memento"], one["version_at"]) == (None, "2026-10-20T11:03:00Z")


class Clock:
    """Time that passes when the test says so."""

    def __init__(self) -> None:
        self.s = 0.0

    def __call__(self) -> float:
        return self.s


def test_what_is_written_is_seen_after_a_second_and_nothing_is_made_twice(tmp_path: Path) -> None:
    with serving() as site:
        site.pages["/notes"] = notes(1)
        watch, rows = Watch(tmp_path), row("notes", site.url("/notes"))
        watch.passes(rows, FIRST)
        with wiring.open_house(tmp_path / "sources.toml", None, {}) as house:
            passed = Clock()
            data = Data(house, lambda: FIRST + DAY, passed)

            def made() -> Any:
                return asyncio.run(data.made())

            before = made()
            passed.s += 10
            assert made() is before, "nothing was written"
            watch.passes(rows, FIRST + timedelta(hours=1))
            assert made() is before, "within a second nobody looks"
            passed.s += 1.1
            after = made()
            assert after is not before and after.last_accessed.etag != before.last_accessed.etag
            assert json.loads(after.last_accessed.data)["sources"]["notes"]["last_accessed"] == "2026-10-20T12:03:00Z"
            passed.s += 301
            again = made()
            assert again is not after and again.last_accessed.etag == after.last_accessed.etag


def test_the_mark_moves_with_every_commit_of_others_and_with_nothing_else(engine: Engine) -> None:
    rows = SiteRows(engine)
    first = rows.mark()
    assert rows.mark() == first
    with engine.begin() as c:
        c.execute(insert(t.probes).values(host="a.example", asked_at=FIRST, facts={}))
    second = rows.mark()
    assert second != first and rows.mark() == second
    with engine.connect() as c:
        c.execute(t.probes.select())
    assert rows.mark() == second


def test_the_feed_is_served_with_an_etag(face: Face) -> None:
    answer = face.ask("/feed.atom")
    assert answer.headers["content-type"].startswith("application/atom+xml") and "<entry>" in answer.text
    assert face.ask("/feed.atom", If_None_Match=answer.headers["etag"]).status == 304


def test_the_document_names_every_route_of_the_api(face: Face, tmp_path: Path) -> None:
    named = face.ask("/api/openapi.json").json["paths"]
    path = write_sources(tmp_path, "")
    with wiring.open_house(path, None, {}) as house:
        routes = {getattr(route, "path", "") for route in build(house).routes}
    assert {r for r in routes if r.startswith("/api/")} | {"/last-accessed.json", "/feed.atom"} <= set(named)


@pytest.mark.parametrize(
    "path", ["/last-accessed.json", "/feed.atom", "/changes", "/api/v1/changes", "/sourcewatch.js"]
)
def test_a_page_of_another_site_may_read_what_is_the_sites(face: Face, path: str) -> None:
    first = face.ask(path)
    again = face.ask(path, If_None_Match=first.headers["etag"])
    assert (first.status, again.status) == (200, 304)
    assert [x.headers.get("access-control-allow-origin") for x in (first, again)] == ["*", "*"]
