"""One door for all forms: what went in is told with what came out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis.extract import EXTRACTOR, extract, selector_error
from sourcewatch.analysis.sniff import sniff
from sourcewatch.domain.document import Form, Label, pack, unpack

FIXTURES = Path(__file__).parent / "fixtures_text"
READABLE = sorted(set(Form) - {Form.PDF})


@pytest.mark.parametrize("form", READABLE)
@given(data=st.binary(max_size=300))
def test_no_bytes_of_any_form_make_it_raise(form: Form, data: bytes) -> None:
    document = extract(data, form=form, url="https://example.org/")
    assert document.extractor == EXTRACTOR


def test_a_change_of_encoding_shows_in_the_document_and_not_in_its_text() -> None:
    page = "<p>单集群每天处理的数量达到一百五十五万亿。</p>"
    old = extract(page.encode("gbk"), form=Form.HTML, http_charset="gbk")
    new = extract(page.encode(), form=Form.HTML, http_charset="gbk")
    assert (old.codec, old.codec_origin) == ("gb18030", "http")
    assert (new.codec, new.codec_origin) == ("utf-8", "valid")
    assert old.text == new.text


def test_characters_that_do_not_decode_are_told() -> None:
    page = ("<p>单集群每天处理的数量达到一百五十五万亿。</p>" * 9).encode()
    document = extract(page[:42] + b"\xff" + page[42:], form=Form.HTML)
    assert document.notes == ("1 characters do not decode as utf-8",)


def test_selectors_reach_the_readers_of_pages() -> None:
    for form in (Form.HTML, Form.MARKDOWN):
        document = extract(b"<main>in</main>\n\n<div>out</div>", form=form, select="main")
        assert [b.label for b in document.blocks] == [Label.MAIN, Label.CHROME]
    assert selector_error("main[") is not None


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.*")), ids=lambda path: path.name)
def test_real_files_survive_the_way_into_the_database_and_back(path: Path) -> None:
    data = path.read_bytes()
    form = sniff(data, "", f"https://example.org/{path.name}")
    document = extract(data, form=form, url=f"https://example.org/{path.name}")
    kept = unpack(pack(document))
    assert kept.text_sha256 == document.text_sha256
    assert (kept.codec, kept.codec_origin, kept.embeds) == (document.codec, document.codec_origin, document.embeds)
    assert document.blocks or form is Form.BINARY


def test_a_real_error_page_keeps_its_words() -> None:
    document = extract((FIXTURES / "techresources.oecd.org.html").read_bytes(), form=Form.HTML)
    assert "Temporary service interruption" in document.text
