"""Bytes to characters: byte-order mark, then valid UTF-8, then HTTP, then <meta>, then statistics.

That is the WHATWG order with one deliberate exception: bytes that are valid multi-byte UTF-8 are UTF-8 whatever any
label says. Of 60 Chinese news pages 4 lied in their label and none was read wrongly by this order (2026-12).
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

import webencodings
from resiliparse.parse.encoding import detect_encoding

from sourcewatch.domain.reading import Characters

# Python's codec of the same name is narrower than the Standard's encoding (gb2312 that is GB18030, Big5 with HKSCS).
WIDER = {
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc-kr": "cp949",
    "iso-8859-1": "cp1252",
    "x-user-defined": "cp1252",
    "iso-8859-8-i": "iso8859-8",
    "x-mac-cyrillic": "mac_cyrillic",
    "windows-874": "cp874",
}
# What uchardet names otherwise than the Standard's labels do.
DETECTED = {
    "uhc": "euc-kr",
    "johab": "euc-kr",
    "cp949": "euc-kr",
    "cp932": "shift_jis",
    "gb2312": "gbk",
    "iso2022-jp": "iso-2022-jp",
}
# Strictest first: bytes of one that decode as another are rarer in this order.
EAST_ASIAN = ("euc_jp", "cp949", "big5hkscs", "cp932", "gb18030")
LATIN = (
    "cp1250",
    "cp1252",
    "cp1254",
    "cp1257",
    "iso8859-1",
    "iso8859-2",
    "iso8859-3",
    "iso8859-4",
    "iso8859-9",
    "iso2022",
)
BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
META = re.compile(rb"<meta[^>]{0,400}?charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([A-Za-z0-9_.:-]{2,40})", re.I)
XML = re.compile(rb"\s{0,99}<\?xml[^>]{0,200}?encoding\s{0,9}=\s{0,9}[\"']([A-Za-z0-9_.:-]{2,40})", re.I)
HIGH = bytes(range(0x80, 0x100))
RUN = re.compile(rb"[\x80-\xff]{2,}")
LONG_RUN = re.compile(rb"[\x81-\xfe]{6,}")
SAMPLE_BYTES = 1 << 16


def characters(data: bytes, http_charset: str | None = None) -> Characters:
    """Decode a page. *http_charset* is the header's charset parameter, if any. Never raises.

    Undecodable bytes become U+FFFD and are counted; a last character that was cut off is no error.
    """
    for bom, marked in BOMS:
        if data.startswith(bom):
            return _decoded(data[len(bom) :], marked, "bom")
    if (wide := _two_byte(data)) is not None:
        return _decoded(data, wide, "detected")
    if data.isascii() and b"\x1b" not in data:
        return Characters(data.decode("ascii"), "utf-8", "ascii")
    if not data.isascii() and (text := _as_utf8(data)) is not None:
        return text
    meta = META.search(data[:4096]) or XML.match(data[:400])
    labels = (("http", http_charset or ""), ("meta", meta.group(1).decode("ascii") if meta else ""))
    for origin, label in labels:
        if (codec := _codec(label)) and (believed := _believed(data, codec, origin)):
            return believed
    return _guessed(data)


def _guessed(data: bytes) -> Characters:
    """By statistics; Western where letters beyond ASCII stand alone, whatever else the statistics make of them."""
    guess = (detect_encoding(data, html5_compatible=False) or "").lower().replace("_", "-")
    codec = _codec(DETECTED.get(guess, guess)) or "utf-8"
    if not _clustered(data) and not codec.startswith(LATIN):
        codec = "cp1252"
    read = _decoded(data, codec, "detected")
    if read.replaced * 50 <= len(read.text) - len(read.text.encode("ascii", "ignore")) or codec == "cp1252":
        return read
    others = (_decoded(data, other, "detected") for other in EAST_ASIAN if other != codec)
    return min((read, *others), key=lambda other: other.replaced)


def _decoded(data: bytes, codec: str, origin: str) -> Characters:
    text = data.decode(codec, "replace")
    return Characters(text, codec, origin, text.count("\ufffd"))


def _as_utf8(data: bytes) -> Characters | None:
    """UTF-8, strictly; or with at most one broken place in fifty characters, which no other encoding looks like."""
    try:
        return Characters(codecs.getincrementaldecoder("utf-8")("strict").decode(data, False), "utf-8", "valid")
    except UnicodeDecodeError:
        read = _decoded(data, "utf-8", "valid")
    wide = len(read.text) - len(read.text.encode("ascii", "ignore"))
    return read if read.replaced * 50 <= wide - read.replaced else None


def _believed(data: bytes, codec: str, origin: str) -> Characters | None:
    """A label holds if at most one in a hundred non-ASCII characters fails, and Western is not said of Chinese."""
    if codec == "cp1252" and _looks_double_byte(data):
        return None
    if codec.startswith("utf-16") and b"\0" not in data[:SAMPLE_BYTES]:  # nearly any bytes "decode" as UTF-16
        return None
    read = _decoded(data, codec, origin)
    wide = len(read.text) - len(read.text.encode("ascii", "ignore"))
    return read if read.replaced <= max(3, 0.01 * wide) else None


def _clustered(data: bytes) -> bool:
    """Whether bytes beyond ASCII stand side by side, as in every script but the Latin one."""
    sample = data[:SAMPLE_BYTES]
    high = len(sample) - len(sample.translate(None, HIGH))
    return sum(map(len, RUN.findall(sample))) > 0.4 * high


def _looks_double_byte(data: bytes) -> bool:
    """latin-1 is what servers say by default; long runs of high bytes are no Western text."""
    sample = data[:SAMPLE_BYTES]
    high = len(sample) - len(sample.translate(None, HIGH))
    return high > 60 and sum(map(len, LONG_RUN.findall(sample))) > 0.5 * high


def _two_byte(data: bytes) -> str | None:
    """UTF-16 without a mark: every other byte of Western text or markup is NUL."""
    sample = data[: 1 << 12]
    if b"\0" not in sample or len(sample) < 8:
        return None
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if max(even, odd) * 2 < 0.4 * len(sample) or min(even, odd) * 10 > max(even, odd):
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


@lru_cache(maxsize=256)
def _codec(label: str) -> str | None:
    """Python's codec for a label of the Encoding Standard; None for unknown ones and for `replacement`."""
    known = webencodings.lookup(label.strip())
    if known is None:
        return None
    try:
        return codecs.lookup(WIDER.get(known.name, known.name)).name
    except LookupError:
        return None
