"""One iterative walk over an HTML tree: rows of text in page order, and what the page says about itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from sourcewatch.domain.document import Label

from . import figures
from .labels import CHROME_TAGS, Scope, looks_like_chrome

Attributes = Mapping[str, str | None]

BLOCK = frozenset(
    """address article aside blockquote body button caption center dd details dialog div dl dt fieldset figcaption
    figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup legend li listing main menu nav ol optgroup option p
    plaintext pre search section select summary table tbody textarea tfoot thead tr ul xmp""".split()  # noqa: SIM905
)
PREFORMATTED = frozenset("pre textarea xmp listing plaintext".split())  # noqa: SIM905
HIDDEN_STYLE = re.compile(r"display\s{0,9}:\s{0,9}none", re.I)
INVISIBLE = ("\u200b", "\u2060", "\ufeff", "\u00ad")
MOST_PATH_CHARS = 600
_LATE = frozenset((*figures.LAZY_BACKGROUNDS, *figures.LAZY_BACKGROUND_SETS))
_TELLING = _LATE | {"style", "hidden"}
_DIGIT = re.compile(r"\d")
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


Handler = Callable[["Walk", Node, Attributes, Place], Place | None]


class Walk:
    """The state of one reading. *special* says what single elements mean, by tag (see `elements`).

    *chosen* and *ignored* are nodes that an editor's selectors matched.
    """

    def __init__(self, special: Mapping[str, Handler], chosen: frozenset[int], ignored: frozenset[int]) -> None:
        self.special, self.chosen, self.ignored = special, chosen, ignored
        self.selects = bool(chosen or ignored)
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
                if (text := node.text_content) and (self._at is not None or not text.isspace()):
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
        attributes = node.attributes
        if attributes and (name := attributes.get("id")):
            self.anchors.add(name)
        special = self.special.get(tag)
        if special is not None:
            return special(self, node, attributes, place)
        if tag in BLOCK and not place.svg:
            if attributes or self.selects or tag in CHROME_TAGS:
                return self.block(node, tag, attributes, place)
            return self.bare_block(tag, place)
        return self.inline(node, attributes, place) if attributes or self.selects else place

    def block(self, node: Node | None, tag: str, attributes: Attributes, place: Place) -> Place:
        """A new block, perhaps a hidden one, perhaps one that looks like chrome."""
        if self._at is not None or self._aside:
            self.flush()
        layer, scope, closes, chosen, suffix = place.layer, place.scope, "block", place.chosen, ""
        if node is not None and (attributes or self.selects):
            if self.hides(node, attributes, place):
                layer = _HIDDEN
            chosen = chosen or (self.selects and node.mem_id in self.chosen)
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
        hides = self.hides(node, attributes, place)
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

    def start_link(self) -> None:
        self._link_text.clear()

    def start_caption(self) -> None:
        self._caption_starts.append(len(self.rows))

    def start_cell(self) -> None:
        """What was written of the row so far is a cell of its own."""
        if self._at is not None:
            self._cells.append(one_line("".join(self._buffer)))
            self._buffer.clear()

    def hides(self, node: Node, attributes: Attributes, place: Place) -> bool:
        """Whether an element is hidden; its background pictures are noted.

        Never by `visibility`: WeChat serves articles so and shows them by script.
        """
        if self.selects and node.mem_id in self.ignored:
            return True
        if _TELLING.isdisjoint(attributes):
            return False
        style = attributes.get("style") or ""
        pictures = figures.background_addresses(style) if "url(" in style else []
        self.shown.extend(Shown(ref, "css", "", place) for ref in pictures)
        if not _LATE.isdisjoint(attributes) and not figures.is_pixel(attributes):
            self.shown.extend(Shown(ref, "css", "", place, late=True) for ref in figures.lazy_backgrounds(attributes))
        return "hidden" in attributes or ("none" in style and HIDDEN_STYLE.search(style) is not None)


def one_line(text: str) -> str:
    """White space (of any script) to single spaces; characters without width that only steer line breaks dropped."""
    if not text.isascii():
        for mark in INVISIBLE:
            if mark in text:
                text = text.replace(mark, "")
    return " ".join(text.split())
