"""Which address a page shows as a figure: lazy attributes, srcset and picture, CSS; beacons, badges and icons known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

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
_LAZY = frozenset(LAZY)
LAZY_SETS = ("data-srcset", "data-lazy-srcset", "data-original-set")
# The same for CSS backgrounds: lazysizes and vanilla-lazyload (bg, bgset, bg-multi, bg-set), lozad
# (background-image and its set), Swiper and Framework7 (background). reveal.js has colours in them.
LAZY_BACKGROUNDS = ("data-bg", "data-background-image", "data-background", "data-bg-multi")
LAZY_BACKGROUND_SETS = ("data-bgset", "data-bg-set", "data-background-image-set")
IMAGE_NAME = re.compile(r"\.(?:avif|bmp|gif|ico|jfif|jpe?g|jxl|png|svg|tiff?|webp)(?:$|[?#!@&_/])", re.I)
PLACEHOLDER = re.compile(  # of "/" and an address in small letters: `re` is twice as fast without case
    r"[/_.-](?:blank|spacer|placeholder|loading|lazy(?:load)?|transparent|pixel|grey|gray|1x1|empty|default[_-]?img)"
    r"[\w-]{0,20}\.(?:gif|png|svg|jpe?g|webp)(?:$|[?#])"
)
SHOWABLE = re.compile(r"image/(?:avif|webp|png|jpe?g|gif|svg\+xml|apng|bmp|x-icon)$", re.I)
CANDIDATE = re.compile(r"[\s,]{0,99}([^\s,]\S{0,4000})\s{0,99}([\d.]{0,12}[wxh]?)[^,]{0,40}(?:,|$)")
_URL = r"url\(\s{0,9}(\"[^\"]{1,4000}\"|'[^']{1,4000}'|[^)\"'\s]{1,4000})"
CSS_URL = re.compile(rf"background(?:-image)?\s{{0,9}}:[^;]{{0,300}}?{_URL}", re.I)
LAZY_URL = re.compile(rf"{_URL}\s{{0,9}}\)?", re.I)
HIDDEN = re.compile(r"display\s{0,9}:\s{0,9}none", re.I)
TINY = re.compile(r"(?:^|[;\s])(?:max-)?(width|height)\s{0,9}:\s{0,9}[01](?:px)?\s{0,9}(?=;|!|$)", re.I)
# Hosts that count visits, by their own documentation of the noscript image or frame; subdomains count.
BEACON_HOSTS = frozenset(
    """google-analytics.com googletagmanager.com doubleclick.net scorecardresearch.com hm.baidu.com cnzz.com
    px.ads.linkedin.com dc.ads.linkedin.com bat.bing.com analytics.twitter.com mc.yandex.ru counter.yadro.ru
    quantserve.com ct.pinterest.com tr.snapchat.com q.quora.com pixel.wp.com stats.wp.com""".split()  # noqa: SIM905
)
BEACON_PATHS = {"tr": "facebook.com", "i/adsct": "t.co"}
BEACON_NAME = re.compile(
    r"/(?:pixel|beacon|track(?:ing)?|__utm|1x1|clear|spacer)\.(?:gif|png)$|/(?:matomo|piwik)\.php$", re.I
)
BADGE_HOSTS = frozenset(
    """img.shields.io badgen.net badge.fury.io codecov.io coveralls.io travis-ci.org travis-ci.com circleci.com
    ci.appveyor.com api.star-history.com pepy.tech deepwiki.com""".split()  # noqa: SIM905
)
BADGE_NAME = re.compile(r"[/._-]badges?(?:[/._-]|$)", re.I)
ICON_NAMES = frozenset("avatar avatars icon icons emoji emoticon favicon logo badge".split())  # noqa: SIM905
ICON_PX = 48
PIXELS = re.compile(r"\s{0,9}(\d{1,6}(?:\.\d{1,4})?)\s{0,9}(?:px)?\s{0,9}$")


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
    if _LAZY.isdisjoint(attributes):
        return ""
    for name in LAZY:
        value = (attributes.get(name) or "").strip()
        if value and _genuine(value) and _is_address(value):
            return value
    return ""


def best_candidate(srcset: str) -> str:
    """The largest picture of a srcset, so that a figure counts once; "" if it holds none but placeholders."""
    largest_first = sorted(_candidates(srcset), key=lambda candidate: -candidate[0]) if srcset else ()
    return next((url for _, url in largest_first if _genuine(url)), "")


def _candidates(srcset: str) -> Iterable[tuple[float, str]]:
    """Sizes and addresses, split as the HTML Standard does: an address runs to white space, so commas may be in it."""
    for found in CANDIDATE.finditer(srcset):
        url, descriptor = found.groups()
        if url.endswith(","):
            url, descriptor = url.rstrip(","), ""
        yield _size(descriptor), url


def _size(descriptor: str) -> float:
    try:
        return float(descriptor[:-1]) if descriptor else 1.0
    except ValueError:
        return 0.0


def background_addresses(style: str) -> list[str]:
    """Addresses of background pictures in a style attribute."""
    if "url(" not in style.lower():
        return []
    return [url for raw in CSS_URL.findall(style) if _real(url := raw.strip("\"' "))]


def lazy_backgrounds(attributes: Attributes) -> list[str]:
    """Addresses, as written, of the background pictures that a script will put in place; of a set the largest."""
    found: list[str] = []
    for name in LAZY_BACKGROUNDS:
        found += _layers(attributes.get(name) or "")
    for name in LAZY_BACKGROUND_SETS:
        # What follows the last bar is for any window; others have their media query in brackets behind them.
        group = (attributes.get(name) or "").rpartition("|")[2].partition("[")[0]
        found.append(best_candidate(LAZY_URL.sub(lambda url: url[1].strip("\"' "), group)))
    return [url for url in found if _genuine(url) and _is_address(url)]


def _layers(value: str) -> list[str]:
    """One address, or several: each in url(), or with commas between the names of pictures."""
    if urls := LAZY_URL.findall(value):
        return [url.strip("\"' ") for url in urls]
    parts = [part.strip() for part in value.split(",")]
    return parts if all(map(IMAGE_NAME.search, parts)) else [value.strip()]


def is_pixel(attributes: Attributes) -> bool:
    """Whether an image says of itself that nobody is to see it: one pixel, or hidden."""
    for name in ("width", "height"):
        if (value := attributes.get(name)) and (size := _pixels(value)) is not None and size <= 1:
            return True
    if style := attributes.get("style"):
        return len(set(map(str.lower, TINY.findall(style)))) == 2 or (
            "none" in style and HIDDEN.search(style) is not None
        )
    return "hidden" in attributes


def is_ornament(attributes: Attributes) -> bool:
    """Whether an image is an icon or an avatar: declared at most 48 px in both directions, or named so."""
    sizes = [size for name in ("width", "height") if (size := _pixels(attributes.get(name))) is not None]
    if sizes and max(sizes) <= ICON_PX:
        return True
    return bool(name := attributes.get("class")) and _names_icon(name)


def is_beacon(url: str) -> bool:
    """Whether an absolute address counts visits instead of showing something."""
    host, _, path = url.partition("//")[2].partition("/")
    path = path.partition("?")[0]
    domains = _domains(host)
    known = not BEACON_HOSTS.isdisjoint(domains) or BEACON_PATHS.get(path.rstrip("/")) in domains
    return known or BEACON_NAME.search("/" + path) is not None


def is_badge(url: str) -> bool:
    """Whether an absolute address is a badge: a state of today, drawn on demand."""
    host, _, path = url.partition("//")[2].partition("/")
    if not BADGE_HOSTS.isdisjoint(_domains(host)):
        return True
    return "adge" in path and BADGE_NAME.search("/" + path.partition("?")[0]) is not None


@lru_cache(maxsize=1024)
def _domains(host: str) -> frozenset[str]:
    """A host and the domains that it is under."""
    names = host.split(".")
    return frozenset(".".join(names[n:]) for n in range(len(names) - 1))


def _applies(source: Attributes) -> bool:
    """Whether a desktop browser in daylight would take this <source>."""
    kind = (source.get("type") or "").strip()
    media = (source.get("media") or "").strip().lower()
    return (not kind or bool(SHOWABLE.match(kind))) and not re.search(r"dark|max-width|print|portrait|reduce", media)


def _real(url: str) -> bool:
    return bool(url) and not url[:12].lower().startswith(("data:", "about:", "javascript:", "blob:", "#"))


def _genuine(url: str) -> bool:
    return _real(url) and not PLACEHOLDER.search("/" + url.lower())


def _is_address(value: str) -> bool:
    if len(value) > 4000 or any(c in value for c in ' \t\n{}<>"'):
        return False
    return value.startswith(("http://", "https://", "//", "/", "./", "../")) or bool(IMAGE_NAME.search(value))


@lru_cache(maxsize=1024)
def _pixels(value: str | None) -> float | None:
    found = PIXELS.match(value) if value else None
    return float(found.group(1)) if found else None


@lru_cache(maxsize=8192)
def _names_icon(name: str) -> bool:
    """Whether a class says that an image is an icon."""
    return not ICON_NAMES.isdisjoint(name.lower().replace("-", " ").replace("_", " ").split())
