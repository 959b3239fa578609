"""Citations: the true date, whose it is, and escaping that other people's parsers agree with."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime
from html.parser import HTMLParser
from typing import Any

import bibtexparser
import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hostile import raw, texts
from sourcewatch.analysis.cite import Edition, Genre, bibtex, csl, gbt7714, genre, robust_links, stated
from sourcewatch.domain.citation import Citation
from sourcewatch.domain.source import Source

DAY = date(2026, 10, 20)
AT = datetime(2026, 10, 18, 3, tzinfo=UTC)
MEMENTO = "https://sw.example/memento/20261018T030000Z/https://example.org/%E4%B8%AD?a=1&b=2"
# The rules of citation-style-language/schema's csl-data.json for the fields that we write.
TEXT = {"type": "string", "minLength": 1}
PARTS = {"type": "array", "items": {"type": "integer"}, "minItems": 1, "maxItems": 3}
ON = {
    "type": "object",
    "properties": {"date-parts": {"type": "array", "items": PARTS, "minItems": 1, "maxItems": 2}},
    "required": ["date-parts"],
    "additionalProperties": False,
}
CSL = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "type": {"enum": ["webpage", "software", "article", "dataset"]},
            "accessed": ON,
            "issued": ON,
            **dict.fromkeys(("id", "title", "publisher", "language", "URL"), TEXT),
            **dict.fromkeys(("archive", "archive_location", "note"), TEXT),
        },
        "required": ["type", "id"],
        "additionalProperties": False,
    },
}  # fmt: skip


def source(title: str = "关于推理部署的说明", **more: Any) -> Source:
    return Source("notes", "A", title, url=more.pop("url", "https://example.org/notes"), **more)


READ = Citation(source(), DAY, version_at=AT, memento=MEMENTO)
HAND = Citation(source(), hand=("李雷", DAY))
LATER = Citation(source(), DAY, hand=("李雷", date(2026, 11, 2)), version_at=AT)
UNREAD = Citation(source())


def test_csl_has_the_date_and_whose_it_is() -> None:
    read, hand, later, unread = json.loads(csl([READ, HAND, LATER, UNREAD]))
    assert read["accessed"] == later["accessed"] == {"date-parts": [[2026, 10, 20]]}
    assert (read["archive"], read["archive_location"]) == ("sourcewatch", MEMENTO) and "note" not in read
    assert hand["note"] == "read by hand by 李雷 on 2026-10-20; no machine has read it"
    assert "accessed" not in hand and "archive" not in hand
    assert later["note"] == "read by hand by 李雷 on 2026-11-02, since the machine last did"
    assert "accessed" not in unread and "note" not in unread


@given(texts(), texts(), texts(), st.lists(st.tuples(st.just("updated"), texts()), max_size=1))
def test_csl_has_the_schemas_shape_whatever_a_page_is_called(
    title: str, publisher: str, by: str, dates: list[tuple[str, str]]
) -> None:
    written = csl([Citation(source("x" + title, publisher=publisher, dates=tuple(dates)), DAY, hand=(by, DAY))])
    jsonschema_rs.validate(CSL, json.loads(written))
    assert not raw(written)


def test_bibtex_has_the_date_in_biblatex_fields() -> None:
    [entry] = bibtexparser.parse_string(bibtex([READ])).entries
    fields = {f.key: f.value for f in entry.fields}
    assert (entry.entry_type, entry.key) == ("online", "notes")
    assert (fields["urldate"], fields["url"]) == ("2026-10-20", "https://example.org/notes")
    assert fields["title"] == "{关于推理部署的说明}"
    assert r"\url{https://sw.example/memento/20261018T030000Z/https://example.org/\%E4" in fields["addendum"]
    [unread] = bibtexparser.parse_string(bibtex([UNREAD])).entries
    assert "urldate" not in {f.key for f in unread.fields}
    assert "no machine has read it" in bibtex([HAND]) and "urldate" not in bibtex([HAND])


@given(texts(), texts(), texts(), texts())
def test_no_title_breaks_out_of_its_bibtex_entry(title: str, publisher: str, by: str, path: str) -> None:
    odd = source("x" + title, publisher=publisher, url=f"https://example.org/{path}")
    written = bibtex([Citation(odd, DAY, hand=(by, DAY), memento=f"https://sw.example/{path}"), READ])
    library = bibtexparser.parse_string(written)
    assert [e.key for e in library.entries[:1]] == ["notes"] and not library.comments and not library.strings
    assert len(library.blocks) == 2, "each citation is one block and nothing else"
    assert not raw(written)
    depth = 0
    for c in written:
        depth += (c == "{") - (c == "}")
        assert depth >= 0
    assert depth == 0


def test_tex_specials_are_text() -> None:
    written = bibtex([Citation(source(r"100% {of} $5 \ a_b^c~d & #1"), DAY)])
    assert (
        r"title = {{100\% \textbraceleft{}of\textbraceright{} \$5 \textbackslash{} a\_b\textasciicircum{}c"
        r"\textasciitilde{}d \& \#1}}" in written
    )


@pytest.mark.parametrize(
    ("citation", "new", "old"),
    [
        (
            Citation(source("好好干", publisher="许振超", dates=(("updated", "2025-02-17"),)), date(2025, 6, 22)),
            "许振超. 好好干[EB/OL].（2025-02-17）[2025-06-22]. https://example.org/notes.",
            "许振超. 好好干[EB/OL]. (2025-02-17)[2025-06-22]. https://example.org/notes.",
        ),
        (
            Citation(source("中国国家博物馆", url="https://www.chnmuseum.cn/"), date(2025, 5, 6)),
            "中国国家博物馆[EB/OL]. [2025-05-06]. https://www.chnmuseum.cn/.",
            "中国国家博物馆[EB/OL]. [2025-05-06]. https://www.chnmuseum.cn/.",
        ),
        (
            Citation(source("vLLM", url="https://github.com/vllm-project/vllm"), DAY),
            "vLLM[CP/OL]. [2026-10-20]. https://github.com/vllm-project/vllm.",
            "vLLM[CP/OL]. [2026-10-20]. https://github.com/vllm-project/vllm.",
        ),
        (
            Citation(source("A paper", url="https://arxiv.org/abs/2501.1", dates=(("published", "2025-01"),)), DAY),
            "A paper[PP/OL].（2025-01）[2026-10-20]. https://arxiv.org/abs/2501.1.",
            "A paper[EB/OL]. (2025-01)[2026-10-20]. https://arxiv.org/abs/2501.1.",
        ),
        (UNREAD, "关于推理部署的说明[EB/OL]. https://example.org/notes.", "关于推理部署的说明[EB/OL]. https://example.org/notes."),
        (
            HAND,
            "关于推理部署的说明[EB/OL]. https://example.org/notes.（由李雷于2026-10-20人工读取，机器未读到）",
            "关于推理部署的说明[EB/OL]. https://example.org/notes.（由李雷于2026-10-20人工读取，机器未读到）",
        ),
    ],
)  # fmt: skip
def test_gbt_7714_as_its_two_editions_have_it(citation: Citation, new: str, old: str) -> None:
    assert gbt7714([citation]) == f"[1] {new}\n"
    assert gbt7714([citation], Edition.Y2015) == f"[1] {old}\n"


@given(st.lists(texts(), min_size=1, max_size=4))
def test_a_reference_is_one_line_whatever_its_title(titles: list[str]) -> None:
    written = gbt7714([Citation(source(t, publisher=t), DAY, hand=(t, DAY)) for t in titles])
    assert re.findall(r"(?m)^\[(\d+)\] ", written) == [str(n + 1) for n in range(len(titles))]
    assert written.count("\n") == len(titles) and not raw(written)


class Anchors(HTMLParser):
    """Every tag of a fragment, and the text of the links."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def anchors(html: str) -> Anchors:
    found = Anchors()
    found.feed(html)
    found.close()
    return found


