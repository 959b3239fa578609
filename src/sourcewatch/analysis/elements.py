"""What single HTML elements mean to the walk: links, cells, figures, frames, and the head's own words."""

from __future__ import annotations

from collections.abc import Iterator

from sourcewatch.domain.document import Label

from . import figures
from .script_text import holds_data
from .walk import Attributes, Handler, Node, Place, Shown, Walk, one_line

# Each takes the walk, the element, its attributes and the place around it; it returns what holds inside, or None where
# nothing in it is to be read.


def anchor(walk: Walk, node: Node, attributes: Attributes, place: Place) -> Place | None:
    if name := attributes.get("name"):
        walk.anchors.add(name)
    place = walk.inline(node, attributes, place)
    if (ref := attributes.get("href") or attributes.get("xlink:href")) is None:
        return place
    inner = place.inside("link")
    inner.link, inner.ref = True, ref
    walk.start_link()
    return inner


def area(walk: Walk, node: Node, attributes: Attributes, place: Place) -> None:
    if ref := attributes.get("href"):
        walk.links.append((ref, attributes.get("alt") or "", place))


def cell(walk: Walk, node: Node, attributes: Attributes, place: Place) -> Place:
    """A row is one block, its cells a tab apart, as innerText has it (HTML Standard §3.2.7)."""
    if (attributes or walk.selects) and (walk.hides(node, attributes, place) or node.mem_id in walk.chosen):
        return walk.block(node, "td", attributes, place)
    walk.start_cell()
    inner = place.inside()
    inner.tag, inner.path = "td", place.path + ">td"
    return inner


def skip(walk: Walk, node: Node, attributes: Attributes, place: Place) -> None:
    """Never text: rules for machines, what stands above letters, what a <canvas> would hold without scripts."""


def line_break(walk: Walk, node: Node, attributes: Attributes, place: Place) -> None:
    walk.flush()


def figure(walk: Walk, node: Node, attributes: Attributes, place: Place) -> Place:
    inner = walk.block(node, "figure", attributes, place)
    inner.figure = walk.figures
    walk.figures += 1
    return inner


def figcaption(walk: Walk, node: Node, attributes: Attributes, place: Place) -> Place:
    inner = walk.block(node, "figcaption", attributes, place)
    if inner.closes == "block":
        walk.start_caption()
        inner.closes = "caption"
    return inner


def image(walk: Walk, node: Node, attributes: Attributes, place: Place) -> None:
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
    walk.shown.append(Shown(ref, "img", alt, place, figures.is_ornament(attributes), late, holder))


def svg_image(walk: Walk, node: Node, attributes: Attributes, place: Place) -> None:
    if ref := attributes.get("href") or attributes.get("xlink:href"):
        walk.shown.append(Shown(ref, "img", "", place))


def input_image(walk: Walk, node: Node, attributes: Attributes, place: Place) -> None:
    if (attributes.get("type") or "").lower() == "image" and (ref := attributes.get("src")):
        walk.shown.append(Shown(ref, "img", attributes.get("alt") or "", place, ornament=True))


def media(walk: Walk, node: Node, attributes: Attributes, place: Place) -> Place:
    """What stands inside <video>, <audio> and <object> is seen only where they can't be shown."""
    if ref := attributes.get("poster") or attributes.get("data-poster"):
        walk.shown.append(Shown(ref, "poster", attributes.get("title") or "", place))
    if ref := attributes.get("data"):
        walk.shown.append(Shown(ref, "object", attributes.get("title") or "", place))
    inner = walk.block(node, node.tag or "", attributes, place)
    if inner.layer is not Label.HIDDEN:
        inner.layer = Label.NOSCRIPT
    return inner


def embed_element(walk: Walk, node: Node, attributes: Attributes, place: Place) -> None:
    if ref := attributes.get("src"):
        walk.shown.append(Shown(ref, "object", attributes.get("title") or "", place))


