"""The commands that hold sources.toml against what the site cites, on files and on a site of our own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from site_of_pages import Site, page, row, serving, write_sources
from sourcewatch.adapters.config import load
from sourcewatch.faces.cli import app


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as it:
        yield it


def told(folder: Path, *arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["--config", str(folder / "sources.toml"), *arguments])
    assert result.exit_code == code, result.output
    return result.output


def told_json(folder: Path, *arguments: str) -> Any:
    return json.loads(told(folder, *arguments, "--json"))


def sitemap(site: Site, *paths: str) -> bytes:
    return f"<urlset>{''.join(f'<url><loc>{site.url(p)}</loc></url>' for p in paths)}</urlset>".encode()


def test_a_folder_is_held_against_sources_toml_and_missing_rows_are_written(tmp_path: Path) -> None:
    write_sources(tmp_path, row("one", "https://one.example/a") + row("two", "https://two.example/"))
    (tmp_path / "content").mkdir()
    (tmp_path / "content" / "a.md").write_text(
        "# A\n\n[x](http://one.example/a) and [A new page](https://new.example/p)\n"
    )
    (tmp_path / "content" / "b.bib").write_text("@book{k, title={Open\n")
    found = told_json(tmp_path, "sources", "cited", str(tmp_path / "content"), "--add")
    assert (found["missing"], found["outdated"], found["uncited"]) == (
        ["https://new.example/p"], ["http://one.example/a"], ["two"],
    )  # fmt: skip
    assert found["cited"][0]["places"] == [
        {"file": str(tmp_path / "content" / "a.md"), "line": 3, "title": "A new page"}
    ]
    assert [(n["line"], "do not close" in n["reason"]) for n in found["not_read"]] == [(1, True)]
    assert found["added"] == [{"id": "a-new-page", "tier": "A", "title": "A new page", "url": "https://new.example/p"}]
    assert [s.id for s in load(tmp_path / "sources.toml", {}).sources] == ["one", "two", "a-new-page"]
    assert told_json(tmp_path, "sources", "cited", str(tmp_path / "content"))["missing"] == []


def test_the_words_for_people_name_file_line_and_tier_and_obey_no_control_characters(tmp_path: Path) -> None:
    write_sources(tmp_path, row("one", "https://one.example/a"))
    (tmp_path / "a.md").write_text("[evil \x1b]8;;x\x07 name](https://new.example/p)\n[x](http://www.one.example/a/)\n")
    words = told(tmp_path, "sources", "cited", str(tmp_path / "a.md"), "--add")
    assert "\x1b" not in words and "\x07" not in words
    assert f"{tmp_path / 'a.md'}:1" in words
    assert "sources.toml spells it https://one.example/a" in words
    assert "1 new row in tier A, the one that most rows are in" in words


def test_a_site_is_walked_beneath_its_address_and_no_further_than_was_said(tmp_path: Path, site: Site) -> None:
    write_sources(tmp_path, row("one", "https://one.example/a"))
    site.pages = {
        "/": page("Home", '<a href="/a">a</a><a href="http://other.example/">o</a>'),
        "/a": page("A", '<a href="/a#x">self</a><a href="/gone">g</a>\n<a href="https://one.example/a">One</a>'),
        "/b": page("B", '<a href="https://b.example/">B</a>'),
        "/sitemap.xml": (200, {"Content-Type": "application/xml"}, sitemap(site, "/b")),
        "/picture.png": (200, {"Content-Type": "image/png"}, b"\x89PNG"),
    }  # fmt: skip
    found = told_json(tmp_path, "sources", "cited", site.url("/"))
    assert found["missing"] == ["http://other.example/", "https://b.example/"]
    assert [(c["url"], c["places"][0]["file"]) for c in found["cited"] if c["source"]] == [
        ("https://one.example/a", site.url("/a"))
    ]
    assert found["not_read"] == [{"place": site.url("/gone"), "line": None, "reason": "answered 404"}]
    assert found["pages"] == 3
    bounded = told_json(tmp_path, "sources", "cited", site.url("/"), "--pages", "1")
    assert (bounded["pages"], bounded["pages_left"]) == (1, 2)


def test_a_sitemap_on_disk_names_the_pages_to_read(tmp_path: Path, site: Site) -> None:
    write_sources(tmp_path, "")
    site.pages = {
        "/a": page("A", '<a href="https://a.example/">A</a>'),
        "/b/": page("B", '<a href="https://b.example/">B</a>'),
    }
    (tmp_path / "sitemap.xml").write_bytes(sitemap(site, "/a", "/b/"))
    assert told_json(tmp_path, "sources", "cited", str(tmp_path / "sitemap.xml"))["missing"] == [
        "https://a.example/", "https://b.example/",
    ]  # fmt: skip


def test_one_source_is_added_with_its_quotes_and_never_twice(tmp_path: Path) -> None:
    write_sources(tmp_path, row("one", "https://one.example/a"))
    told(
        tmp_path, "sources", "add", "https://new.example/p", "--title", "文章", "--quote", "155 万亿", "--id", "article"
    )
    source = load(tmp_path / "sources.toml", {}).sources[-1]
    assert (source.id, source.title, [q.exact for q in source.quotes]) == ("article", "文章", ["155 万亿"])
    for url in ("http://new.example/p/", "https://u:p@x.example/", "nonsense"):
        assert "new.example" not in told(tmp_path, "sources", "add", url, code=2).replace("http://new.example/p/", "")
    told(tmp_path, "sources", "add", "https://x.example/", "--id", "one", code=2)
    assert len(load(tmp_path / "sources.toml", {}).sources) == 2


def test_a_list_is_shown_first_and_written_when_that_is_wished(tmp_path: Path) -> None:
    write_sources(tmp_path, row("one", "https://one.example/a"))
    before = (tmp_path / "sources.toml").read_text()
    (tmp_path / "l.txt").write_text("https://one.example/a\nhttps://new.example/ New\nnothing\n")
    words = told(tmp_path, "import", str(tmp_path / "l.txt"))
    assert "l.txt:1: https://one.example/a is watched already, as one" in words
    assert "l.txt:3: no address in 'nothing'" in words
    assert (tmp_path / "sources.toml").read_text() == before
    told(tmp_path, "import", str(tmp_path / "l.txt"), "--add", "--tier", "A")
    assert [s.id for s in load(tmp_path / "sources.toml", {}).sources] == ["one", "new"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("import", "nowhere.txt"), "no such file"),
        (("import", ".", "--format", "list"), "a folder"),
        (("sources", "cited", ".", "--add", "--tier", "Z"), "no [tiers.Z]"),
    ],
)
def test_wrong_use_is_said_in_a_sentence(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    from sourcewatch.domain.errors import ConfigError

    write_sources(tmp_path, "")
    result = CliRunner().invoke(app, ["--config", str(tmp_path / "sources.toml"), *arguments])
    assert isinstance(result.exception, ConfigError)  # `main` makes it a line on stderr and exit code 2
    assert words in str(result.exception)
