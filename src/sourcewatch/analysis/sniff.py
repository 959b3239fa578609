"""What bytes are, whatever their label says: magic numbers first, then markup, then the label, then the letters."""

from __future__ import annotations

import json
import re

from sourcewatch.domain.document import Form

HEAD_BYTES = 4096
BOMS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
IMAGE_MAGIC = (
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"GIF87a",
    b"GIF89a",
    b"BM",
    b"\0\0\1\0",
    b"II*\0",
    b"MM\0*",
    b"\0\0\0\x0cJXL ",
    b"\xff\x0a",
)
ISO_BRANDS = (b"avif", b"avis", b"heic", b"heix", b"mif1", b"msf1")
BINARY_MAGIC = (
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"\x1f\x8b",
    b"\x28\xb5\x2f\xfd",
    b"7z\xbc\xaf\x27\x1c",
    b"Rar!\x1a",
    b"BZh",
    b"\xfd7zXZ",
    b"\x7fELF",
    b"MZ",
    b"\xd0\xcf\x11\xe0",
    b"OggS",
    b"ID3",
    b"\x1a\x45\xdf\xa3",
    b"wOFF",
    b"wOF2",
    b"SQLite format 3\0",
    b"\0asm",
)
LEAD = re.compile(r"(?:\s{1,4000}|<!--.{0,4000}?-->|<\?.{0,2000}?\?>){0,30}", re.S)
HTML_TAG = re.compile(
    r"<(?:!doctype\s+html|html|head|body|script|style|title|meta|link|base|frameset|iframe|table|div|section|article|main"
    r"|header|nav|footer|form|p|br|h[1-6]|ul|ol|center|font|span|img|a|b|blockquote|pre|noscript)(?=[\s/>])",
    re.I,
)
ANY_TAG = re.compile(
    r"</(?:html|body|div|p|table|head|a|li|span)\s?>|<(?:br|div|p|a|img|li)(?:\s[^<>]{0,400})?/?>", re.I
)
XML_ROOT = re.compile(r"<(?:!doctype\s+)?(?:[A-Za-z_][\w.-]{0,60}:)?([A-Za-z_][\w.-]{0,60})")
FEED_ROOTS = frozenset({"rss", "feed", "rdf"})
MARKDOWN_PATH = re.compile(r"(?:\.(?:md|markdown|mdown|mkd|mdx)|/readme)$", re.I)
MARKDOWN_TYPES = frozenset({"text/markdown", "text/x-markdown"})
TEXT_CONTROLS = frozenset(range(0x20)) - {7, 8, 9, 10, 11, 12, 13, 0x1B}


def sniff(data: bytes, media_type: str, url: str) -> Form:
    """The form of a decoded body. *media_type* is the declared one without parameters, *url* the final address.

    A label decides only among forms that bytes cannot tell apart (Markdown, text, HTML without any tag).
    After the WHATWG MIME Sniffing Standard, but bytes outweigh labels: here a wrong label is to be found, not obeyed.
    """
    media_type = media_type.partition(";")[0].strip().lower()
    if (form := _by_magic(data)) is not None:
        return form
    text = _opening(data)
    if text is None:
        return Form.BINARY
    path = url.partition("#")[0].partition("?")[0]
    page = media_type in ("text/html", "application/xhtml+xml")
    markdown = not page and (media_type in MARKDOWN_TYPES or bool(MARKDOWN_PATH.search(path)))
    if (form := _by_markup(text, media_type, markdown)) is not None:
        return form
    if media_type.endswith(("/json", "+json", "/x-ndjson")) or _is_json(data, text):
        return Form.JSON if text.lstrip("\ufeff \t\r\n)]}',") else Form.TEXT
    if markdown:
        return Form.MARKDOWN
    if page or _tags(text):
        return Form.HTML
    return Form.TEXT


def _by_magic(data: bytes) -> Form | None:
    head = data[:1024]
    if b"%PDF-" in head:
        before = head[: head.index(b"%PDF-")]
        if b"<" not in before:  # junk before the header is allowed by ISO 32000 Annex H; a page about PDFs is none
            return Form.PDF
    if head.startswith(IMAGE_MAGIC) and not (head.startswith(b"BM") and data[6:10] != b"\0\0\0\0"):
        return Form.IMAGE
    if head[:4] == b"RIFF":
        return Form.IMAGE if head[8:12] == b"WEBP" else Form.BINARY
    if head[4:8] == b"ftyp":
        return Form.IMAGE if head[8:12] in ISO_BRANDS else Form.BINARY
    if head.startswith(BINARY_MAGIC) and not (head.startswith((b"MZ", b"BZh", b"ID3")) and _controls(head) == 0):
        return Form.BINARY
    return None


def _opening(data: bytes) -> str | None:
    """The first characters, well enough decoded to see markup; None for bytes that are no text."""
    head = data[:HEAD_BYTES]
    for bom, codec in BOMS:
        if head.startswith(bom):
            return head[len(bom) :].decode(codec, "replace")
    if b"\0" in head:
        even, odd = head[0::2].count(0), head[1::2].count(0)
        if max(even, odd) > 0.4 * len(head) / 2 and min(even, odd) * 10 <= max(even, odd):
            return head.decode("utf-16-le" if odd > even else "utf-16-be", "replace")
    if _controls(head) > max(1, len(head) // 200):
        return None
    return head.decode("utf-8", "replace") if _mostly_utf8(head) else head.decode("latin-1")


def _controls(head: bytes) -> int:
    return len(head) - len(head.translate(None, bytes(TEXT_CONTROLS)))


def _mostly_utf8(head: bytes) -> bool:
    return head.decode("utf-8", "replace").count("\ufffd") < 8


def _by_markup(text: str, media_type: str, markdown: bool) -> Form | None:
    """HTML, SVG, feed or XML by the first tag after comments and declarations."""
    start = LEAD.match(text)
    at = start.end() if start else 0
    root = XML_ROOT.match(text, at)
    declared = text.lstrip("\ufeff \t\r\n").startswith("<?xml")
    if root:
        name = root.group(1).lower()
        if name == "svg":
            return Form.IMAGE
        if name in FEED_ROOTS:
            return Form.FEED
        if name == "html":
            return Form.HTML
    if HTML_TAG.match(text, at):
        return Form.MARKDOWN if markdown else Form.HTML
    if root and (declared or media_type.endswith(("/xml", "+xml"))) and media_type != "text/html":
        return Form.XML
    return None


def _is_json(data: bytes, text: str) -> bool:
    opening = text.lstrip("\ufeff \t\r\n")
    if not opening.startswith(("{", "[")):
        return False
    if len(data) <= HEAD_BYTES:
        try:
            json.loads(opening)
        except (ValueError, RecursionError):
            return False
        return True
    return (
        bool(re.match(r'\{\s{0,99}"[^"\n]{1,200}"\s{0,9}:|\[\s{0,99}[\[{"\d-]', opening)) and "](" not in opening[:200]
    )


def _tags(text: str) -> bool:
    """Whether unlabelled text is markup: a few tags near its start, not one in passing."""
    return len(ANY_TAG.findall(text)) >= 3
