"""Addresses as browsers read them: WHATWG URL, by Ada, and the registrable domain by the Public Suffix List."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import ada_url

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

WEB_SCHEMES = ("http://", "https://")
# Addresses that the parser would return as they are: nearly all links, at a tenth of its 4 µs. Dot segments, Punycode
# and hosts that end in a number are left to it.
_REST = r"(?:\?[\w\-.~!$&()*+,;=:@/?%]*+)?(?:#[\w\-.~!$&()*+,;=:@/?%]*+)?"
_PATH = r"/(?:[\w\-~!$&()*+,;=:@/]++|(?<!/)\.|%(?!2[eE]))*+" + _REST
_PLAIN_PATH = re.compile(rf"(?!//){_PATH}", re.ASCII)
_PLAIN = re.compile(rf"https?://(?:[a-z0-9]{{1,63}}(?:-[a-z0-9]{{1,61}})?\.){{1,9}}[a-z]{{2,24}}{_PATH}", re.ASCII)


def absolute(base: str, ref: str) -> str | None:
    """*ref* against *base*, fragment kept, whatever its scheme; None where a browser finds no URL in it."""
    if _PLAIN.fullmatch(ref):
        return ref
    if base and _PLAIN_PATH.fullmatch(ref) and (origin := _origin(base)):
        return origin + ref
    try:
        return ada_url.join_url(base, ref) if base else ada_url.normalize_url(ref)
    except (ValueError, UnicodeError):
        return None


def on_the_web(url: str) -> bool:
    """Whether a normalised address can be asked over HTTP."""
    return url.startswith(WEB_SCHEMES)


def normal(url: str) -> str | None:
    """What a browser would request for *url*, without its fragment; None for what is no web address."""
    whole = absolute("", url)
    if whole is None or not on_the_web(whole):
        return None
    return whole.partition("#")[0]


def host(url: str) -> str:
    """The host in lower case and Punycode, IPv6 in brackets, without port; "" where there is none."""
    authority = _authority(url)
    if authority.startswith("["):
        return authority.partition("]")[0] + "]"
    return authority.partition(":")[0]


def host_key(url: str) -> str:
    """Host, and the port unless it is the scheme's own: the thing that has one robots.txt and one pace."""
    return _authority(url)


def registrable_domain(name: str) -> str:
    """The part of a host name that somebody registered (`bbc.co.uk`); an IP address or a bare suffix is itself.

    Private suffixes count (`alice.github.io` and `bob.github.io` are two). https://publicsuffix.org/list/
    """
    name = name.rstrip(".").lower()
    if name.startswith("[") or name.rpartition(".")[2].isdigit():
        return name
    return _suffixes().privatesuffix(name) or name


def same_document(a: str, b: str) -> bool:
    """Whether two addresses differ by their fragments at most."""
    one = normal(a)
    return one is not None and one == normal(b)


@lru_cache(maxsize=64)
def _origin(url: str) -> str:
    """Scheme, host and port of an address that is plain enough for the shortcut, or ""."""
    return "/".join(url.split("/", 3)[:3]) if _PLAIN.fullmatch(url) else ""


def _authority(url: str) -> str:
    whole = normal(url)
    if whole is None:
        return ""
    authority = whole.split("/", 3)[2]
    return authority.rpartition("@")[2]


@cache
def _suffixes() -> PublicSuffixList:
    from publicsuffixlist import PublicSuffixList  # 75 ms with its list: only where a domain is asked for

    return PublicSuffixList()
