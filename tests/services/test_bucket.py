"""Whatever is done with snapshots is done where they lie in a bucket; a bucket that fails costs time, and no fact."""

from __future__ import annotations

import asyncio
import gzip
import json
import shutil
import sqlite3
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from buckets import SECRET, Bucket, Way, moved, names, new_bucket
from live import live
from pictures import png
from site_of_pages import Site, page, row, serving
from sourcewatch.adapters.copying import copy
from sourcewatch.adapters.store import FolderStore
from sourcewatch.domain.audit import Audit
from sourcewatch.domain.errors import StorageError
from sourcewatch.faces import lookback, wiring
from sourcewatch.faces.cli import main
from torture_child import Here
from watch import Watch

START = datetime(2026, 10, 20, 11, 3, tzinfo=UTC)
BODY = "<h1>Notes</h1>" + "<p>The scheduler places experts at night, and the cache stays warm in the day.</p>" * 5
SHOWN = '<img src="/panel.png" alt="the panel" width="800">'


@pytest.fixture(autouse=True)
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judged in this process: starting workers takes longer than what is tested here."""
    monkeypatch.setattr("sourcewatch.adapters.processes.Processes", Here)


@dataclass(frozen=True, slots=True)
class Life:
    """Four days of a page that changes, its picture, one that stays as it is, and one behind a wall."""

    watch: Watch
    site: Site
    bucket: Bucket


def days(n: float) -> datetime:
    return START + timedelta(days=n)


def live_on(watch: Watch, site: Site) -> None:
    rows = row("p", site.url("/p"), "the cache stays warm") + row("still", site.url("/still"))
    rows += row("wall", site.url("/wall"))
    site.pages["/still"], site.pages["/panel.png"] = page("S", BODY), (200, {"Content-Type": "image/png"}, png())
    site.pages["/wall"] = (403, {"Content-Type": "text/html"}, b"<title>Just a moment...</title>")
    for n in range(4):
        site.pages["/p"] = page("P", f"{BODY}<p>Edition {n // 2} of the notes counts requests.</p>{SHOWN}")
        watch.passes(rows, days(n))


@pytest.fixture(scope="module")
def life(s3: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Life]:
    with serving() as site, pytest.MonkeyPatch.context() as patch:
        patch.setattr("sourcewatch.adapters.processes.Processes", Here)
        bucket = new_bucket(s3)
        watch = Watch(tmp_path_factory.mktemp("data"), bucket)
        live_on(watch, site)
        yield Life(watch, site, bucket)


def verified(watch: Watch, at: datetime) -> Audit:
    return watch.ask(lambda house: wiring.verify(house, at))  # type: ignore[no-any-return]


def test_a_watch_leaves_in_the_bucket_what_it_would_leave_on_disk_and_nothing_on_disk(life: Life) -> None:
    kept = names(life.watch.store)
    folders = sorted({"/".join(name.split("/")[1:-1]) for name in kept})
    assert folders == ["_checks", "_checks/2026-10-23", "_manifest", "_refused/wall/2026", "p/2026", "still/2026"]
    assert [n.rpartition("/")[2] for n in kept if n.startswith("snapshots/p/")] == [
        f"2026102{n}T110300Z.{suffix}" for n in (0, 2) for suffix in ("json", "md", "warc.gz")
    ]
    assert not (life.watch.folder / "snapshots").exists()


def test_an_archive_in_a_bucket_has_no_flaw_and_its_days_are_vouched_for(life: Life) -> None:
    audit = verified(life.watch, days(4))
    assert audit.flaws == () and audit.files >= 15
    assert [n.rpartition("/")[2] for n in names(life.watch.store, "_manifest/*")] == [
        f"2026-10-{day}.sha256" for day in (20, 21, 22)
    ]


def test_the_database_comes_back_out_of_the_bucket(life: Life, tmp_path: Path) -> None:
    watch = Watch(tmp_path, life.bucket)
    (tmp_path / "sources.toml").write_bytes((life.watch.folder / "sources.toml").read_bytes())
    done = watch.ask(lambda house: asyncio.run(wiring.rebuild(house, lambda *_: None, lambda: days(4))))
    assert done.lost == [] and watch.dates(days(4)) == life.watch.dates(days(4))


def test_a_bucket_that_was_copied_into_a_folder_is_the_same_archive(life: Life, tmp_path: Path) -> None:
    copy(life.watch.store, FolderStore(tmp_path))
    rows = (life.watch.folder / "sources.toml").read_text("utf-8")
    (tmp_path / "sources.toml").write_text(rows.replace(life.bucket.url, ""), "utf-8")
    watch = Watch(tmp_path)
    watch.ask(lambda house: asyncio.run(wiring.rebuild(house, lambda *_: None, lambda: days(4))))
    assert watch.dates(days(4)) == life.watch.dates(days(4))


def test_what_was_read_is_replayed_and_its_picture_shown(life: Life) -> None:
    url, panel = life.site.url("/p"), life.site.url("/panel.png")
    with live(life.watch.folder, environ=life.bucket.environ) as base:
        with urllib.request.urlopen(f"{base}memento/20261020T110300Zid_/{url}") as answer:
            assert b"Edition 0 of the notes" in answer.read()
        with urllib.request.urlopen(f"{base}memento/20261022T110300Z/{url}") as answer:
            assert b'alt="the panel"' in answer.read()
        with urllib.request.urlopen(f"{base}memento/20261020T110300Zid_/{panel}") as answer:
            assert answer.read() == png()
        [figure] = life.watch.ask(lambda house: house.ledger.versions(house.ledger.figures()[0].id))
        with urllib.request.urlopen(f"{base}versions/{figure.id}/image") as answer:
            assert answer.read() == png()


def test_a_package_carries_the_very_files_of_the_bucket(life: Life, tmp_path: Path) -> None:
    out = tmp_path / "archive.wacz"
    packed = life.watch.ask(lambda house: lookback.export_wacz(house, {"p", "still"}, out, days(4)))
    assert packed == (3, 3)
    with zipfile.ZipFile(out) as package:
        inside = {name for name in package.namelist() if name.startswith("archive/")}
        assert package.read("archive/p-20261020T110300Z.warc.gz") == life.watch.store.get(
            "snapshots/p/2026/20261020T110300Z.warc.gz"
        )
        assert len(inside) == 3 and package.read("indexes/index.cdx").count(b"\n") >= 4


def command(life: Life, capsysbinary: pytest.CaptureFixture[bytes], *words: str) -> tuple[int, bytes]:
    with pytest.raises(SystemExit) as end, pytest.MonkeyPatch.context() as patch:
        for name, value in life.bucket.environ.items():
            patch.setenv(name, value)
        patch.setattr("sys.argv", ["sourcewatch", "--config", str(life.watch.folder / "sources.toml"), *words])
        main()
    return int(str(end.value.code)), capsysbinary.readouterr().out


def test_the_commands_show_what_lies_in_the_bucket(life: Life, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    done, warc = command(life, capsysbinary, "show", "p", "--at", "1", "--format", "warc")
    assert done == 0 and b"Edition 0 of the notes" in gzip.decompress(warc)
    done, facts = command(life, capsysbinary, "show", "p", "--at", "1", "--format", "json")
    assert done == 0 and json.loads(facts)["source"] == "p"
    done, said = command(life, capsysbinary, "doctor")
    assert f"{life.bucket.url}: written, read and removed".encode() in said and SECRET.encode() not in said


def test_doctor_finds_out_a_server_that_overwrites(
    life: Life, way: Way, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    way.deaf = True
    environ = {**life.bucket.environ, "AWS_ENDPOINT_URL": way.endpoint}
    done, said = command(Life(life.watch, life.site, Bucket(life.bucket.url, environ)), capsysbinary, "doctor")
    assert done != 0 and f"{life.bucket.url}: it overwrites what is there".encode() in said


def test_a_decision_lies_in_the_bucket_and_comes_back(life: Life, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert command(life, capsysbinary, "review", "p", "--by", "Mei", "--accept")[0] == 0
    [decision] = names(life.watch.store, "_reviews/*")
    assert json.loads(life.watch.store.get(decision))["by"] == "Mei"


# a bucket that fails


def kept(folder: Path) -> Mapping[str, int]:
    with closing(sqlite3.connect(folder / "sourcewatch.db")) as c:
        return dict(c.execute("SELECT source, count(*) FROM versions GROUP BY source").fetchall())


@pytest.mark.parametrize("how", [503, -1])
def test_a_pass_during_which_the_bucket_fails_loses_and_doubles_nothing(
    s3: str, way: Way, tmp_path: Path, how: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From each of its requests on, in turn; the next pass takes up what is left. *how* -1: it does what it is asked,
    and its answers are lost."""
    monkeypatch.setattr("sourcewatch.adapters.bucket.RETRIES", 0)
    with serving() as site:
        rows = row("p", site.url("/p")) + row("still", site.url("/still"))
        site.pages["/still"], site.pages["/p"] = page("S", BODY), page("P", BODY)
        before = Watch(tmp_path, new_bucket(s3))
        before.passes(rows, days(0))
        before.passes(rows, days(1))
        site.pages["/p"] = page("P", f"{BODY}<p>Another edition of the notes counts requests.</p>")
        for fails_at in count():
            watch = Watch(tmp_path / str(fails_at), new_bucket(s3, way.endpoint))
            watch.folder.mkdir()
            shutil.copy(tmp_path / "sourcewatch.db", watch.folder)
            copy(before.store, watch.store)
            requests = count()
            way.fails = lambda method, path, of=requests, first=fails_at: how if next(of) >= first else None
            try:
                watch.passes(rows, days(2))
                failed = False
            except StorageError as error:
                failed = True
                assert str(error).startswith("s3://")
            way.fails = lambda method, path: None
            lines = watch.passes(rows, days(3))
            assert {line["verdict"] for line in lines.values()} == {"ok"}
            assert kept(watch.folder) == {"p": 2, "still": 1}, fails_at
            assert verified(watch, days(4)).flaws == (), fails_at
            if not failed:
                break
    assert fails_at >= 10


