"""Every way in which a fetch can go wrong below the page's text comes back as a value with its word and rule."""

from __future__ import annotations

import asyncio
import gzip
import logging
import random
import re
import socket
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import httpcore
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.adapters.causes import FOREIGN, fault_of
from sourcewatch.adapters.headers import referer_for
from sourcewatch.adapters.hosts import MOST_SILENT, Hosts
from sourcewatch.adapters.http import Web
from sourcewatch.adapters.lines import MOST_LINES
from sourcewatch.adapters.redirects import REDIRECTS, next_address
from sourcewatch.adapters.transfer import BIG_AT_A_TIME, SMALL_BYTES, Body, Budget, OverDeadlineError
from sourcewatch.adapters.urls import address_of
from sourcewatch.domain.capture import Capture, Deferred, Exchange, Failure, Request
from sourcewatch.domain.reading import Fault
from sourcewatch.domain.source import FetchPolicy, Header, HostPolicy
from web.cases import ALL, PAGE, Case, MisbehavingWeb
from web.server import Handler, Server, Site, Talk, answers, redirects, says

DEADLINE_S = 2.0
_CHUNKED_PAGE = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
LOOPBACK = ("127.0.0.0/8", "::1/128")


def a_web(web: MisbehavingWeb, *, respect_robots: bool = True, **policy: Any) -> Web:
    settings: dict[str, Any] = {
        "allow_networks": LOOPBACK,
        "ca_bundle": web.ca_bundle,
        "max_bytes": 3_000_000,
        "deadline_s": DEADLINE_S,
        "connect_s": 0.8,
        "read_s": 0.8,
        "concurrency": 64,
    }
    hosts = Hosts({"default": HostPolicy(delay_s=0.0)}, respect_robots=respect_robots)
    return Web(
        FetchPolicy(**(settings | policy)),
        hosts,
        user_agent="sourcewatch/test (+https://site.example; mailto:editor@site.example)",
        resolve=web.resolve,
    )


@dataclass(frozen=True)
class Outcome:
    fetched: Capture | Failure | Deferred
    seconds: float


@pytest.fixture(scope="session")
def outcomes(bad_web: MisbehavingWeb) -> dict[str, Outcome]:
    """All cases at once, each on a host of its own."""

    some = asyncio.Semaphore(24)

    async def timed(web: Web, case: Case) -> Outcome:
        async with some:
            started = time.perf_counter()
            fetched = await web.fetch(Request(bad_web.urls[case.name]))
            return Outcome(fetched, time.perf_counter() - started)

    async def everything() -> dict[str, Outcome]:
        async with a_web(bad_web) as web:
            done = await asyncio.gather(*(timed(web, case) for case in ALL))
        return {case.name: outcome for case, outcome in zip(ALL, done, strict=True)}

    return asyncio.run(everything())


@pytest.mark.parametrize("case", [c for c in ALL if c.word], ids=lambda c: c.name)
def test_what_breaks_gets_its_word_and_its_rule(outcomes: dict[str, Outcome], case: Case) -> None:
    failure = outcomes[case.name].fetched
    assert isinstance(failure, Failure), failure
    assert (failure.word, failure.rule) == (case.word, case.rule or failure.rule), failure.detail
    assert failure.detail


@pytest.mark.parametrize("case", [c for c in ALL if not c.word], ids=lambda c: c.name)
def test_what_looks_like_trouble_and_is_none_is_read(outcomes: dict[str, Outcome], case: Case) -> None:
    capture = outcomes[case.name].fetched
    assert isinstance(capture, Capture), capture
    assert (capture.answer.status, len(capture.exchanges)) == (case.status, case.hops)


@pytest.mark.parametrize("case", ALL, ids=lambda c: c.name)
def test_nothing_outlasts_the_deadline_by_more_than_two_seconds(outcomes: dict[str, Outcome], case: Case) -> None:
    assert outcomes[case.name].seconds < DEADLINE_S + 2


def run(bad_web: MisbehavingWeb, *requests: Request, **policy: Any) -> list[Capture | Failure | Deferred]:
    """Fetch one after the other with one Web."""

    async def go() -> list[Capture | Failure | Deferred]:
        async with a_web(bad_web, **policy) as web:
            return [await web.fetch(request) for request in requests]

    return asyncio.run(go())


def captured(bad_web: MisbehavingWeb, request: Request, **policy: Any) -> Capture:
    (capture,) = run(bad_web, request, **policy)
    assert isinstance(capture, Capture), capture
    return capture


