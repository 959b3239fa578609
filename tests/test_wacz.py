"""Other people's software reads the package: the reference tools accept it, and find in it what was accepted."""

from __future__ import annotations

import asyncio
import gzip
import json
import shutil
import subprocess
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from databases import skip
from environments import commands_of
from pictures import png
from site_of_pages import Site, page, row, serving
from sourcewatch.adapters.wacz import url_key
from sourcewatch.domain.errors import StorageError
from sourcewatch.faces import lookback, wiring
from watch import Watch

START = datetime(2026, 10, 20, 11, 3, tzinfo=UTC)
NOW = START + timedelta(days=30)
BODY = (
    "<h1>Notes</h1>" + "<p>A paragraph that says what the operators of the cluster measured over a whole week.</p>" * 4
)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Watch, Site]]:
    folder = tmp_path_factory.mktemp("archive")
    watch = Watch(folder)
    with serving() as site:
        site.pages["/panel.png"] = (200, {"Content-Type": "image/png"}, png())
        site.pages["/moved"] = (302, {"Location": "/q?b=2&a=1"}, b"")
        site.pages["/q?b=2&a=1"] = page("集群公告", BODY)
        site.pages["/wall"] = (
            403,
            {"cf-mitigated": "challenge", "Content-Type": "text/html"},
            b"<title>Just a moment...</title>",
        )
        rows = row("p", site.url("/p")) + row("moved", site.url("/moved")) + row("wall", site.url("/wall"))
        for number in range(2):
            shown = f'<p>Edition {number} of the notes</p><img src="/panel.png" alt="panel">'
            site.pages["/p"] = page(f"Notes {number}", BODY + shown)
            watch.passes(rows, START + timedelta(days=number))
        brought = folder / "wall.html"
        brought.write_text(
            f"<!doctype html><html><head><title>Behind the wall</title></head><body>{BODY}</body></html>"
        )

        async def capture(house: wiring.House) -> None:
            source = next(s for s in house.settings.sources if s.id == "wall")
            await lookback.capture(
                house, source, str(brought), "Mei", "a captcha", START + timedelta(days=2), clock=lambda: NOW
            )

        watch.ask(lambda house: asyncio.run(capture(house)))
        yield watch, site


def package(watch: Watch, out: Path, *ids: str) -> tuple[int, int]:
    counts = watch.ask(lambda h: lookback.export_wacz(h, ids or {s.id for s in h.settings.sources}, out, NOW))
    return int(counts[0]), int(counts[1])


@pytest.fixture(scope="module")
def wacz(request: pytest.FixtureRequest) -> Path:
    return commands_of("wacz", request.config)


def test_the_reference_tool_accepts_the_package(archive: tuple[Watch, Site], wacz: Path, tmp_path: Path) -> None:
    out = tmp_path / "archive.wacz"
    assert package(archive[0], out) == (4, 4)
    command = [str(wacz / "wacz"), "validate", "--file", str(out)]
    good = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert good.returncode == 0 and "the passed WACZ is valid" in good.stdout, good
    with zipfile.ZipFile(out) as whole, zipfile.ZipFile(tmp_path / "bad.wacz", "w") as bad:
        for info in whole.infolist():
            body = whole.read(info)
            bad.writestr(info, body.replace(b"Notes 1", b"Notes 9") if info.filename.startswith("pages/") else body)
    command[-1] = str(tmp_path / "bad.wacz")
    assert subprocess.run(command, capture_output=True, check=False, timeout=120).returncode == 1


def test_the_index_is_the_one_that_the_reference_indexer_writes(
    archive: tuple[Watch, Site], wacz: Path, tmp_path: Path
) -> None:
    out = tmp_path / "archive.wacz"
    package(archive[0], out)
    with zipfile.ZipFile(out) as whole:
        whole.extractall(tmp_path)
        ours = whole.read("indexes/index.cdx").decode().splitlines()
    command = [str(wacz / "cdxj-indexer"), "--sort", str(tmp_path / "archive")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert [_fields(line) for line in ours] == [_fields(line) for line in done.stdout.splitlines()]
    assert len(ours) == 6  # two editions, one picture, a redirect and its target, one page by hand


def _fields(line: str) -> tuple[str, str, dict[str, str]]:
    key, at, fields = line.split(" ", 2)
    return key, at, json.loads(fields)


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("https://www.Example.org/A/b/?z=1&a=2", "org,example)/a/b?a=2&z=1"),
        ("http://example.org:80/", "org,example)/"),
        ("https://example.org:8443/x", "org,example:8443)/x"),
        ("http://192.0.2.7/x", "7,2,0,192)/x"),
        ("urn:sha256:abc", "urn:sha256:abc"),
        ("urn:fullPage:https://www.Example.org/A/b/?Z=1&a=2", "urn:fullpage:https://www.example.org/a/b?a=2&z=1"),
    ],
)
def test_addresses_are_sorted_by_host_from_its_end(url: str, key: str) -> None:
    assert url_key(url) == key


