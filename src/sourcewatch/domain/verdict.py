"""The 67 words for what came back, and what each of them means for dates and strikes.

A word is data: its class, whether it counts as an access, whether it strikes, when to ask again, and the W3C Network
Error Logging type that the field uses for it (null where NEL has none).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class VerdictClass(StrEnum):
    """Seven classes; only OK words and most MOVED words count as an access."""

    OK = "ok"
    MOVED = "moved"
    GONE = "gone"
    WALLED = "walled"
    FAILED = "failed"
    UNREACHABLE = "unreachable"
    REFUSED = "refused"


class Retry(StrEnum):
    """When a check with this verdict is tried again: at once (once), at an earlier next check, or as usual."""

    NOW = "now"
    LATER = "later"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Word:
    """One word of the vocabulary. *nel* is the W3C NEL type, or None."""

    name: str
    klass: VerdictClass
    accessed: bool
    strike: bool
    retry: Retry
    nel: str | None
    means: str


_YES, _NO = True, False
_ROWS: tuple[tuple[str, str, bool, bool, str, str | None, str], ...] = (
    # word, class, accessed, strike, retry, NEL type, meaning
    ("ok", "ok", _YES, _NO, "never", "ok", "the source itself was read"),
    (
        "ok_partial",
        "ok",
        _YES,
        _NO,
        "later",
        "ok",
        "the page was read; at least one figure (image, poster, frame) that it shows was not",
    ),
    (
        "ok_fragment_missing",
        "ok",
        _YES,
        _NO,
        "later",
        "ok",
        "the page was read; the cited #anchor or #:~:text= is not in it",
    ),
    ("redirected_permanent", "moved", _YES, _NO, "never", "ok", "read at another address, all hops 301/308"),
    (
        "redirected_temporary",
        "moved",
        _YES,
        _NO,
        "never",
        "ok",
        "read at another address, at least one hop 302/303/307",
    ),
    ("redirected_meta", "moved", _YES, _NO, "never", "ok", "read through a meta refresh or Refresh header"),
    (
        "redirected_js",
        "moved",
        _NO,
        _NO,
        "later",
        "ok",
        "a script-only redirect stub; the target was not read",
    ),
    ("not_found", "gone", _NO, _YES, "later", "http.error", "404"),
    ("gone", "gone", _NO, _YES, "later", "http.error", "410"),
    ("unavailable_for_legal", "gone", _NO, _YES, "later", "http.error", "451"),
    (
        "removed_notice",
        "gone",
        _NO,
        _YES,
        "later",
        None,
        "200, but a notice that the author or platform removed it",
    ),
    ("soft_404", "gone", _NO, _YES, "later", None, "200, but the site says that the page does not exist"),
    (
        "redirected_to_home",
        "gone",
        _NO,
        _YES,
        "later",
        None,
        "a deep address that ends on the home or section front page",
    ),
    ("parked_domain", "gone", _NO, _YES, "later", None, "a parking or domain-sale page"),
    (
        "site_suspended",
        "gone",
        _NO,
        _YES,
        "later",
        None,
        "hosting account suspended, or blocked for want of an ICP filing",
    ),
    ("default_page", "gone", _NO, _YES, "later", None, "a web server's default page"),
    (
        "content_replaced",
        "gone",
        _NO,
        _YES,
        "later",
        None,
        "readable, but wholly another document than the one that was cited",
    ),
    ("auth_required", "walled", _NO, _NO, "later", "http.error", "401/407"),
    ("login_wall", "walled", _NO, _NO, "later", None, "a login form where the document was"),
    ("payment_required", "walled", _NO, _NO, "later", "http.error", "402 or a paywall"),
    ("forbidden", "walled", _NO, _NO, "later", "http.error", "403 and kin (406, 999), without a challenge"),
    (
        "challenge",
        "walled",
        _NO,
        _NO,
        "later",
        "http.error",
        "captcha, JavaScript proof, WAF checkpoint, at any status",
    ),
    ("rate_limited", "walled", _NO, _NO, "later", "http.error", "429"),
    ("needs_js", "walled", _NO, _NO, "later", None, "an empty shell that only scripts fill"),
    (
        "interstitial",
        "walled",
        _NO,
        _NO,
        "later",
        None,
        "a page in between (leaving this site, consent wall)",
    ),
    (
        "network_auth",
        "walled",
        _NO,
        _NO,
        "later",
        "http.error",
        "511, captive portal, or our own network filter",
    ),
    ("client_error", "failed", _NO, _YES, "later", "http.error", "another 4xx"),
    ("server_error", "failed", _NO, _YES, "now", "http.error", "5xx"),
    ("soft_500", "failed", _NO, _YES, "now", None, "200, but an error dump in place of the page"),
    ("empty_body", "failed", _NO, _YES, "now", "http.response.invalid", "nothing, or no word"),
    ("partial_content", "failed", _NO, _NO, "now", "http.response.invalid", "206 unasked"),
    ("body_truncated", "failed", _NO, _YES, "now", "http.response.invalid", "fewer bytes than announced, or cut off"),
    ("body_reset", "failed", _NO, _YES, "now", "tcp.reset", "connection reset in the body"),
    ("bad_encoding", "failed", _NO, _YES, "now", "http.response.invalid", "Content-Encoding does not decode"),
    ("bad_chunking", "failed", _NO, _YES, "now", "http.response.invalid", "chunked framing broken"),
    ("bad_header", "failed", _NO, _YES, "now", "http.protocol.error", "malformed or oversized header"),
    ("bad_status_line", "failed", _NO, _YES, "now", "http.protocol.error", "no parsable status"),
    ("not_http", "failed", _NO, _YES, "now", "http.protocol.error", "not HTTP"),
    (
        "wrong_type",
        "failed",
        _NO,
        _YES,
        "later",
        "http.response.invalid",
        "HTML where a PDF or image was cited, or the reverse",
    ),
    ("document_broken", "failed", _NO, _YES, "now", None, "a PDF or image that does not open"),
    ("redirect_loop", "failed", _NO, _YES, "later", "http.response.redirect_loop", "redirect loop"),
    ("too_many_redirects", "failed", _NO, _YES, "later", "http.response.redirect_loop", "too many redirects"),
    (
        "redirect_bad_location",
        "failed",
        _NO,
        _YES,
        "later",
        "http.protocol.error",
        "3xx with no usable Location",
    ),
    ("tls_expired", "unreachable", _NO, _YES, "later", "tls.cert.date_invalid", "tls expired"),
    ("tls_not_yet_valid", "unreachable", _NO, _YES, "later", "tls.cert.date_invalid", "tls not yet valid"),
    ("tls_self_signed", "unreachable", _NO, _YES, "later", "tls.cert.authority_invalid", "tls self signed"),
    ("tls_unknown_ca", "unreachable", _NO, _YES, "later", "tls.cert.authority_invalid", "tls unknown ca"),
    (
        "tls_incomplete_chain",
        "unreachable",
        _NO,
        _YES,
        "later",
        "tls.cert.authority_invalid",
        "intermediate missing, chain completes through AIA",
    ),
    (
        "tls_hostname_mismatch",
        "unreachable",
        _NO,
        _YES,
        "later",
        "tls.cert.name_invalid",
        "tls hostname mismatch",
    ),
    ("tls_weak_key", "unreachable", _NO, _YES, "later", "tls.cert.invalid", "tls weak key"),
    (
        "tls_protocol_version",
        "unreachable",
        _NO,
        _YES,
        "later",
        "tls.version_or_cipher_mismatch",
        "tls protocol version",
    ),
    (
        "tls_handshake_failed",
        "unreachable",
        _NO,
        _YES,
        "now",
        "tls.failed",
        "alert, close or reset in the handshake",
    ),
    (
        "tls_client_cert",
        "walled",
        _NO,
        _NO,
        "later",
        "tls.bad_client_auth_cert",
        "asks for a client certificate",
    ),
    ("tls_not_tls", "unreachable", _NO, _YES, "later", "tls.protocol.error", "plain text on a TLS port"),
    ("dns_not_found", "unreachable", _NO, _YES, "now", "dns.name_not_resolved", "dns not found"),
    ("connect_refused", "unreachable", _NO, _YES, "now", "tcp.refused", "connect refused"),
    ("connect_timeout", "unreachable", _NO, _YES, "now", "tcp.timed_out", "connect timeout"),
    ("connection_reset", "unreachable", _NO, _YES, "now", "tcp.reset", "connection reset"),
    ("empty_reply", "unreachable", _NO, _YES, "now", "tcp.closed", "closed without a byte"),
    ("read_timeout", "unreachable", _NO, _YES, "now", "tcp.timed_out", "read timeout"),
    ("too_slow", "unreachable", _NO, _YES, "later", "abandoned", "over the total deadline"),
    ("redirect_unsupported_scheme", "refused", _NO, _YES, "later", None, "file:, ftp:, data:, javascript:"),
    (
        "redirect_to_private",
        "refused",
        _NO,
        _NO,
        "never",
        None,
        "a hop or an embed that leads to a private address: never asked",
    ),
    ("too_large", "refused", _NO, _NO, "never", "abandoned", "over the size limit"),
    ("decompression_bomb", "refused", _NO, _NO, "never", "abandoned", "decompression bomb"),
    ("invalid_url", "refused", _NO, _NO, "never", None, "invalid url"),
    (
        "robots_disallowed",
        "refused",
        _NO,
        _NO,
        "later",
        None,
        "robots.txt forbids, and the source does not override it",
    ),
)

WORDS: Mapping[str, Word] = MappingProxyType(
    {
        name: Word(name, VerdictClass(klass), accessed, strike, Retry(retry), nel, means)
        for name, klass, accessed, strike, retry, nel, means in _ROWS
    }
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came back, in one word, with the rule that decided and evidence that an editor can read.

    Raises ValueError for a word that is not in the vocabulary.
    """

    word: str
    rule: str
    evidence: str = ""

    def __post_init__(self) -> None:
        if self.word not in WORDS:
            raise ValueError(f"no such verdict: {self.word!r}")

    @property
    def klass(self) -> VerdictClass:
        return WORDS[self.word].klass

    @property
    def accessed(self) -> bool:
        """Whether the source itself was read: the only thing that moves "last accessed"."""
        return WORDS[self.word].accessed

    @property
    def strike(self) -> bool:
        return WORDS[self.word].strike

    @property
    def retry(self) -> Retry:
        return WORDS[self.word].retry