def frame(walk: Walk, node: Node, attributes: Attributes, place: Place) -> None:
    ref = (attributes.get("src") or "").strip()
    if not ref or ref.startswith(("about:", "javascript:")):
        ref = figures.lazy_address(attributes)
    if inner := attributes.get("srcdoc"):
        walk.late_pages.append((inner, place.inside()))
    elif ref and not figures.is_pixel(attributes):
        walk.shown.append(Shown(ref, "frame", attributes.get("title") or "", place))


def noscript(walk: Walk, node: Node, attributes: Attributes, place: Place) -> None:
    """With scripts on, a browser sees a text here (HTML Standard §4.12.2), and so does the parser."""
    inner = place.inside()
    if inner.layer is not Label.HIDDEN:
        inner.layer = Label.NOSCRIPT
    around = node.parent
    inner.holder = around.mem_id if around is not None else 0
    walk.late_pages.append((node.text(), inner))


def template(walk: Walk, node: Node, attributes: Attributes, place: Place) -> None:
    """Declarative shadow roots are seen; the stuff of other templates is not, but may hold a sentence."""
    inner = place.inside()
    if "shadowrootmode" not in attributes:
        inner.layer = Label.HIDDEN
    walk.late_fragments.append((node, inner))


def script(walk: Walk, node: Node, attributes: Attributes, place: Place) -> None:
    if attributes and holds_data(attributes.get("type") or "", attributes.get("id") or ""):
        child = node.first_child
        walk.scripts.append((child.text_content if child is not None else None) or "")


def svg(walk: Walk, node: Node, attributes: Attributes, place: Place) -> Place:
    inner = walk.inline(node, attributes, place).inside()
    inner.svg = True
    return inner


def svg_text(walk: Walk, node: Node, attributes: Attributes, place: Place) -> Place:
    return walk.block(node, "text", attributes, place) if place.svg else place


def title(walk: Walk, node: Node, attributes: Attributes, place: Place) -> None:
    if not place.svg and not walk.title:
        walk.title = one_line(node.text())


def html_element(walk: Walk, node: Node, attributes: Attributes, place: Place) -> Place:
    walk.language = walk.language or (attributes.get("lang") or attributes.get("xml:lang") or "").strip()
    return place


def base_element(walk: Walk, node: Node, attributes: Attributes, place: Place) -> None:
    walk.base = walk.base or (attributes.get("href") or "").strip()


def link_element(walk: Walk, node: Node, attributes: Attributes, place: Place) -> None:
    rels = (attributes.get("rel") or "").lower().split()
    if "canonical" in rels and not walk.canonical:
        walk.canonical = (attributes.get("href") or "").strip()


def meta_element(walk: Walk, node: Node, attributes: Attributes, place: Place) -> None:
    content = attributes.get("content") or ""
    http_equiv = (attributes.get("http-equiv") or "").strip().lower()
    if http_equiv == "refresh" and place.layer is Label.MAIN:
        walk.refresh = walk.refresh or content
    elif name := attributes.get("property") or attributes.get("name") or http_equiv:
        walk.meta.setdefault(name.strip().lower(), content)


def _children(node: Node) -> Iterator[Node]:
    child = node.first_child
    while child is not None:
        yield child
        child = child.next


SKIPPED = frozenset(
    "annotation annotation-xml canvas datalist defs desc metadata noembed param rp rt rtc source style symbol".split()  # noqa: SIM905
)
SPECIAL: dict[str, Handler] = {
    "a": anchor,
    "area": area,
    "td": cell,
    "th": cell,
    "br": line_break,
    "hr": line_break,
    "figure": figure,
    "figcaption": figcaption,
    "img": image,
    "image": svg_image,
    "input": input_image,
    "video": media,
    "audio": media,
    "object": media,
    "embed": embed_element,
    "iframe": frame,
    "frame": frame,
    "noscript": noscript,
    "noframes": noscript,
    "template": template,
    "script": script,
    "svg": svg,
    "text": svg_text,
    "title": title,
    "html": html_element,
    "base": base_element,
    "link": link_element,
    "meta": meta_element,
    **dict.fromkeys(SKIPPED, skip),
}
