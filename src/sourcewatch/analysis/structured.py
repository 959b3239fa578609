"""Documents without a page around them: JSON, feeds, sitemaps and other XML, plain text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from xml.parsers import expat

from sourcewatch.domain.document import Block, Document, Embed, Form, Label, Link

from . import html
from .address import absolute, on_the_web
from .script_text import is_prose
from .walk import one_line

MOST_LEAVES = 50_000
MARKUP = re.compile(r"</?[a-zA-Z][\w:-]{0,30}(?:\s[^<>]{0,2000})?/?>|&(?:#\d{1,7}|#x[\da-fA-F]{1,6}|[a-zA-Z]{2,8});")
TITLE_KEYS = ("title", "full_name", "name", "headline")
PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
CJK = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
WRAPPED_LEAST, WRAPPED_MOST = 45, 100


@dataclass(slots=True)
class Gathered:
    """What is being read out of a document."""

    base: str
    blocks: list[Block] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    embeds: list[Embed] = field(default_factory=list)

    def text(self, text: str, path: str, tag: str = "p") -> None:
        """A string leaf; one that carries markup is read as the page that it is."""
        if not MARKUP.search(text):
            self.blocks.extend(
                Block(line, Label.MAIN, tag, path) for raw in text.split("\n") if (line := one_line(raw))
            )
            return
        inner = html.extract(text, url=self.base)
        self.blocks.extend(Block(b.text, b.label, b.tag, path, b.link_chars) for b in inner.blocks)
        self.links.extend(inner.links)
        self.embeds.extend(inner.embeds)

    def link(self, url: str) -> None:
        if (target := absolute(self.base, url.strip())) is not None and on_the_web(target):
            self.links.append(Link(target))

    def document(self, form: Form, title: str = "", language: str = "", notes: tuple[str, ...] = ()) -> Document:
        return Document(
            form,
            title=one_line(title),
            language=language,
            blocks=tuple(self.blocks),
            links=tuple(dict.fromkeys(self.links)),
            embeds=tuple({embed.url: embed for embed in reversed(self.embeds)}.values())[::-1],
            notes=notes,
        )


def from_text(text: str, *, url: str = "") -> Document:
    """Plain text: one block for each paragraph; lines are joined only where they were wrapped at a fixed width."""
    blocks: list[Block] = []
    for paragraph in PARAGRAPH.split(text.replace("\r\n", "\n").replace("\r", "\n")):
        lines = [line for raw in paragraph.split("\n") if (line := one_line(raw))]
        joined = [_joined(lines)] if _is_wrapped(lines) else lines
        blocks.extend(Block(line, Label.MAIN, "p", "text") for line in joined)
    title = blocks[0].text if blocks and len(blocks[0].text) <= 120 else ""
    return Document(Form.TEXT, title=title, blocks=tuple(blocks))


def _is_wrapped(lines: list[str]) -> bool:
    return len(lines) > 1 and all(WRAPPED_LEAST <= len(line) <= WRAPPED_MOST for line in lines[:-1])


def _joined(lines: list[str]) -> str:
    text = lines[0]
    for line in lines[1:]:
        text += line if CJK.match(text[-1]) and CJK.match(line) else " " + line
    return text


def from_json(text: str, *, url: str = "") -> Document:
    """Every leaf is a block, its key path its *path*: strings as they stand, numbers and flags as "key: value".

    A JSON Feed is a feed. What does not parse is read as text, with a note.
    """
    try:
        value = json.loads(unguarded(text))
    except (ValueError, RecursionError) as error:
        return _as_text(text, Form.JSON, f"JSON does not parse: {error}")
    gathered = Gathered(url)
    if isinstance(value, dict) and str(value.get("version", "")).startswith("https://jsonfeed.org/version/"):
        return _json_feed(value, gathered)
    notes: tuple[str, ...] = ()
    for number, (path, key, leaf) in enumerate(leaves(value)):
        if number >= MOST_LEAVES:
            notes = (f"read the first {MOST_LEAVES} values",)
            break
        _leaf(gathered, path, key, leaf)
    return gathered.document(Form.JSON, _json_title(value), _string(value, "lang", "language"), notes)


def unguarded(text: str) -> str:
    """Without the prefix that keeps JSON from being run as a script."""
    text = text.lstrip("\ufeff \t\r\n")
    for guard in (")]}',", ")]}'", "while(1);", "for(;;);"):
        if text.startswith(guard):
            return text[len(guard) :]
    return text


def leaves(value: object) -> Iterator[tuple[str, str, object]]:
    """(path, key, leaf) in document order, without recursion; list indices are left out of paths: slots stay slots."""
    todo: list[tuple[str, str, object]] = [("$", "", value)]
    while todo:
        path, key, current = todo.pop()
        if isinstance(current, dict):
            todo.extend((f"{path[-600:]}.{name}", str(name), child) for name, child in reversed(current.items()))
        elif isinstance(current, list):
            todo.extend((path, key, child) for child in reversed(current))
        else:
            yield path, key, current


def _leaf(gathered: Gathered, path: str, key: str, leaf: object) -> None:
    if isinstance(leaf, str):
        if leaf.startswith(("http://", "https://")) and " " not in leaf:
            gathered.link(leaf)
            gathered.blocks.append(Block(f"{key}: {one_line(leaf)}", Label.CHROME, "dd", path, len(leaf)))
        elif leaf.count(" ") >= 3 or is_prose(leaf) or MARKUP.search(leaf) or key in TITLE_KEYS or not key:
            gathered.text(leaf, path)
        elif line := one_line(leaf):
            gathered.blocks.append(Block(f"{key}: {line}", Label.MAIN, "dd", path))
    elif leaf is not None:
        gathered.blocks.append(Block(f"{key}: {json.dumps(leaf)}" if key else json.dumps(leaf), Label.MAIN, "dd", path))


def _json_title(value: object) -> str:
    for holder in (value, value.get("message") if isinstance(value, dict) else None):  # Crossref wraps in "message"
        if title := _string(holder, *TITLE_KEYS):
            return title
    return ""


def _string(holder: object, *keys: str) -> str:
    """The first of *keys* that holds a string, or a list that begins with one; "" otherwise."""
    if not isinstance(holder, dict):
        return ""
    for key in keys:
        found = holder.get(key)
        if isinstance(found, list) and found:
            found = found[0]
        if isinstance(found, str):
            return found
    return ""


def _json_feed(feed: Mapping[str, object], gathered: Gathered) -> Document:
    """https://www.jsonfeed.org/version/1.1/"""
    gathered.base = _string(feed, "home_page_url") or gathered.base
    items = feed.get("items")
    for item in items if isinstance(items, list) else []:
        if title := _string(item, "title"):
            gathered.text(title, "feed>item>title", "h2")
        for key in ("date_published", "content_html", "content_text", "summary"):
            if words := _string(item, key):
                gathered.text(words, f"feed>item>{key}")
        if address := _string(item, "url", "external_url"):
            gathered.link(address)
        if picture := _string(item, "image", "banner_image"):
            _picture(gathered, picture)
    return gathered.document(Form.FEED, _string(feed, "title"), _string(feed, "language"))