@pytest.fixture
def site(bad_web: MisbehavingWeb) -> Iterator[Server]:
    """A site of the test's own, at host.example and other.example; routes in `server.site`."""
    with Server(Site()) as server:
        bad_web.names |= {"host.example": ("127.0.0.1",), "other.example": ("127.0.0.1",)}
        yield server


def routes(server: Server) -> Site:
    assert isinstance(server.connected, Site)
    return server.connected


def url(server: Server, path: str, host: str = "host.example") -> str:
    return f"http://{host}:{server.port}{path}"


# what is kept


def test_the_heads_are_kept_byte_for_byte_and_the_body_as_transferred(bad_web: MisbehavingWeb, site: Server) -> None:
    packed = gzip.compress(b"hello" * 100)
    answer = b"HTTP/1.1 200 Fine\r\nx-Odd:  \xe4\xb8\xad \r\nX-ODD: 2\r\nContent-Encoding: gzip\r\n"
    answer += b"Content-Length: %d\r\n\r\n%s" % (len(packed), packed)
    routes(site).routes["/page"] = answer
    exchange = captured(bad_web, Request(url(site, "/page?q=a|b%zz"))).answer
    assert exchange.response_head == answer.removesuffix(packed)
    assert exchange.body == packed
    assert exchange.request_head == routes(site).heads[-1]
    assert exchange.request_head.startswith(b"GET /page?q=a|b%zz HTTP/1.1\r\nHost: host.example:")
    assert b"Accept-Encoding: gzip, deflate, br\r\n" in exchange.request_head
    assert (exchange.reason, exchange.all_headers("X-Odd"), exchange.address) == ("Fine", ("中", "2"), "127.0.0.1")


def test_early_hints_and_chunk_framing_are_not_in_the_record(bad_web: MisbehavingWeb) -> None:
    hinted = captured(bad_web, Request(bad_web.urls["early-hints"])).answer
    assert hinted.response_head.startswith(b"HTTP/1.1 200 ")
    assert captured(bad_web, Request(bad_web.urls["chunked"])).answer.body == PAGE


def test_a_tls_connection_tells_its_certificate_and_its_phases(bad_web: MisbehavingWeb) -> None:
    exchange = captured(bad_web, Request(bad_web.urls["tls-good"]), respect_robots=False).answer
    assert exchange.tls and exchange.tls.version == "TLSv1.3" and exchange.tls.certificate
    assert exchange.tls.certificate.names == ("tls-good.case.example",)
    assert exchange.tls.certificate.not_after.tzinfo is UTC
    assert exchange.timing.tls_s and exchange.timing.connect_s and exchange.timing.dns_s
    assert exchange.timing.first_byte_s and exchange.timing.first_byte_s <= exchange.timing.total_s


def test_a_certificate_that_failed_is_shown_as_evidence(outcomes: dict[str, Outcome]) -> None:
    failure = outcomes["tls-expired"].fetched
    assert isinstance(failure, Failure) and failure.certificate
    assert failure.certificate.subject == "CN=tls-expired.case.example"
    assert failure.certificate.issuer == "CN=sourcewatch test root"
    assert failure.certificate.not_after < datetime.now(UTC)
    assert re.fullmatch("sha256:[0-9a-f]{64}", failure.certificate.sha256)


def test_a_cut_answer_is_kept_as_evidence(outcomes: dict[str, Outcome]) -> None:
    failure = outcomes["short-body"].fetched
    assert isinstance(failure, Failure)
    assert (failure.exchanges[-1].status, failure.exchanges[-1].body) == (200, PAGE)


def test_every_hop_is_recorded_and_fragments_are_not_asked(bad_web: MisbehavingWeb) -> None:
    capture = captured(bad_web, Request(bad_web.urls["chain"] + "#first"))
    assert [exchange.status for exchange in capture.exchanges] == [308, 307, 200]
    assert not any("#" in exchange.url for exchange in capture.exchanges)


@pytest.mark.parametrize("bad", ["", "no scheme", "http://", "http://a b/", "ftp://host.example/", "http://[::1/"])
def test_what_no_browser_could_ask_for_is_an_invalid_url(bad_web: MisbehavingWeb, bad: str) -> None:
    (failure,) = run(bad_web, Request(bad))
    assert isinstance(failure, Failure) and failure.word == "invalid_url"


