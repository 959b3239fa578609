"""What the rules of judgement look at: one reading, measured once, each measure only when a rule asks for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import unquote, urlsplit

from sourcewatch.domain.document import Block, Document, Form, Label
from sourcewatch.domain.reading import Reading

from . import address
from .drift import drift
from .normalise import folded, typographic
from .sayings import saying

# Weights are UTF-8 bytes: an ideograph says about as much as three Latin letters, and has as many bytes.
THIN = 1_200
"""A page with less prose carries no article: stand-ins of 14 vendors and servers have 60 to 900."""
ARTICLE = 4_000
"""A page with more prose is read for its title only: the longest server default page has 3,400."""
SHORT = 400
"""The weight of a block that may be a notice; a paragraph of an article is longer."""
STILL_THERE = 0.6
MOST_RAW_BYTES = 300_000
MOST_SAID = 400
FIRST = 60  # blocks that may be notices
_SEPARATOR = re.compile(r"\s[-·•/]|[-·•/:]\s|\s?[|｜_»«—–：]\s?|(?<=[^\x00-\x7f])-|-(?=[^\x00-\x7f])")
_SENTENCE = re.compile(r"[.!?;](?:\s|$)|[。！？；，、\n\t…\[(]")
HEADINGS = frozenset({"h1", "h2", "h3", "legend", "strong", "b"})


@dataclass(frozen=True, slots=True)
class Rule:
    """*find* returns evidence that an editor can read, or "" where the rule does not hold.

    A *stand_in* rule speaks of a page in the source's place: it is silent where the source's own text is still there.
    """

    name: str
    word: str
    find: Callable[[View], str]
    stand_in: bool = True


class View:
    """One reading as the rules see it."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.document: Document = reading.document
        self.answer = reading.capture.answer
        self.status = self.answer.status
        self.url = self.answer.url
        self.cited = reading.source.address or reading.source.url or self.url
        self.is_page = reading.form is Form.HTML
        self._shares: dict[str, list[tuple[float, str, str]]] = {}

    @cached_property
    def raw(self) -> bytes:
        """The payload's beginning in lower case; UTF-16 without its zero bytes."""
        data = self.reading.payload.data[:MOST_RAW_BYTES]
        if b"\0" in data[:200]:
            data = data.replace(b"\0", b"")
        return data.lower()

    @cached_property
    def prose(self) -> int:
        """Weight of the main text that is not link text, in blocks of more than a word or two."""
        return sum(w for b in self.document.blocks if b.label is Label.MAIN and (w := own_weight(b)) >= 24)

    @cached_property
    def shown(self) -> int:
        """Weight of all visible text."""
        return sum(weight(b.text) for b in self.document.visible)

    @cached_property
    def unseen(self) -> int:
        """Weight of hidden text: some pages hide all of it until a script has run."""
        return sum(weight(b.text) for b in self.document.blocks if b.label is Label.HIDDEN)

    @property
    def is_thin(self) -> bool:
        return self.prose < THIN

    @property
    def is_article(self) -> bool:
        return self.prose >= ARTICLE

    @cached_property
    def title(self) -> str:
        return self.document.title[:MOST_SAID].lower()

    @cached_property
    def title_parts(self) -> tuple[str, ...]:
        """The whole title, then what stands between its separators."""
        parts = [p.strip(" .!。！…\"'“”") for p in _SEPARATOR.split(self.title)]
        return (self.title, *(p for p in parts if p and p != self.title))

    @cached_property
    def notices(self) -> tuple[tuple[str, str], ...]:
        """Short visible blocks as (tag, text in lower case), headings first, links last: where stand-ins speak."""
        short = [b for b in self.document.visible if weight(b.text) <= SHORT]
        ordered = sorted(short, key=lambda b: 0 if b.tag in HEADINGS else 2 if 2 * b.link_chars > len(b.text) else 1)
        return tuple((b.tag, b.text.lower()) for b in ordered[:FIRST])

    @cached_property
    def path(self) -> str:
        return unquote(urlsplit(self.url).path or "/").lower()

    @cached_property
    def cited_path(self) -> str:
        return unquote(urlsplit(self.cited).path or "/").lower()

    @cached_property
    def host(self) -> str:
        return address.host(self.url)

    @cached_property
    def cited_host(self) -> str:
        return address.host(self.cited)

    @cached_property
    def moved(self) -> bool:
        """Whether the answer came from another path or host than was asked."""
        return (self.host.removeprefix("www."), self.path) != (self.cited_host.removeprefix("www."), self.cited_path)

    @cached_property
    def kept(self) -> float:
        """How much of the last accepted version's main text is still here, from 0 to 1; 0.0 where there is none."""
        accepted = self.reading.accepted
        if accepted is None:
            return 0.0
        here = {b.text for b in self.document.visible}
        old = [b.text for b in accepted.document.blocks if b.label is Label.MAIN]
        whole = sum(map(weight, old))
        if not whole:
            return 0.0
        blocks = sum(weight(text) for text in old if text in here) / whole
        return blocks if blocks >= STILL_THERE else max(blocks, drift("\n".join(old), self.document.text).kept)

    @cached_property
    def quoted(self) -> str:
        """A cited sentence of some length that stands on the page, or ""."""
        wanted = [(q.exact, folded(typographic(q.exact))) for q in self.reading.source.quotes]
        wanted = [(exact, plain) for exact, plain in wanted if weight(plain) >= 18]
        if not wanted:
            return ""
        text = folded(typographic("\n".join(b.text for b in self.document.blocks)))
        return next((exact for exact, plain in wanted if plain in text), "")

    @cached_property
    def source_is_here(self) -> bool:
        """Whether what was cited can be read on this page, whatever else it says."""
        return self.kept >= STILL_THERE or bool(self.quoted)

    def title_says(self, kind: str, share: float = 0.6) -> str:
        """The title, or the part of it between separators, that is little else than a saying of this kind."""
        return next((part for part in self.title_parts if covered(kind, part) >= share), "")

    def heading_says(self, kind: str, share: float = 0.5) -> str:
        return next((text for part, tag, text in self._said(kind) if part >= share and tag in HEADINGS), "")

    def notices_say(self, kind: str, share: float = 0.3, first: int = FIRST) -> list[str]:
        """The short blocks among the *first* ones with a sentence that sayings of this kind fill, the fullest first."""
        found = [(part, text) for part, _, text in self._said(kind)[:first] if part >= share]
        return [text for _, text in sorted(found, key=lambda row: -row[0])]

    def notice_says(self, kind: str, share: float = 0.3, first: int = FIRST) -> str:
        return next(iter(self.notices_say(kind, share, first)), "")

    def _said(self, kind: str) -> list[tuple[float, str, str]]:
        if kind not in self._shares:
            # one search over all of them spares 60 where nothing is said, as on nearly every page
            said = saying(kind).search(self._sentences)
            self._shares[kind] = [(filled(kind, text), tag, text) for tag, text in self.notices] if said else []
        return self._shares[kind]

    @cached_property
    def _sentences(self) -> str:
        return "\n".join(part for _, text in self.notices for part in sentences(text))

    def beside(self, notice: str) -> int:
        """Weight of the prose that is not the notice itself."""
        return max(0, self.prose - weight(notice))

    def opens_with(self, notice: str) -> bool:
        """Whether no prose stands before a notice."""
        for block in self.document.blocks:
            if block.label is Label.MAIN:
                if block.text.lower() == notice:
                    return True
                if own_weight(block) >= 24:
                    return False
        return False

    def facts(self) -> str:
        """Title and amount of text, for evidence."""
        return f"title “{self.document.title[:80]}”, {self.prose} bytes of prose"


def weight(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def own_weight(block: Block) -> int:
    """The weight of a block without its link text."""
    size = weight(block.text)
    return size if not block.link_chars else int(size * (1 - block.link_chars / max(1, len(block.text))))


def sentences(text: str) -> list[str]:
    return [part for piece in _SENTENCE.split(text) if len(part := piece.strip()) > 2]


def filled(kind: str, text: str) -> float:
    """The share that sayings of a kind fill of the sentence that they fill best."""
    return max((covered(kind, sentence) for sentence in sentences(text)), default=0.0)


def covered(kind: str, text: str) -> float:
    """Share of a text in lower case that sayings of a kind fill, from 0 to 1."""
    whole = len(text.strip())
    if not whole or whole > MOST_SAID:
        return 0.0
    return min(1.0, sum(found.end() - found.start() for found in saying(kind).finditer(text)) / whole)


def shown(text: str, most: int = 160) -> str:
    """A text as evidence shows it."""
    return f"“{text if len(text) <= most else text[: most - 1] + '…'}”"
