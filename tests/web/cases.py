"""The kinds of misbehaviour below a page's text, each as a named case with the word (and rule) that it deserves.

A case with the word "" must be read: it is the good page that looks like a bad one.
"""

from __future__ import annotations

import contextlib
import gzip
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sourcewatch.adapters.certificates import Identity, issue, make_root, server_context

from .server import Handler, Server, Site, Talk, answers, redirects, says

HOST = ".case.example"
PAGE = b"<!doctype html><title>A page</title><p>The prefix cache answers 87.3 % of all tokens.</p>"


@dataclass(frozen=True)
class Case:
    """*answer* is served at /NAME of the host NAME.case.example; None for what has a server (or none) of its own."""

    name: str
    word: str = ""
    rule: str = ""
    answer: bytes | Handler | None = None
    status: int = 200
    hops: int = 1


def _ok(*lines: bytes, body: bytes = PAGE, status: bytes = b"200 OK") -> bytes:
    return b"HTTP/1.1 %s\r\n%s\r\n%s" % (status, b"".join(line + b"\r\n" for line in lines), body)


def _length(n: int) -> bytes:
    return b"Content-Length: %d" % n


def _resets(talk: Talk, head: bytes) -> None:
    talk.reset()


def _hangs(talk: Talk, head: bytes) -> None:
    talk.hang()


def _then(first: bytes, after: Callable[[Talk], object]) -> Handler:
    def handler(talk: Talk, head: bytes) -> None:
        talk.send(first)
        after(talk)

    return handler


def _endless(talk: Talk, head: bytes) -> None:
    talk.send(b"HTTP/1.1 200 OK\r\n\r\n")
    while not talk.stopped.is_set():
        talk.send(b"x" * 65_536)


def _cookie_wall(talk: Talk, head: bytes) -> bool:
    """Redirects to itself until its cookie comes back, as many sites do."""
    if b"Cookie: seen=1" in head:
        talk.send(answers(200, PAGE))
    else:
        talk.send(redirects("/cookie-wall", Set_Cookie="seen=1; Path=/; HttpOnly"))
    return True


def _drips(first: bytes, rest: bytes) -> Handler:
    def handler(talk: Talk, head: bytes) -> None:
        talk.send(first)
        talk.drip(rest, every_s=0.5)

    return handler


_CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
_CHUNK = b"%x\r\n%s\r\n" % (len(PAGE), PAGE)

