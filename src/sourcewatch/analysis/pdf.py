"""A PDF's text layer, page by page. Call it inside a limited child process: pdfium is C++ and reads hostile files.

pdfium also is not thread-safe. It returns ideographs where pypdf and pdfminer return Kangxi radicals (3 libraries, 3
files, 2026-12), but fonts with such code points exist, so radicals are mended all the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable

import pypdfium2

from sourcewatch.domain.document import Block, Document, Form, Label

MOST_PAGES = 500
MOST_CHARS = 4_000_000
REPEATED_PAGES = 3
RUNNING_HEAD_CHARS = 120
# A line that reaches this share of the page's usual width goes on in the next one.
FULL_LINE = 0.75
SENTENCE_ENDS = tuple(".!?:;。！？：；…")
CJK = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
HYPHENS = ("\u0002", "\ufffe", "\u00ad")
# CJK radicals that NFKC leaves alone (U+2E80-2EFF), by Unicode's EquivalentUnifiedIdeograph.txt (Unicode License V3);
# Kangxi radicals (U+2F00-2FD5) have NFKC decompositions.
RADICALS = str.maketrans(
    "⺁⺂⺃⺄⺅⺆⺇⺈⺉⺊⺋⺌⺍⺎⺏⺐⺑⺒⺓⺔⺕⺖⺗⺘⺙⺛⺜⺝⺞⺟⺠⺡⺢⺣⺤⺥⺦⺧⺨⺩⺪⺫⺬⺭⺮⺯⺰⺱⺲⺳⺴⺵⺶⺷⺸⺹⺺"
    "⺻⺼⺽⺾⺿⻀⻁⻂⻃⻄⻅⻆⻇⻈⻉⻊⻋⻌⻍⻎⻏⻐⻑⻒⻓⻔⻕⻖⻗⻘⻙⻚⻛⻜⻝⻞⻟⻠⻡⻢⻣⻤⻥⻦⻧⻨⻩⻪⻫⻬⻭⻮⻯⻰⻱⻲⻳",
    "厂乛乚乙亻冂𠘨刀刂卜㔾小小兀尣尢𡯂巳幺彑彐忄心扌攵旡日月歺母民氵氺灬爫爫丬牛犭王𤴔目示礻𥫗糹纟罓罒㓁冗𦉫羊𦍌𦍋耂肀"
    "聿肉𦥑艹艹艹虎衤覀西见角𧢲讠贝𧾷车辶辶辶邑钅長镸长门𨸏阝雨青韦页风飞食𩙿飠饣𩠐马骨鬼鱼鸟卤麦黄黾斉齐歯齿竜龙龜亀龟",
)


def extract(data: bytes) -> Document:
    """Blocks are paragraphs, *path* "p<page>", lines that repeat on three pages or more are chrome.

    Never raises for what the file is: one that does not open is a document without blocks and with the note
    "document broken: …"; one without letters has the note "no text layer".
    """
    try:
        pdf = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        return Document(Form.PDF, notes=(f"document broken: {error}",))
    with pdf:
        count = len(pdf)
        pages, notes = _pages(pdf, count)
        title = one_line(str(pdf.get_metadata_value("Title") or "")) if count else ""
    running = _running_lines(pages)
    blocks = tuple(block for number, lines in enumerate(pages, 1) for block in _page_blocks(number, lines, running))
    if not any(character.isalnum() for block in blocks for character in block.text):
        notes.append("no text layer")
        blocks = ()
    return Document(Form.PDF, title=title, blocks=blocks, notes=tuple(notes))


def _pages(pdf: pypdfium2.PdfDocument, count: int) -> tuple[list[list[str]], list[str]]:
    """The lines of each page, and what could not be read."""
    pages: list[list[str]] = []
    notes: list[str] = []
    left = MOST_CHARS
    for index in range(min(count, MOST_PAGES)):
        try:
            text = _page_text(pdf, index)
        except pypdfium2.PdfiumError as error:
            notes.append(f"page {index + 1} broken: {error}")
            text = ""
        pages.append([line for raw in text.splitlines() if (line := one_line(mend(raw)))])
        left -= len(text)
        if left < 0:
            break
    if len(pages) < count:
        notes.append(f"read {len(pages)} of {count} pages")
    return pages, notes


def _page_text(pdf: pypdfium2.PdfDocument, index: int) -> str:
    page = pdf[index]
    try:
        words = page.get_textpage()
        try:
            text = str(words.get_text_range(errors="replace"))
        finally:
            words.close()
    finally:
        page.close()
    for hyphen in HYPHENS:  # pdfium's marks for a word divided at the line's end
        text = text.replace(hyphen + "\r\n", "").replace(hyphen + "\n", "").replace(hyphen, "")
    return text


def mend(text: str) -> str:
    """Radicals back to ideographs."""
    if not any("\u2e80" <= character <= "\u2fdf" for character in text):
        return text
    return "".join(
        unicodedata.normalize("NFKC", c) if "\u2f00" <= c <= "\u2fdf" else c for c in text.translate(RADICALS)
    )


def one_line(text: str) -> str:
    return " ".join(text.replace("\0", "").split())


def _running_lines(pages: Iterable[list[str]]) -> frozenset[str]:
    """Heads and feet: short first or last lines that stand on three pages or more, page numbers left out of account."""
    seen: Counter[str] = Counter()
    for lines in pages:
        edges = {_shape(line) for line in (*lines[:3], *lines[-3:]) if len(line) <= RUNNING_HEAD_CHARS}
        seen.update(edges)
    return frozenset(shape for shape, count in seen.items() if count >= REPEATED_PAGES)


def _shape(line: str) -> str:
    return re.sub(r"\d{1,6}", "#", line)


def _page_blocks(number: int, lines: list[str], running: frozenset[str]) -> Iterable[Block]:
    path = f"p{number}"
    widths = sorted(map(len, lines))
    full = FULL_LINE * widths[int(len(widths) * 0.9)] if widths else 0.0
    paragraph: list[str] = []
    last = len(lines) - 3
    for at, line in enumerate(lines):
        if (at < 3 or at >= last) and _shape(line) in running:
            yield from _paragraph(paragraph, path)
            yield Block(line, Label.CHROME, "header" if at < 3 else "footer", path)
            continue
        paragraph.append(line)
        if len(line) < full or line.endswith(SENTENCE_ENDS):
            yield from _paragraph(paragraph, path)
    yield from _paragraph(paragraph, path)


def _paragraph(lines: list[str], path: str) -> Iterable[Block]:
    """The lines so far as one block, joined without a space between ideographs; the list is emptied."""
    if not lines:
        return
    text = lines[0]
    for line in lines[1:]:
        text += line if CJK.match(text[-1]) and CJK.match(line) else " " + line
    lines.clear()
    yield Block(text, Label.MAIN, "p", path)