def test_a_robust_link_names_the_version_and_where_readers_reach_it() -> None:
    [_, _, (tag, attributes)] = anchors(robust_links([READ])).tags
    assert (tag, attributes) == (
        "a",
        {
            "href": "https://example.org/notes",
            "data-originalurl": "https://example.org/notes",
            "data-versiondate": "2026-10-18T03:00:00Z",
            "data-versionurl": MEMENTO,
        },
    )
    [_, _, (_, without)] = anchors(robust_links([LATER])).tags
    assert "data-versionurl" not in without and "data-versiondate" in without
    [_, _, (_, plain)] = anchors(robust_links([HAND])).tags
    assert plain == {"href": "https://example.org/notes"}


@given(texts(), texts())
def test_no_title_or_address_breaks_out_of_its_link(title: str, path: str) -> None:
    odd = Citation(source(title, url=f"https://example.org/{path}"), DAY, version_at=AT, memento=f"https://s/{path}")
    written = robust_links([odd])
    found = anchors(written)
    assert [tag for tag, _ in found.tags] == ["ul", "li", "a"]
    assert set(found.tags[2][1]) == {"href", "data-originalurl", "data-versiondate", "data-versionurl"}
    assert not raw(written)


def test_only_web_addresses_become_links() -> None:
    assert robust_links([Citation(source(url="javascript:alert(1)"), DAY)]) == "<ul>\n</ul>\n"


@pytest.mark.parametrize(
    ("url", "what"),
    [
        ("https://github.com/a/b", Genre.SOFTWARE), ("https://www.gitee.com/a/b/", Genre.SOFTWARE),
        ("https://github.com/a/b/issues/1", Genre.PAGE), ("https://github.com/a", Genre.PAGE),
        ("https://arxiv.org/pdf/2501.00001", Genre.PREPRINT), ("https://arxiv.org/list/cs", Genre.PAGE),
        ("https://huggingface.co/datasets/a/b", Genre.DATASET), ("https://huggingface.co/a/b", Genre.PAGE),
        ("https://notgithub.com/a/b", Genre.PAGE), ("http://[", Genre.PAGE), ("", Genre.PAGE),
    ],
)  # fmt: skip
def test_what_is_cited_is_what_its_address_proves(url: str, what: Genre) -> None:
    assert genre(url) is what


@pytest.mark.parametrize(
    ("dates", "parts"),
    [
        ({"published": "2026-10-20"}, (2026, 10, 20)), ({"published": "2026-10"}, (2026, 10)),
        ({"issued": "2026"}, (2026,)),
        ({"updated": "2026-10-20T11:03Z", "published": "2025"}, (2026, 10, 20)), ({"accessed": "2026-10-20"}, ()),
        ({"published": "last year"}, ()), ({"published": "20261020"}, ()), ({}, ()),
    ],
)  # fmt: skip
def test_a_date_keeps_the_precision_that_it_was_given_in(dates: dict[str, str], parts: tuple[int, ...]) -> None:
    assert stated(source(dates=tuple(dates.items()))) == parts