PATHS = (
    # transport
    Case("closes-at-once", "empty_reply", "empty-reply", says()),
    Case("resets-at-once", "connection_reset", "reset-before-answer", _resets),
    Case("never-answers", "read_timeout", "no-answer", _hangs),
    Case("slow-headers", "too_slow", "deadline", _drips(b"HTTP/1.1 200 OK\r\n", b"X-Slow: " + b"s" * 50)),
    Case("stalls-in-head", "read_timeout", "head-stalled", _then(b"HTTP/1.1 200 OK\r\nX-", Talk.hang)),
    Case("resets-in-head", "connection_reset", "reset-before-answer", _then(b"HTTP/1.1 200 OK\r\nX-", Talk.reset)),
    Case("closes-in-head", "bad_header", "head-cut", says(b"HTTP/1.1 200 OK\r\nX-")),
    # protocol
    Case("http-0.9", "not_http", "not-http", says(PAGE)),
    Case("icy", "not_http", "not-http", says(b"ICY 200 OK\r\n\r\n")),
    Case("garbage", "not_http", "not-http", says(bytes(range(256)) * 4)),
    Case("status-word", "bad_status_line", "bad-status-line", says(b"HTTP/1.1 OK\r\n\r\n")),
    Case("status-long", "bad_status_line", "bad-status-line", says(b"HTTP/1.1 2000 OK\r\n\r\n")),
    Case("status-version", "bad_status_line", "bad-status-line", says(b"HTTP/x 200 OK\r\n\r\n")),
    Case("header-no-colon", "bad_header", "bad-header", says(_ok(b"no colon here"))),
    Case("header-nul", "bad_header", "bad-header", says(_ok(b"X-Nul: a\x00b"))),
    Case("header-300k", "bad_header", "head-too-large", says(_ok(b"X-Big: " + b"b" * 300_000))),
    Case("lengths-differ", "bad_header", "bad-header", says(_ok(_length(5), _length(7)))),
    Case("length-word", "bad_header", "bad-header", says(_ok(b"Content-Length: many"))),
    Case("transfer-unknown", "bad_header", "bad-header", says(_ok(b"Transfer-Encoding: gzip"))),
    Case("unasked-upgrade", "bad_header", "bad-header", says(_ok(b"Upgrade: h2c", status=b"101 Switching Protocols"))),
    # bodies
    Case("short-body", "body_truncated", "short-body", says(_ok(_length(len(PAGE) + 9)))),
    Case("reset-in-body", "body_reset", "body-reset", _then(_ok(_length(len(PAGE) + 9)), Talk.reset)),
    Case("stalls-in-body", "read_timeout", "body-stalled", _then(_ok(_length(len(PAGE) + 9)), Talk.hang)),
    Case("drips", "too_slow", "deadline", _drips(b"HTTP/1.1 200 OK\r\n\r\n", PAGE)),
    Case("chunks-unfinished", "bad_chunking", "bad-chunking", says(_CHUNKED + _CHUNK)),
    Case("chunk-cut", "bad_chunking", "bad-chunking", says(_CHUNKED + b"ff\r\nhalf")),
    Case("chunk-size-word", "bad_chunking", "bad-chunking", says(_CHUNKED + b"xyz\r\nhello\r\n0\r\n\r\n")),
    Case("endless", "too_large", "too-large", _endless),
    Case("announces-too-much", "too_large", "too-large", says(_ok(_length(10**12)))),
    # redirects
    Case("loop", "redirect_loop", "redirect-loop", redirects("/loop"), hops=1),
    Case("ping", "redirect_loop", "redirect-loop", redirects("/pong"), hops=2),
    Case("deep", "too_many_redirects", "too-many-redirects", redirects("/deep/1"), hops=11),
    Case("no-location", "redirect_bad_location", "no-location", _ok(_length(0), status=b"302 Found", body=b"")),
    Case("empty-location", "redirect_bad_location", "no-location", redirects("")),
    Case("broken-location", "redirect_bad_location", "bad-location", redirects("http://[::1/")),
    Case("two-locations", "redirect_bad_location", "many-locations", redirects("/a\r\nLocation: /b")),
    Case("to-ftp", "redirect_unsupported_scheme", "other-scheme", redirects("ftp://files.example/a")),
    Case("to-file", "redirect_unsupported_scheme", "other-scheme", redirects("file:///etc/passwd")),
    Case("to-script", "redirect_unsupported_scheme", "other-scheme", redirects("javascript:alert(1)")),
    Case("to-data", "redirect_unsupported_scheme", "other-scheme", redirects("data:text/html,hello")),
    # the guard
    Case("to-private-number", "redirect_to_private", "guard", redirects("http://10.0.0.1/")),
    Case("to-private-hex", "redirect_to_private", "guard", redirects("http://0xa.1/")),
    Case("to-private-name", "redirect_to_private", "guard", redirects("http://intranet.example/")),
    Case("to-metadata", "redirect_to_private", "guard", redirects("http://169.254.169.254/latest/meta-data/")),
    Case("to-mapped", "redirect_to_private", "guard", redirects("http://[::ffff:10.0.0.1]/")),
    # good pages that look like trouble
    Case("plain", answer=answers(200, PAGE)),
    Case("no-reason", answer=b"HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello"),
    Case("bare-newlines", answer=says(b"HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 5\n\nhello")),
    Case("http-1.0", answer=says(b"HTTP/1.0 200 OK\r\n\r\n" + PAGE)),
    Case("same-length-twice", answer=says(_ok(_length(len(PAGE)), _length(len(PAGE))))),
    Case("raw-utf8-header", answer=says(_ok("X-Titel: 前缀缓存 Überschrift".encode(), _length(len(PAGE))))),
    Case("chunked", answer=_CHUNKED + _CHUNK + b"0\r\nX-Trailer: 1\r\n\r\n"),
    Case("chunked-with-length", answer=says(_CHUNKED[:-2] + _length(3) + b"\r\n\r\n" + _CHUNK + b"0\r\n\r\n")),
    Case("early-hints", answer=b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n" + answers(200, PAGE)),
    Case("lying-gzip", answer=answers(200, PAGE, {"Content-Encoding": "gzip"})),
    Case("gzip", answer=answers(200, gzip.compress(PAGE), {"Content-Encoding": "gzip"})),
    Case("empty-200", answer=answers(200, b"")),
    *(
        Case(f"status-{status}", status=status, answer=answers(status, PAGE))
        for status in (300, 400, 401, 402, 403, 404, 405, 406, 407, 410, 418, 421, 429, 451, 500, 502, 503, 511, 522)
    ),
    Case("status-530", status=530, answer=answers(530, PAGE)),
    Case("status-999", status=999, answer=answers(999, PAGE)),
    Case("status-204", status=204, answer=b"HTTP/1.1 204 No Content\r\n\r\n"),
    Case("status-206", status=206, answer=answers(206, PAGE, {"Content-Range": "bytes 0-90/900"})),
    Case("status-304", status=304, answer=b'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n'),
    Case("moved", answer=redirects("/plain", 301), hops=2),
    Case("chain", answer=redirects("/chain/2", 308), hops=3),
    Case("to-relative", answer=redirects("../plain"), hops=2),
    Case("to-utf8", answer=redirects("/中文 页面?词=缓存#第一节"), hops=2),
    Case("to-latin-1", answer=redirects("/\u00fcber".encode("latin-1")), hops=2),
    Case("to-fragment", answer=redirects("/plain#section"), hops=2),
    Case("to-other-host", answer=redirects("//plain.case.example:PORT/plain"), hops=2),
    Case("cookie-wall", answer=_cookie_wall, hops=2),
    Case("refresh-header", answer=answers(200, PAGE, {"Refresh": "0; url=/plain"})),
)
_MORE_ROUTES: dict[str, bytes | Handler] = {
    "/pong": redirects("/ping"),
    **{f"/deep/{i}": redirects(f"/deep/{i + 1}") for i in range(1, 20)},
    "/chain/2": redirects("/plain", 307),
    "/%E4%B8%AD%E6%96%87%20%E9%A1%B5%E9%9D%A2?%E8%AF%8D=%E7%BC%93%E5%AD%98": answers(200, PAGE),
    "/%C3%BCber": answers(200, PAGE),
}

# What needs a server of its own, below HTTP.
CONNECTIONS = (
    Case("nobody-listens", "connect_refused", "connect-refused"),
    Case("backlog-full", "connect_timeout", "connect-timeout"),
    Case("no-such-name", "dns_not_found", "dns-no-such-name"),
    Case("no-address", "dns_not_found", "dns-no-address"),
    Case("dns-busy", "dns_not_found", "dns-temporary"),
    Case("dns-hangs", "dns_not_found", "dns-timeout"),
    Case("label-of-70-" + "x" * 58, "dns_not_found", "dns-bad-name"),
    Case("banner", "not_http", "not-http"),
    Case("banner-and-wait", "not_http", "not-http"),
    Case("first-address-dead"),
    Case("ipv6-only"),
    Case("private-by-name", "redirect_to_private", "guard"),
    Case("half-private", "redirect_to_private", "guard"),
)
TLS = (
    Case("tls-good"),
    Case("tls-expired", "tls_expired", "certificate-expired"),
    Case("tls-not-yet-valid", "tls_not_yet_valid", "certificate-not-yet-valid"),
    Case("tls-self-signed", "tls_self_signed", "certificate-self-signed"),
    Case("tls-unknown-root", "tls_unknown_ca", "issuer-unknown"),
    Case("tls-unknown-root-sent", "tls_unknown_ca", "root-unknown"),
    Case("tls-intermediate-sent"),
    Case("tls-intermediate-missing", "tls_incomplete_chain", "aia-completes"),
    Case("tls-intermediate-lost", "tls_unknown_ca", "issuer-unknown"),
    Case("tls-evil-aia", "tls_unknown_ca", "issuer-unknown"),
    Case("tls-other-name", "tls_hostname_mismatch", "certificate-other-name"),
    Case("tls-name-in-subject-only", "tls_hostname_mismatch", "certificate-other-name"),
    Case("tls-weak-key", "tls_weak_key", "key-too-small"),
    Case("tls-alert-70", "tls_protocol_version", "alert-protocol-version"),
    Case("tls-1.0-server", "tls_protocol_version"),
    Case("tls-alert-40", "tls_handshake_failed"),
    Case("tls-alert-112", "tls_handshake_failed"),
    Case("tls-closes", "tls_handshake_failed", "handshake-closed"),
    Case("tls-resets", "tls_handshake_failed", "handshake-reset"),
    Case("tls-hangs", "tls_handshake_failed", "handshake-timeout"),
    Case("tls-garbage", "tls_handshake_failed"),
    Case("tls-plain-http", "tls_not_tls", "plain-text"),
    Case("tls-client-certificate-1.2", "tls_client_cert"),
    Case("tls-client-certificate-1.3", "tls_client_cert"),
    Case("tls-cut-after-length"),
    Case("tls-cut-without-length", "body_truncated", "tls-cut"),
    Case("tls-ended-without-length"),
)
ALL = (*PATHS, *CONNECTIONS, *TLS)

_ALERT = b"\x15\x03\x03\x00\x02\x02%c"
_SERVER_HELLO_1_0 = (
    b"\x16\x03\x01\x00\x2a\x02\x00\x00\x26\x03\x01" + bytes(32) + b"\x00\xc0\x13\x00"  # a TLS 1.0 ServerHello
)
"""TLS record 22, version 3.1; handshake type 2; no session, AES-128-CBC-SHA, no compression."""


@dataclass
class MisbehavingWeb:
    """Where each case is, how its names resolve, and the root that its good certificates hang from."""

    names: dict[str, tuple[str, ...] | OSError]
    urls: dict[str, str]
    site: Site
    root: Identity
    ca_bundle: str
    servers: dict[str, Server] = field(default_factory=dict)

    async def resolve(self, host: str, port: int) -> tuple[str, ...]:
        if host.startswith("dns-hangs."):
            import asyncio

            await asyncio.sleep(30)
        if host.endswith(HOST) and len(host.partition(".")[0]) > 63:
            host.encode("idna")  # as socket.getaddrinfo does: UnicodeError
        answer = self.names.get(host, socket.gaierror(socket.EAI_NONAME, "Name or service not known"))
        if isinstance(answer, OSError):
            raise answer
        return answer


@contextmanager
def misbehaving_web(folder: Path) -> Iterator[MisbehavingWeb]:
    """Start everything; *folder* gets the PEM file of the root."""
    with ExitStack() as stack:
        site = Site()
        plain = stack.enter_context(Server(site))
        root = make_root()
        bundle = folder / "root.pem"
        bundle.write_bytes(root.pem)
        web = MisbehavingWeb({}, {}, site, root, str(bundle), {"plain": plain})
        for case in PATHS:
            answer = case.answer
            if isinstance(answer, bytes):
                answer = answer.replace(b"PORT", str(plain.port).encode())
            assert answer is not None
            site.routes[f"/{case.name}"] = answer
            _place(web, case.name, plain.port, f"/{case.name}")
        site.routes.update(_MORE_ROUTES)
        web.names["intranet.example"] = ("192.168.7.7",)
        _start_connection_cases(web, stack)
        _start_tls_cases(web, stack)
        yield web


def _place(
    web: MisbehavingWeb, name: str, port: int, path: str = "/", *, scheme: str = "http", at: str = "127.0.0.1"
) -> None:
    web.urls[name] = f"{scheme}://{name}{HOST}:{port}{path}"
    web.names[name + HOST] = (at,)


def _start_connection_cases(web: MisbehavingWeb, stack: ExitStack) -> None:
    plain = web.servers["plain"].port
    with socket.create_server(("127.0.0.1", 0)) as closed:
        _place(web, "nobody-listens", closed.getsockname()[1])
    full = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
    for _ in range(3):  # a queue for nobody: Linux drops what comes after
        waiting = stack.enter_context(socket.socket())
        waiting.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            waiting.connect(full.getsockname())
    _place(web, "backlog-full", full.getsockname()[1])
    for case in CONNECTIONS[2:7]:
        _place(web, case.name, plain, "/plain")
    web.names["no-such-name" + HOST] = socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    web.names["no-address" + HOST] = socket.gaierror(socket.EAI_NODATA, "No address associated with hostname")
    web.names["dns-busy" + HOST] = socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
    banner = stack.enter_context(Server(lambda talk: talk.send(b"SSH-2.0-OpenSSH_9.2\r\n")))
    _place(web, "banner", banner.port)
    waits = stack.enter_context(Server(lambda talk: (talk.send(b"220 mail.example ESMTP\r\n"), talk.hang())))
    _place(web, "banner-and-wait", waits.port)
    _place(web, "first-address-dead", plain, "/plain")
    web.names["first-address-dead" + HOST] = ("127.0.0.77", "127.0.0.1")  # nothing listens at the first
    six = stack.enter_context(Server(web.site, host="::1"))
    _place(web, "ipv6-only", six.port, "/plain", at="::1")
    _place(web, "private-by-name", plain, "/plain", at="10.1.2.3")
    _place(web, "half-private", plain, "/plain")
    web.names["half-private" + HOST] = ("127.0.0.1", "192.168.0.9")


def _start_tls_cases(web: MisbehavingWeb, stack: ExitStack) -> None:
    for name, identities in _certificates(web).items():
        context = server_context(*identities)
        server = stack.enter_context(Server(Site({"/": answers(200, PAGE)}), context=context))
        _place(web, name, server.port, scheme="https")
    for name, connected in _raw_handshakes().items():
        server = stack.enter_context(Server(connected))
        _place(web, name, server.port, scheme="https")
    for name, connected, context in _special_contexts(web):
        server = stack.enter_context(Server(connected, context=context))
        _place(web, name, server.port, scheme="https")


def _certificates(web: MisbehavingWeb) -> dict[str, tuple[Identity, ...]]:
    """Who shows which certificates."""
    root, now = web.root, datetime.now(UTC)
    other_root, aia = make_root("a root of nobody"), f"http://aia.case.example:{web.servers['plain'].port}"
    middle = issue(root, (), common_name="intermediate", is_authority=True)
    evil = issue(None, (), common_name="intermediate", is_authority=True)
    web.names["aia.case.example"] = ("127.0.0.1",)
    web.site.routes["/middle.der"] = answers(200, middle.der)
    web.site.routes["/evil.der"] = answers(200, other_root.der)

    def at(name: str) -> tuple[str, ...]:
        return (name + HOST,)

    return {
        "tls-good": (issue(root, at("tls-good")),),
        "tls-expired": (issue(root, at("tls-expired"), not_before=now - timedelta(days=60)),),
        "tls-not-yet-valid": (issue(root, at("tls-not-yet-valid"), not_before=now + timedelta(days=2)),),
        "tls-self-signed": (issue(None, at("tls-self-signed")),),
        "tls-unknown-root": (issue(other_root, at("tls-unknown-root")),),
        "tls-unknown-root-sent": (issue(other_root, at("tls-unknown-root-sent")), other_root),
        "tls-intermediate-sent": (issue(middle, at("tls-intermediate-sent")), middle),
        "tls-intermediate-missing": (issue(middle, at("tls-intermediate-missing"), aia_url=aia + "/middle.der"),),
        "tls-intermediate-lost": (issue(middle, at("tls-intermediate-lost"), aia_url="http://10.0.0.1/middle.der"),),
        "tls-evil-aia": (issue(other_root, at("tls-evil-aia"), aia_url=aia + "/evil.der"), evil),
        "tls-other-name": (issue(root, ("www.other.example",)),),
        "tls-name-in-subject-only": (issue(root, (), common_name="tls-name-in-subject-only" + HOST),),
        "tls-weak-key": (issue(root, at("tls-weak-key"), rsa_bits=1024),),
    }


def _raw_handshakes() -> dict[str, Callable[[Talk], object]]:
    def replies(data: bytes) -> Callable[[Talk], object]:
        return lambda talk: (talk.sock.recv(65_536), talk.send(data), talk.sock.recv(65_536))

    def after_hello(act: Callable[[Talk], object]) -> Callable[[Talk], object]:
        return lambda talk: (talk.sock.recv(65_536), act(talk))

    return {
        "tls-alert-70": replies(_ALERT % 70),
        "tls-alert-40": replies(_ALERT % 40),
        "tls-alert-112": replies(_ALERT % 112),
        "tls-1.0-server": replies(_SERVER_HELLO_1_0),
        "tls-closes": after_hello(lambda talk: None),
        "tls-resets": after_hello(Talk.reset),
        "tls-hangs": after_hello(Talk.hang),
        "tls-garbage": replies(bytes(range(128, 256)) * 4),
        "tls-plain-http": replies(answers(400, b"The plain HTTP request was sent to HTTPS port")),
    }


def _special_contexts(web: MisbehavingWeb) -> Iterator[tuple[str, Callable[[Talk], object], ssl.SSLContext]]:
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        name = "tls-client-certificate-1." + version.name[-1]
        context = server_context(issue(web.root, (name + HOST,)))
        context.minimum_version = context.maximum_version = version
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(cadata=web.root.pem.decode())
        yield name, Site({"/": answers(200, PAGE)}), context

    def cut(data: bytes) -> Callable[[Talk], object]:
        return lambda talk: (talk.read_head(), talk.send(data))

    def ended(talk: Talk) -> None:
        talk.read_head()
        talk.send(b"HTTP/1.1 200 OK\r\n\r\n" + PAGE)
        assert isinstance(talk.sock, ssl.SSLSocket)
        with contextlib.suppress(OSError):
            talk.sock.unwrap()  # close_notify

    for name, connected in (
        ("tls-cut-after-length", cut(_ok(_length(len(PAGE))))),
        ("tls-cut-without-length", cut(b"HTTP/1.1 200 OK\r\n\r\n" + PAGE)),
        ("tls-ended-without-length", ended),
    ):
        yield name, connected, server_context(issue(web.root, (name + HOST,)))
