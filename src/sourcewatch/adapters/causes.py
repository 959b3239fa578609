"""Why an exchange broke: from the exceptions of httpx, httpcore, ssl and the sockets to a word, a rule and a detail.

Decided by types, error numbers and what came over the wire, never by the words of a message. `FOREIGN` is total: a
test fails when httpx or httpcore gain an exception that it does not know.
"""

from __future__ import annotations

import errno
import re
import socket
import ssl
from collections.abc import Iterator
from enum import Enum

import httpcore
import httpx

from sourcewatch.domain.reading import Fault

from . import tls
from .guard import Blocked, DnsTimeout
from .stream import HandshakeError
from .wire import Wire


class Kind(Enum):
    """What an exception of the two libraries can mean here. A DEFECT is ours and is raised on."""

    CONNECT = "connect"
    CONNECT_TIMEOUT = "connect_timeout"
    READ_TIMEOUT = "read_timeout"
    BROKEN = "broken"
    PROTOCOL = "protocol"
    NOT_SENDABLE = "not_sendable"
    DEFECT = "defect"


FOREIGN: dict[type[BaseException], Kind] = {
    httpx.ConnectError: Kind.CONNECT,
    httpx.ConnectTimeout: Kind.CONNECT_TIMEOUT,
    httpx.ReadTimeout: Kind.READ_TIMEOUT,
    httpx.WriteTimeout: Kind.READ_TIMEOUT,
    httpx.TimeoutException: Kind.READ_TIMEOUT,
    httpx.ReadError: Kind.BROKEN,
    httpx.WriteError: Kind.BROKEN,
    httpx.CloseError: Kind.BROKEN,
    httpx.NetworkError: Kind.BROKEN,
    httpx.TransportError: Kind.BROKEN,
    httpx.RequestError: Kind.BROKEN,
    httpx.HTTPError: Kind.BROKEN,
    httpx.RemoteProtocolError: Kind.PROTOCOL,
    httpx.ProtocolError: Kind.PROTOCOL,
    httpx.LocalProtocolError: Kind.NOT_SENDABLE,
    httpx.UnsupportedProtocol: Kind.NOT_SENDABLE,
    httpx.InvalidURL: Kind.NOT_SENDABLE,
    httpx.PoolTimeout: Kind.DEFECT,  # a host's gate lets one request through, and its pool has room for two
    httpx.ProxyError: Kind.DEFECT,  # the rest belongs to parts of httpx that we do not use: proxies, redirects,
    httpx.TooManyRedirects: Kind.DEFECT,  # decoding, raise_for_status, its cookie jar, its streams
    httpx.DecodingError: Kind.DEFECT,
    httpx.HTTPStatusError: Kind.DEFECT,
    httpx.CookieConflict: Kind.DEFECT,
    httpx.StreamError: Kind.DEFECT,
    httpx.StreamConsumed: Kind.DEFECT,
    httpx.StreamClosed: Kind.DEFECT,
    httpx.ResponseNotRead: Kind.DEFECT,
    httpx.RequestNotRead: Kind.DEFECT,
    # httpx maps these to its own; they are here for what a stream raises past it
    httpcore.ConnectError: Kind.CONNECT,
    httpcore.ConnectTimeout: Kind.CONNECT_TIMEOUT,
    httpcore.ReadTimeout: Kind.READ_TIMEOUT,
    httpcore.WriteTimeout: Kind.READ_TIMEOUT,
    httpcore.TimeoutException: Kind.READ_TIMEOUT,
    httpcore.ReadError: Kind.BROKEN,
    httpcore.WriteError: Kind.BROKEN,
    httpcore.NetworkError: Kind.BROKEN,
    httpcore.RemoteProtocolError: Kind.PROTOCOL,
    httpcore.ProtocolError: Kind.PROTOCOL,
    httpcore.LocalProtocolError: Kind.NOT_SENDABLE,
    httpcore.UnsupportedProtocol: Kind.NOT_SENDABLE,
    httpcore.PoolTimeout: Kind.DEFECT,
    httpcore.ProxyError: Kind.DEFECT,
    httpcore.ConnectionNotAvailable: Kind.DEFECT,
}

NETWORK_ERRORS: tuple[type[BaseException], ...] = tuple(FOREIGN)

_STATUS_LINE = re.compile(rb"HTTP/\d\.\d [1-9]\d\d(?: [^\r\n]*)?\r?\n")
_NAME_ERRORS = {
    socket.EAI_NONAME: ("dns-no-such-name", "the name does not exist"),
    socket.EAI_NODATA: ("dns-no-address", "the name has no address"),
    socket.EAI_AGAIN: ("dns-temporary", "the name service cannot say at present"),
}
_MOST_HEAD_BYTES = 100 * 1024  # httpcore's MAX_INCOMPLETE_EVENT_SIZE, as large as any browser's limit
_UNREACHABLE = {
    errno.EHOSTUNREACH: ("host-unreachable", "no route to the host"),
    errno.ENETUNREACH: ("network-unreachable", "no route to the network"),
    errno.EADDRNOTAVAIL: ("network-unreachable", "no address of ours can reach it"),
    errno.ENETDOWN: ("network-unreachable", "the network is down"),
    errno.ETIMEDOUT: ("connect-timeout", "the host did not answer the connection"),
}


def causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error and all that led to it. The pool re-raises `from None`, so the cause may stand in `__context__`."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def fault_of(error: BaseException, wire: Wire | None, *, chunked: bool | None = None) -> Fault:
    """What broke. *wire* is None when there was no connection; *chunked* is None until the head was read.

    Raises the error again when it is a defect of ours.
    """
    kind = next((FOREIGN[type(e)] for e in causes(error) if type(e) in FOREIGN), None)
    if kind is None or kind is Kind.DEFECT:
        raise error
    if kind is Kind.NOT_SENDABLE:
        return Fault("invalid_url", "request-not-sendable", str(error))
    if kind in (Kind.CONNECT, Kind.CONNECT_TIMEOUT):
        return _no_connection(error, kind)
    if chunked is not None:
        return _broken_body(error, kind, chunked)
    if alert := next((e for e in causes(error) if isinstance(e, ssl.SSLError)), None):
        return tls.fault_of(alert)  # TLS 1.3: a server refuses us with its first record after the handshake
    return _broken_head(error, kind, wire)


def _no_connection(error: BaseException, kind: Kind) -> Fault:
    chain = tuple(causes(error))
    for e in chain:
        if isinstance(e, Blocked):
            return Fault(
                "redirect_to_private",
                "guard",
                f"leads to a private address, never asked: {e}; only [fetch] allow_networks can open one",
            )
        if isinstance(e, DnsTimeout):
            return Fault("dns_not_found", "dns-timeout", str(e))
        if isinstance(e, HandshakeError):
            return tls.fault_of(e.__cause__ or e.__context__ or e, e.first_bytes)
        if isinstance(e, socket.gaierror):
            return _no_name(e)
        if isinstance(e, UnicodeError):
            return Fault("dns_not_found", "dns-bad-name", "no name that DNS could hold: " + str(e))
    for e in chain:
        if isinstance(e, ConnectionRefusedError):
            return Fault("connect_refused", "connect-refused", "nothing listens there")
        if isinstance(e, ConnectionError):
            return Fault("connection_reset", "reset-at-connect", "the connection was reset as it was made")
        if isinstance(e, OSError) and e.errno in _UNREACHABLE:
            rule, detail = _UNREACHABLE[e.errno]
            return Fault("connect_timeout", rule, detail)
    if kind is Kind.CONNECT_TIMEOUT:
        return Fault("connect_timeout", "connect-timeout", "the host did not answer the connection in time")
    return Fault("connect_refused", "connect-failed", str(error))


def _no_name(error: socket.gaierror) -> Fault:
    rule, detail = _NAME_ERRORS.get(error.errno or 0, ("dns-failed", str(error)))
    return Fault("dns_not_found", rule, detail)


def _broken_body(error: BaseException, kind: Kind, chunked: bool) -> Fault:
    if kind is Kind.READ_TIMEOUT:
        return Fault("read_timeout", "body-stalled", f"the body stalled: {error}")
    if kind is Kind.BROKEN:
        return Fault("body_reset", "body-reset", f"the connection broke in the body: {error}")
    if chunked:
        return Fault("bad_chunking", "bad-chunking", f"the chunks of the body are broken or unfinished: {error}")
    return Fault("body_truncated", "short-body", f"the body is shorter than announced: {error}")


def _broken_head(error: BaseException, kind: Kind, wire: Wire | None) -> Fault:
    raw = wire.raw if wire else b""
    if raw and (foreign := not_http(raw)):
        return foreign
    if kind is Kind.READ_TIMEOUT:
        return Fault("read_timeout", "head-stalled" if raw else "no-answer", f"the answer did not come: {error}")
    if kind is Kind.BROKEN:
        return Fault("connection_reset", "reset-before-answer", f"the connection broke before the answer: {error}")
    if not raw:
        return Fault("empty_reply", "empty-reply", "the server closed the connection without a byte")
    line, newline, _ = raw.partition(b"\n")
    if newline and not _STATUS_LINE.fullmatch(line + newline):
        return Fault("bad_status_line", "bad-status-line", f"no status in {_shown(line)}")
    if wire and not wire.response_head:
        if len(raw) > _MOST_HEAD_BYTES:
            return Fault("bad_header", "head-too-large", f"more than {_MOST_HEAD_BYTES // 1024} KiB of headers")
        return Fault("bad_header", "head-cut", "the connection was closed in the middle of the headers")
    return Fault("bad_header", "bad-header", f"the headers break the protocol: {error}")


def not_http(raw: bytes) -> Fault | None:
    """Whether what came cannot become an HTTP answer: another protocol's banner, HTTP/0.9, garbage."""
    if raw[:5] == b"HTTP/"[: len(raw)]:
        return None
    return Fault("not_http", "not-http", f"the server does not speak HTTP: {_shown(raw)}")


def _shown(raw: bytes) -> str:
    return repr(raw.splitlines()[0][:60].decode("latin-1")) if raw.strip() else "an empty line"
