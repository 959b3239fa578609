"""Sends letters by Apprise, which knows mail, chats and webhooks. Addresses hold secrets: they are read from the
environment when something is sent, and nothing that is returned, logged or stored holds a part of one."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

LEAST_SECRET_CHARS = 3
NOT_SECRET = frozenset({"yes", "no", "text", "html", "markdown", "true", "false", "com", "org", "net", "www"})
FOREIGN = ("apprise", "urllib3", "requests", "smtplib", "requests_oauthlib")  # they log addresses, at DEBUG and above


@dataclass(frozen=True, slots=True)
class Notifier:
    """Sends to the addresses that *environ* holds."""

    environ: Mapping[str, str]

    def send(self, variable: str, title: str, body: str) -> str:
        """Send to the address in *variable*; "" when it went out, else why not, in words without secrets."""
        address = self.environ.get(variable, "").strip()
        if not address:
            return f"{variable} is not set"
        try:
            import apprise
        except ImportError:
            return "Apprise is not installed: pip install 'sourcewatch[notify]'"
        asset = apprise.AppriseAsset(app_id="sourcewatch", app_desc="sourcewatch", app_url="", secure_logging=True)
        with _heard() as said:
            try:
                service = apprise.Apprise.instantiate(address, asset=asset, suppress_exceptions=True)
                if service is None:
                    return f"{variable} does not hold an address that Apprise knows"
                return _sent(service, title, body, address, said)
            except Exception as error:  # 170 services of other people: what one of them throws is a failed delivery
                return _without(f"{type(error).__name__}: {error}", address)


def _sent(service: Any, title: str, body: str, address: str, said: list[str]) -> str:
    from apprise import NotifyFormat, NotifyType, OverflowMode

    service.overflow_mode = OverflowMode.SPLIT  # each service knows how long a message it takes
    if not re.search(r"[?&]format=", address):
        service.notify_format = NotifyFormat.TEXT
    if service.notify(title=title, body=body, notify_type=NotifyType.INFO, body_format=NotifyFormat.TEXT):
        return ""
    return _without("; ".join(dict.fromkeys(said)) or "the service did not take it", address)


@contextmanager
def _heard() -> Iterator[list[str]]:
    """What Apprise says in this thread, kept from every log: it names hosts and, at DEBUG, whole addresses."""
    said: list[str] = []
    me = threading.get_ident()
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: said.append(record.getMessage()) if record.thread == me else None  # type: ignore[method-assign]
    for name in FOREIGN:
        logging.getLogger(name).propagate = False  # stays so: their own threads may speak later
    logger = logging.getLogger("apprise")
    logger.addHandler(handler)
    try:
        yield said
    finally:
        logger.removeHandler(handler)


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
