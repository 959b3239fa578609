"""Addresses with nobody at home: parked domains, suspended accounts, servers' default pages, error dumps, refusals."""

from __future__ import annotations

import re

from .address import registrable_domain
from .sayings import saying
from .soft404 import said
from .view import ARTICLE, THIN, Rule, View, own_weight, shown

PARKING = (
    b"sedoparking.com",
    b"parkingcrew.net",
    b"bodis.com",
    b"parklogic.com",
    b"above.com/marketplace",
    b"/park.js",
    b"window.park",
    b"parking-lander",
    b"parkingpage",
    b"parked-content.godaddy.com",
    b"img1.wsimg.com/parking-lander",
    b"d38psrni17bvxu.cloudfront.net",
    b"domainparking",
    b"cdn.parking",
    b"ad-maven",
    b"adsense/domains/caf.js",
    b"afternic.com/forsale",
    b"dan.com/buy-domain",
    b"hugedomains.com/domain_profile",
    b"sedo.com/search/details",
    b"mi.aliyun.com",
    b"am.22.cn/",
)
PARKING_HOSTS = re.compile(
    r"(?:^|\.)(?:sedoparking|sedo|parkingcrew|bodis|dan|hugedomains|afternic|undeveloped|buydomains|brandbucket|domainmarket|parklogic|above|uniregistry)\.(?:com|net|org)$"
)
DUMP = "error-dump"
DUMP_LINE = "dump-line"


def _parked(view: View) -> str:
    if not view.is_page or not view.is_thin:
        return ""
    home_of_parking = PARKING_HOSTS.search(registrable_domain(view.cited_host))
    led = view.moved and PARKING_HOSTS.search(view.host) and not home_of_parking
    mark = b"" if home_of_parking else next((m for m in PARKING if m in view.raw), b"")
    points, words = said(view, "parked")
    lander = view.moved and view.path.startswith("/lander")
    points += 2.0 * bool(led) + 1.5 * bool(mark) + 1.0 * bool(lander)
    named = registrable_domain(view.cited_host)
    points += 0.5 * (bool(named) and named in view.title)
    if points >= 3.5:
        sign = ", ".join(filter(None, (words, mark.decode(), f"led to {view.host}" if led else "")))
        return f"{sign}; {view.facts()}"
    return ""


def _suspended(view: View) -> str:
    if not view.is_page or not view.is_thin:
        return ""
    points, words = said(view, "suspended")
    if "/suspendedpage" in view.path or b"/cgi-sys/suspendedpage.cgi" in view.raw:
        points += 2
        words = words or view.path
    return f"{words}; {view.facts()}" if points >= 3 else ""


def _default(view: View) -> str:
    """A title and a sentence of a server's own page, near its start: the longest of them has 3,400 bytes of prose."""
    if not view.is_page or view.is_article:
        return ""
    title = view.title_says("default", 0.6)
    notice = view.heading_says("default", 0.5) or view.notice_says("default", 0.3, first=6)
    if not (title or notice):
        return ""
    words = notice or title
    sentences = sum(1 for _, text in view.notices[:12] if re.search(r"default|web server|服务器|自动生成", text))
    points = (
        2.0 * bool(title)
        + 1.5 * bool(notice)
        + 1.0 * (view.beside(words) < 500)
        + 0.5 * (view.shown < 60)
        + 0.5 * min(2, sentences)
    )
    points -= 1.0 * (view.beside(words) > THIN)
    return f"{shown(words)}; {view.facts()}" if points >= 3.5 else ""


def _dump(view: View) -> str:
    """An error's own words where the page's text should start, and hardly any prose beside them."""
    if not view.is_page:
        return ""
    blocks = [(b.text.lower(), own_weight(b)) for b in view.document.blocks if b.label == "main"]
    before = 0
    for at, (text, size) in enumerate(blocks):
        found = saying(DUMP).search(text + "\n" if size < ARTICLE else text[:2000])
        if found:
            rest = sum(
                w
                for t, w in blocks[at + 1 :]
                if w >= 60 and not saying(DUMP_LINE).match(t) and not saying(DUMP).search(t[:400])
            )
            if rest < THIN // 2:
                return f"{shown(text)} after {before} bytes; {view.facts()}"
            return ""
        before += size if size >= 24 else 0
        if before > 400:
            return ""
    return ""


def _out_of_order(view: View) -> str:
    """A notice of trouble or maintenance in place of the page."""
    if not view.is_page or not view.is_thin:
        return ""
    points, words = said(view, "error")
    return f"{words}; {view.facts()}" if points >= 3 else ""


def _blocked(view: View) -> str:
    if not view.is_page or not view.is_thin:
        return ""
    points, words = said(view, "blocked")
    return f"{words}; {view.facts()}" if points >= 3 else ""


def _region(view: View) -> str:
    if not view.is_page or not view.is_thin:
        return ""
    points, words = said(view, "region")
    return f"{words}; {view.facts()}" if points >= 3 else ""


SUSPENDED_RULES = (Rule("suspended-notice", "site_suspended", _suspended),)
RULES = (
    Rule("parked-domain", "parked_domain", _parked),
    Rule("default-page", "default_page", _default),
    Rule("error-dump", "soft_500", _dump),
    Rule("block-notice", "forbidden", _blocked),
    Rule("region-notice", "forbidden", _region),
)
LATE_RULES = (Rule("trouble-notice", "soft_500", _out_of_order),)
