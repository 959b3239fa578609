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


MOVABLE = """\
# the site
[site]
name = "Notes"  # as on its front page

[tiers.A]
title = "official"

# the first, as cited in May
[[source]]
id = "one"
tier = "A"
title = "One"
url = "https://one.example/old"  # see the minutes
notes = '''
url = "https://one.example/old"
'''
# its quote
[[source.quote]]
exact = "a sentence"

# comments over the second
[[source]]
id = "two"
tier = "A"
title = "Two"
url = "https://one.example/old"
formerly = [
  "https://two.example/a",  # until 2024
]
# a claim follows
[[claim]]
id = "c"
tier = "A"
text = "something"
"""


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_new_address_changes_its_own_row_alone(tmp_path: Path, newline: str) -> None:
    path = tmp_path / "sources.toml"
    path.write_bytes(MOVABLE.replace("\n", newline).encode())
    sources_file.move(path, "one", "https://one.example/old", "https://one.example/new", strictly)
    wanted = MOVABLE.replace(
        'url = "https://one.example/old"  # see the minutes\n',
        'url = "https://one.example/new"  # see the minutes\nformerly = ["https://one.example/old"]\n',
    )
    assert path.read_bytes().decode() == wanted.replace("\n", newline)
    [one, _] = load(path, {}).sources
    assert one.formerly == ("https://one.example/old",)


def test_an_address_that_had_others_before_remembers_them_all(tmp_path: Path) -> None:
    path = tmp_path / "sources.toml"
    path.write_text(MOVABLE, encoding="utf-8")
    sources_file.move(path, "two", "https://one.example/old", "https://two.example/c", strictly)
    [_, two] = load(path, {}).sources
    assert two.formerly == ("https://two.example/a", "https://one.example/old") and two.url == "https://two.example/c"
    text = path.read_text("utf-8")
    assert "# until 2024" in text and "# a claim follows\n[[claim]]" in text and text.count("# see the minutes") == 1


@pytest.mark.parametrize(
    ("text", "new"),
    [
        (MOVABLE.replace("one.example/old", "one.example/changed"), "https://one.example/new"),
        (MOVABLE, "ftp://one.example/new"),
        ('source = [{ id = "one", tier = "A", title = "One", url = "https://one.example/old" }]\n'
         + MOVABLE.partition("# the first")[0], "https://one.example/new"),
    ],
    ids=["another address by now", "no web address", "an inline row"],
)  # fmt: skip
def test_what_cannot_be_moved_soundly_is_left_as_it_was(tmp_path: Path, text: str, new: str) -> None:
    path = tmp_path / "sources.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError):
        sources_file.move(path, "one", "https://one.example/old", new, strictly)
    assert path.read_text("utf-8") == text
