"""JSON, feeds, sitemaps and plain text are documents in their own right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis.structured import from_json, from_text, from_xml
from sourcewatch.domain.document import Form

FIXTURES = Path(__file__).parent / "fixtures_text"
URL = "https://example.org/api/item"
ITEM = {
    "id": 8863,
    "type": "story",
    "title": "My YC app: Dropbox - Throw away your USB drive",
    "url": "http://www.example.com/u2/screencast.html",
    "points": 111,
    "children": [
        {
            "author": "a",
            "text": "It's <i>better</i> than that.<p>Second paragraph &amp; more &#x27;words&#x27;.",
            "children": [],
        },
        {"author": "b", "text": None, "children": [{"author": "c", "text": "A reply in the thread.", "children": []}]},
    ],
}


def test_a_thread_of_comments_is_read_with_its_markup() -> None:
    document = from_json(json.dumps(ITEM), url=URL)
    assert document.title == "My YC app: Dropbox - Throw away your USB drive"
    assert {"It's better than that.", "Second paragraph & more 'words'.", "A reply in the thread."} <= {
        b.text for b in document.blocks
    }


def test_counters_are_blocks_of_their_own_with_their_path() -> None:
    blocks = {block.path: block.text for block in from_json(json.dumps(ITEM), url=URL).blocks}
    assert blocks["$.points"] == "points: 111"
    assert blocks["$.children.author"] == "author: b"
    assert blocks["$.children.children.author"] == "author: c"


def test_crossref_metadata_has_its_title_and_abstract() -> None:
    message = {
        "title": ["On Sources"],
        "abstract": "<jats:p>Links rot within years.</jats:p>",
        "is-referenced-by-count": 7,
    }
    document = from_json(json.dumps({"status": "ok", "message": message}), url=URL)
    assert document.title == "On Sources"
    assert "Links rot within years." in document.text
    assert "is-referenced-by-count: 7" in document.text


def test_a_json_feed_is_a_feed() -> None:
    feed = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": "Notes",
        "home_page_url": "https://notes.example/",
        "items": [
            {"id": 1, "title": "First", "content_html": "<p>Some <b>text</b>.</p><img src=/i.png>", "url": "/1"},
            "odd",
        ],
    }
    document = from_json(json.dumps(feed), url=URL)
    assert (document.form, document.title) == (Form.FEED, "Notes")
    assert [b.text for b in document.blocks] == ["First", "Some text."]
    assert [link.url for link in document.links] == ["https://notes.example/1"]
    assert [embed.url for embed in document.embeds] == ["https://notes.example/i.png"]


@pytest.mark.parametrize("text", ["{'a': 1}", '{"a": ', "[" * 200_000, "null}", ""])
def test_what_is_no_json_is_read_as_text_with_a_note(text: str) -> None:
    document = from_json(text, url=URL)
    assert document.form is Form.JSON
    assert document.notes[0].startswith("JSON does not parse")
    assert "".join(document.text.split()) == "".join(text.split())


def test_the_guard_against_inclusion_as_a_script_is_taken_off() -> None:
    assert from_json(')]}\'\n{"title": "Guarded"}').title == "Guarded"


leaves = (
    st.text(alphabet="ab 中<&\n", max_size=20) | st.integers() | st.booleans() | st.none() | st.floats(allow_nan=False)
)


@given(st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner), max_leaves=20))
def test_no_json_makes_it_raise(value: object) -> None:
    assert from_json(json.dumps(value), url=URL).notes == ()


# Feeds and XML


def test_a_real_atom_feed_is_read_entry_by_entry() -> None:
    document = from_xml((FIXTURES / "feed1.atom").read_text(encoding="utf-8"), Form.FEED)
    assert document.title == "Example Feed"
    assert [b.text for b in document.blocks if b.path == "feed>entry>title"] == [
        "Atom-Powered Robots Run Amok",
        "Self-referenced link",
    ]
    assert "http://example.org/2003/12/13/atom03" in {link.url for link in document.links}


def test_a_real_rss_feed_is_read_item_by_item() -> None:
    document = from_xml((FIXTURES / "feed2.rss").read_text(encoding="utf-8"), Form.FEED)
    assert document.title == "RSS Title"
    assert any(b.path == "rss>channel>item>title" for b in document.blocks)
    assert document.links


def test_markup_inside_an_entry_is_read_as_the_page_that_it_is() -> None:
    feed = """<?xml version="1.0" encoding="gbk"?><rss><channel><language>zh-CN</language><item>
    <description><![CDATA[<p>第一段。</p><img src="/i.png">]]></description>
    <content:encoded xmlns:content="x">&lt;p&gt;Second &amp;amp; third.&lt;/p&gt;</content:encoded>
    <enclosure url="https://example.org/p.jpg" type="image/jpeg"/></item></channel></rss>"""
    document = from_xml(feed, Form.FEED, url=URL)
    assert [b.text for b in document.blocks] == ["zh-CN", "第一段。", "Second & third."]
    assert {e.url for e in document.embeds} == {"https://example.org/i.png", "https://example.org/p.jpg"}
    assert document.language == "zh-CN"


def test_a_real_sitemap_lists_its_addresses() -> None:
    document = from_xml((FIXTURES / "sitemap.xml").read_text(encoding="utf-8"), Form.XML)
    assert document.links[0].url == "https://www.sitemaps.org/"
    assert len(document.links) == 84


def test_entities_are_never_expanded_and_nothing_external_is_read() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    bomb = f'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY l0 "ha">{laughs}]><rss><title>&l11;</title></rss>'
    thief = '<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/hostname">]><rss><title>&x;</title></rss>'
    for text in (bomb, thief):
        document = from_xml(text, Form.FEED)
        assert len(document.text) < 2_000
        assert "declares entity" in document.notes[0]


def test_a_feed_that_is_not_well_formed_is_still_read() -> None:
    document = from_xml(
        "<rss><channel><title>A & B</title><item><description>Words &nbsp; here</description>", Form.FEED
    )
    assert "Words" in document.text
    assert document.notes[0].startswith("XML is not well-formed")


@given(st.text(alphabet="<>/?!&;[]=\"' abrs\n", max_size=120))
def test_no_xml_makes_it_raise(text: str) -> None:
    assert from_xml(text, Form.XML).form is Form.XML


# Plain text


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("one\n\ntwo\n \nthree", ["one", "two", "three"]),
        ("short\nlines\nstay", ["short", "lines", "stay"]),
        ("第一段没有换行。\n第二段也没有。", ["第一段没有换行。", "第二段也没有。"]),
        ("a\r\n\r\nb\rc", ["a", "b", "c"]),
        ("x" * 60 + "\n" + "y" * 60 + "\nend", ["x" * 60 + " " + "y" * 60 + " end"]),
        ("中" * 50 + "\n" + "文" * 20, ["中" * 50 + "文" * 20]),
        ("w" * 900_000, ["w" * 900_000]),
        (" \n\t\n", []),
    ],
    ids=["paragraphs", "lines", "chinese", "carriage-returns", "wrapped", "wrapped-chinese", "one-line", "blank"],
)  # fmt: skip
def test_text_is_read_by_paragraphs(text: str, blocks: list[str]) -> None:
    assert [b.text for b in from_text(text).blocks] == blocks


@given(st.text(max_size=300))
def test_no_letter_of_a_text_is_lost(text: str) -> None:
    kept = "".join(from_text(text).text.split())
    assert [c for c in text if c.isalnum()] == [c for c in kept if c.isalnum()]
