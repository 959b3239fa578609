"""Edits made readable: long unchanged stretches are cut, what is foreign is made harmless for the place it goes to."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from html import escape
from urllib.parse import quote

from ..domain.change import Edit, EditKind, Op, Part

CONTEXT_CHARS = 60
MOST_CHARS = 2_000  # of one edit; who wants all of it reads the version
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~!])")
_LEADING = re.compile(r"^(\s*)([-+=]|\d+[.)])")


def plain(text: str) -> str:
    """One line without control, format (bidi) or surrogate characters: safe in a terminal and in any report."""
    if text.isprintable():  # nearly every text: a hundredth of the time
        return text
    kept = (" " if c in "\n\r\t\v\f\u2028\u2029" else c for c in text)
    return " ".join("".join(c for c in kept if not unseen(c) or c in "\u200c\u200d").split(" "))


def unseen(character: str) -> bool:
    """A control, format (bidi), surrogate, private or unassigned character, or a separator of lines or paragraphs."""
    return unicodedata.category(character) in _UNSEEN


_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def safe_href(url: str | None) -> str:
    """Only web addresses become links."""
    return url if url and url.lower().startswith(("https://", "http://")) else ""


def markdown_href(url: str | None) -> str:
    """The same between Markdown's angle brackets: what would end them is escaped (CommonMark §6.3)."""
    return re.sub(r"[<>\\\s]", lambda m: quote(m[0]), plain(safe_href(url)))


def markdown_code(text: str) -> str:
    """A code span whose fence is longer than any in it (CommonMark §6.1)."""
    words = plain(text)
    longest = max((len(run) for run in re.findall(r"`+", words)), default=0)
    fence, pad = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{pad}{words}{pad}{fence}"


def shortened(parts: Sequence[Part]) -> tuple[Part, ...]:
    """The same edit with its long equal stretches cut to their ends, and itself cut after MOST_CHARS."""
    out: list[Part] = []
    left = MOST_CHARS
    for position, part in enumerate(parts):
        text = part.text
        if part.op is Op.EQUAL and len(text) > 2 * CONTEXT_CHARS + 1:
            head = text[:CONTEXT_CHARS] if position else ""
            tail = text[-CONTEXT_CHARS:] if position < len(parts) - 1 else ""
            text = f"{head}…{tail}"
        if len(text) > left:
            out.append(Part(part.op, text[:left] + "…"))
            break
        left -= len(text)
        out.append(Part(part.op, text))
    return tuple(out)


def as_html(parts: Iterable[Part]) -> str:
    """Escaped text with <del> and <ins>."""
    return "".join(_html(p) for p in parts)


def _html(part: Part) -> str:
    text = escape(plain_lines(part.text))
    if part.op is Op.EQUAL:
        return text
    tag = "del" if part.op is Op.DELETE else "ins"
    return f"<{tag}>{text}</{tag}>"


def plain_lines(text: str) -> str:
    """`plain`, line by line."""
    return "\n".join(plain(line) for line in text.split("\n"))


def markdown(text: str) -> str:
    """Foreign text inside a Markdown line: nothing in it is markup."""
    return _LEADING.sub(r"\1\\\2", _MARKDOWN.sub(r"\\\1", plain(text)))


def as_markdown(parts: Iterable[Part]) -> str:
    """Text with ~~deleted~~ and **inserted** stretches."""
    marks = {Op.EQUAL: "", Op.DELETE: "~~", Op.INSERT: "**"}
    out: list[str] = []
    for part in parts:
        if out and out[-1].endswith("~~") and part.op is Op.INSERT:
            out.append(" ")  # ~~a~~**b** is one word to some readers of Markdown
        mark, text = marks[part.op], plain(part.text)
        core = text.strip()
        if not mark or not core:
            out.append(markdown(text) if core else text)
            continue
        start = text.index(core)
        out.append(f"{text[:start]}{mark}{markdown(core)}{mark}{text[start + len(core) :]}")
    return "".join(out)


def as_terminal(parts: Iterable[Part]) -> str:
    """Text with [-deleted-] and {+inserted+} stretches, as wdiff writes them."""
    wrap = {Op.EQUAL: ("", ""), Op.DELETE: ("[-", "-]"), Op.INSERT: ("{+", "+}")}
    return "".join(f"{wrap[p.op][0]}{plain(p.text)}{wrap[p.op][1]}" for p in parts)


def parts_of(edit: Edit) -> tuple[Part, ...]:
    """An edit's own parts; a move shows its text unmarked."""
    if edit.kind is EditKind.MOVED:
        return tuple(Part(Op.EQUAL, p.text) for p in edit.parts if p.op is not Op.DELETE)
    return edit.parts
