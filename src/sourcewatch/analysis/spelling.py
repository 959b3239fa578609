"""When two spellings are one address: what a reader would call the same page, whatever servers might make of it."""

from __future__ import annotations

import re
from urllib.parse import unquote

from . import address

# Parameters that say where a reader came from and never what is read (as the browsers' own lists strip them).
_TRACKING = re.compile(
    r"(?:utm_\w+|gclid|dclid|fbclid|msclkid|yclid|mc_cid|mc_eid|igshid|_hsenc|_hsmi|spm)(?:=|$)", re.I
)
_INDEX = re.compile(r"/index\.(?:html?|php|aspx?)$", re.I)
_UNRESERVED = re.compile(r"%(?:2[dDeE]|3\d|4[1-9a-fA-F]|5[0-9aA]|5[fF]|6[1-9a-fA-F]|7[0-9aA]|7[eE])")
_RENAMED = {"dx.doi.org": "doi.org"}
OURS_ALONE = ("localhost", "127.0.0.1", "[::1]", "0.0.0.0")


def exact(url: str) -> str | None:
    """What a browser asks for, and the fragment where a script reads a page's name from it (`#/a`, `#!a`)."""
    asked = address.normal(url)
    if asked is None:
        return None
    fragment = url.partition("#")[2]
    return f"{asked}#{fragment}" if fragment.startswith(("/", "!")) else asked


def key(url: str) -> str | None:
    """Equal for spellings of one address: scheme, `www.`, last slash, index page, tracking and escapes left out."""
    whole = exact(url)
    if whole is None:
        return None
    rest, _, fragment = whole.partition("#")
    rest, _, query = rest.partition("?")
    authority, slash, path = rest.partition("://")[2].partition("/")
    host = authority.removeprefix("www.")
    host = _RENAMED.get(host, host)
    path = _INDEX.sub("/", _UNRESERVED.sub(lambda m: unquote(m[0]), slash + path)).rstrip("/")
    kept = "&".join(p for p in query.split("&") if p and not _TRACKING.match(p))
    return host + path + (f"?{kept}" if kept else "") + (f"#{fragment}" if fragment else "")


def only_schemes_differ(a: str, b: str) -> bool:
    """Whether one is http and the other https, and all else is the same."""
    one, other = exact(a) or a, exact(b) or b
    return one != other and one.partition("://")[2] == other.partition("://")[2]


def fault(url: str) -> str:
    """Why an address cannot be watched, in a clause; "" when it can. It is not repeated: it may hold a secret."""
    asked = address.normal(url)
    if asked is None:
        return "not an address of the web"
    if "@" in asked.split("/", 3)[2]:
        return "an address with a user name or password in it"
    return ""
