"""Rows are added to sources.toml and nothing else in it moves."""

from __future__ import annotations

from pathlib import Path

import pytest

from sourcewatch.adapters import sources_file
from sourcewatch.adapters.config import load
from sourcewatch.domain.errors import ConfigError
from sourcewatch.domain.mention import NewSource

HEAD = '# whose file\n[site]\nname = "x" # a name\n[tiers.C]\ntitle = "c"\n'
SHORT = '[[source]]\nid = "a"\ntier = "C"\ntitle = "A"\n'
LONG = '[[source]]\nid = "a"\ntier = "C"\ntitle = """\n[[claim]]\n"""\n[[source.quote]]\nexact = "q"\n'
CLAIM = '[[claim]]\nid = "z"\ntier = "C"\ntext = "t"\n'
ROW = NewSource("https://b.example/", "B", "b", "C")


def strictly(path: Path) -> object:
    return load(path, {})


def added(path: Path, text: str, *rows: NewSource) -> str:
    path.write_bytes(text.encode())
    sources_file.add(path, rows or (ROW,), strictly)
    return path.read_bytes().decode()


@pytest.mark.parametrize(
    ("before", "above", "below"),
    [
        (HEAD, HEAD, ""),
        (HEAD.rstrip("\n"), HEAD, ""),
        (HEAD + "# the end\n", HEAD + "# the end\n", ""),
        (HEAD + LONG + "\n# claims\n\n# more\n" + CLAIM, HEAD + LONG, "\n# claims\n\n# more\n" + CLAIM),
        (HEAD + SHORT + "# of the claim\n" + CLAIM, HEAD + SHORT, "\n# of the claim\n" + CLAIM),
    ],
)  # fmt: skip
def test_a_row_stands_behind_the_last_source_and_comments_keep_their_places(
    tmp_path: Path, before: str, above: str, below: str
) -> None:
    row = '\n[[source]]\nid = "b"\ntier = "C"\ntitle = "B"\nurl = "https://b.example/"\n'
    assert added(tmp_path / "s.toml", before) == above + row + below


def test_windows_line_ends_the_mark_of_byte_order_and_the_mode_stay(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.touch()
    path.chmod(0o640)
    text = added(path, "\ufeff" + HEAD.replace("\n", "\r\n"))
    assert text.startswith("\ufeff# whose file\r\n")
    assert text.count("\n") == text.count("\r\n")
    assert path.stat().st_mode & 0o777 == 0o640


def test_whatever_a_title_holds_is_read_back_as_it_was(tmp_path: Path) -> None:
    row = NewSource(
        'https://b.example/"x', 'T "q" \\ 中文 = \n[[source]]\t#', "b", "C", quotes=("a\tb", "'''x"),
        ignore=(".a", '[b="c"]'), cited_on=("/x",), notes="n",
    )  # fmt: skip
    added(tmp_path / "s.toml", HEAD, row)
    [source] = load(tmp_path / "s.toml", {}).sources
    assert (source.title, source.ignore, [q.exact for q in source.quotes]) == (row.title, row.ignore, list(row.quotes))


@pytest.mark.parametrize(
    ("text", "row", "fault"),
    [
        (HEAD, NewSource("https://b.example/", "B", "Not An Id", "C"), "may hold only lower-case"),
        (HEAD, NewSource("https://b.example/", "B", "b", "nowhere"), r"no \[tiers.nowhere\]"),
        ("source = []\n" + HEAD, ROW, "inline array"),
        ('source = [{id="a", tier="C", title="t"}]\n' + HEAD, ROW, "inline array"),
        (HEAD + '[[source]]\nid = "b"\ntier = "C"\ntitle = "A"\n', ROW, "is used twice"),
    ],
)
def test_a_row_that_does_not_fit_leaves_the_file_as_it_was(
    tmp_path: Path, text: str, row: NewSource, fault: str
) -> None:
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=fault) as caught:
        sources_file.add(path, [row], strictly)
    assert path.read_text() == text
    assert [p.name for p in tmp_path.iterdir()] == ["s.toml"]
    assert all(line.startswith(str(path)) for line in caught.value.faults)


def test_a_file_that_somebody_saves_meanwhile_is_theirs(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(HEAD)

    def while_an_editor_saves(copy: Path) -> object:
        path.write_text(HEAD + "# saved\n")
        return strictly(copy)

    with pytest.raises(ConfigError, match="meanwhile"):
        sources_file.add(path, [ROW], while_an_editor_saves)
    assert path.read_text() == HEAD + "# saved\n"


def test_a_symbolic_link_keeps_leading_to_the_file(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "s.toml").write_text(HEAD)
    (tmp_path / "s.toml").symlink_to(tmp_path / "real" / "s.toml")
    sources_file.add(tmp_path / "s.toml", [ROW], strictly)
    assert (tmp_path / "s.toml").is_symlink()
    assert "b.example" in (tmp_path / "real" / "s.toml").read_text()
