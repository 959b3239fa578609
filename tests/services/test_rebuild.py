"""The database is deleted, and comes back out of the archive; what a crash left without a row is brought in."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from buckets import Way, harm, moved, names, new_bucket
from site_of_pages import page, row, serving
from sourcewatch.adapters.ledger import Ledger
from sourcewatch.domain.errors import StorageError
from sourcewatch.faces import wiring
from sourcewatch.services.rebuild import Rebuilt
from watch import Watch

START = datetime(2026, 10, 20, 3, 3, 7, 250_000, tzinfo=UTC)
BODY = "<p>The scheduler places experts at night, and the cache stays warm during the day.</p>" * 3
FIGURE = '<figure><img src="{src}" alt="panel" width="800"><figcaption>panel</figcaption></figure>'
AT_THE_END = START + timedelta(days=9)


def days(n: float) -> datetime:
    return START + timedelta(days=n)


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory, picture: bytes) -> Path:
    """Nine days of a page that changes twice and rots, one whose figure fails, and one that is not cited any more."""
    folder = tmp_path_factory.mktemp("lived")
    watch = Watch(folder)
    with serving() as site:
        rows = row("p", site.url("/p"), "the cache stays warm", "panel counts") + row("f", site.url("/f"))
        site.pages["/p"], site.pages["/old"] = page("P", BODY), page("Old", BODY)
        site.pages["/f"] = page("F", BODY + FIGURE.format(src="/f.png"))
        site.pages["/f.png"] = (200, {"Content-Type": "image/png"}, picture)
        watch.passes(rows + row("old", site.url("/old")), days(0))
        watch.passes(rows, days(1))
        watch.passes(rows, days(1.2))
        site.pages["/p"] = page("P", BODY + "<p>From November on the panel counts requests instead of words.</p>")
        del site.pages["/f.png"]
        watch.passes(rows, days(2))
        watch.passes(rows, days(3))
        site.pages["/p"] = page("P", BODY.replace("warm", "cold"))
        watch.passes(rows, days(4))
        site.pages["/p"] = (404, {"Content-Type": "text/html"}, b"<h1>Not found</h1>" + BODY.encode())
        for n in (5, 6, 7, 8):
            watch.passes(rows, days(n))
    return folder


@pytest.fixture(params=["folder", "bucket"])
def watch(request: pytest.FixtureRequest, lived: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watch:
    """Where snapshots lie in a folder, and where they were copied into a bucket."""
    folder = shutil.copytree(lived, tmp_path / "copy")
    if request.param == "folder":
        return Watch(folder)
    bucket = request.getfixturevalue("bucket")
    moved(folder, bucket, monkeypatch)
    return Watch(folder, bucket)


def rebuilt(watch: Watch) -> Rebuilt:
    def ask(house: wiring.House) -> Rebuilt:
        return asyncio.run(wiring.rebuild(house, lambda day, so_far: None, lambda: AT_THE_END))

    return watch.ask(ask)  # type: ignore[no-any-return]


def forget(watch: Watch) -> None:
    for path in watch.folder.glob("sourcewatch.db*"):
        path.unlink()


TABLES = {
    "versions": "source, captured_at, url, final_url, status, media_type, body_sha256, payload_sha256, text_sha256, "
    'path, record_id, "offset", size_bytes, etag',
    "changes": "source, seen_at, significance, told, suppressed, kept, novelty, extent, edits, maker, "
    "confirmed_at IS NULL",
    "sightings": "source, quote, kind, score, facts",
    "documents": "title, language, packed",
    "sources": "id, kind, parent, url, title, alt, retired_at IS NULL",
}


def tables(watch: Watch) -> dict[str, list[Any]]:
    with closing(sqlite3.connect(watch.folder / "sourcewatch.db")) as c:
        found = {name: list(c.execute(f"SELECT {columns} FROM {name}")) for name, columns in TABLES.items()}
    return {name: sorted(rows, key=repr) for name, rows in found.items()}


def test_sources_versions_texts_changes_and_sightings_come_back(watch: Watch) -> None:
    before = tables(watch)
    assert len(before["versions"]) == 6 and len(before["changes"]) == 2
    forget(watch)
    done = rebuilt(watch)
    assert (done.versions, done.lost) == (6, [])
    after = tables(watch)
    for name, rows in before.items():
        assert after[name] == rows, name


def test_dates_and_failures_come_back_never_later_than_they_were(watch: Watch) -> None:
    before = watch.dates(AT_THE_END)
    forget(watch)
    rebuilt(watch)
    after = watch.dates(AT_THE_END)
    assert after == before  # each of these days had one check


def test_of_a_day_with_several_checks_the_first_dates_the_source(lived: Path, tmp_path: Path) -> None:
    watch = Watch(tmp_path)
    with serving() as site:
        site.pages["/p"] = page("P", BODY)
        rows = row("p", site.url("/p"))
        for moment in (days(0), days(1), days(1.2), days(1.4)):
            watch.passes(rows, moment)
        forget(watch)
        rebuilt(watch)
        assert watch.dates(AT_THE_END)["p"]["last_accessed"] == "2026-10-21T03:03:07Z"


def test_a_failing_source_keeps_its_strikes(watch: Watch) -> None:
    def standing(house: wiring.House) -> Any:
        return house.ledger.standings(AT_THE_END)["p"]

    before = watch.ask(standing)
    forget(watch)
    rebuilt(watch)
    after = watch.ask(standing)
    assert before.strikes == after.strikes == 4
    assert (before.failing_since, before.last_accessed) == (after.failing_since, after.last_accessed)


def test_a_second_rebuild_brings_in_nothing(watch: Watch) -> None:
    forget(watch)
    rebuilt(watch)
    before = tables(watch)
    assert (again := rebuilt(watch)).versions == 0 and again.checks == 0
    assert tables(watch) == before


def test_the_watch_goes_on_after_a_rebuild(watch: Watch) -> None:
    forget(watch)
    rebuilt(watch)
    with serving() as site:  # another address: only what is known of the old one matters here
        site.pages["/new"] = page("N", BODY)
        line = watch.passes(row("n", site.url("/new")), days(10))["n"]
    assert line["verdict"] == "ok" and line["new_version"]


def test_what_is_gone_is_told_and_the_rest_comes_back(watch: Watch) -> None:
    first, facts = names(watch.store, "p/2026/*.warc.gz")[0], names(watch.store, "f/2026/*.json")[0]
    harm(watch.store, first, lambda path: path.write_bytes(b"not what it was"))
    harm(watch.store, facts, lambda path: path.write_text("{"))
    forget(watch)
    done = rebuilt(watch)
    assert {first, facts} <= {path for path, _ in done.lost}
    assert done.versions == 3


def test_a_snapshot_without_a_row_is_brought_in_alone(watch: Watch) -> None:
    """As a crash between the file and its row leaves it."""
    before = tables(watch)
    with closing(sqlite3.connect(watch.folder / "sourcewatch.db")) as c:
        newest = "SELECT max(id) FROM versions WHERE source = 'p'"
        for table in ("checks", "versions"):
            c.execute(f"DROP TRIGGER guard_{table}_delete")
        for table, column in (("changes", "to_version"), ("sightings", "version"), ("documents", "version")):
            c.execute(f"DELETE FROM {table} WHERE {column} = ({newest})")
        c.execute("DELETE FROM histories WHERE source = 'p'")
        c.execute(
            f"DELETE FROM checks WHERE source = 'p' AND id >= (SELECT min(id) FROM checks WHERE version = ({newest}))"
        )
        c.execute(f"DELETE FROM versions WHERE id = ({newest})")
        c.commit()
    done = rebuilt(watch)
    assert (done.versions, done.lost) == (1, [])
    assert tables(watch)["versions"] == before["versions"]


def test_a_bucket_that_is_out_of_order_stops_a_rebuild_and_nothing_is_told_lost(
    lived: Path, tmp_path: Path, s3: str, way: Way, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the database would be without what could not be read just then, and nobody would ask for it again."""
    monkeypatch.setattr("sourcewatch.adapters.bucket.RETRIES", 0)
    bucket = new_bucket(s3, way.endpoint)
    watch = Watch(shutil.copytree(lived, tmp_path / "copy"), bucket)
    moved(watch.folder, bucket, monkeypatch)
    before, asked = tables(watch), count()
    forget(watch)
    way.fails = lambda method, path: 503 if next(asked) > 15 else None
    with pytest.raises(StorageError, match="it answered 503"):
        rebuilt(watch)
    way.fails = lambda method, path: None
    done = rebuilt(watch)
    assert done.lost == [] and tables(watch)["versions"] == before["versions"]


