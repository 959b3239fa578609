"""No request reaches an address that is not of the public internet, whatever it is called."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from ipaddress import IPv4Address

import httpcore
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.adapters.guard import Blocked, Guard, Resolver, is_private
from sourcewatch.adapters.hosts import Hosts
from sourcewatch.adapters.http import Web
from sourcewatch.domain.capture import Failure, Request
from sourcewatch.domain.source import FetchPolicy, HostPolicy
from web.server import Server, Site


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "10.255.255.255",
        "100.64.0.1",
        "100.100.100.200",
        "127.0.0.1",
        "127.255.0.1",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.192",
        "192.168.1.1",
        "198.18.0.1",
        "224.0.0.1",
        "239.1.1.1",
        "240.0.0.1",
        "255.255.255.255",
        "168.63.129.16",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:a00:1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::a00:1",
        "2002:7f00:1::",
        "2002:a00:1::1",
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
        "2001:db8::1",
        "100::1",
        "5f00::1",
    ],
)
def test_what_is_not_of_the_public_internet_is_private(address: str) -> None:
    assert is_private(address)


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.1",
        "100.63.255.255",
        "100.128.0.1",
        "126.255.255.255",
        "128.0.0.1",
        "172.15.0.1",
        "172.32.0.1",
        "192.167.1.1",
        "192.169.1.1",
        "223.255.255.1",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "2002:808:808::1",
        "2606:4700::1111",
        "240e::1",
        "2a00:1450::1",
    ],
)
def test_its_neighbours_are_public(address: str) -> None:
    assert not is_private(address)


@given(st.ip_addresses(v=4))
def test_ipv4_wrapped_in_ipv6_is_as_private_as_it_is_plain(inner: IPv4Address) -> None:
    number = f"{int(inner) >> 16:x}:{int(inner) & 0xFFFF:x}"
    for wrapped in (f"::ffff:{number}", f"64:ff9b::{number}", f"2002:{number}::1"):
        assert is_private(wrapped) == is_private(str(inner))


def test_a_named_network_is_open_and_no_other() -> None:
    guard = Guard(("127.0.0.0/28", "fd00:1::/32"))
    assert [guard.permits(a) for a in ("127.0.0.1", "127.0.0.16", "::ffff:127.0.0.1", "fd00:1::5", "fd00:2::5")] == [
        True,
        False,
        True,
        True,
        False,
    ]


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f.1",
        "017700000001",
        "127.1",
        "0",
        "0.0.0.0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[0:0:0:0:0:ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "127.0.0.1.",
        "１２７.0.0.1",
        "127。0。0。1",
        "%31%32%37.0.0.1",
    ],
)
def test_no_spelling_of_loopback_opens_a_socket(host: str) -> None:
    """The canary: it would notice if the guard ceased to sit under httpx's pool."""

    async def go(port: int) -> object:
        hosts = Hosts({"default": HostPolicy(0.0)})
        async with Web(FetchPolicy(), hosts, user_agent="sourcewatch/test") as web:
            return await web.fetch(Request(f"http://{host}:{port}/"))

    with Server(Site()) as server:
        failure = asyncio.run(go(server.port))
        assert isinstance(failure, Failure) and (failure.word, failure.rule) == ("redirect_to_private", "guard")
        assert server.connections == 0


def test_one_forbidden_address_refuses_the_whole_name() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["93.184.216.34", "10.0.0.1"]

    with pytest.raises(Blocked, match=r"10\.0\.0\.1"):
        asyncio.run(Guard(resolve=resolve).addresses("mixed.example", 80, 1.0))


def test_the_address_that_was_checked_is_the_one_that_is_connected() -> None:
    """A name that changes its mind between check and connection (rebinding) is asked only once."""
    answers = iter((["127.0.0.1"], ["10.0.0.1"]))

    async def resolve(host: str, port: int) -> Sequence[str]:
        return next(answers)

    async def go(port: int) -> str:
        stream = await Guard(("127.0.0.1/32",), resolve).connect_tcp("rebinds.example", port, 1.0)
        await stream.aclose()
        return stream.wire.address

    with Server(Site()) as server:
        assert asyncio.run(go(server.port)) == "127.0.0.1"
    assert next(answers) == ["10.0.0.1"]


def test_every_address_gets_its_chance_and_the_last_error_is_told() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1", "127.0.0.2"]

    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(httpcore.ConnectError, match=r"127\.0\.0\.2"):
        asyncio.run(Guard(("127.0.0.0/8",), resolve).connect_tcp("two.example", port, 1.0))


def test_names_that_are_given_up_leave_the_resolver_and_its_loop_in_order() -> None:
    async def go() -> Sequence[str]:
        resolver = Resolver(at_a_time=1)
        given_up = asyncio.create_task(resolver("localhost", 80))
        await asyncio.sleep(0)
        given_up.cancel()
        return await resolver("localhost", 80)

    assert set(asyncio.run(go())) <= {"127.0.0.1", "::1"}


def test_a_name_that_the_name_service_refuses_is_an_error_of_the_sockets() -> None:
    with pytest.raises(UnicodeError):
        asyncio.run(Resolver()("x" * 70 + ".example", 80))
