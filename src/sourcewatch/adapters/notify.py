"""Sends letters by Apprise, which knows mail, chats and webhooks. Addresses hold secrets: they are read from the
environment when something is sent, and nothing that is returned, logged or stored holds a part of one."""

from __future__ import annotations

import logging
import re
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

DEADLINE_S = 60.0  # for a whole delivery: Apprise bounds each wait for a byte, and a service may send one every second
LEAST_SECRET_CHARS = 3
NOT_SECRET = frozenset({"yes", "no", "text", "html", "markdown", "true", "false", "com", "org", "net", "www"})
BELOW = ("urllib3", "requests", "requests_oauthlib", "oauthlib", "charset_normalizer")  # they log whole addresses, too


@dataclass(frozen=True, slots=True)
class Notifier:
    """Sends to the addresses that *environ* holds. What takes longer than *deadline_s* has failed."""

    environ: Mapping[str, str]
    deadline_s: float = DEADLINE_S

    def send(self, variable: str, title: str, body: str) -> str:
        """Send to the address in *variable*; "" when it went out, else why not, in words without secrets."""
        address = self.environ.get(variable, "").strip()
        if not address:
            return f"{variable} is not set"
        if any(thread.name == _named(variable) for thread in threading.enumerate()):
            return "the service still has not answered the last message"
        try:
            import apprise  # noqa: F401  (here, for the thread that sends)
        except ImportError:
            return "Apprise is not installed: pip install 'sourcewatch[notify]'"
        outcome: list[str] = []
        sends = threading.Thread(
            target=lambda: outcome.append(_send(variable, address, title, body)), name=_named(variable), daemon=True
        )
        sends.start()
        sends.join(self.deadline_s)  # a thread cannot be stopped: it is left alone, and nothing is sent there meanwhile
        return outcome[0] if outcome else f"the service did not answer within {self.deadline_s:g} s"


def _named(variable: str) -> str:
    return f"sends to {variable}"


def _send(variable: str, address: str, title: str, body: str) -> str:
    import apprise

    asset = apprise.AppriseAsset(app_id="sourcewatch", app_desc="sourcewatch", app_url="", secure_logging=True)
    with _ear.listening() as said:
        try:
            with warnings.catch_warnings(action="ignore"):  # of 170 modules that are imported here
                service = apprise.Apprise.instantiate(address, asset=asset, suppress_exceptions=True)
            if service is None:
                return f"{variable} does not hold an address that Apprise knows"
            return _sent(service, title, body, address, said)
        except Exception as error:  # 170 services of other people: what one of them throws is a failed delivery
            return _without(f"{type(error).__name__}: {error}", address)


def _sent(service: Any, title: str, body: str, address: str, said: list[str]) -> str:
    from apprise import NotifyFormat, NotifyType, OverflowMode

    service.overflow_mode = OverflowMode.SPLIT  # each service knows how long a message it takes
    if service.notify(title=title, body=body, notify_type=NotifyType.INFO, body_format=NotifyFormat.TEXT):
        return ""
    return _without("; ".join(dict.fromkeys(said)) or "the service did not take it", address)


class _Ear(logging.Filter):
    """Hears what Apprise says in each thread, and lets none of it through to any log."""

    def __init__(self) -> None:
        super().__init__()
        self._mine = threading.local()

    def filter(self, record: logging.LogRecord) -> bool:
        said: list[str] | None = getattr(self._mine, "said", None)
        if said is not None and record.levelno >= logging.WARNING:
            said.append(record.getMessage())
        return False

    @contextmanager
    def listening(self) -> Iterator[list[str]]:
        """What is said at WARNING and above in this thread meanwhile."""
        logging.getLogger("apprise").addFilter(self)  # once: the second time does nothing
        for name in BELOW:
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        said: list[str] = []
        self._mine.said = said
        try:
            yield said
        finally:
            del self._mine.said


_ear = _Ear()


def _without(text: str, address: str) -> str:
    """The text without any part of the address: every word of it, as written and decoded, in any case."""
    parts = {address, *re.split(r"[/:@?&=,;#\s]+", address)}
    parts |= {unquote(p) for p in parts} | {quote(p, safe="") for p in parts} | {quote(unquote(p)) for p in parts}
    parts |= {word for p in parts for word in re.split(r"[/:@?&=,;#\s]+", p)}
    scheme = address.partition(":")[0].lower()
    secrets = {p for p in parts if len(p) >= LEAST_SECRET_CHARS and p.lower() not in NOT_SECRET and p.lower() != scheme}
    for secret in sorted(secrets, key=len, reverse=True):
        text = re.sub(re.escape(secret), "…", text, flags=re.IGNORECASE)
    return " ".join(text.split())[:200]