def test_the_command_says_what_came_back(watch: Watch, capsys: pytest.CaptureFixture[str]) -> None:
    from sourcewatch.faces.cli import main

    forget(watch)
    with pytest.raises(SystemExit) as end, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["sourcewatch", "--config", str(watch.folder / "sources.toml"), "rebuild"])
        main()
    assert end.value.code == 0
    said = capsys.readouterr().out
    assert "6 versions and" in said and "up to a day older" in said


@pytest.mark.parametrize("kind", ["folder", "bucket"])
def test_a_run_that_was_killed_between_file_and_row_is_made_good_by_the_next(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = Watch(tmp_path, request.getfixturevalue("bucket") if kind == "bucket" else None)
    rows_of = row("p", "{url}", "the cache stays warm")
    with serving() as site:
        site.pages["/p"] = page("P", BODY)
        rows = rows_of.replace("{url}", site.url("/p"))
        with monkeypatch.context() as patch:
            patch.setattr("sourcewatch.adapters.ledger.Ledger.keep", _killed)
            with pytest.raises(KeyboardInterrupt):
                watch.passes(rows, days(0))
        assert len(names(watch.store, "p/2026/*.warc.gz")) == 1
        line = watch.passes(rows, days(1))["p"]
    assert line["rule"] == "same-bytes", "the version that the killed run left is the one that is seen again"
    assert len(tables(watch)["versions"]) == 1 and len(tables(watch)["sightings"]) == 1


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("after", [1, 4, 9])
def test_a_rebuild_that_was_cut_short_goes_on_and_loses_no_check(
    lived: Path, tmp_path: Path, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = Watch(shutil.copytree(lived, tmp_path / "copy"))
    forget(watch)
    rebuilt(watch)
    whole = checks(watch)
    forget(watch)
    kept, calls = Ledger.keep, count()

    def cut(self: Ledger, *given: Any) -> Any:
        if next(calls) == after:
            raise StorageError("the power went")
        return kept(self, *given)

    with monkeypatch.context() as patch:
        patch.setattr(Ledger, "keep", cut)
        with pytest.raises(StorageError):
            rebuilt(watch)
    assert 0 < len(checks(watch)) < len(whole)
    rebuilt(watch)
    assert checks(watch) == whole
    rebuilt(watch)
    assert checks(watch) == whole, "nothing is brought in twice"


def checks(watch: Watch) -> list[Any]:
    with closing(sqlite3.connect(watch.folder / "sourcewatch.db")) as c:
        return sorted(c.execute("SELECT source, first_at, last_at, n, word, accessed, new_version FROM checks"))
