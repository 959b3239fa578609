"""A README becomes the document that GitHub shows."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis.markdown import extract, heading_anchors
from sourcewatch.domain.document import Form, Label

FIXTURES = Path(__file__).parent / "fixtures_text"
URL = "https://raw.example.org/o/r/HEAD/README.md"


def texts(markdown: str) -> list[str]:
    return [block.text for block in extract(markdown, url=URL).blocks]


@pytest.mark.parametrize(
    ("markdown", "blocks"),
    [
        ("# Head\n\nOne **bold** and *soft*\nsentence.", ["Head", "One bold and soft sentence."]),
        ("See [the docs](docs/a.md) and `code`.", ["See the docs and code."]),
        ("- one\n- two\n  - three", ["one", "two", "three"]),
        ("| Model | Price |\n|---|--:|\n| A | ~~9~~ **10** |", ["Model\tPrice", "A\t9 10"]),
        ("```sh\npip install x\n\nx run\n```", ["pip install x", "x run"]),
        ("<p align=center>\n  inline <b>HTML</b>\n</p>", ["inline HTML"]),
        ("<details><summary>More</summary>\n\nin *it*\n\n</details>", ["More", "in it"]),
        ("a\r\nb", ["a b"]),
        ("<!-- a comment -->\n\ntext", ["text"]),
        ("> " * 40 + "deep", ["deep"]),
        ("\ufeff# With a mark", ["With a mark"]),
        ("价格为 **155 万亿** token。", ["价格为 155 万亿 token。"]),
        ("", []),
    ],
)
def test_markup_is_taken_off_and_sentences_stay_whole(markdown: str, blocks: list[str]) -> None:
    assert texts(markdown) == blocks


def test_images_badges_and_links_are_found_with_absolute_addresses() -> None:
    document = extract(
        "[![ci](https://img.shields.io/ci.svg)](https://ci.example)\n\n![A plot](figures/plot.png)\n", url=URL
    )
    assert [(e.url, e.alt, e.label) for e in document.embeds] == [
        ("https://img.shields.io/ci.svg", "ci", Label.CHROME),
        ("https://raw.example.org/o/r/HEAD/figures/plot.png", "A plot", Label.MAIN),
    ]
    assert [link.url for link in document.links] == ["https://ci.example/"]
    assert document.form is Form.MARKDOWN


def test_front_matter_gives_the_title_and_stays_readable() -> None:
    document = extract('---\ntitle: "A guide"\nauthor: B\n---\n# Other\n', url=URL)
    assert document.title == "A guide"
    assert [b.text for b in document.blocks] == ['title: "A guide"', "author: B", "Other"]


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    assert texts("---\nplain words\n---\nmore") == ["plain words", "more"]


def test_headings_have_the_anchors_that_github_gives_them() -> None:
    assert heading_anchors(["Quick Start!", "快速 开始", "Quick start", "a_b & c"]) == {
        "quick-start",
        "快速-开始",
        "quick-start-1",
        "a_b--c",
    }
    assert "install" in extract("## Install\n<a name=old></a>", url=URL).anchors


def test_a_real_readme_is_read_whole() -> None:
    document = extract((FIXTURES / "open-infra-index.md").read_text(encoding="utf-8"), url=URL)
    assert document.title == "Hello, DeepSeek Open Infra!"
    assert (
        "Insights into DeepSeek-V3: Scaling Challenges and Reflections on Hardware for AI Architectures"
        in document.text
    )
    assert "**" not in document.text
    assert document.embeds[0].alt == "DeepSeek-Open-Infra"


@pytest.mark.parametrize(
    "markdown",
    ["> " * 5000 + "x words", "![" * 60_000 + "x words", "*a **b " * 2000 + "x words", "x words " * 60_000],
    ids=["nested", "brackets", "emphasis", "long"],
)  # fmt: skip
def test_hostile_markdown_loses_no_words(markdown: str) -> None:
    assert "x words" in extract(markdown).text


@given(st.text(alphabet="#*_`[]()<>!|-\n ab1.中~\\&;", max_size=120))
def test_no_text_makes_it_raise(markdown: str) -> None:
    assert extract(markdown).form is Form.MARKDOWN
