"""One iterative walk over an HTML tree: rows of text in page order, and what the page says about itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from sourcewatch.domain.document import Label

from . import figures
from .labels import CHROME_TAGS, Scope, looks_like_chrome
from .script_text import holds_data

Attributes = Mapping[str, str | None]

BLOCK = frozenset(
    """address article aside blockquote body button caption center dd details dialog div dl dt fieldset figcaption
    figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup legend li listing main menu nav ol optgroup option p
    plaintext pre search section select summary table tbody textarea tfoot thead tr ul xmp""".split()  # noqa: SIM905
)
PREFORMATTED = frozenset("pre textarea xmp listing plaintext".split())  # noqa: SIM905
SKIPPED = frozenset(
    "annotation annotation-xml canvas datalist defs desc metadata noembed param rp rt rtc source style symbol".split()  # noqa: SIM905
)
HIDDEN_STYLE = re.compile(r"display\s{0,9}:\s{0,9}none", re.I)
INVISIBLE = ("\u200b", "\u2060", "\ufeff", "\u00ad")
MOST_PATH_CHARS = 600
_MAIN, _HIDDEN, _NOSCRIPT = Label.MAIN, Label.HIDDEN, Label.NOSCRIPT  # an enum's own look-up costs 0.15 µs each time


class Node(Protocol):
    """What the walk needs of Lexbor's nodes (they are made anew at each access: *mem_id* tells them apart)."""

    @property
    def tag(self) -> str | None: ...
    @property
    def mem_id(self) -> int: ...
    @property
    def parent(self) -> Node | None: ...
    @property
    def next(self) -> Node | None: ...
    @property
    def first_child(self) -> Node | None: ...
    @property
    def text_content(self) -> str | None: ...
    @property
    def attributes(self) -> dict[str, str | None]: ...
    def text(self) -> str: ...
    def template_fragments(self) -> Sequence[Node]: ...


@dataclass(slots=True, eq=False)
class Place:
    """Where text stands: what an element hands down to its children. *closes* says what ends with the element.

    *aside* text is hidden inside a paragraph and must not split its sentence. *scope* and *figure* are indices of what
    is around, or -1; *holder* is the element around a <noscript>; *ref* the address of a link. *plain* keeps the places
    of bare children (<p>, <li>), which are all alike.
    """

    layer: Label
    tag: str
    path: str
    scope: int = -1
    link: bool = False
    pre: bool = False
    aside: bool = False
    svg: bool = False
    chosen: bool = True
    figure: int = -1
    holder: int = 0
    closes: str = ""
    ref: str = ""
    plain: dict[str, Place] | None = None

    def inside(self, closes: str = "") -> Place:
        """A copy for an element that changes something without being a block."""
        return Place(
            self.layer, self.tag, self.path, self.scope, self.link, self.pre, self.aside, self.svg,
            self.chosen, self.figure, self.holder, closes,
        )  # fmt: skip

    def with_script(self) -> Place:
        """The same place as if it stood beside its <noscript>, not in it."""
        copy = self.inside()
        copy.layer = _MAIN
        return copy


class Row(NamedTuple):
    """A block before it has its label."""

    text: str
    place: Place
    tag: str
    link_chars: int


class Shown(NamedTuple):
    """A figure before its address is resolved. *late*: a script puts it there. *holder*: the element around it."""

    ref: str
    kind: str
    alt: str
    place: Place
    ornament: bool = False
    late: bool = False
    holder: int = 0


