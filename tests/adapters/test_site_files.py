"""A site's files are read once each, and what is not read is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from sourcewatch.adapters import site_files
from sourcewatch.domain.mention import NotRead


def found(*paths: Path) -> tuple[list[str], list[tuple[str, str]]]:
    everything = list(site_files.read(paths, {".md"}))
    names = [Path(one[0]).name for one in everything if not isinstance(one, NotRead)]
    return names, [(Path(one.place).name, one.reason) for one in everything if isinstance(one, NotRead)]


def test_a_folder_is_read_in_order_without_hidden_and_foreign_files(tmp_path: Path) -> None:
    for name in ("b.md", "a.md", "c.png", ".git/x.md", "node_modules/y.md", "sub/d.MD"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert found(tmp_path) == (["a.md", "b.md", "d.MD"], [])


def test_links_in_a_circle_and_into_nothing_are_told_and_no_file_is_read_twice(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("x")
    (tmp_path / "again.md").symlink_to(tmp_path / "a.md")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere")
    (tmp_path / "self.md").symlink_to(tmp_path / "self.md")
    names, told = found(tmp_path)
    assert names == ["a.md"]
    assert [name for name, _ in told] == ["gone.md", "loop", "self.md"]
    assert told[0][1] == "a symbolic link that leads nowhere"
    assert told[1][1] == "a symbolic link back to a folder that was read already"


def test_binary_huge_and_missing_files_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site_files, "MOST_BYTES", 1_000_000)
    (tmp_path / "binary.md").write_bytes(b"a\0b")
    (tmp_path / "huge.md").write_bytes(b"a" * 1_000_001)
    assert found(tmp_path, tmp_path / "missing.md")[1] == [
        ("binary.md", "a binary file"),
        ("huge.md", "larger than 1 MB"),
        ("missing.md", "no such file or folder"),
    ]


def test_a_file_that_is_named_is_read_whatever_its_suffix(tmp_path: Path) -> None:
    (tmp_path / "refs.list").write_text("x")
    assert found(tmp_path / "refs.list")[0] == ["refs.list"]
