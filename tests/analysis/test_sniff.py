"""Bytes say what they are; labels only break ties."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis.sniff import sniff
from sourcewatch.domain.document import Form

FIXTURES = Path(__file__).parent / "fixtures_text"
HTML = b"<!DOCTYPE html><html><head><title>t</title></head><body><p>words</p></body></html>"
README = b"# Title\n\n<p align='center'>\n\ntext with a [link](https://example.org)\n"


def a_zip() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.txt", "x")
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "media_type", "url", "form"),
    [
        # a true label
        (HTML, "text/html", "https://e.org/", Form.HTML),
        (b"plain words", "text/plain", "https://e.org/a.txt", Form.TEXT),
        (b'{"a": 1}', "application/json", "https://e.org/a", Form.JSON),
        (README, "text/plain", "https://raw.example.org/o/r/HEAD/README.md", Form.MARKDOWN),
        (README, "text/markdown", "https://e.org/readme", Form.MARKDOWN),
        (README, "text/plain", "https://raw.example.org/o/r/HEAD/README", Form.MARKDOWN),
        # labels that lie
        (HTML, "application/pdf", "https://e.org/a.pdf", Form.HTML),
        (HTML, "image/png", "https://e.org/a.png", Form.HTML),
        (HTML, "application/octet-stream", "https://e.org/a", Form.HTML),
        (HTML, "application/json", "https://e.org/api", Form.HTML),
        (b"%PDF-1.7\n1 0 obj", "text/html", "https://e.org/", Form.PDF),
        (b"\r\n\r\n%PDF-1.4\n", "text/plain", "https://e.org/", Form.PDF),
        (b"\x89PNG\r\n\x1a\n" + bytes(30), "text/plain", "https://e.org/", Form.IMAGE),
        (b"\xff\xd8\xff\xe0" + bytes(30), "text/html", "https://e.org/", Form.IMAGE),
        (b"GIF89a" + bytes(30), "", "", Form.IMAGE),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "", "", Form.IMAGE),
        (b"RIFF\x10\0\0\0WAVEfmt ", "", "", Form.BINARY),
        (b"\0\0\0\x1cftypavif\0\0\0\0", "", "", Form.IMAGE),
        (b"\0\0\0\x1cftypisom\0\0\0\0", "video/mp4", "", Form.BINARY),
        (a_zip(), "text/html", "https://e.org/", Form.BINARY),
        ("这是一篇没有任何标签的文章。".encode(), "application/octet-stream", "https://e.org/", Form.TEXT),
        # no label
        (HTML, "", "", Form.HTML),
        (b"<div>a</div><p>b</p><br>", "", "", Form.HTML),
        (b"<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC ''>\n<html>", "", "", Form.HTML),
        (b"<!-- a comment --> \n <HTML>", "", "", Form.HTML),
        (b"\xef\xbb\xbf  <html>", "", "", Form.HTML),
        ("\ufeff<html><p>x</p></html>".encode("utf-16-le"), "", "", Form.HTML),
        ("<html><p>words</p></html>".encode("utf-16-be"), "", "", Form.HTML),
        (b'<?xml version="1.0"?><rss version="2.0"><channel/></rss>', "text/html", "", Form.FEED),
        (b'<?xml version="1.0"?><rdf:RDF xmlns:rdf="x"/>', "", "", Form.FEED),
        (b'<feed xmlns="http://www.w3.org/2005/Atom"/>', "application/xml", "", Form.FEED),
        (b'<?xml version="1.0"?><urlset><url/></urlset>', "", "", Form.XML),
        (b'<?xml version="1.0"?><svg xmlns="x"/>', "text/plain", "", Form.IMAGE),
        (b'<svg viewBox="0 0 1 1"></svg>', "image/svg+xml", "", Form.IMAGE),
        (b'{"id": 1, "text": "<p>x"}', "text/plain", "", Form.JSON),
        (b'[{"a": 1}]', "", "", Form.JSON),
        # what looks like something and is not
        (b"{not json at all}", "text/plain", "", Form.TEXT),
        (b"[a link](https://example.org) and text", "text/plain", "", Form.TEXT),
        (b"In HTML a <p> is a paragraph.", "text/plain", "", Form.TEXT),
        (b"BM is a magic number of bitmaps", "text/plain", "", Form.TEXT),
        (b"MZ stands for Mark Zbikowski", "text/plain", "", Form.TEXT),
        (b"<p>A page about %PDF-1.7 files</p>", "text/html", "", Form.HTML),
        (HTML, "text/html", "https://github.example/o/r/blob/main/README.md", Form.HTML),
        (b"", "text/html", "", Form.HTML),
        (b"", "", "", Form.TEXT),
        (bytes(range(256)) * 4, "text/html", "", Form.BINARY),
    ],
)  # fmt: skip
def test_the_form_is_what_the_bytes_are(data: bytes, media_type: str, url: str, form: Form) -> None:
    assert sniff(data, media_type, url) is form


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("feed1.atom", Form.FEED),
        ("feed2.rss", Form.FEED),
        ("sitemap.xml", Form.XML),
        ("sitemap.xml.gz", Form.BINARY),
        ("open-infra-index.md", Form.MARKDOWN),
        ("www.bjtu.edu.cn.html", Form.HTML),
    ],
)
def test_real_files_are_known_under_a_wrong_label(name: str, form: Form) -> None:
    data = (FIXTURES / name).read_bytes()
    assert sniff(data, "application/octet-stream", f"https://e.org/{name}") is form


@given(st.binary(max_size=600), st.sampled_from(["", "text/html", "application/json", "image/png"]))
def test_no_bytes_make_it_raise(data: bytes, media_type: str) -> None:
    assert sniff(data, media_type, "https://[broken") in Form
