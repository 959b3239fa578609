"""The addresses that HTML cites, with their lines: Lexbor keeps no positions, the standard library's parser does."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser

from ..domain.mention import Mention, NotRead
from .address import absolute
from .citing_text import addresses

# What a reader follows, by element; and what is shown in the page itself.
LINKS = {"a": "href", "area": "href", "blockquote": "cite", "q": "cite", "ins": "cite", "del": "cite"}
EMBEDS = {
    "img": "src", "iframe": "src", "embed": "src", "object": "data", "video": "src", "audio": "src", "source": "src"
}  # fmt: skip
Found = Iterator[Mention | NotRead]


class Reader(HTMLParser):
    """Collects mentions. Relative addresses resolve against *base*; without one they are none of other sites."""

    def __init__(self, place: str, base: str = "", first_line: int = 1) -> None:
        super().__init__(convert_charrefs=True)
        self.place, self.base, self.above = place, base, first_line - 1
        self.found: list[Mention] = []
        self._open: tuple[str, int] | None = None
        self._words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in reversed(attrs)}
        line = self.above + self.getpos()[0]
        if tag == "base" and given.get("href"):
            self.base = absolute(self.base, given["href"].strip()) or self.base
        if tag == "a":
            self._close()
        if (key := LINKS.get(tag)) and (url := self._url(given.get(key, ""))):
            if tag == "a":
                self._open, self._words = (url, line), []
            else:
                self.found.append(Mention(url, self.place, line))
        elif (key := EMBEDS.get(tag)) and (url := self._url(given.get(key, ""))):
            self.found.append(Mention(url, self.place, line, given.get("alt", given.get("title", "")), embedded=True))
        elif tag not in LINKS and tag not in EMBEDS and tag not in PLAIN:
            self._component(given, line)

    def handle_endtag(self, tag: str) -> None:
        if tag == "a":
            self._close()

    def handle_data(self, data: str) -> None:
        if self._open is not None:
            self._words.append(data)

    def close(self) -> None:
        super().close()
        self._close()

    def _component(self, given: dict[str, str], line: int) -> None:
        """An element of the site's own (`<Card href=…>`, `<Cite url={"…"}>`): whatever address it is given."""
        for value in given.values():
            self.found += [Mention(url, self.place, line) for url, _ in addresses(value)]

    def _url(self, value: str) -> str:
        """An attribute's address; of a JSX expression (`{"https://…"}`) the address that it spells out."""
        value = value.strip()
        if value.startswith("{"):
            return next((url for url, _ in addresses(value)), "")
        if value.startswith("//"):
            value = f"https:{value}"
        whole = absolute(self.base, value) if self.base else value
        return whole if whole and whole.lower().startswith(("http://", "https://")) else ""

    def _close(self) -> None:
        if self._open is not None:
            (url, line), words = self._open, " ".join("".join(self._words).split())
            self.found.append(Mention(url, self.place, line, words))
            self._open = None


# Elements that take addresses of the page's own making: styles, scripts, feeds, canonical addresses, name spaces.
PLAIN = frozenset({"html", "head", "link", "meta", "script", "style", "base", "form", "svg", "path", "use", "g"})


def read(place: str, text: str, base: str = "", first_line: int = 1) -> Found:
    """The mentions of a page or a piece of one, in order."""
    reader = Reader(place, base, first_line)
    try:
        reader.feed(text)
        reader.close()
    except AssertionError:  # how the parser says that it cannot make out a declaration
        line = reader.above + reader.getpos()[0]
        yield NotRead(place, line, "a declaration (`<![`) that HTML does not know; what follows was not read")
    yield from reader.found