def test_readers_are_told_that_the_storage_fails_not_that_something_is_gone(
    s3: str, way: Way, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sourcewatch.adapters.bucket.RETRIES", 0)
    watch = Watch(tmp_path, new_bucket(s3, way.endpoint))
    with serving() as site:
        site.pages["/p.png"] = (200, {"Content-Type": "image/png"}, png())
        watch.passes(row("p", site.url("/p.png")), START)
        way.fails = lambda method, path: 503
        with live(watch.folder, environ=watch.environ) as base:
            for path in (f"memento/20261020T110300Zid_/{site.url('/p.png')}", "versions/1/image"):
                with pytest.raises(urllib.error.HTTPError) as told:
                    urllib.request.urlopen(f"{base}{path}")
                said = told.value.read().decode()
                told.value.close()
                assert told.value.code == 503 and "bucket-" not in said and SECRET not in said


def test_an_installation_moves_into_a_bucket_and_goes_on(
    tmp_path: Path, bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as site:
        live_on(Watch(tmp_path), site)
        moved(tmp_path, bucket, monkeypatch)
        watch = Watch(tmp_path, bucket)
        line = watch.passes(row("p", site.url("/p")) + row("still", site.url("/still")), days(4))["p"]
        assert line["rule"] == "same-bytes" and kept(tmp_path)["p"] == 2
        watch.passes(row("p", site.url("/p")), days(5))
    assert verified(watch, days(6)).flaws == ()
