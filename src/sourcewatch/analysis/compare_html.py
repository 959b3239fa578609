"""A compared block as HTML: every character of it escaped, what changed and what is quoted marked."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from markupsafe import Markup

from ..domain.change import Op
from ..domain.desk import Stretch
from .excerpt import plain_lines
from .numbers import NUMBER

MOST_CHARS = 6_000  # of one block
_TAGS = {Op.DELETE: "del", Op.INSERT: "ins"}


def stretches(found: Iterable[Stretch]) -> Markup:
    """<del> and <ins>, <mark> around a quote, <b> around the numbers that changed."""
    out: list[str] = []
    left = MOST_CHARS
    for stretch in found:
        text = stretch.part.text
        if left <= 0:
            out.append("…")
            break
        text, left = text[:left], left - len(text)
        html = _numbers(text) if stretch.part.op in _TAGS else escape(plain_lines(text))
        if tag := _TAGS.get(stretch.part.op):
            html = f"<{tag}>{html}</{tag}>"
        out.append(f"<mark>{html}</mark>" if stretch.quoted else html)
    return Markup("".join(out))


def _numbers(text: str) -> str:
    """A changed stretch with its numbers in bold."""
    text = plain_lines(text)
    out, at = [], 0
    for match in NUMBER.finditer(text):
        out += [escape(text[at : match.start()]), f"<b>{escape(match.group())}</b>"]
        at = match.end()
    return "".join([*out, escape(text[at:])])
