"""The guard: the address that was checked is the address that is connected, for whatever the pool above asks.

It sits under httpx's connection pool as its network backend, so redirects, robots.txt and AIA pass it too. One
resolution a connection leaves no gap for DNS rebinding.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

import httpcore

from .stream import WIRE, Stream
from .wire import Wire

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

# IANA special-purpose registries (RFC 6890 and successors), multicast, and Azure's metadata host, which is a public
# address. Spelled out: `ipaddress.is_global` changes between patch releases of Python.
_PRIVATE_4 = tuple(
    ip_network(n)
    for n in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24"),
        *("203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32"),
    )
)
_GLOBAL_6 = ip_network("2000::/3")
_PRIVATE_6 = tuple(ip_network(n) for n in ("2001::/23", "2001:db8::/32", "3fff::/20"))
_NAT64 = ip_network("64:ff9b::/96")


class Blocked(httpcore.ConnectError):
    """A name or address that must never be asked."""


class DnsTimeout(httpcore.ConnectTimeout):
    """The name service did not answer in time."""


def is_private(address: str) -> bool:
    """Whether an address is not of the public internet, looking through IPv4 that is wrapped in IPv6."""
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour
        if ip in _NAT64:
            inner = IPv4Address(int(ip) & 0xFFFF_FFFF)
        if inner is None:
            return ip not in _GLOBAL_6 or any(ip in network for network in _PRIVATE_6)
        ip = inner
    return any(ip in network for network in _PRIVATE_4)


class Resolver:
    """getaddrinfo in threads of its own: asyncio's default executor has six here, and twenty dead names would hold
    up every other look-up (and every `to_thread`) for nine seconds. The threads are daemons: a look-up that hangs
    in the C library doesn't hold up the end of the program either."""

    def __init__(self, at_a_time: int = 64) -> None:
        self._room = asyncio.Semaphore(at_a_time)

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        loop = asyncio.get_running_loop()
        found: asyncio.Future[list[str]] = loop.create_future()

        def look_up() -> None:
            rows, error = [], None
            try:
                rows = [str(row[4][0]) for row in socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM)]
            except Exception as failed:
                error = failed
            with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(settle, rows, error)

        def settle(rows: list[str], error: Exception | None) -> None:
            self._room.release()  # not before: a thread whose caller has given up still takes room
            if found.cancelled():
                return
            if error:
                found.set_exception(error)
            else:
                found.set_result(rows)

        await self._room.acquire()
        threading.Thread(target=look_up, name="dns", daemon=True).start()
        return await found


class Guard(httpcore.AsyncNetworkBackend):
    """Resolves, checks and connects. *allow_networks* opens these private networks and no other."""

    def __init__(self, allow_networks: Iterable[str] = (), resolve: Resolve | None = None) -> None:
        self._allowed = tuple(ip_network(network) for network in allow_networks)
        self.resolve: Resolve = resolve or Resolver()

    def permits(self, address: str) -> bool:
        ip = ip_address(address.partition("%")[0])
        mapped = ip.ipv4_mapped if isinstance(ip, IPv6Address) else None
        return any((mapped or ip) in network for network in self._allowed) or not is_private(address)

    async def addresses(self, host: str, port: int, timeout_s: float | None) -> tuple[str, ...]:
        """The checked addresses of *host*, in the resolver's order.

        Raises Blocked when any of them is forbidden (a mixed answer is how rebinding starts), DnsTimeout,
        socket.gaierror, or UnicodeError for a name that no resolver takes.
        """
        try:
            ip_address(host)
            found: Sequence[str] = (host,)
        except ValueError:
            try:
                async with asyncio.timeout(timeout_s):
                    found = await self.resolve(host, port)
            except TimeoutError as error:
                raise DnsTimeout(f"the name service did not answer within {timeout_s:g} s") from error
        addresses = tuple(dict.fromkeys(found))
        if not addresses:
            raise socket.gaierror(socket.EAI_NODATA, "no address for this name")
        if forbidden := [a for a in addresses if not self.permits(a)]:
            raise Blocked(f"{host} is at {', '.join(forbidden)}" if host not in forbidden else host)
        return addresses

    async def dial(self, host: str, port: int, timeout_s: float) -> socket.socket:
        """A connection for a browser, checked like every other. Raises what `addresses` and `connect_tcp` raise."""
        addresses = await self.addresses(host, port, timeout_s)
        return (await _first_to_answer(addresses[:4], port, timeout_s))[0]

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's signature
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> Stream:
        started = time.perf_counter()
        try:
            addresses = await self.addresses(host, port, timeout)
        except (OSError, UnicodeError) as error:
            raise httpcore.ConnectError(str(error)) from error
        resolved = time.perf_counter()
        left = None if timeout is None else max(0.1, timeout - (resolved - started))
        sock, address = await _first_to_answer(addresses[:4], port, left)
        wire = Wire(address=address, dns_s=resolved - started, connect_s=time.perf_counter() - resolved)
        WIRE.set(wire)
        return Stream(sock, wire)


async def _first_to_answer(addresses: Sequence[str], port: int, timeout_s: float | None) -> tuple[socket.socket, str]:
    """Connect to the first address that answers; each gets its share of the time, and the last error is told."""
    loop = asyncio.get_running_loop()
    ends = None if timeout_s is None else loop.time() + timeout_s
    for i, address in enumerate(addresses):
        share = None if ends is None else max(0.1, (ends - loop.time()) / (len(addresses) - i))
        sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            async with asyncio.timeout(share):
                await loop.sock_connect(sock, (address, port))
            return sock, address
        except (OSError, TimeoutError) as error:
            sock.close()
            if i == len(addresses) - 1:
                kind = httpcore.ConnectTimeout if isinstance(error, TimeoutError) else httpcore.ConnectError
                raise kind(f"{address}: {error}") from error
        except BaseException:
            sock.close()
            raise
    raise AssertionError("a name has at least one address")
