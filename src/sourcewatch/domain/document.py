"""The text of a capture as labelled blocks, with links and embeds. Every block is kept; labels steer loudness only."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from typing import Any


class Label(StrEnum):
    """Where a block stands. MAIN and CHROME are visible; the others hold text that a reader may not see."""

    MAIN = "main"
    CHROME = "chrome"
    HIDDEN = "hidden"
    NOSCRIPT = "noscript"
    SCRIPT = "script"


VISIBLE = (Label.MAIN, Label.CHROME)


class Form(StrEnum):
    """What kind of document a payload is, by its bytes rather than by its label."""

    HTML = "html"
    MARKDOWN = "markdown"
    TEXT = "text"
    JSON = "json"
    FEED = "feed"
    XML = "xml"
    PDF = "pdf"
    IMAGE = "image"
    BINARY = "binary"


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, cell, heading or line. *path* is its structural place, *link_chars* its letters of link text."""

    text: str
    label: Label = Label.MAIN
    tag: str = "p"
    path: str = ""
    link_chars: int = 0


@dataclass(frozen=True, slots=True)
class Link:
    url: str
    text: str = ""
    label: Label = Label.MAIN


@dataclass(frozen=True, slots=True)
class Embed:
    """A figure that the page shows, at its absolute address. *kind*: img, poster, frame, object, css, social."""

    url: str
    alt: str = ""
    kind: str = "img"
    label: Label = Label.MAIN
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """What was read out of a payload by a named extractor (name@version). Fragment *anchors* are not stored.

    *refresh* is the target of a meta refresh (absolute), *canonical* of rel=canonical; *notes* are facts that an
    editor must know, such as "no text layer"; *codec* and *codec_origin* say how the characters were decoded (see
    Characters): when they change, that is an event of its own. *closed* tells whether a page's source closes its body
    or html, None where that was not asked.
    """

    form: Form
    title: str = ""
    language: str = ""
    blocks: tuple[Block, ...] = ()
    links: tuple[Link, ...] = ()
    embeds: tuple[Embed, ...] = ()
    extractor: str = ""
    canonical: str = ""
    refresh: str = ""
    refresh_after_s: float = 0.0
    anchors: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    codec: str = ""
    codec_origin: str = ""
    closed: bool | None = None

    def __reduce__(self) -> tuple[Callable[..., Document], tuple[Any, ...]]:
        """Cross processes as plain tuples: pickle asks each frozen block for its fields, 5 ms a page of 200 blocks."""
        return _from_rows, (_rows(self), self.anchors)

    @property
    def visible(self) -> tuple[Block, ...]:
        """The blocks that a reader sees: what is compared."""
        return tuple(b for b in self.blocks if b.label in VISIBLE)

    @property
    def text(self) -> str:
        """All visible blocks, one a line: what the `.md` sidecar and every diff show."""
        return "\n".join(b.text for b in self.visible)

    @property
    def main_text(self) -> str:
        return "\n".join(b.text for b in self.blocks if b.label is Label.MAIN)

    @property
    def text_sha256(self) -> str:
        return "sha256:" + sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


def pack(document: Document) -> bytes:
    """A document as compressed JSON; `unpack(pack(d)) == d` but for *anchors*."""
    return zlib.compress(json.dumps(_rows(document), ensure_ascii=True, separators=(",", ":")).encode("ascii"), 6)


def unpack(packed: bytes) -> Document:
    return _from_rows(json.loads(zlib.decompress(packed)))


def _rows(document: Document) -> dict[str, Any]:
    return {
        "form": document.form,
        "title": document.title,
        "language": document.language,
        "blocks": [(b.text, b.label, b.tag, b.path, b.link_chars) for b in document.blocks],
        "links": [(k.url, k.text, k.label) for k in document.links],
        "embeds": [(e.url, e.alt, e.kind, e.label, e.caption) for e in document.embeds],
        "extractor": document.extractor,
        "canonical": document.canonical,
        "refresh": document.refresh,
        "refresh_after_s": document.refresh_after_s,
        "notes": document.notes,
        "codec": document.codec,
        "codec_origin": document.codec_origin,
        "closed": document.closed,
    }


def _from_rows(rows: Mapping[str, Any], anchors: frozenset[str] = frozenset()) -> Document:
    return Document(
        form=Form(rows["form"]),
        title=rows["title"],
        language=rows["language"],
        blocks=tuple(Block(t, Label(lab), tag, path, n) for t, lab, tag, path, n in rows["blocks"]),
        links=tuple(Link(u, t, Label(lab)) for u, t, lab in rows["links"]),
        embeds=tuple(Embed(u, a, k, Label(lab), c) for u, a, k, lab, c in rows["embeds"]),
        extractor=rows["extractor"],
        canonical=rows["canonical"],
        refresh=rows["refresh"],
        refresh_after_s=rows["refresh_after_s"],
        anchors=anchors,
        notes=tuple(rows["notes"]),
        codec=rows.get("codec", ""),
        codec_origin=rows.get("codec_origin", ""),
        closed=rows.get("closed"),
    )
