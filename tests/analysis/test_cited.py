"""What the site cites against what is declared, and what new rows are called."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis import naming, spelling
from sourcewatch.analysis.cited import Comparison, Form, compare
from sourcewatch.domain.mention import Mention, NewSource
from sourcewatch.domain.source import Mirror, Source, SourceKind

SOURCES = (
    Source("one", "A", "One", url="https://one.example/a", read="https://raw.one.example/a.md"),
    Source("two", "A", "Two", url="https://two.example/old", mirrors=(Mirror("https://mirror.example/two"),)),
    Source("three", "A", "Three", url="https://three.example/b", formerly=("https://three.example/a",)),
    Source("own", "self", "Own", url="https://site.example/about"),
    Source("figure", "A", "Figure", url="https://one.example/f.png", kind=SourceKind.FIGURE, parent="one"),
    Source("lost", "C", "Unlocated"),
)
MOVED = {"two": "https://two.example/new"}


def against(*urls: str) -> Comparison:
    return compare([Mention(u, "a.md", i) for i, u in enumerate(urls, 1)], SOURCES, MOVED, "https://site.example/")


@pytest.mark.parametrize(
    ("url", "source", "form", "better"),
    [
        ("https://one.example/a", "one", Form.SAME, ""),
        ("https://one.example/a#part", "one", Form.SAME, ""),
        ("https://raw.one.example/a.md", "one", Form.SAME, ""),
        ("https://mirror.example/two", "two", Form.SAME, ""),
        ("http://one.example/a", "one", Form.SCHEME, "https://one.example/a"),
        ("https://www.one.example/a/", "one", Form.SPELLING, "https://one.example/a"),
        ("https://one.example/a/index.html?utm_source=x", "one", Form.SPELLING, "https://one.example/a"),
        ("https://two.example/old", "two", Form.MOVED, "https://two.example/new"),
        ("https://three.example/a", "three", Form.MOVED, "https://three.example/b"),
        ("https://two.example/new", "two", Form.ROW_MOVED, "https://two.example/new"),
    ],
)
def test_an_address_is_known_in_whatever_form_it_is_cited(url: str, source: str, form: Form, better: str) -> None:
    [cited] = against(url).watched
    assert (cited.source, cited.form, cited.better) == (source, form, better)


@pytest.mark.parametrize(
    "url",
    ["https://one.example/b", "https://one.example/a?page=2", "https://one.example/A", "https://one.example/a#/route"],
)
def test_another_page_is_not_taken_for_a_spelling(url: str) -> None:
    assert [c.url for c in against(url).missing] == [url]


def test_what_nobody_cites_any_more_is_named_but_for_figures_own_pages_and_the_unlocated() -> None:
    assert [s.id for s in against("https://one.example/a").uncited] == ["two", "three"]


def test_the_sites_own_pages_are_not_outward_and_this_machine_is_no_citation() -> None:
    found = against("https://site.example/x", "http://localhost:1313/x", "https://[broken/")
    assert (found.missing, found.watched) == ((), ())
    assert [m.url for m in found.unfit] == ["http://localhost:1313/x", "https://[broken/"]


def test_spellings_of_one_new_address_become_one_row_and_https_is_watched() -> None:
    [cited] = against("http://new.example/a/", "https://new.example/a").missing
    assert (cited.url, [p.line for p in cited.places]) == ("https://new.example/a", [1, 2])


def test_pictures_of_other_sites_are_told_apart_from_citations() -> None:
    found = compare([Mention("https://i.example/a.png", "a.md", 1, embedded=True)], SOURCES, {}, "")
    assert ([c.url for c in found.embedded], found.missing) == (["https://i.example/a.png"], ())


@pytest.mark.parametrize(
    ("url", "title", "id_", "name"),
    [
        ("https://a.example/x", "vLLM README", "vllm-readme", "vLLM README"),
        ("https://zhuanlan.zhihu.com/p/1?x=2", "大规模推理部署", "zhuanlan-zhihu-com-p-1", "大规模推理部署"),
        ("https://www.a.example/papers/one.pdf", "here", "a-example-papers-one-pdf", "a.example: papers/one.pdf"),
        ("https://a.example/", "[1]", "a-example", "a.example"),
        ("https://a.example/", "https://a.example/", "a-example", "a.example"),
        ("https://例子.example/", "", "xn-fsqu00a-example", "xn--fsqu00a.example"),
    ],
)
def test_a_row_is_named_by_the_sites_words_or_by_its_address(url: str, title: str, id_: str, name: str) -> None:
    [row] = naming.named([NewSource(url, title)], ())
    assert (row.id, row.title) == (id_, name)


@given(
    st.lists(
        st.tuples(st.sampled_from(["https://a.example/", "https://b.example/x"]), st.text(max_size=90)), max_size=9
    )
)
def test_ids_are_unique_and_fit_for_folders(rows: list[tuple[str, str]]) -> None:
    named = naming.named([NewSource(url, title) for url, title in rows], {"a-example", "one"})
    ids = [row.id for row in named]
    assert len({*ids, "a-example", "one"}) == len(ids) + 2
    assert all(re.fullmatch(r"[a-z0-9](?:[a-z0-9-]{0,98}[a-z0-9])?", i) for i in ids)
    assert all(row.title for row in named)


@given(st.sampled_from(["https://www.a.example/b/?utm_medium=x&q=1", "http://a.example:80/%7Eb/index.htm?q=1"]))
def test_the_key_of_a_key_is_itself(url: str) -> None:
    first = spelling.key(url)
    assert first is not None
    assert spelling.key(f"https://{first}") == first
