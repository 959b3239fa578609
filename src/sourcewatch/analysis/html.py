"""An HTML page as a document: every block kept and labelled, with its links, figures, anchors and own words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import islice

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, SelectolaxError

from sourcewatch.domain.document import VISIBLE, Block, Document, Embed, Form, Label, Link

from .address import absolute, on_the_web
from .elements import SPECIAL
from .figures import is_badge, is_beacon
from .labels import believed, reads_like_navigation
from .nesting import bare_lines, too_costly
from .script_text import prose_in
from .walk import Place, Shown, Walk, one_line

REFRESH = re.compile(
    r"\s{0,99}(\d{0,9})(?:\.[\d.]{0,20})?(?:\s{0,99}[;,]\s{0,99}|\s{1,99}|$)"
    r"(?:url\s{0,99}=\s{0,99})?(?:\"([^\"]*)|'([^']*)|(.*))",
    re.I | re.S,
)
ARTICLE_CHARS = 300  # less may be a form's or a dialog's words
MOST_INNER = 500  # templates, noscripts and srcdoc frames that are read beside the page itself
Labeller = Callable[[Place], Label]


def extract(
    html: str, *, url: str = "", select: str = "", ignore: Sequence[str] = (), form: Form = Form.HTML
) -> Document:
    """Read a page. Relative addresses resolve against *url* and <base>.

    *select* (CSS) makes everything outside it chrome, *ignore* (CSS) makes what it matches hidden; a selector that does
    not parse or matches nothing is a note. Never raises for what a page contains.
    """
    if reason := too_costly(html):
        blocks = tuple(Block(line, Label.MAIN, "p", "flat") for line in bare_lines(html))
        return Document(form, blocks=blocks, notes=(f"{reason}: read as bare text",))
    tree = _parsed(html)
    notes: list[str] = []
    chosen = _matched(tree, [select] if select else [], notes)
    walk = Walk(SPECIAL, chosen, _matched(tree, ignore, notes))
    start = Place(Label.MAIN, "body", "", chosen=not chosen)
    if tree.root is not None:
        walk.run(tree.root, start)
    _read_inner(walk)
    return _document(walk, url, form, tuple(notes))


def selector_error(css: str) -> str | None:
    """What is wrong with a CSS selector, or None."""
    try:
        _parsed("<p>").css(css)
    except (SelectolaxError, ValueError, UnicodeError) as error:
        return f"not a CSS selector: {css!r} ({error})"
    return None


def _parsed(html: str) -> LexborHTMLParser:
    return LexborHTMLParser(html, options=LexborDocumentOptions.WO_EVENTS, scripting=True)


def _matched(tree: LexborHTMLParser, selectors: Iterable[str], notes: list[str]) -> frozenset[int]:
    found: set[int] = set()
    for css in selectors:
        if (error := selector_error(css)) is not None:
            notes.append(error)
            continue
        nodes = tree.css(css)
        if not nodes:
            notes.append(f"selector matches nothing: {css}")
        found.update(node.mem_id for node in nodes)
    return frozenset(found)


def _read_inner(walk: Walk) -> None:
    """Pages within the page: templates, noscripts, srcdoc frames. What these hold in turn queues up behind them."""
    for template, place in islice(walk.late_fragments, MOST_INNER):
        for fragment in template.template_fragments()[:1]:
            child = fragment.first_child
            while child is not None:
                walk.run(child, place)
                child = child.next
    for html, place in islice(walk.late_pages, MOST_INNER):
        if not too_costly(html) and (root := _parsed(html).root) is not None:
            walk.run(root, place)


def _document(walk: Walk, url: str, form: Form, notes: tuple[str, ...]) -> Document:
    base = absolute(url, walk.base) or url if walk.base else url
    label = _labeller(walk)
    blocks = _blocks(walk, label)
    blocks = _shown(blocks)
    target, after_s = _refresh(walk.refresh)
    return Document(
        form,
        title=walk.title or one_line(walk.meta.get("og:title", "")),
        language=walk.language or walk.meta.get("content-language", "").strip(),
        blocks=tuple(blocks),
        links=_links(walk, base, label),
        embeds=_embeds(walk, base, label),
        canonical=(absolute(base, walk.canonical) or "") if walk.canonical else "",
        refresh=(absolute(base, target) or "") if target else "",
        refresh_after_s=after_s,
        anchors=frozenset(walk.anchors),
        notes=notes,
    )


def _shown(blocks: list[Block]) -> list[Block]:
    """A page with nothing to see and an article hidden shows itself by script: what it hides is what readers see."""
    hidden = sum(len(b.text) for b in blocks if b.label is Label.HIDDEN)
    if hidden < ARTICLE_CHARS or any(b.label in VISIBLE for b in blocks):
        return blocks
    return [replace(b, label=Label.MAIN) if b.label is Label.HIDDEN else b for b in blocks]


def _labeller(walk: Walk) -> Labeller:
    rows, main, frame = walk.rows, Label.MAIN, Label.CHROME
    seen = [row.place.layer is main for row in rows]
    chrome = believed(walk.scopes, [row.text for row in rows], [row.link_chars for row in rows], seen)

    def label(place: Place) -> Label:
        if place.layer is not main:
            return place.layer
        return frame if not place.chosen or (place.scope >= 0 and chrome[place.scope]) else main

    return label


def _blocks(walk: Walk, label: Labeller) -> list[Block]:
    blocks: list[Block] = []
    main = Label.MAIN
    for text, place, tag, link_chars in walk.rows:
        name = label(place)
        if link_chars and name is main and reads_like_navigation(text, tag, link_chars):
            name = Label.CHROME
        blocks.append(Block(text, name, tag, place.path, link_chars))
    if walk.scripts:
        seen = {block.text for block in blocks}
        for line in dict.fromkeys(line for script in walk.scripts for line in prose_in(script)):
            if line not in seen:
                blocks.append(Block(line, Label.SCRIPT, "script", "script"))
    return blocks


def _links(walk: Walk, base: str, label: Labeller) -> tuple[Link, ...]:
    """Links to other addresses on the web; a link within the page is none."""
    resolved: dict[str, str | None] = {}
    links: list[Link] = []
    for ref, text, place in walk.links:
        if not ref or ref.startswith("#"):
            continue
        if ref not in resolved:
            resolved[ref] = absolute(base, ref)
        target = resolved[ref]
        if target is not None and on_the_web(target):
            links.append(Link(target, text, label(place)))
    return tuple(links)


def _embeds(walk: Walk, base: str, label: Labeller) -> tuple[Embed, ...]:
    """Each figure once: a <noscript> twin of an image that loads late is that image."""
    late = {shown.holder for shown in walk.shown if shown.late and shown.holder}
    embeds: dict[str, Embed] = {}
    for shown in sorted(walk.shown, key=_is_fallback):
        if _is_fallback(shown) and shown.holder in late:
            continue
        target = absolute(base, shown.ref)
        if target is None or not on_the_web(target) or target in embeds or is_beacon(target):
            continue
        name = label(shown.place)
        if name is Label.NOSCRIPT:  # no script twin has an address: this is the figure
            name = label(shown.place.with_script())
        if name is Label.MAIN and (shown.ornament or is_badge(target)):
            name = Label.CHROME
        embeds[target] = Embed(target, shown.alt, shown.kind, name, walk.captions.get(shown.place.figure, ""))
    for key in ("og:image", "og:image:url", "twitter:image"):
        if walk.meta.get(key) and (target := absolute(base, walk.meta[key])) and on_the_web(target):
            alt = one_line(walk.meta.get("og:image:alt", ""))
            embeds.setdefault(target, Embed(target, alt, "social"))
            break
    return tuple(embeds.values())


def _is_fallback(shown: Shown) -> bool:
    return shown.place.layer is Label.NOSCRIPT


def _refresh(content: str) -> tuple[str, float]:
    """Target and delay of a meta refresh (HTML Standard, "shared declarative refresh steps"); ("", 0.0) for none."""
    found = REFRESH.match(content)
    if found is None or not (found.group(1) or content.lstrip().startswith(".")):
        return "", 0.0
    target = (found.group(2) or found.group(3) or found.group(4) or "").strip()
    return target, float(found.group(1) or 0)
