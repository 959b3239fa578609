"""A second look at a certificate that failed: what it is, and whether AIA would complete its chain.

"SSL error" is several facts. A server that forgets its intermediate certificate fails here, yet browsers fetch the
intermediate by its AIA address and show the page: that must be told apart from an unknown root.
"""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable
from dataclasses import replace

from sourcewatch.domain.reading import Fault

from . import causes, tls
from .guard import Guard
from .hosts import Broken
from .transfer import Budget
from .urls import Address

MOST_S = 5.0  # for each connection; the fetch's budget bounds the whole
MOST_BYTES = 64 * 1024
MOST_ISSUERS = 4

Ask = Callable[[str], Awaitable[bytes]]


async def look(guard: Guard, address: Address, broken: Broken, ca_bundle: str, budget: Budget, ask: Ask) -> Broken:
    """*broken* with the server's leaf, as tls_incomplete_chain if *ask* brings what the server forgot to send.

    Raises OverDeadlineError.
    """
    der = await _leaf(guard, address, tls.no_trust(), budget)
    if not der:
        return broken
    broken = replace(broken, certificate=tls.certificate(der))
    if broken.fault.rule != tls.ISSUER_UNKNOWN:
        return broken
    issuers = await _issuers(der, ask)
    if not issuers:
        return broken
    # In OpenSSL's store a certificate that did not sign itself completes chains but never ends one (we leave
    # X509_V_FLAG_PARTIAL_CHAIN off): whoever serves the AIA address cannot make us trust anything.
    completed = tls.trust(ca_bundle)
    completed.load_verify_locations(cadata="".join(issuers))
    if not await _leaf(guard, address, completed, budget):
        return broken
    evidence = "the server does not send its intermediate certificate; with the one that AIA names the chain is whole"
    return replace(broken, fault=Fault("tls_incomplete_chain", "aia-completes", evidence))


async def _leaf(guard: Guard, address: Address, context: ssl.SSLContext, budget: Budget) -> bytes:
    """The server's certificate (DER) by a connection that *context* accepts, or nothing."""
    try:
        async with budget.spend():
            stream = await guard.connect_tcp(address.host, address.port, MOST_S)
            try:
                await stream.start_tls(context, address.host.rstrip("."), MOST_S)
                return stream.leaf
            finally:
                await stream.aclose()
    except causes.NETWORK_ERRORS:
        return b""


async def _issuers(der: bytes, ask: Ask) -> list[str]:
    """The issuers above a leaf by their AIA addresses, as PEM, without the root."""
    found: list[str] = []
    url = tls.issuer_url(der)
    while url and len(found) < MOST_ISSUERS:
        issuer = tls.issuer_of(await ask(url))
        if issuer is None or issuer.is_root:
            break
        found.append(issuer.pem)
        url = issuer.next_url
    return found
