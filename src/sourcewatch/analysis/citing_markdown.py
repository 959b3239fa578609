"""The addresses that Markdown and MDX cite, with their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ..domain.mention import Mention, NotRead
from . import citing_html, citing_text
from .citing_html import Found
from .markdown import MOST_NESTING, MOST_UNCLOSED, TOO_DEEP

_FRONT = re.compile(r"\A(---|\+\+\+)[ \t]*\n(.*?)\n\1[ \t]*(?:\n|\Z)|\A(\{\s*\n.*?\n\})[ \t]*(?:\n|\Z)", re.S)
_IMPORT = re.compile(r"^import\s.*$", re.M)


def read(place: str, text: str, *, mdx: bool = False) -> Found:
    """Links, reference definitions, HTML and components within, addresses spelled out; code is not read."""
    front = _FRONT.match(text)
    body, first = text, 1
    if front:
        head = front[2] if front[2] is not None else front[3]
        yield from citing_text.lines(place, head, 1 + text[: front.start(2 if front[2] is not None else 3)].count("\n"))
        first += text[: front.end()].count("\n")
        body = text[front.end() :]
    if mdx:
        body = _IMPORT.sub("", body)
    if body.count("[") - body.count("]") > MOST_UNCLOSED or TOO_DEEP.search(body):
        yield NotRead(place, first, "too deep or too many open brackets for Markdown: read as plain text")
        yield from citing_text.lines(place, body, first)
        return
    references: dict[str, dict[str, dict[str, object]]] = {}
    tokens = _parser().parse(body, references)
    yield from _tokens(place, tokens, first)
    yield from _unused(place, body, first, references)


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": MOST_NESTING}).enable(["table", "strikethrough"])
    parser.normalizeLink = lambda url: url  # type: ignore[method-assign]  # as it is written, to be found again
    parser.validateLink = lambda url: True  # type: ignore[method-assign]
    return parser


def _tokens(place: str, tokens: list[Token], first: int) -> Found:
    line = first
    for token in tokens:
        if token.map:
            line = first + token.map[0]
        if token.type == "html_block":
            yield from citing_html.read(place, token.content, first_line=line)
        elif token.type == "inline":
            yield from _Inline(place, line).read(token.children or [])


@dataclass(slots=True)
class _Inline:
    """Walks the children of one block, counting its lines."""

    place: str
    line: int
    opened: tuple[str, int] | None = None
    words: list[str] = field(default_factory=list)

    def read(self, children: list[Token]) -> Found:
        for token in children:
            match token.type:
                case "softbreak" | "hardbreak":
                    self.line += 1
                    self.words.append(" ")
                case "link_open":
                    yield from self._close()
                    self.opened, self.words = (str(token.attrs.get("href", "")), self.line), []
                case "link_close":
                    yield from self._close()
                case "image":
                    yield from self._cite(str(token.attrs.get("src", "")), self.line, token.content, embedded=True)
                case "html_inline":
                    yield from self._tag(token.content)
                    self.line += token.content.count("\n")
                case "code_inline":
                    self.words.append(token.content)
                case "text":
                    yield from self._text(token.content)
        yield from self._close()

    def _text(self, text: str) -> Found:
        self.words.append(text)
        if self.opened is None:
            for url, _ in citing_text.addresses(text):
                yield Mention(url, self.place, self.line)

    def _tag(self, html: str) -> Found:
        """An HTML tag amid the text: an opening <a> has its words after it."""
        if html.lower().startswith("</a"):
            yield from self._close()
            return
        for found in citing_html.read(self.place, html, first_line=self.line):
            if isinstance(found, Mention) and html[:2].lower() == "<a":
                yield from self._close()
                self.opened, self.words = (found.url, found.line), []
            else:
                yield found

    def _close(self) -> Found:
        if self.opened is not None:
            (url, line), words = self.opened, " ".join("".join(self.words).split())
            self.opened = None
            yield from self._cite(url, line, words)

    def _cite(self, url: str, line: int, words: str, *, embedded: bool = False) -> Found:
        if url.startswith("//"):
            url = f"https:{url}"
        if url.lower().startswith(("http://", "https://")):
            yield Mention(url, self.place, line, words, embedded)


def _unused(place: str, body: str, first: int, env: dict[str, dict[str, dict[str, object]]]) -> Iterator[Mention]:
    """Reference definitions, where they stand: a link that no text uses is still in the site's hands."""
    lines: dict[str, int] = {}
    for number, line in enumerate(body.split("\n"), first):
        if line.lstrip().startswith("[") and "]:" in line:
            lines.setdefault(_label(line.lstrip()[1:].partition("]:")[0]), number)
    for label, reference in env.get("references", {}).items():
        url = str(reference.get("href", ""))
        if url.lower().startswith(("http://", "https://")):
            spans = reference.get("map")
            number = first + spans[0] if isinstance(spans, list) else lines.get(_label(label), first)
            yield Mention(url, place, number, str(reference.get("title") or ""))


def _label(text: str) -> str:
    return " ".join(text.split()).upper()
