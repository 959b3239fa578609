"""What each kind of file cites: addresses with the lines that an editor will look at."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis import citing, citing_records, citing_text

MARKDOWN = """---
title: x
source: https://front.example/a   # https://comment.example
# https://no.example
cover: "https://front.example/c.png"
---
# Hi

See [the *paper*](https://a.example/p "t") and
<https://b.example/x>, 见https://c.example/a。
Also <a href='https://d.example/?a=1&amp;b=2'>D
words</a> and [ref][r] `https://code.example` ![alt](https://i.example/x.png)

| a | b |
|---|---|
| [x](https://t.example/1) | {{< cite url="https://s.example/q" >}} |

<div>
<a href="//pr.example/x">PR</a> <a href="/own">own</a>
</div>

```
https://fence.example
```

[r]: https://r.example/r
[never]: https://n.example/
"""
RST = """Title
=====

See `the paper <https://a.example/p>`_, https://b.example/x
and `here`_ and :ref:`t <https://role.example/>`.

.. _here: https://c.example/here

.. image:: https://img.example/a.png
   :alt: chart

.. tabs::

   .. tab:: One

      A `link <https://e.example/tab>`__ in what Sphinx adds

.. raw:: html

   <p>
   <a href="https://f.example/">F</a>

.. include:: /etc/hostname
"""
BIBTEX = r"""% c
@article{k1, title = {The {DNN} \emph{paper}},
  url = "https://a.example/x\_y", doi={10.1000/x},
  note = {See \url{https://b.example/q}}
}
@book{k2,
 doi = {10.1145/3611643.3616343},
 title={B}}
@comment{ https://no.example }
"""
ASTRO = """---
import x from "https://cdn.example/x.js"
const u = "https://k.example/"
---
<Card href={`https://c.example/`}/>
<a href={"https://d.example"}>D</a>
"""
CSL = '[\n {"title":"T","URL":"https:\\/\\/a.example\\/x"},\n {"DOI":"10.1000/y"},\n {"title":"no address"}\n]'
CASES = [
    (
        "a.md", MARKDOWN,
        [
            ("https://front.example/a", 3, "", False), ("https://front.example/c.png", 5, "", True),
            ("https://a.example/p", 9, "the paper", False), ("https://b.example/x", 10, "https://b.example/x", False),
            ("https://c.example/a", 10, "", False), ("https://d.example/?a=1&b=2", 11, "D words", False),
            ("https://r.example/r", 12, "ref", False), ("https://i.example/x.png", 12, "alt", True),
            ("https://t.example/1", 16, "x", False), ("https://s.example/q", 16, "", False),
            ("https://pr.example/x", 19, "PR", False), ("https://r.example/r", 26, "", False),
            ("https://n.example/", 27, "", False),
        ],
    ),
    (
        "a.rst", RST,
        [
            ("https://a.example/p", 4, "the paper", False), ("https://b.example/x", 4, "", False),
            ("https://c.example/here", 7, "here", False), ("https://role.example/", 5, "", False),
            ("https://img.example/a.png", 9, "chart", True), ("https://f.example/", 21, "F", False),
            ("https://e.example/tab", 16, "link", False),
        ],
    ),
    (
        "a.bib", BIBTEX,
        [
            ("https://a.example/x_y", 3, "The DNN paper", False), ("https://b.example/q", 4, "The DNN paper", False),
            ("https://doi.org/10.1145/3611643.3616343", 7, "B", False),
        ],
    ),
    ("a.json", CSL, [("https://a.example/x", 2, "T", False), ("https://doi.org/10.1000/y", 3, "", False)]),
    ("data/refs.json", '{\n "of": {"href": "https://a.example/x"}\n}', [("https://a.example/x", 2, "", False)]),
    ("data/refs.toml", '# https://no.example\nu = "https://a.example/#x"', [("https://a.example/#x", 2, "", False)]),
    (
        "a.astro", ASTRO,
        [
            ("https://k.example/", 3, "", False), ("https://c.example/", 5, "", False),
            ("https://d.example", 6, "D", False),
        ],
    ),
    (
        "a.mdx", 'import X from "https://cdn.example/x.js"\n\n<Cite\n  url="https://a.example/q"\n/>\n',
        [("https://a.example/q", 3, "", False)],
    ),
    (
        "a.html",
        '<base href="https://other.example/d/">\n<a href="x">X</a><q cite="https://q.example/">q</q>\n'
        '<link rel=canonical href="https://own.example/"><img src="https://i.example/a.png" alt="chart">'
        '<script>var a = "https://s.example/"</script><!-- <a href="https://c.example/">c</a> -->',
        [
            ("https://other.example/d/x", 2, "X", False), ("https://q.example/", 2, "", False),
            ("https://i.example/a.png", 3, "chart", True),
        ],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "expected"), CASES, ids=[c[0] for c in CASES])
def test_a_file_cites_these_addresses_in_these_lines(
    name: str, text: str, expected: list[tuple[str, int, str, bool]]
) -> None:
    found, not_read = citing.read(name, text)
    assert [(m.url, m.line, m.title, m.embedded) for m in found] == expected
    assert not not_read


def test_windows_line_ends_and_a_mark_of_byte_order_move_no_line() -> None:
    plain, _ = citing.read("a.md", MARKDOWN)
    assert citing.read("a.md", "\ufeff" + MARKDOWN.replace("\n", "\r\n"))[0] == plain


@pytest.mark.parametrize(
    ("name", "text", "line", "reason"),
    [
        ("a.json", '{"a": 1,\n"b": }', 2, "not JSON"),
        ("a.bib", "@book{a, title={open\n", 1, "do not close"),
        ("a.html", "<p>\n<![foo[ <a href=https://x.example>", 2, "declaration"),
        ("a.md", "> " * 60 + "deep\n\nhttps://a.example/", 1, "too deep"),
        ("a.xml", "<rss/>", 0, "no sitemap"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(name: str, text: str, line: int, reason: str) -> None:
    _, [told] = citing.read(name, text)
    assert (told.place, told.line) == (name, line)
    assert reason in told.reason


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(see https://a.example/b_(c)).", ["https://a.example/b_(c)"]),
        ("“https://a.example/x”，https://b.example/y。", ["https://a.example/x", "https://b.example/y"]),
        ("https://a.example/x, https://b.example/?q=1!", ["https://a.example/x", "https://b.example/?q=1"]),
        ("https:// and http://", []),
        ("[https://a.example/v1]", ["https://a.example/v1"]),
    ],
)
def test_an_address_in_text_ends_where_a_reader_sees_it_end(text: str, expected: list[str]) -> None:
    assert [url for url, _ in citing_text.addresses(text)] == expected


def test_a_sitemap_names_pages_and_other_xml_none() -> None:
    text = '<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    text += (
        "<url><loc> https://a.example/?a=1&amp;b=2 </loc></url><url><loc><![CDATA[https://a.example/b]]></loc></url>"
    )
    assert citing_records.sitemap(text) == ["https://a.example/?a=1&b=2", "https://a.example/b"]
    assert citing_records.sitemap("<rss><channel/></rss>") is None


@given(st.sampled_from(sorted(citing.SUFFIXES)), st.text(alphabet="ab \n<>[]()@{}\"'=:/.,-#`\\!|%&*_~0", max_size=80))
def test_no_text_breaks_a_reader(suffix: str, text: str) -> None:
    found, not_read = citing.read(f"a{suffix}", text)
    lines = text.count("\n") + 1
    assert all(0 <= m.line <= lines and m.url.lower().startswith(("http://", "https://")) for m in found)
    assert all(n.line <= lines for n in not_read)
