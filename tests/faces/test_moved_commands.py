"""`sourcewatch moved`: what it proposes, and what deciding does."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from live import live
from site_of_pages import page, row, serving
from sourcewatch.domain.source import Source
from sourcewatch.faces.web.moves_page import looking
from watch import Watch

TEXT = "<h1>Night shift</h1>" + "<p>The scheduler places experts at night, and the cache stays warm in the day.</p>" * 4


def moved(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sourcewatch.faces.cli", "moved", *args]
    environ = {k: v for k, v in os.environ.items() if k != "GITHUB_TOKEN"}
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False, env=environ)


def test_it_looks_lists_and_decides(tmp_path: Path) -> None:
    watch, at = Watch(tmp_path), datetime.now(UTC).replace(microsecond=0) - timedelta(days=2)
    with serving() as site:
        site.pages["/old"] = site.pages["/well"] = page("Night shift", TEXT)
        rows = row("p", site.url("/old"), "the cache stays warm") + row("well", site.url("/well"))
        watch.passes(rows, at)
        site.pages["/old"], site.pages["/new"] = (301, {"Location": "/new"}, b""), page("Night shift", TEXT)
        watch.passes(rows, at + timedelta(days=1))
        said = moved(tmp_path)
        old, new = site.url("/old"), site.url("/new")
    assert said.returncode == 0, said.stderr
    assert f"#1  p: {old}\n  now at {new}\n  permanent redirect: 301 {old} → 200 {new}\n" in said.stdout
    assert "the same title; 100% of the old text stands there; 1 of 1 quote stand there" in said.stdout
    assert "well" not in said.stdout
    [one] = json.loads(moved(tmp_path, "--json").stdout)
    assert (one["id"], one["source"], one["to_url"], one["same_title"]) == (1, "p", new, True)
    assert moved(tmp_path, "--accept", "1").returncode == 2
    assert moved(tmp_path, "--accept", "1", "--refuse", "1", "--by", "Li").returncode == 2
    done = moved(tmp_path, "--accept", "1", "--by", "Li")
    assert done.returncode == 0 and f"p: cited at {new} from now on; formerly at {old}" in done.stdout
    assert moved(tmp_path, "--accept", "1", "--by", "Li").returncode == 2
    assert json.loads(moved(tmp_path, "--json").stdout) == []
    assert "nothing that is cited is gone" in moved(tmp_path).stdout


def test_whoever_serves_lets_an_editor_look_from_the_desk(tmp_path: Path) -> None:
    watch, wanted = Watch(tmp_path), list[str]()

    async def look(source: Source) -> None:
        wanted.append(source.id)

    with serving() as site:
        site.pages["/well"] = page("Night shift", TEXT)
        watch.passes(row("gone", site.url("/gone")) + row("well", site.url("/well")), datetime.now(UTC))
    with live(tmp_path, *looking(look)) as base:
        assert "Look where it moved" in shown(f"{base}sources/gone")
        assert "Look where it moved" not in shown(f"{base}sources/well")
        with urlopen(Request(f"{base}sources/gone/moves", b"", {"Origin": base.rstrip("/")}), timeout=60) as answer:
            assert answer.status == 200 and answer.url == f"{base}sources/gone"
        with pytest.raises(HTTPError):
            urlopen(Request(f"{base}sources/nobody/moves", b"", {"Origin": base.rstrip("/")}), timeout=60)
    assert wanted == ["gone"]
    with live(tmp_path) as base:
        assert "Look where it moved" not in shown(f"{base}sources/gone")


def shown(url: str) -> str:
    with urlopen(Request(url, headers={"Accept": "text/html"}), timeout=60) as answer:
        return str(answer.read().decode())
