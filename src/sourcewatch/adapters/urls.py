"""Addresses as a browser would ask for them (WHATWG URL), by ada."""

from __future__ import annotations

from dataclasses import dataclass

import ada_url

Origin = tuple[str, str, int]
PORTS = {"http": 80, "https": 443}


class AddressError(ValueError):
    """No browser could ask for this."""


class SchemeError(ValueError):
    """An address, but not of the web: file:, ftp:, data:, javascript: …"""


@dataclass(frozen=True, slots=True)
class Address:
    """An absolute http(s) address. *host* is in ASCII and without brackets, *target* is path and query.

    A fragment is not asked of a server, and credentials inside an address are never sent: both are left out.
    """

    scheme: str
    host: str
    port: int
    target: str

    @property
    def origin(self) -> Origin:
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """The Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def site(self) -> str:
        return f"{self.scheme}://{self.authority}"

    @property
    def url(self) -> str:
        return self.site + self.target


def address_of(url: str, base: str | None = None) -> Address:
    """Parse *url*, relative to *base* if given. Raises AddressError or SchemeError."""
    try:
        parsed = ada_url.URL(url, base=base)
    except (ValueError, UnicodeError) as error:
        raise AddressError(url) from error
    scheme = parsed.protocol.removesuffix(":")
    if scheme not in PORTS:
        raise SchemeError(scheme)
    return Address(
        scheme=scheme,
        host=parsed.hostname.strip("[]"),
        port=int(parsed.port or PORTS[scheme]),
        target=parsed.pathname + parsed.search,
    )
