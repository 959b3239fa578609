"""robots.txt by RFC 9309: what an answer to /robots.txt allows us. Parsed by Protego."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

from protego import Protego

from sourcewatch.domain.capture import Exchange

PRODUCT = "sourcewatch"
MOST_BYTES = 500 * 1024  # RFC 9309, 2.5: a crawler parses at least so much
MOST_REDIRECTS = 5  # 2.3.1.2
KEPT_S = 24 * 3600.0  # 2.4
STALE_S = 30 * 24 * 3600.0  # 2.3.1.4: after so long without an answer an old copy no longer speaks for the host

# A product token has letters, "_" and "-" only (2.2.1); "sourcewatch/1.0" in a rule means us, which Protego misses.
_VERSIONED_AGENT = re.compile(r"^([ \t]*user-agent[ \t]*:[ \t]*[a-z_-]+)/[^\s#]*", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Rules:
    """What one host asks of crawlers. *crawl_delay_s* is None where it says nothing."""

    parsed: Protego | None = None
    crawl_delay_s: float | None = None
    size_bytes: int = 0

    def allow(self, url: str) -> bool:
        return self.parsed is None or self.parsed.can_fetch(url, PRODUCT)


NO_RULES = Rules()


def rules_of(answer: Exchange) -> Rules | None:
    """The rules that an answer gives; None when the host could not say (5xx), which forbids everything for now."""
    if answer.status >= 500:
        return None
    if answer.status != 200:
        return NO_RULES  # 2.3.1.3: "unavailable"
    plain = _plain(answer)
    text = plain.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    if text.lstrip()[:1] == "<":
        return NO_RULES  # a page, not rules: many sites answer everything with their front page
    parsed = Protego.parse(_VERSIONED_AGENT.sub(r"\1", text))
    return Rules(parsed, parsed.crawl_delay(PRODUCT), len(plain))


def _plain(answer: Exchange) -> bytes:
    """At most MOST_BYTES of the rules. We ask for identity; some servers compress all the same."""
    if answer.header("content-encoding").strip().lower() not in ("gzip", "x-gzip"):
        return answer.body[:MOST_BYTES]
    try:
        return zlib.decompressobj(31).decompress(answer.body, MOST_BYTES)
    except zlib.error:
        return b""
