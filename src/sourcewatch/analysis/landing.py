"""Where an answer came from: the way that led to it, and front pages in place of what was cited."""

from __future__ import annotations

import re

from sourcewatch.domain.capture import Capture
from sourcewatch.domain.document import Label
from sourcewatch.domain.verdict import Verdict

from .address import registrable_domain, same_document
from .view import THIN, Rule, View, weight

LOCALE = re.compile(r"[a-z]{2}(?:[-_][a-z]{2,4})?$|intl$|global$")
FRONT = re.compile(r"(?:index|default|home|main|homepage|welcome|start|portal)(?:\.[a-z]{2,5})?$")
ASIDE = re.compile(
    r"(?:index|default)\.\w{2,5}$|amp$|print$|view$|mobile$|m$|latest$|stable$|en$|zh$|readme(?:\.\w+)?$"
)
NAMED = re.compile(r"\d{3,}|^[0-9a-f]{8,}$")
SHORT_LINK_CHARS = 12


def landing(capture: Capture) -> Verdict:
    """The word for a good page by the way that led to it: one hop that is not permanent makes the move temporary."""
    hops = capture.exchanges[:-1]
    if not hops:
        return Verdict("ok", "no-objection", "")
    chain = " → ".join(e.url for e in capture.exchanges)
    if any(e.status < 300 for e in hops):
        return Verdict("redirected_meta", "refresh", chain)
    permanent = all(e.status in (301, 308) for e in hops)
    return Verdict("redirected_permanent" if permanent else "redirected_temporary", "redirect", chain)


def segments(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def is_front(path: str) -> bool:
    """Whether a path is a home page's: the root, an index, a language's start."""
    parts = [p for p in segments(path) if not LOCALE.match(p)]
    return not parts or (len(parts) == 1 and bool(FRONT.match(parts[0])))


def _is_deep(view: View) -> bool:
    if is_front(view.cited_path):
        return False
    parts = segments(view.cited_path)
    same_site = registrable_domain(view.host) == registrable_domain(view.cited_host)
    # on another site a short address may be a shortener's, which is meant to lead to a front page
    return same_site or len(parts) > 1 or len(parts[0]) > SHORT_LINK_CHARS or "?" in view.cited


def _to_home(view: View) -> str:
    """A deep address that ends on a front page, unless that is where it was read before."""
    if not view.moved or not view.is_page or not _is_deep(view):
        return ""
    accepted = view.reading.accepted
    if accepted is not None and same_document(accepted.final_url, view.url):
        return ""
    query = view.url.partition("#")[0].partition("?")[2]
    if is_front(view.path) and not _names_a_page(query):
        return f"{view.cited} led to the front page {view.url}; {view.facts()}"
    return ""


def _names_a_page(query: str) -> bool:
    """Whether a front page's query chooses a document: /?p=123, /index.php?title=Cache."""
    return any(
        key in ("p", "id", "page_id", "title", "post", "article", "a", "q", "v", "doc", "aid", "tid", "pid")
        for key in (pair.partition("=")[0].lower() for pair in query.split("&"))
    )


def _to_section(view: View) -> str:
    """A deep address that ends on a page above it, or where the host leads every unknown address."""
    if not view.moved or not view.is_page or registrable_domain(view.host) != registrable_domain(view.cited_host):
        return ""
    accepted = view.reading.accepted
    if accepted is not None and same_document(accepted.final_url, view.url):
        return ""
    probe = view.reading.probe
    if (
        probe is not None
        and probe.status == 200
        and probe.final_url != probe.asked_url
        and same_document(probe.final_url, view.url)
    ):
        return f"{view.cited} led to {view.url}, as the invented {probe.asked_url} does; {view.facts()}"
    asked, came = segments(view.cited_path), segments(view.path)
    if not came or came != asked[: len(came)] or NAMED.search(came[-1]):
        return ""
    dropped = asked[len(came) :]
    if not dropped or all(ASIDE.match(part) for part in dropped) or not _lists(view):
        return ""
    return f"{view.cited} led to the page above it, {view.url}, which is a list of links; {view.facts()}"


def _lists(view: View) -> bool:
    """Whether a page is more links than prose."""
    links = sum(weight(k.text) for k in view.document.links if k.label in (Label.MAIN, Label.CHROME))
    return view.prose < THIN or links > view.prose


RULES = (
    Rule("led-to-front-page", "redirected_to_home", _to_home),
    Rule("led-to-section", "redirected_to_home", _to_section),
)