class Walk:
    """The state of one reading. *chosen* and *ignored* are nodes that an editor's selectors matched."""

    def __init__(self, chosen: frozenset[int], ignored: frozenset[int]) -> None:
        self.chosen, self.ignored = chosen, ignored
        self.rows: list[Row] = []
        self.scopes: list[Scope] = []
        self.shown: list[Shown] = []
        self.links: list[tuple[str, str, Place]] = []
        self.captions: dict[int, str] = {}
        self.figures = 0
        self.anchors: set[str] = set()
        self.scripts: list[str] = []
        self.meta: dict[str, str] = {}
        self.title = self.language = self.base = self.canonical = self.refresh = ""
        self.late_fragments: list[tuple[Node, Place]] = []
        self.late_pages: list[tuple[str, Place]] = []
        self._buffer: list[str] = []
        self._cells: list[str] = []
        self._aside: list[tuple[str, Place]] = []
        self._link_text: list[str] = []
        self._link_chars = 0
        self._at: Place | None = None
        self._caption_starts: list[int] = []

    def run(self, root: Node, place: Place) -> None:
        """Visit *root* and all below it, without recursion: hostile pages nest thousands of elements."""
        above: list[tuple[Node, Place]] = []
        node = root
        while True:
            tag = node.tag
            if tag == "-text":
                if text := node.text_content:
                    self.write(text, place)
            elif tag and tag[0] != "-" and (inner := self.enter(node, tag, place)) is not None:
                child = node.first_child
                if child is not None:
                    above.append((node, place))
                    node, place = child, inner
                    continue
                if inner is not place:
                    self.leave(inner)
            following = node.next if above else None
            while following is None:
                if not above:
                    self.flush()
                    return
                node, outer = above.pop()
                if place is not outer:
                    self.leave(place)
                    place = outer
                following = node.next if above else None
            node = following

    def write(self, text: str, place: Place) -> None:
        if place.aside:
            self._aside.append((text, place))
            return
        if self._at is None:
            if text.isspace():
                return
            self._at = place
        self._buffer.append(text)
        if place.link:
            self._link_text.append(text)
            self._link_chars += len(text)

    def flush(self) -> None:
        """End the block that is being written."""
        place = self._at
        if place is not None:
            self._at = None
            raw = "".join(self._buffer)
            self._buffer.clear()
            if place.pre:
                self.rows.extend(Row(line, place, place.tag, 0) for part in raw.split("\n") if (line := one_line(part)))
            else:
                tag, text = place.tag, one_line(raw)
                if self._cells:
                    tag, text = "tr", "\t".join(filter(None, (*self._cells, text)))
                    self._cells.clear()
                if text:
                    self.rows.append(Row(text, place, tag, min(self._link_chars, len(text))))
        self._link_chars = 0
        if self._aside:
            if text := one_line("".join(text for text, _ in self._aside)):
                self.rows.append(Row(text, self._aside[0][1], "span", 0))
            self._aside.clear()

    def enter(self, node: Node, tag: str, place: Place) -> Place | None:
        """What holds inside this element; None where nothing in it is to be read."""
        if tag in SKIPPED:
            return None
        attributes = node.attributes
        if attributes and (name := attributes.get("id")):
            self.anchors.add(name)
        special = SPECIAL.get(tag)
        if special is not None:
            return special(self, node, attributes, place)
        if tag in BLOCK and not place.svg:
            if attributes or self.ignored or self.chosen or tag in CHROME_TAGS:
                return self.block(node, tag, attributes, place)
            return self.bare_block(tag, place)
        return self.inline(node, attributes, place) if attributes or self.ignored or self.chosen else place

    def block(self, node: Node | None, tag: str, attributes: Attributes, place: Place) -> Place:
        """A new block, perhaps a hidden one, perhaps one that looks like chrome."""
        if self._at is not None or self._aside:
            self.flush()
        layer, scope, closes, chosen, suffix = place.layer, place.scope, "block", place.chosen, ""
        if node is not None and (attributes or self.ignored or self.chosen):
            if self._hides(node, attributes, place):
                layer = _HIDDEN
            chosen = chosen or node.mem_id in self.chosen
            name = attributes.get("id")
            suffix = f"#{name[:40]}" if name and name.isascii() and not _DIGIT.search(name) else ""
        if layer is _MAIN and looks_like_chrome(tag, attributes, place.path):
            self.scopes.append(Scope(scope, len(self.rows)))
            scope, closes = len(self.scopes) - 1, "scope"
        return Place(
            layer, tag, f"{place.path[-MOST_PATH_CHARS:]}>{tag}{suffix}", scope, place.link,
            place.pre or tag in PREFORMATTED, False, False, chosen, place.figure, place.holder, closes,
        )  # fmt: skip

    def bare_block(self, tag: str, place: Place) -> Place:
        """A block without attributes: nothing about it can differ from its like beside it."""
        if self._at is not None or self._aside:
            self.flush()
        if place.plain is None:
            place.plain = {}
        inner = place.plain.get(tag)
        if inner is None:
            inner = place.plain[tag] = self.block(None, tag, {}, place)
        return inner

    def inline(self, node: Node, attributes: Attributes, place: Place) -> Place:
        """An element inside a block; only hidden and chosen ones differ from what is around them."""
        hides = self._hides(node, attributes, place)
        if self.chosen and not place.chosen and node.mem_id in self.chosen:
            self.flush()
            inner = place.inside("block")
            inner.chosen = True
            return inner
        if hides and place.layer is not _HIDDEN:
            inner = place.inside("aside")
            inner.layer, inner.aside = _HIDDEN, True
            return inner
        return place

    def leave(self, place: Place) -> None:
        """The element that opened *place* ends."""
        closes = place.closes
        if closes == "block":
            if self._at is not None or self._aside:
                self.flush()
        elif closes == "link":
            self.links.append((place.ref, one_line("".join(self._link_text)), place))
            self._link_text.clear()
        elif closes == "scope":
            self.flush()
            self.scopes[place.scope].end = len(self.rows)
        elif closes == "caption":
            self.flush()
            rows = self.rows[self._caption_starts.pop() :]
            self.captions.setdefault(place.figure, " ".join(row.text for row in rows))

    def _hides(self, node: Node, attributes: Attributes, place: Place) -> bool:
        """Whether an element is hidden; its background pictures are noted.

        Never by `visibility`: WeChat serves articles so and shows them by script.
        """
        if style := attributes.get("style"):
            if "url(" in style:
                self.shown.extend(Shown(ref, "css", "", place) for ref in figures.background_addresses(style))
            if "none" in style and HIDDEN_STYLE.search(style):
                return True
        if "data-bg" in attributes or "data-background-image" in attributes:
            ref = attributes.get("data-bg") or attributes.get("data-background-image") or ""
            self.shown.append(Shown(ref.strip().removeprefix("url(").strip("\"')"), "css", "", place, late=True))
        return "hidden" in attributes or (bool(self.ignored) and node.mem_id in self.ignored)

    # What single elements mean; each returns what holds inside, or None.

    def _anchor(self, node: Node, attributes: Attributes, place: Place) -> Place | None:
        if name := attributes.get("name"):
            self.anchors.add(name)
        place = self.inline(node, attributes, place)
        if (ref := attributes.get("href") or attributes.get("xlink:href")) is None:
            return place
        inner = place.inside("link")
        inner.link, inner.ref = True, ref
        self._link_text.clear()
        return inner

    def _area(self, node: Node, attributes: Attributes, place: Place) -> None:
        if ref := attributes.get("href"):
            self.links.append((ref, attributes.get("alt") or "", place))

    def _cell(self, node: Node, attributes: Attributes, place: Place) -> Place:
        """A row is one block, its cells a tab apart, as innerText has it (HTML Standard §3.2.7)."""
        if (attributes or self.chosen) and (node.mem_id in self.chosen or self._hides(node, attributes, place)):
            return self.block(node, "td", attributes, place)
        if self._at is not None:
            self._cells.append(one_line("".join(self._buffer)))
            self._buffer.clear()
        inner = place.inside()
        inner.tag, inner.path = "td", place.path + ">td"
        return inner

    def _break(self, node: Node, attributes: Attributes, place: Place) -> None:
        self.flush()

    def _figure(self, node: Node, attributes: Attributes, place: Place) -> Place:
        inner = self.block(node, "figure", attributes, place)
        inner.figure = self.figures
        self.figures += 1
        return inner

    def _figcaption(self, node: Node, attributes: Attributes, place: Place) -> Place:
        inner = self.block(node, "figcaption", attributes, place)
        if inner.closes == "block":
            self._caption_starts.append(len(self.rows))
            inner.closes = "caption"
        return inner

    def _image(self, node: Node, attributes: Attributes, place: Place) -> None:
        around = node.parent
        sources: list[Attributes] = []
        if around is not None and around.tag == "picture":
            sources = [child.attributes for child in _children(around) if child.tag == "source"]
            around = around.parent
        ref, late = figures.image_address(attributes, sources)
        if not ref or figures.is_pixel(attributes):
            return
        holder = place.holder or (around.mem_id if around is not None else 0)
        alt = one_line(attributes.get("alt") or attributes.get("title") or "")
        self.shown.append(Shown(ref, "img", alt, place, figures.is_ornament(attributes), late, holder))

    def _svg_image(self, node: Node, attributes: Attributes, place: Place) -> None:
        if ref := attributes.get("href") or attributes.get("xlink:href"):
            self.shown.append(Shown(ref, "img", "", place))

    def _input(self, node: Node, attributes: Attributes, place: Place) -> None:
        if (attributes.get("type") or "").lower() == "image" and (ref := attributes.get("src")):
            self.shown.append(Shown(ref, "img", attributes.get("alt") or "", place, ornament=True))

    def _media(self, node: Node, attributes: Attributes, place: Place) -> Place:
        """What stands inside <video>, <audio> and <object> is seen only where they can't be shown."""
        if ref := attributes.get("poster") or attributes.get("data-poster"):
            self.shown.append(Shown(ref, "poster", attributes.get("title") or "", place))
        if ref := attributes.get("data"):
            self.shown.append(Shown(ref, "object", attributes.get("title") or "", place))
        inner = self.block(node, node.tag or "", attributes, place)
        if inner.layer is not _HIDDEN:
            inner.layer = _NOSCRIPT
        return inner

    def _embed(self, node: Node, attributes: Attributes, place: Place) -> None:
        if ref := attributes.get("src"):
            self.shown.append(Shown(ref, "object", attributes.get("title") or "", place))

    def _frame(self, node: Node, attributes: Attributes, place: Place) -> None:
        ref = (attributes.get("src") or "").strip()
        if not ref or ref.startswith(("about:", "javascript:")):
            ref = figures.lazy_address(attributes)
        if inner := attributes.get("srcdoc"):
            self.late_pages.append((inner, place.inside()))
        elif ref and not figures.is_pixel(attributes):
            self.shown.append(Shown(ref, "frame", attributes.get("title") or "", place))

    def _noscript(self, node: Node, attributes: Attributes, place: Place) -> None:
        """With scripts on, a browser sees a text here (HTML Standard §4.12.2), and so does the parser."""
        inner = place.inside()
        if inner.layer is not _HIDDEN:
            inner.layer = _NOSCRIPT
        around = node.parent
        inner.holder = around.mem_id if around is not None else 0
        self.late_pages.append((node.text(), inner))

    def _template(self, node: Node, attributes: Attributes, place: Place) -> None:
        """Declarative shadow roots are seen; the stuff of other templates is not, but may hold a sentence."""
        inner = place.inside()
        if "shadowrootmode" not in attributes:
            inner.layer = _HIDDEN
        self.late_fragments.append((node, inner))

    def _script(self, node: Node, attributes: Attributes, place: Place) -> None:
        if attributes and holds_data(attributes.get("type") or "", attributes.get("id") or ""):
            child = node.first_child
            self.scripts.append((child.text_content if child is not None else None) or "")

    def _svg(self, node: Node, attributes: Attributes, place: Place) -> Place:
        inner = self.inline(node, attributes, place).inside()
        inner.svg = True
        return inner

    def _svg_text(self, node: Node, attributes: Attributes, place: Place) -> Place:
        return self.block(node, "text", attributes, place) if place.svg else place

    def _title(self, node: Node, attributes: Attributes, place: Place) -> None:
        if not place.svg and not self.title:
            self.title = one_line(node.text())

    def _html(self, node: Node, attributes: Attributes, place: Place) -> Place:
        self.language = self.language or (attributes.get("lang") or attributes.get("xml:lang") or "").strip()
        return place

    def _base(self, node: Node, attributes: Attributes, place: Place) -> None:
        self.base = self.base or (attributes.get("href") or "").strip()

    def _link(self, node: Node, attributes: Attributes, place: Place) -> None:
        rels = (attributes.get("rel") or "").lower().split()
        if "canonical" in rels and not self.canonical:
            self.canonical = (attributes.get("href") or "").strip()

    def _meta(self, node: Node, attributes: Attributes, place: Place) -> None:
        content = attributes.get("content") or ""
        http_equiv = (attributes.get("http-equiv") or "").strip().lower()
        if http_equiv == "refresh" and place.layer is _MAIN:
            self.refresh = self.refresh or content
        elif name := attributes.get("property") or attributes.get("name") or http_equiv:
            self.meta.setdefault(name.strip().lower(), content)


