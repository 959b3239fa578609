"""Which address a page shows as a figure: lazy attributes, srcset and picture, CSS; beacons, badges and icons known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

Attributes = Mapping[str, str | None]

# Where scripts find the true address of an image that loads late. Zhihu's data-actualsrc is what its script shows.
LAZY = (
    "data-actualsrc",
    "data-src",
    "data-lazy-src",
    "data-original",
    "data-lazy",
    "data-original-src",
    "data-croporisrc",
    "data-echo",
    "data-url",
    "data-image",
    "data-img-src",
    "data-hi-res-src",
    "data-orig-file",
    "data-full-src",
    "data-default-src",
    "data-canonical-src",
)
LAZY_SETS = ("data-srcset", "data-lazy-srcset", "data-original-set")
LAZY_BACKGROUNDS = ("data-bg", "data-background", "data-background-image", "data-bg-src", "data-backgroundimage")
IMAGE_NAME = re.compile(r"\.(?:avif|bmp|gif|ico|jfif|jpe?g|jxl|png|svg|tiff?|webp)(?:$|[?#!@&_/])", re.I)
PLACEHOLDER = re.compile(
    r"(?:^|[/_.-])(?:blank|spacer|placeholder|loading|lazy(?:load)?|transparent|pixel|grey|gray|1x1|empty|default[_-]?img)"
    r"[\w-]{0,20}\.(?:gif|png|svg|jpe?g|webp)(?:$|[?#])",
    re.I,
)
SHOWABLE = re.compile(r"image/(?:avif|webp|png|jpe?g|gif|svg\+xml|apng|bmp|x-icon)$", re.I)
CSS_URL = re.compile(
    r"background(?:-image)?\s{0,9}:[^;]{0,300}?url\(\s{0,9}(\"[^\"]{1,4000}\"|'[^']{1,4000}'|[^)\"'\s]{1,4000})", re.I
)
TINY = re.compile(r"(?:^|[;\s])(?:max-)?(width|height)\s{0,9}:\s{0,9}[01](?:px)?\s{0,9}(?:;|!|$)", re.I)
# Addresses that count visits: the path or host that each counter documents for its own noscript image.
BEACON = re.compile(
    r"//(?:www\.)?(?:facebook\.com/tr[/?]|google-analytics\.com/|googletagmanager\.com/|stats\.g\.doubleclick\.net/"
    r"|(?:[\w-]{1,60}\.){0,3}doubleclick\.net/|pixel\.[\w.-]{1,60}/|sb\.scorecardresearch\.com/|b\.scorecardresearch\.com/"
    r"|hm\.baidu\.com/|[\w-]{1,20}\.cnzz\.com/|px\.ads\.linkedin\.com/|dc\.ads\.linkedin\.com/|bat\.bing\.com/"
    r"|analytics\.twitter\.com/|t\.co/i/adsct|mc\.yandex\.ru/watch|counter\.yadro\.ru/|[\w-]{1,40}\.quantserve\.com/"
    r"|[\w.-]{1,60}/(?:matomo|piwik)\.php\?|ct\.pinterest\.com/|tr\.snapchat\.com/|q\.quora\.com/|secure\.gravatar\.com/blavatar)"
    r"|/(?:pixel|beacon|track(?:ing)?|__utm|1x1|clear|spacer)\.(?:gif|png)(?:$|\?)",
    re.I,
)
BADGE = re.compile(
    r"//(?:img\.shields\.io|badgen\.net|badge\.fury\.io|codecov\.io|coveralls\.io|travis-ci\.|circleci\.com"
    r"|ci\.appveyor\.com|api\.star-history\.com|pepy\.tech|static\.pepy\.tech|deepwiki\.com|trendshift\.io/api/badge)"
    r"|[/._-]badges?(?:[/._?-]|$)",
    re.I,
)
ICON_CLASS = re.compile(r"(?:^|[\s_-])(?:avatar|icon|emoji|emoticon|favicon|logo|badge)s?(?:$|[\s_-])", re.I)
ICON_PX = 48


def image_address(attributes: Attributes, sources: Iterable[Attributes] = ()) -> tuple[str, bool]:
    """The address, as written, of what an <img> shows, and whether only a script puts it there. ("", False) for none.

    *sources* are the <source> children of its <picture>. Order: what a browser without scripts shows (picture, srcset,
    src), unless that is a placeholder; then what lazy-loading scripts put in its place (HTML Standard §4.8.4.3).
    """
    for source in sources:
        if _applies(source) and (found := best_candidate(source.get("srcset") or "")):
            return found, False
    if found := best_candidate(attributes.get("srcset") or ""):
        return found, False
    src = (attributes.get("src") or "").strip()
    if _genuine(src):
        return src, False
    for bag in (*(s for s in sources if _applies(s)), attributes):
        for name in LAZY_SETS:
            if found := best_candidate(bag.get(name) or ""):
                return found, True
    return (lazy, True) if (lazy := lazy_address(attributes)) else (src if _real(src) else "", False)


def lazy_address(attributes: Attributes) -> str:
    """The address, as written, that a script will put in place, or ""."""
    for name in LAZY:
        value = (attributes.get(name) or "").strip()
        if value and _genuine(value) and _is_address(value):
            return value
    return ""


def best_candidate(srcset: str) -> str:
    """The largest picture of a srcset, so that a figure counts once; "" if it holds none but placeholders."""
    best, most = "", -1.0
    for url, descriptor in _candidates(srcset):
        if not _genuine(url):
            continue
        try:
            size = float(descriptor[:-1]) if descriptor else 1.0
        except ValueError:
            size = 0.0
        if size > most:
            best, most = url, size
    return best


def _candidates(srcset: str) -> Iterable[tuple[str, str]]:
    """Split as the HTML Standard does: an address runs to white space, so commas may be inside it."""
    at, end = 0, len(srcset)
    for _ in range(200):
        while at < end and (srcset[at].isspace() or srcset[at] == ","):
            at += 1
        if at >= end:
            return
        start = at
        while at < end and not srcset[at].isspace():
            at += 1
        url = srcset[start:at]
        if url.endswith(","):
            yield url.rstrip(","), ""
            continue
        stop = srcset.find(",", at)
        stop = end if stop < 0 else stop
        yield url, srcset[at:stop].strip().split(" ")[0]
        at = stop


def background_addresses(style: str) -> list[str]:
    """Addresses of background pictures in a style attribute."""
    if "url(" not in style.lower():
        return []
    return [url for raw in CSS_URL.findall(style) if _real(url := raw.strip("\"' "))]


def is_beacon(url: str, attributes: Attributes) -> bool:
    """Whether an image counts visits instead of showing something: one pixel, hidden by itself, or a known counter."""
    sizes = [_pixels(attributes.get(name)) for name in ("width", "height")]
    if any(size is not None and size <= 1 for size in sizes):
        return True
    style = attributes.get("style") or ""
    if style and (len(TINY.findall(style)) >= 2 or re.search(r"display\s{0,9}:\s{0,9}none", style, re.I)):
        return True
    return "hidden" in attributes or bool(BEACON.search(url))


def is_ornament(url: str, attributes: Attributes) -> bool:
    """Whether an image is a badge, an icon or an avatar: declared at most 48 px in both directions, or by its name."""
    sizes = [size for name in ("width", "height") if (size := _pixels(attributes.get(name))) is not None]
    if sizes and max(sizes) <= ICON_PX:
        return True
    return bool(BADGE.search(url) or ICON_CLASS.search(attributes.get("class") or ""))


def _applies(source: Attributes) -> bool:
    """Whether a desktop browser in daylight would take this <source>."""
    kind = (source.get("type") or "").strip()
    media = (source.get("media") or "").strip().lower()
    return (not kind or bool(SHOWABLE.match(kind))) and not re.search(r"dark|max-width|print|portrait|reduce", media)


def _real(url: str) -> bool:
    return bool(url) and not url[:12].lower().startswith(("data:", "about:", "javascript:", "blob:", "#"))


def _genuine(url: str) -> bool:
    return _real(url) and not PLACEHOLDER.search(url)


def _is_address(value: str) -> bool:
    if len(value) > 4000 or any(c in value for c in ' \t\n{}<>"'):
        return False
    return value.startswith(("http://", "https://", "//", "/", "./", "../")) or bool(IMAGE_NAME.search(value))


def _pixels(value: str | None) -> float | None:
    found = re.match(r"\s{0,9}(\d{1,6}(?:\.\d{1,4})?)\s{0,9}(?:px)?\s{0,9}$", value or "")
    return float(found.group(1)) if found else None