def _picture(gathered: Gathered, ref: str) -> None:
    if (target := absolute(gathered.base, ref.strip())) is not None and on_the_web(target):
        gathered.embeds.append(Embed(target))


def from_xml(text: str, form: Form, *, url: str = "") -> Document:
    """A feed's entries, a sitemap's addresses, any other XML's text: one block for each element that holds text.

    No entity is expanded and nothing external is read. What is not well-formed is read as HTML, with a note.
    """
    reader = _XmlReader(Gathered(url))
    try:
        reader.read(text)
    except (expat.ExpatError, ValueError, UnicodeError) as error:
        inner = html.extract(text, url=url, form=form)
        return Document(
            form, inner.title, inner.language, inner.blocks, inner.links, inner.embeds,
            notes=(*inner.notes, f"XML is not well-formed: {error}"),
        )  # fmt: skip
    return reader.gathered.document(form, reader.title, reader.language)


class _XmlReader:
    """expat's events as blocks. XHTML inside Atom (type="xhtml") arrives as elements and is read as text."""

    def __init__(self, gathered: Gathered) -> None:
        self.gathered = gathered
        self.title = self.language = ""
        self.path: list[str] = []
        self.text: list[list[str]] = []

    def read(self, text: str) -> None:
        parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.EntityDeclHandler = self._entity
        parser.Parse(_without_encoding(text).encode("utf-8", "replace"), True)

    def _entity(self, name: str, *_: object) -> None:
        raise ValueError(f"declares entity {name}")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(":")[2]
        self.path.append(tag)
        self.text.append([])
        if len(self.path) == 1:
            self.language = attributes.get("xml:lang", "")
        if tag == "link" and attributes.get("rel", "alternate") == "alternate" and "href" in attributes:
            self.gathered.link(attributes["href"])
        if tag in ("enclosure", "content", "thumbnail"):
            ref = attributes.get("url", "")
            kind = attributes.get("type", "") + attributes.get("medium", "")
            if ref and (kind.startswith("image") or tag == "thumbnail"):
                _picture(self.gathered, ref)

    def _characters(self, characters: str) -> None:
        if self.text:
            self.text[-1].append(characters)

    def _end(self, name: str) -> None:
        words = "".join(self.text.pop())
        tag = self.path[-1]
        path = ">".join(self.path[-12:])
        self.path.pop()
        if not words.strip():
            return
        if tag in ("loc", "link"):
            self.gathered.link(words)
        if tag == "language" and not self.language:
            self.language = words.strip()
        if tag == "title" and not self.title:
            self.title = one_line(words)
        self.gathered.text(words, path, "h2" if tag == "title" else "p")


def _without_encoding(text: str) -> str:
    """The declaration names the encoding that the bytes had; by now they are characters."""
    text = text.lstrip("\ufeff \t\r\n")
    if text.startswith("<?xml"):
        return text[text.find("?>") + 2 :] if "?>" in text[:400] else text
    return text


def _as_text(text: str, form: Form, note: str) -> Document:
    plain = from_text(text)
    return Document(form, plain.title, blocks=plain.blocks, notes=(note[:300],))
