"""What a fetch brought: exchanges, a capture, or a failure with its cause. Plain values that can cross processes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Literal

from .source import Header
from .verdict import WORDS

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Request:
    """One wish to read an address. *etag* and *last_modified* are the server's own words of an accepted version.

    *headers* go only to the origin of *url*, never to another that a redirect names. *deadline_s* is for the whole,
    redirects included; time spent waiting politely for the host does not count. A POST sends *body*, a form; it is
    sent once, and a redirect that it meets is its answer.
    """

    url: str
    headers: tuple[Header, ...] = ()
    referer: str = ""
    etag: str = ""
    last_modified: str = ""
    expect: Literal["document", "figure", "any"] = "document"
    robots_override: str = ""
    max_bytes: int | None = None
    deadline_s: float | None = None
    method: Literal["GET", "POST"] = "GET"
    body: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Certificate:
    """The leaf that a server showed, trusted or not. Times are UTC."""

    subject: str
    issuer: str
    not_before: datetime
    not_after: datetime
    sha256: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tls:
    """How a connection was protected; *certificate* is the server's leaf."""

    version: str
    cipher: str
    certificate: Certificate | None = None


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds spent in each phase; None where a phase did not happen (a kept-alive connection has no dns_s)."""

    dns_s: float | None = None
    connect_s: float | None = None
    tls_s: float | None = None
    first_byte_s: float | None = None
    total_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its answer. *body* is as transferred, without chunking but still content-encoded.

    *status* is 0 where no server answered: a file that a person brought.
    *request_head* and *response_head* are the exact bytes on the wire up to the blank line (secrets redacted in the
    request); *headers* keep order, duplicates and case. *dom* is what a browser made of it, as HTML in UTF-8, or b"".
    """

    url: str
    status: int
    headers: Headers
    body: bytes = field(default=b"", repr=False)
    reason: str = ""
    http_version: str = "HTTP/1.1"
    request_head: bytes = field(default=b"", repr=False)
    response_head: bytes = field(default=b"", repr=False)
    dom: bytes = field(default=b"", repr=False)
    address: str = ""
    started_at: datetime | None = None
    timing: Timing = Timing()
    tls: Tls | None = None

    def header(self, name: str, default: str = "") -> str:
        """The first value of a header, whatever its case."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), default)

    def all_headers(self, name: str) -> tuple[str, ...]:
        wanted = name.lower()
        return tuple(value for key, value in self.headers if key.lower() == wanted)

    @property
    def media_type(self) -> str:
        """The declared type in lower case without parameters, or ""."""
        return self.header("content-type").partition(";")[0].strip().lower()

    @property
    def body_sha256(self) -> str:
        """Digest of the body as transferred: WARC's payload digest."""
        return "sha256:" + sha256(self.body).hexdigest()


@dataclass(frozen=True, slots=True)
class Unloaded:
    """A part of a page that a browser could not load: what *kind* of part, and the browser's own *code* for why."""

    url: str
    kind: str
    code: str


@dataclass(frozen=True, slots=True)
class BrokenPicture:
    """A picture that a reader would not see; *code* says why, where the browser told."""

    url: str
    alt: str
    code: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """What a browser saw of a page besides its text. *screenshot* is a PNG of the whole page, cut at a height, or b"".

    *others* are the answers that its parts came from, their bodies decoded; *errors* what its scripts complained of;
    *notes* what was cut short or turned away, in sentences. *onward* is the address that its scripts want to show in
    its place, or "".
    """

    browser: str
    unloaded: tuple[Unloaded, ...] = ()
    broken: tuple[BrokenPicture, ...] = ()
    errors: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    screenshot: bytes = field(default=b"", repr=False)
    others: tuple[Exchange, ...] = field(default=(), repr=False)
    seconds: float = 0.0
    onward: str = ""


@dataclass(frozen=True, slots=True)
class Unrendered:
    """A browser did not read the page: why, in a sentence. *absent*: there is none here that could read any."""

    reason: str
    absent: bool = False


@dataclass(frozen=True, slots=True)
class Capture:
    """An answer came: every exchange from the first request to the last answer, oldest first.

    *view* is there when a browser read the page; then the answer has its `dom`.
    """

    captured_at: datetime
    exchanges: tuple[Exchange, ...]
    seconds: float = 0.0
    view: View | None = None

    @property
    def answer(self) -> Exchange:
        return self.exchanges[-1]

    @property
    def final_url(self) -> str:
        return self.exchanges[-1].url


@dataclass(frozen=True, slots=True)
class Failure:
    """No usable answer came. *word* is the verdict's word, *rule* and *detail* its evidence.

    *exchanges* are the hops before the break (the last may be the cut answer), *certificate* what a failed handshake
    showed.
    """

    failed_at: datetime
    word: str
    rule: str
    detail: str
    url: str
    exchanges: tuple[Exchange, ...] = ()
    certificate: Certificate | None = None
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.word not in WORDS or WORDS[self.word].accessed:
            raise ValueError(f"not a word for a failure: {self.word!r}")


@dataclass(frozen=True, slots=True)
class Deferred:
    """Not asked: the host wishes to be left alone until *until_at* (UTC). Neither an access nor a failure."""

    url: str
    until_at: datetime
    reason: str


Fetched = Capture | Failure
