"""A PDF's text layer is read page by page; a scan is a scan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourcewatch.analysis.pdf import extract, mend
from sourcewatch.domain.document import Document, Form, Label


def a_pdf(pages: Sequence[Sequence[str]], letters: Mapping[str, int] | None = None, title: str = "") -> bytes:
    """Lines of Latin letters, one below the other; *letters* says which code points a font's ToUnicode map gives."""
    rows = "".join(f"<{ord(c):02X}> <{point:04X}>\n" for c, point in (letters or {}).items())
    cmap = (
        "/CIDInit /ProcSet findresource begin begincmap /CMapType 2 def "
        "1 begincodespacerange <00> <FF> endcodespacerange "
        f"{len(letters or {})} beginbfchar\n{rows}endbfchar endcmap end"
    )
    mapped = " /ToUnicode 4 0 R" if letters else ""
    kids = " ".join(f"{5 + 2 * n} 0 R" for n in range(len(pages)))
    bodies = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        f"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica{mapped} >>",
        f"<< /Length {len(cmap)} >>\nstream\n{cmap}\nendstream",
    ]
    for number, lines in enumerate(pages):
        shown = " ".join(f"({line}) Tj T*" for line in lines)
        stream = f"BT /F1 11 Tf 14 TL 50 760 Td {shown} ET"
        resources = "/Resources << /Font << /F1 3 0 R >> >> /MediaBox [0 0 612 792]"
        bodies.append(f"<< /Type /Page /Parent 2 0 R {resources} /Contents {6 + 2 * number} 0 R >>")
        bodies.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    bodies.append(f"<< /Title ({title}) >>")
    out, offsets = b"%PDF-1.7\n", []
    for number, body in enumerate(bodies, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    root = f"<< /Size {len(bodies) + 1} /Root 1 0 R /Info {len(bodies)} 0 R >>"
    head = f"xref\n0 {len(bodies) + 1}\n0000000000 65535 f \n{table}"
    return out + f"{head}trailer\n{root}\nstartxref\n{len(out)}\n%%EOF".encode()


def texts(document: Document, label: Label = Label.MAIN) -> list[tuple[str, str]]:
    return [(b.path, b.text) for b in document.blocks if b.label is label]


def test_lines_that_fill_the_width_are_one_paragraph_and_pages_are_told_apart() -> None:
    first = [
        "The engine handles many requests at once and",
        "it does so without losing any of them at all",
        "or so they say.",
    ]
    document = extract(a_pdf([[*first, "Second paragraph here."], ["Another page."]], title="A paper"))
    assert texts(document) == [("p1", " ".join(first)), ("p1", "Second paragraph here."), ("p2", "Another page.")]
    assert (document.form, document.title, document.notes) == (Form.PDF, "A paper", ())


def test_running_heads_and_page_numbers_are_chrome() -> None:
    pages = [["Journal of Sources, vol. 7", f"Body of page {'abcdef'[n]}.", f"- {n + 1} -"] for n in range(4)]
    document = extract(a_pdf(pages))
    assert [text for _, text in texts(document)] == [f"Body of page {c}." for c in "abcd"]
    assert ("p3", "- 3 -") in texts(document, Label.CHROME)


def test_a_line_on_two_pages_is_no_running_head() -> None:
    document = extract(a_pdf([["Results", "One thing."], ["Results", "Other thing."]]))
    assert texts(document, Label.CHROME) == []


def test_radicals_become_ideographs_again() -> None:
    document = extract(a_pdf([["abc"]], {"a": 0x2F45, "b": 0x2EA0, "c": 0x6587}))  # ⽅ ⺠ 文
    assert document.blocks[0].text == "方民文"


@pytest.mark.parametrize(
    ("radicals", "text"),
    [("官⽅⽂档", "官方文档"), ("⻓⻔⻚⻋⻝⻢", "长门页车食马"), ("²① ﬁ", "²① ﬁ"), ("plain", "plain")],
)
def test_only_radicals_are_mended(radicals: str, text: str) -> None:
    assert mend(radicals) == text


@pytest.mark.parametrize("pages", [[[]], [[], []], [["- . -"]]])
def test_pages_without_letters_are_a_scan(pages: list[list[str]]) -> None:
    document = extract(a_pdf(pages))
    assert (document.blocks, document.notes) == ((), ("no text layer",))


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7\n", b"<html>no pdf</html>", a_pdf([["x"]])[:60]])
def test_a_file_that_does_not_open_is_told_in_a_note(data: bytes) -> None:
    document = extract(data)
    assert document.blocks == ()
    assert document.notes[0].startswith("document broken: ")


def test_pages_beyond_the_limit_are_told_in_a_note() -> None:
    document = extract(a_pdf([[f"Page {n} has words."] for n in range(520)]))
    assert document.notes == ("read 500 of 520 pages",)


@settings(max_examples=60)
@given(st.data())
def test_damaged_files_never_make_it_raise(data: st.DataObject) -> None:
    whole = bytearray(a_pdf([["Some words on a page."], ["More words."]], title="T"))
    for _ in range(data.draw(st.integers(1, 6))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    assert extract(bytes(whole[: data.draw(st.integers(0, len(whole)))])).form is Form.PDF
