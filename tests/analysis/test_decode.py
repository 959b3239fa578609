"""Characters come out right, whatever the labels say."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis.decode import characters

FIXTURES = Path(__file__).parent / "fixtures_text"
ZH = "<p>单集群每天处理的数量达到一百五十五万亿，价格没有变化。团队在文章里写道，吞吐量与时延都已改善。</p>" * 3
TW = "<p>單一叢集每天處理的數量達到一百五十五兆，價格沒有變化。團隊在文章裡寫道，吞吐量與時延都已改善。</p>" * 3
JA = "<p>一つのクラスタで毎日処理される量は百五十五兆に達し、価格は変わっていません。</p>" * 3
KO = "<p>하나의 클러스터가 매일 처리하는 양은 백오십오조에 이르며 가격은 변하지 않았다.</p>" * 3
RU = "<p>Один кластер обрабатывает ежедневно сто пятьдесят пять триллионов, цена не изменилась.</p>" * 3
DE = "<p>Der Bericht über die Größe der Gebäude: schöne Grüße aus Köln, täglich geöffnet für alle Gäste.</p>" * 3


@pytest.mark.parametrize(
    ("text", "codec", "label"),
    [
        (ZH + "镕𠮷", "gb18030", "gb2312"),  # the label gb2312 means GB18030, whatever it says
        (ZH, "gbk", "gbk"),
        (TW, "big5", "big5"),
        (JA, "shift_jis", "Shift_JIS"),
        (JA, "euc_jp", "euc-jp"),
        (JA, "iso2022_jp", "iso-2022-jp"),
        (KO, "cp949", "euc-kr"),
        (RU, "cp1251", "windows-1251"),
        (RU, "koi8_r", "koi8-r"),
        (DE, "cp1252", "iso-8859-1"),
        (DE + "€", "cp1252", "windows-1252"),
        ("Bu sayfada aradığınız şey bulunamadı. " * 4, "cp1254", "iso-8859-9"),
        ("ไม่พบหน้าที่คุณต้องการ กรุณาลองใหม่ " * 4, "cp874", "tis-620"),
    ],
)
def test_a_true_label_is_believed_in_the_header_and_in_the_page(text: str, codec: str, label: str) -> None:
    data = text.encode(codec)
    told = characters(data, label)
    assert (told.text, told.origin, told.replaced) == (text, "http", 0)
    page = f'<meta http-equiv="Content-Type" content="text/html; charset={label}">'.encode() + data
    assert characters(page).text.endswith(text)
    assert characters(page).origin == "meta"


@pytest.mark.parametrize(
    ("text", "codec"),
    [(ZH, "gb18030"), (TW, "big5"), (JA, "shift_jis"), (JA, "euc_jp"), (KO, "cp949"), (RU, "cp1251"), (DE, "cp1252")],
)
def test_without_any_label_statistics_decide(text: str, codec: str) -> None:
    read = characters(text.encode(codec))
    assert (read.text, read.origin) == (text, "detected")


@pytest.mark.parametrize("label", ["gb2312", "iso-8859-1", "big5", "utf-16", "no-such-charset", ""])
def test_valid_utf8_is_utf8_whatever_the_label(label: str) -> None:
    read = characters(f'<meta charset="{label}">{ZH}'.encode(), label)
    assert (read.codec, read.origin, read.replaced) == ("utf-8", "valid", 0)
    assert read.text.endswith(ZH)


@pytest.mark.parametrize("label", ["utf-8", "iso-8859-1", "utf-16le", "x-unknown"])
def test_a_wrong_label_on_chinese_bytes_is_not_believed(label: str) -> None:
    assert characters(ZH.encode("gb18030"), label).text == ZH


@pytest.mark.parametrize(
    ("mark", "codec"), [(b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")]
)
def test_a_byte_order_mark_beats_everything(mark: bytes, codec: str) -> None:
    read = characters(mark + ZH.encode(codec), "gbk")
    assert (read.text, read.codec, read.origin) == (ZH, codec, "bom")


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_without_a_mark_is_seen_by_its_zeros(codec: str) -> None:
    page = "<html><head><title>A plain page</title></head><body><p>with words in it</p></body></html>"
    assert characters(page.encode(codec)).text == page


def test_one_broken_byte_does_not_turn_a_page_into_another_encoding() -> None:
    data = ZH.encode()
    read = characters(data[:90] + b"\xff" + data[90:], "gbk")
    assert (read.codec, read.replaced) == ("utf-8", 1)


def test_a_last_character_that_was_cut_off_is_no_error() -> None:
    assert characters(ZH.encode()[:-5]).replaced == 0


def test_a_declaration_counts_within_the_first_four_kilobytes() -> None:
    near = b"<!-- " + b"x" * 3000 + b" --><meta charset=gbk>"
    assert characters(near + ZH.encode("gbk")).origin == "meta"


def test_a_real_page_of_a_university_in_gbk_is_read() -> None:
    read = characters((FIXTURES / "www.bjtu.edu.cn.html").read_bytes())
    assert "没有找到" in read.text
    assert read.codec == "gb18030"


@given(
    st.binary(max_size=2000), st.sampled_from([None, "utf-8", "gbk", "utf-16", "iso-2022-jp", "hz-gb-2312", "\0", "é"])
)
def test_no_bytes_make_it_raise(data: bytes, label: str | None) -> None:
    read = characters(data, label)
    assert read.text.encode("utf-8") or not data or read.text == ""


@given(st.text(max_size=300))
def test_what_was_written_in_utf8_is_read_back(text: str) -> None:
    marked = "字" + text
    assert characters(marked.encode("utf-8", "replace")).text == marked.encode("utf-8", "replace").decode()