def test_pages_are_listed_with_their_times_and_whoever_read_them(archive: tuple[Watch, Site], tmp_path: Path) -> None:
    out = tmp_path / "archive.wacz"
    package(archive[0], out)
    with zipfile.ZipFile(out) as whole:
        head, *pages = map(json.loads, whole.read("pages/pages.jsonl").decode().splitlines())
        stored = {i.filename: i.compress_type for i in whole.infolist() if i.filename.startswith("archive/")}
        raw = b"".join(whole.read(name) for name in whole.namelist())
    assert head["format"] == "json-pages-1.0"
    assert {(p["title"], p["ts"]) for p in pages} == {
        ("Notes 0", "2026-10-20T11:03:00Z"),
        ("Notes 1", "2026-10-21T11:03:00Z"),
        ("集群公告", next(p["ts"] for p in pages if p["title"] == "集群公告")),
        ("Behind the wall", "2026-10-22T11:03:00Z"),
    }
    assert [p["byHand"] for p in pages if "byHand" in p] == [{"by": "Mei", "reason": "a captcha"}]
    assert set(stored.values()) == {zipfile.ZIP_STORED} and b"Just a moment" not in raw


def test_only_what_is_wanted_goes_in_and_nothing_half_written_stays(
    archive: tuple[Watch, Site], tmp_path: Path
) -> None:
    out = tmp_path / "one.wacz"
    assert package(archive[0], out, "p") == (2, 2)
    with zipfile.ZipFile(out) as whole:
        assert all(n.startswith("archive/p-") for n in whole.namelist() if n.startswith("archive/"))
    with pytest.raises(StorageError, match="cannot be written"):
        package(archive[0], tmp_path / "missing" / "x.wacz", "p")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one.wacz"]


def test_what_a_browser_read_is_in_the_package_with_all_its_parts(wacz: Path, tmp_path: Path) -> None:
    if shutil.which("chromium") is None:
        skip("Chromium is not installed")
    watch, out = Watch(tmp_path), tmp_path / "rendered.wacz"
    shell = (
        '<div id="root"></div><script>fetch("/data").then((r) => r.text()).then((t) => { root.innerHTML = t })</script>'
    )
    with serving() as site:
        site.pages |= {"/shell": page("Shell", shell), "/data": (200, {"Content-Type": "text/plain"}, BODY.encode())}
        line = watch.passes(row("shell", site.url("/shell"), more='render = "always"\n'), START)["shell"]
    assert line["verdict"] == "ok" and line["browser"].startswith("Chromium"), line
    assert package(watch, out) == (1, 1)
    command = [str(wacz / "wacz"), "validate", "--file", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0 and "the passed WACZ is valid" in done.stdout, done
    with zipfile.ZipFile(out) as whole:
        whole.extractall(tmp_path / "out")
        ours = whole.read("indexes/index.cdx").decode().splitlines()
        shown = json.loads(whole.read("pages/pages.jsonl").decode().splitlines()[1])
    command = [str(wacz / "cdxj-indexer"), "--sort", str(tmp_path / "out" / "archive")]
    indexed = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert [_fields(line) for line in ours] == [_fields(line) for line in indexed.stdout.splitlines()]
    assert {site.url("/shell"), site.url("/data"), f"urn:fullPage:{site.url('/shell')}"} <= {
        _fields(line)[2]["url"] for line in ours
    }
    assert (shown["url"], shown["title"]) == (site.url("/shell"), "Shell")
    (packed,) = (tmp_path / "out" / "archive").iterdir()
    kept = gzip.decompress(packed.read_bytes())
    assert b"WARC-Type: conversion" in kept and b"measured over a whole week.</p></div>" in kept
