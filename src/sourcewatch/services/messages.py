"""From the outbox to the editors: who gets what and when, one letter for all that is due, retries until it is given up.

A message is sent at least once: who is killed between sending and noting it sends it again ten minutes later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from ..analysis import digests, telling
from ..analysis.voice import Voice
from ..domain.message import Delivery, News
from ..domain.source import Editor, Settings, Source
from .ports import Clock, Outbox, Recipient, Send

# Nine tries in three days: a mail server that is down over a weekend loses nothing.
BACKOFF = tuple(timedelta(minutes=m) for m in (1, 5, 30, 2 * 60, 6 * 60, 12 * 60, 24 * 60, 24 * 60))
CLAIMED = timedelta(minutes=10)  # longer than any service may take: a delivery has a deadline of a minute
QUIET_AFTER = timedelta(days=1)  # a digest with nothing to say is not made up for later than that


@dataclass(slots=True)
class Delivered:
    """What one round did: letters and messages that went out, messages that failed, and those given up. *errors* name
    the editor, the variable and the reason; nothing in them is secret."""

    letters: int = 0
    sent: int = 0
    failed: int = 0
    given_up: int = 0
    errors: tuple[str, ...] = ()


def recipients(settings: Settings) -> list[Recipient]:
    return [(e.name, variable) for e in settings.editors for variable in e.variables]


@dataclass(slots=True)
class Postman:
    """Delivers for one site. *send* is called here, in the caller's thread."""

    settings: Settings
    outbox: Outbox
    send: Send
    clock: Clock

    def deliver(self) -> Delivered:
        """Send what is due now, at once or in a digest. Raises StorageError."""
        done = Delivered()
        self.outbox.enrol(recipients(self.settings), self.clock())
        self.outbox.dismiss(recipients(self.settings))
        for editor in self.settings.editors:
            for variable in editor.variables:
                self.hand_out(editor, variable)
                self._empty(editor, variable, done, digest=False)
                told = self._empty(editor, variable, done, digest=True)
                if editor.digest == "weekly":
                    self._quiet(editor, variable, done, told=told)
        return done

    def hand_out(self, editor: Editor, variable: str) -> None:
        """Decide of every new message whether this address gets it, and when."""
        declared = {s.id: s for s in self.settings.sources}
        zone, deliveries = self.settings.site.timezone, []
        for news in self.outbox.unassigned((editor.name, variable), self.clock()):
            message = news.message
            why_not = unwanted(editor, news, declared)
            digest = message.kind not in editor.at_once
            at = digests.next_slot(editor, zone, message.at) if digest and not why_not else message.at
            deliveries.append(
                Delivery(message.id, editor.name, variable, digest, at, given_up=bool(why_not), why_not=why_not)
            )
        self.outbox.assign(deliveries)

    def _empty(self, editor: Editor, variable: str, done: Delivered, *, digest: bool) -> bool:
        """Everything due for one address in one letter; whether there was any."""
        now, to = self.clock(), (editor.name, variable)
        claimed = self.outbox.claim(to, digest, now, now + CLAIMED)
        if not claimed:
            return False
        title, body = self._letter(editor, [n for _, n in claimed], digest=digest)
        reason = self.send(variable, title, body)
        if reason:
            self._put_back(to, [d for d, _ in claimed], reason, done)
            return True
        self.outbox.sent(to, [d.message for d, _ in claimed], self.clock())
        done.letters, done.sent = done.letters + 1, done.sent + len(claimed)
        return True

    def _letter(self, editor: Editor, news: Sequence[News], *, digest: bool) -> tuple[str, str]:
        declared = {s.id: s for s in self.settings.sources}
        known = [telling.with_declared(n, declared) for n in news]
        voice = Voice(editor.language, self.settings.site.timezone)
        name = editor.digest if digest and editor.digest != "none" else ""
        return telling.letter(known, voice, self.settings.site.name, self.settings.public_url, name)

    def _put_back(self, to: Recipient, deliveries: Sequence[Delivery], reason: str, done: Delivered) -> None:
        now = self.clock()
        for d in deliveries:  # each claim counted as an attempt already
            later = now + BACKOFF[d.attempts - 1] if d.attempts <= len(BACKOFF) else None
            self.outbox.failed(to, d.message, reason, later)
            done.given_up += later is None
        done.failed += len(deliveries)
        done.errors = (*done.errors, f"{to[0]} ({to[1]}): {reason}")

    def _quiet(self, editor: Editor, variable: str, done: Delivered, *, told: bool) -> None:
        """A weekly digest with nothing in it says that all is quiet: once, and not days late."""
        now, to = self.clock(), (editor.name, variable)
        slot = digests.last_slot(editor, self.settings.site.timezone, now)
        if not self.outbox.begin_digest(to, slot) or told or now - slot > QUIET_AFTER:
            return
        sent = self.outbox.sent_since(to, slot - timedelta(days=7))
        voice = Voice(editor.language, self.settings.site.timezone)
        if reason := self.send(variable, *telling.quiet(voice, self.settings.site.name, sent)):
            done.errors = (*done.errors, f"{to[0]} ({to[1]}): {reason}")
        else:
            done.letters += 1


def unwanted(editor: Editor, news: News, declared: dict[str, Source]) -> str:
    """Why this editor does not get this message, or ""."""
    source = news.source
    if editor.tiers and source.tier not in editor.tiers:
        return f"tier {source.tier} is not theirs"
    if editor.digest == "none" and news.message.kind not in editor.at_once:
        return f"{news.message.kind} is not wanted"
    for id_ in (source.id, source.parent):
        known = declared.get(id_ or "")
        if known is not None and known.mute is not None and news.message.at < known.mute.until_at:
            return f"{known.id} is muted until {known.mute.until_at:%Y-%m-%d %H:%M}Z: {known.mute.reason}"
    return ""


def trial(settings: Settings, editor: Editor, variable: str, send: Send) -> str:
    """Send a test message to one address: "" or why it did not go out."""
    voice = Voice(editor.language, settings.site.timezone)
    return send(variable, *telling.trial(voice, settings.site.name, editor.name))
