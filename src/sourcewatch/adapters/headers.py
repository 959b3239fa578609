"""The headers of our requests, and the cookies that a site needs to let go of its redirects."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sourcewatch.domain.capture import Headers, Request

from .urls import Address, AddressError, SchemeError, address_of

ACCEPT = {
    "document": "text/html,application/xhtml+xml,text/markdown,application/pdf,application/xml;q=0.9,*/*;q=0.8",
    "figure": "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5",
    "any": "*/*",
}
ACCEPT_LANGUAGE = "zh-CN,zh;q=0.9,en;q=0.8"  # the same for all, or a site's choice of language would look like a change
ACCEPT_ENCODING = "gzip, deflate, br"

Raw = list[tuple[bytes, bytes]]


@dataclass(slots=True)
class Cookies:
    """The cookies of one fetch, by host. Many sites redirect for ever without; none is ever stored."""

    _jars: dict[str, dict[str, tuple[str, bool]]] = field(default_factory=dict)

    def learn(self, address: Address, set_cookies: Iterable[str]) -> None:
        jar = self._jars.setdefault(address.host, {})
        for line in set_cookies:
            pair, _, attributes = line.partition(";")
            name, equals, value = pair.strip().partition("=")
            flags = {a.strip().lower() for a in attributes.split(";")}
            if not equals or not name:
                continue
            if "max-age=0" in flags or any(f.startswith("expires=thu, 01 jan 1970") for f in flags):
                jar.pop(name, None)
            else:
                jar[name] = (value, "secure" in flags)

    def header(self, address: Address) -> str:
        jar = self._jars.get(address.host, {})
        sent = ((n, v) for n, (v, secure) in jar.items() if address.scheme == "https" or not secure)
        return "; ".join(f"{name}={value}" for name, value in sent)


def request_headers(request: Request, address: Address, user_agent: str, cookie: str, *, first: bool) -> Raw:
    """What we send to *address*. The source's own headers and its validators go to the first address's origin only."""
    headers = {
        "Host": address.authority,
        "User-Agent": user_agent,
        "Accept": ACCEPT[request.expect],
        "Accept-Language": ACCEPT_LANGUAGE,
        "Accept-Encoding": ACCEPT_ENCODING,
    }
    if request.method == "POST":
        headers["Content-Type"] = "application/x-www-form-urlencoded"
        headers["Content-Length"] = str(len(request.body))
    if referer := referer_for(request.referer, address):
        headers["Referer"] = referer
    if cookie:
        headers["Cookie"] = cookie
    if first:
        if request.etag:
            headers["If-None-Match"] = request.etag
        if request.last_modified:
            headers["If-Modified-Since"] = request.last_modified
    if request.headers and address.origin == address_of(request.url).origin:
        names = {name.lower(): name for name in headers}
        for header in request.headers:
            headers[names.get(header.name.lower(), header.name)] = header.value
    return [(name.encode("ascii", "replace"), value.encode("utf-8")) for name, value in headers.items()]


def referer_for(referer: str, address: Address) -> str:
    """What browsers say by default (strict-origin-when-cross-origin): the page to its own site, its site to others,
    nothing from https to http."""
    if not referer:
        return ""
    try:
        page = address_of(referer)
    except (AddressError, SchemeError):
        return ""
    if page.origin == address.origin:
        return page.url
    if page.scheme == "https" and address.scheme == "http":
        return ""
    return page.site + "/"


def text_headers(raw: Sequence[tuple[bytes, bytes]]) -> Headers:
    """Header bytes as text: UTF-8 where it is, else Latin-1, so that a raw Chinese Location stays readable."""
    return tuple((name.decode("latin-1"), _text(value)) for name, value in raw)


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")
