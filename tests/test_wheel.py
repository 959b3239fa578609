"""The built wheel carries everything that a run needs: migrations, templates, data."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from databases import skip

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        skip(f"the wheel cannot be built here (its build system is fetched): {done.stderr.strip().splitlines()[-1]}")
    return next(out.glob("*.whl"))


def test_a_wheel_makes_its_own_database_outside_of_any_checkout(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    (tmp_path / "sources.toml").write_text('[site]\nname = "N"\n')
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    for words in (("db", "upgrade"), ("db", "check"), ("run",), ("report",)):
        command = [sys.executable, "-m", "sourcewatch.faces.cli", *words]
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (words, done.stderr)
    where = "import sourcewatch.adapters.database as d; print(d.migrations_dir())"
    printed = subprocess.run(
        [sys.executable, "-c", where], cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    )
    assert Path(printed.stdout.strip()) == tmp_path / "site" / "sourcewatch" / "_alembic"


def test_a_wheel_carries_the_pages_of_the_desk_and_the_licence_of_what_is_not_ours(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    web = "sourcewatch/faces/web"
    for name in (
        "static/desk.css",
        "static/desk.js",
        "static/htmx.min.js",
        "static/htmx.LICENSE",
        "templates/desk.html.j2",
    ):
        assert f"{web}/{name}" in names