def test_a_header_that_cannot_be_sent_is_a_failure_of_its_source_alone(bad_web: MisbehavingWeb) -> None:
    request = Request(bad_web.urls["plain"], headers=(Header("X-Token", "a\r\nHost: evil.example"),))
    (failure,) = run(bad_web, request)
    assert isinstance(failure, Failure) and failure.rule == "request-not-sendable"


# what we say, and to whom


def test_secrets_reach_their_own_origin_and_nothing_else(
    bad_web: MisbehavingWeb, site: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secrets = (Header("Authorization", "Bearer t0ps3cret"), Header("X-Api-Key", "k3yk3y", secret=True))
    routes(site).routes |= {
        "/start": redirects("/same"),
        "/same": redirects(url(site, "/far", "other.example"), Set_Cookie="sid=c00kie"),
        "/far": answers(200, PAGE),
    }
    capture = captured(bad_web, Request(url(site, "/start"), headers=secrets))
    own = [head for head in routes(site).heads if b"Host: host.example" in head and b"/robots.txt" not in head]
    far = [head for head in routes(site).heads if b"Host: other.example" in head]
    assert len(own) == 2 and all(b"t0ps3cret" in head and b"k3yk3y" in head for head in own)
    assert far and not any(b"t0ps3cret" in head or b"k3yk3y" in head or b"c00kie" in head for head in far)
    recorded = b"".join(exchange.request_head for exchange in capture.exchanges)
    assert recorded.count(b"Authorization: [redacted]") == recorded.count(b"X-Api-Key: [redacted]") == 2
    for text in (recorded.decode(), repr(capture), caplog.text):
        assert "t0ps3cret" not in text and "k3yk3y" not in text


def test_another_port_is_another_origin(bad_web: MisbehavingWeb, site: Server) -> None:
    with Server(Site({"/far": answers(200, PAGE)})) as other:
        routes(site).routes["/start"] = redirects(url(other, "/far"))
        captured(bad_web, Request(url(site, "/start"), headers=(Header("Authorization", "Bearer t0ps3cret"),)))
        assert not any(b"t0ps3cret" in head for head in routes(other).heads)


def test_credentials_in_an_address_are_never_sent(bad_web: MisbehavingWeb, site: Server) -> None:
    routes(site).routes["/page"] = answers(200, PAGE)
    capture = captured(bad_web, Request(url(site, "/page").replace("//", "//user:t0ps3cret@")))
    assert "t0ps3cret" not in repr(capture)
    assert b"Authorization" not in routes(site).heads[-1]


def test_cookies_live_for_one_fetch_and_for_one_host(bad_web: MisbehavingWeb, site: Server) -> None:
    routes(site).routes |= {
        "/set": redirects("/next", Set_Cookie="a=1; Path=/"),
        "/next": redirects("/last", Set_Cookie="a=gone; Max-Age=0"),
        "/last": answers(200, PAGE),
    }
    run(bad_web, Request(url(site, "/set")), Request(url(site, "/last")))
    pages = [head for head in routes(site).heads if b"/robots.txt" not in head]
    assert [b"Cookie: a=1" in head for head in pages] == [False, True, False, False]


def test_validators_go_out_as_the_server_gave_them_on_the_first_hop_only(bad_web: MisbehavingWeb, site: Server) -> None:
    routes(site).routes |= {"/old": redirects("/new", 301), "/new": answers(200, PAGE)}
    captured(bad_web, Request(url(site, "/old"), etag='W/"a1"', last_modified="Tue, 01 Dec 2026 10:00:00 GMT"))
    first, second = (head for head in routes(site).heads if b"/robots.txt" not in head)
    assert b'If-None-Match: W/"a1"\r\n' in first
    assert b"If-Modified-Since: Tue, 01 Dec 2026 10:00:00 GMT\r\n" in first
    assert b"If-" not in second


@pytest.mark.parametrize(
    ("page", "figure", "said"),
    [
        ("https://a.example/p/1?x#frag", "https://a.example/i.png", "https://a.example/p/1?x"),
        ("https://a.example/p/1", "https://img.example/i.png", "https://a.example/"),
        ("https://a.example/p/1", "http://img.example/i.png", ""),
        ("http://a.example:8080/p", "https://img.example/i.png", "http://a.example:8080/"),
        ("https://user:pass@a.example/p", "https://a.example/i.png", "https://a.example/p"),
        ("", "https://a.example/i.png", ""),
        ("about:blank", "https://a.example/i.png", ""),
    ],
)
def test_a_figure_is_asked_for_with_its_page_as_browsers_say_it(page: str, figure: str, said: str) -> None:
    assert referer_for(page, address_of(figure)) == said


def test_figures_ask_for_images_and_a_sources_own_header_wins(bad_web: MisbehavingWeb, site: Server) -> None:
    run(bad_web, Request(url(site, "/i.png"), expect="figure"))
    assert b"\r\nAccept: image/" in routes(site).heads[-1]
    run(bad_web, Request(url(site, "/i.png"), headers=(Header("accept-language", "ja"),)))
    assert b"Accept-Language: ja\r\n" in routes(site).heads[-1]
    assert b"User-Agent: sourcewatch/test (+https://site.example;" in routes(site).heads[-1]


# connections


def test_a_kept_alive_connection_that_died_is_replaced_silently(bad_web: MisbehavingWeb, site: Server) -> None:
    def once(talk: Talk, head: bytes) -> bool:
        talk.send(answers(200, PAGE))
        return len(talk.read_head()) < 0  # takes the next request, and closes without a byte

    routes(site).routes |= {"/robots.txt": answers(404, b""), "/page": once}
    first, second = run(bad_web, Request(url(site, "/page")), Request(url(site, "/page")), respect_robots=False)
    assert isinstance(first, Capture) and isinstance(second, Capture)
    assert site.connections == 2


def test_a_form_is_sent_once_and_a_redirect_is_its_answer(bad_web: MisbehavingWeb, site: Server) -> None:
    token = (Header("Authorization", "LOW key:t0ps3cret", secret=True),)
    posted = Request(url(site, "/save"), token, robots_override="its own", method="POST", body=b"url=x&b=GET+1")
    routes(site).routes |= {"/save": says(redirects("/elsewhere"))}
    exchange = captured(bad_web, posted).answer
    assert (exchange.status, routes(site).asked("/save"), routes(site).asked("/elsewhere")) == (302, 1, 0)
    assert exchange.request_head.startswith(b"POST /save HTTP/1.1\r\n")
    assert b"Content-Length: 13\r\n" in exchange.request_head and b"[redacted]" in exchange.request_head
    assert b"url=x" not in exchange.request_head and b"t0ps3cret" not in exchange.request_head


def test_a_form_is_not_sent_again_where_a_kept_alive_connection_died(bad_web: MisbehavingWeb, site: Server) -> None:
    def once(talk: Talk, head: bytes) -> bool:
        talk.send(answers(200, PAGE))
        taken.append(talk.read_head())
        return False

    taken: list[bytes] = []
    routes(site).routes |= {"/page": once, "/save": answers(200, b"{}")}
    posted = Request(url(site, "/save"), robots_override="its own", method="POST", body=b"url=x")
    _, second = run(bad_web, Request(url(site, "/page")), posted, respect_robots=False)
    assert isinstance(second, Failure) and second.word in ("empty_reply", "connection_reset")
    assert len(taken) == 1 and taken[0].startswith(b"POST /save ") and routes(site).asked("/save") == 0


def test_a_connection_that_dies_twice_is_told(bad_web: MisbehavingWeb, site: Server) -> None:
    routes(site).routes |= {"/page": answers(200, PAGE), "/dies": says()}
    _, second = run(bad_web, Request(url(site, "/page")), Request(url(site, "/dies")))
    assert isinstance(second, Failure) and second.word == "empty_reply"
    assert routes(site).asked("/dies") == 2


def test_a_connection_is_kept_between_requests(bad_web: MisbehavingWeb, site: Server) -> None:
    routes(site).routes["/page"] = answers(200, PAGE)
    _, second = run(bad_web, Request(url(site, "/page")), Request(url(site, "/page")))
    assert site.connections == 1
    assert isinstance(second, Capture) and second.answer.timing.dns_s is None


def test_hosts_do_not_pile_up(bad_web: MisbehavingWeb, site: Server) -> None:
    names = [f"h{i}.example" for i in range(MOST_LINES + 40)]
    bad_web.names |= dict.fromkeys(names, ("127.0.0.1",))

    async def go() -> int:
        async with a_web(bad_web, respect_robots=False) as web:
            for name in names:
                assert isinstance(await web.fetch(Request(url(site, "/", name))), Capture)
            return len(web.lines)

    assert asyncio.run(go()) <= MOST_LINES


def test_a_dead_name_is_looked_up_twice_for_all_its_sources(bad_web: MisbehavingWeb) -> None:
    """Once, and once more for the first of them that wants to be sure; not once, or twice, for each."""
    asked = []

    async def resolve(host: str, port: int) -> tuple[str, ...]:
        asked.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    async def go() -> list[Capture | Failure | Deferred]:
        requests = [Request(f"http://dead.example/{i}") for i in range(20)]
        async with a_web(bad_web) as web:
            web.guard.resolve = resolve
            first = await asyncio.gather(*(web.fetch(request) for request in requests))
            assert len(asked) == 1
            return first + await asyncio.gather(*(web.fetch(request, fresh=True) for request in requests))

    failures = asyncio.run(go())
    assert {f.rule for f in failures if isinstance(f, Failure)} == {"dns-no-such-name"} and len(failures) == 40
    assert len(asked) == 2


def test_a_host_whose_pages_never_come_rests_and_the_others_count_as_not_asked(
    bad_web: MisbehavingWeb, site: Server
) -> None:
    routes(site).routes |= {f"/{i}": says() for i in range(9)}
    fetched = run(bad_web, *(Request(url(site, f"/{i}")) for i in range(9)))
    assert [type(f) for f in fetched] == [Failure] * MOST_SILENT + [Deferred] * (9 - MOST_SILENT)


# bodies


def test_big_bodies_take_turns_and_waiting_costs_no_deadline() -> None:
    at_once: list[int] = [0, 0]

    async def big(chunks: int) -> AsyncIterator[bytes]:
        yield b"x" * (SMALL_BYTES + 1)
        at_once[0] += 1
        at_once[1] = max(at_once)
        for _ in range(chunks):
            await asyncio.sleep(0)
            yield b"y" * 1000
        at_once[0] -= 1

    async def go() -> None:
        lane = asyncio.Semaphore(BIG_AT_A_TIME)
        bodies = [Body(50_000_000) for _ in range(20)]
        await asyncio.gather(*(body.collect(big(50), Budget(5.0), lane) for body in bodies))
        assert {len(body.data) for body in bodies} == {SMALL_BYTES + 1 + 50_000}

    asyncio.run(go())
    assert at_once[1] == BIG_AT_A_TIME


def test_a_budget_is_spent_on_the_network_only() -> None:
    async def go() -> None:
        budget = Budget(0.05)
        await asyncio.sleep(0.06)  # waiting for a host's turn
        async with budget.spend():
            pass
        with pytest.raises(OverDeadlineError):
            async with budget.spend():
                await asyncio.sleep(1)
        with pytest.raises(OverDeadlineError):
            async with budget.spend():
                await asyncio.sleep(0.001)

    asyncio.run(go())


# robots.txt and the hosts' wishes


def test_robots_are_obeyed_unless_an_editor_gives_a_reason(bad_web: MisbehavingWeb, site: Server) -> None:
    rules = answers(200, b"\xef\xbb\xbfUser-agent: sourcewatch/1.0\r\nDisallow: /private\r\n")
    routes(site).routes |= {"/robots.txt": rules, "/private": answers(200, PAGE), "/open": answers(200, PAGE)}
    refused, allowed = run(bad_web, Request(url(site, "/private")), Request(url(site, "/open")))
    assert isinstance(refused, Failure) and (refused.word, refused.rule) == ("robots_disallowed", "robots-disallow")
    assert isinstance(allowed, Capture)
    assert (routes(site).asked("/private"), routes(site).asked("/robots.txt")) == (0, 1)
    captured(bad_web, Request(url(site, "/private"), robots_override="the author asked us to"))


def test_robots_of_the_host_that_a_redirect_names_are_obeyed(bad_web: MisbehavingWeb, site: Server) -> None:
    def rules(talk: Talk, head: bytes) -> bool:
        talk.send(answers(200, b"User-agent: *\nDisallow: /far" if b"Host: other" in head else b""))
        return True

    routes(site).routes |= {"/robots.txt": rules, "/start": redirects(url(site, "/far", "other.example"))}
    (failure,) = run(bad_web, Request(url(site, "/start")))
    assert isinstance(failure, Failure) and failure.word == "robots_disallowed"
    assert len(failure.exchanges) == 1 and routes(site).asked("/far") == 0


@pytest.mark.parametrize(
    ("robots", "word"),
    [
        (answers(503, b"busy"), "robots_disallowed"),
        (lambda talk, head: talk.reset(), "connection_reset"),
        (answers(404, b"none"), ""),
        (answers(403, b"go away"), ""),
        (answers(200, b"<!doctype html><p>User-agent: *\nDisallow: /"), ""),
        (answers(200, gzip.compress(b"User-agent: *\nDisallow: /"), {"Content-Encoding": "gzip"}), "robots_disallowed"),
        (answers(200, b"User-agent: *\nDisallow: /\n" + b"#" * 600_000), "robots_disallowed"),
        (redirects("/rules.txt"), "robots_disallowed"),
        (redirects("/robots.txt"), ""),
        (redirects("http://10.0.0.1/robots.txt"), ""),
    ],
)
def test_robots_that_cannot_say_are_taken_as_rfc_9309_says(
    bad_web: MisbehavingWeb, site: Server, robots: bytes | Handler, word: str
) -> None:
    rules = answers(200, b"User-agent: *\nDisallow: /page")
    routes(site).routes |= {"/robots.txt": robots, "/rules.txt": rules, "/page": answers(200, PAGE)}
    (fetched,) = run(bad_web, Request(url(site, "/page")))
    assert (fetched.word if isinstance(fetched, Failure) else "") == word
    assert routes(site).asked("/page") == (0 if word else 1)


@pytest.mark.parametrize("status", [429, 503])
def test_a_host_that_asks_to_be_left_alone_is_and_the_run_goes_on(
    bad_web: MisbehavingWeb, site: Server, status: int
) -> None:
    routes(site).routes["/busy"] = answers(status, b"later", {"Retry-After": "3600"})
    busy, other = run(bad_web, Request(url(site, "/busy")), Request(url(site, "/other")))
    assert isinstance(busy, Capture) and busy.answer.status == status
    assert isinstance(other, Deferred) and other.until_at > datetime.now(UTC) + timedelta(minutes=59)
    assert routes(site).asked("/other") == 0


# the table of foreign exceptions


def test_every_exception_of_httpx_and_httpcore_is_known() -> None:
    foreign = {
        thing
        for library in (httpx, httpcore)
        for thing in vars(library).values()
        if isinstance(thing, type) and issubclass(thing, BaseException)
    }
    assert len(foreign) > 40
    assert foreign <= set(FOREIGN), f"unknown: {foreign - set(FOREIGN)}"


def test_what_is_our_own_defect_is_raised_and_not_told_as_the_webs() -> None:
    for error in (httpx.PoolTimeout("full"), ZeroDivisionError()):
        with pytest.raises(type(error)):
            fault_of(error, None)


# whatever comes


def mutilated(answer: bytes, chance: random.Random) -> bytes:
    """An answer with some of its bytes changed, lost, doubled or cut off."""
    data = bytearray(answer)
    for _ in range(chance.randint(1, 4)):
        at, how = chance.randrange(len(data) or 1), chance.randrange(4)
        if how == 0:
            data[at : at + 1] = chance.randbytes(1)
        elif how == 1:
            del data[at : at + chance.randint(1, 9)]
        elif how == 2:
            data[at:at] = data[at : at + chance.randint(1, 9)]
        elif at > 1:
            del data[at:]
    return bytes(data)


def test_no_mutilated_answer_is_ever_more_than_a_value(bad_web: MisbehavingWeb, site: Server) -> None:
    chance = random.Random(20261202)
    whole = [_CHUNKED_PAGE, answers(200, PAGE), redirects("/", 301), answers(503, b"", {"Retry-After": "1"})]
    parts = [mutilated(chance.choice(whole), chance) for _ in range(300)]
    for i, part in enumerate(parts):
        routes(site).routes[f"/{i}"] = says(part)
        bad_web.names[f"m{i}.example"] = ("127.0.0.1",)

    async def go() -> list[Capture | Failure | Deferred]:
        async with a_web(bad_web, respect_robots=False) as web:
            requests = [Request(url(site, f"/{i}", f"m{i}.example")) for i in range(len(parts))]
            return await asyncio.gather(*(web.fetch(request) for request in requests))

    fetched = asyncio.run(go())
    words = {f.word for f in fetched if isinstance(f, Failure)}
    assert len(words) > 5 and any(isinstance(f, Capture) for f in fetched)


@given(st.sampled_from(sorted(REDIRECTS)), st.text())
def test_no_location_breaks_us(status: int, location: str) -> None:
    answer = Exchange("https://host.example/a", status, (("Location", location),))
    following = next_address(answer)
    assert following is not None
    assert isinstance(following, Fault) or following.scheme in ("http", "https")