def one_line(text: str) -> str:
    """White space (of any script) to single spaces; characters without width that only steer line breaks dropped."""
    if not text.isascii():
        for mark in INVISIBLE:
            if mark in text:
                text = text.replace(mark, "")
    return " ".join(text.split())


def _children(node: Node) -> Iterator[Node]:
    child = node.first_child
    while child is not None:
        yield child
        child = child.next


_DIGIT = re.compile(r"\d")
Handler = Callable[[Walk, Node, Attributes, Place], Place | None]
SPECIAL: dict[str, Handler] = {
    "a": Walk._anchor,
    "area": Walk._area,
    "td": Walk._cell,
    "th": Walk._cell,
    "br": Walk._break,
    "hr": Walk._break,
    "figure": Walk._figure,
    "figcaption": Walk._figcaption,
    "img": Walk._image,
    "image": Walk._svg_image,
    "input": Walk._input,
    "video": Walk._media,
    "audio": Walk._media,
    "object": Walk._media,
    "embed": Walk._embed,
    "iframe": Walk._frame,
    "frame": Walk._frame,
    "noscript": Walk._noscript,
    "noframes": Walk._noscript,
    "template": Walk._template,
    "script": Walk._script,
    "svg": Walk._svg,
    "text": Walk._svg_text,
    "title": Walk._title,
    "html": Walk._html,
    "base": Walk._base,
    "link": Walk._link,
    "meta": Walk._meta,
}
