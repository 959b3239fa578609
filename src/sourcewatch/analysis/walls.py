"""Walls that people put up: logins, payments, consent, waiting rooms; and pages that only scripts fill."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from sourcewatch.domain.document import Label

from .address import registrable_domain
from .soft404 import said
from .view import THIN, Rule, View, covered, shown, weight

LOGIN_PATH = re.compile(
    r"(?:^|/)(?:(?:user|member|account|wp)s?[-_])?(?:log-?[io]n|sign-?in|sign_in|passport|sso|cas|auth|authenticate|oauth2?"
    r"|authorize|unhuman|denglu|session)(?:\.\w{2,5})?(?:/|$)"
)
LOGIN_HOST = re.compile(r"^(?:login|signin|passport|sso|cas|auth|accounts?|id)\.")
CONSENT_HOST = re.compile(r"^(?:consent|privacy|cookie-?consent|gdpr|cmp)\.")
PASSWORD = re.compile(rb"""type\s{0,4}=\s{0,4}["']?password""")
FREE = re.compile(rb'"isaccessibleforfree"\s{0,9}:\s{0,9}"?(true|false)')
SCRIPT_MOVE = re.compile(
    rb"""(?:(?:window|self|top|parent|document|this)\s{0,2}\.\s{0,2})?location(?:\s{0,2}\.\s{0,2}href)?\s{0,4}=\s{0,4}[^=;]"""
    rb"""|location\s{0,2}\.\s{0,2}(?:replace|assign)\s{0,2}\("""
)
SCRIPT_TARGET = re.compile(
    rb"""location[\s.a-z]{0,12}(?:=|\()\s{0,4}["']((?:https?:)?[/?\\.a-z0-9][^"'\s]{0,300})["']"""
)
MOUNT = re.compile(
    rb"""<(?:div|main|section)[^>]{0,200}\sid\s{0,2}=\s{0,2}["']?(?:root|app|__next|__nuxt|gatsby|___gatsby|app-root|main-app|react-root|application|mount|container|q-app|svelte)\b|<app-root|ng-app|data-reactroot|data-server-rendered"""
)
TEMPLATE = re.compile(r"\{\{[^{}]{0,300}\}\}|\{\[\{[^{}]{0,300}\}\]\}")  # what a script was to fill in
PRIVATE = re.compile(
    rb"""https?://(?:10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|1\.1\.1\.[13]|2\.2\.2\.2|securelogin)"""
)
FILTERS = (
    b"<wispaccessgatewayparam",
    b"fgtauth",
    b"fortiguard.com",
    b"blockpage.cgi",
    b"/zscaler",
    b"opendns.com/block",
    b"block.opendns.com",
    b"block.umbrella.com",
    b"bluecoat",
    b"nmweb/policy",
    b"websense",
    b"sangfor",
    b"/ac_portal/",
    b"srun_portal",
    b"eportal/index.jsp",
    b"securly.com/blocked",
)
WORD_OR_TWO = 40
SCRIPTED = 120  # visible bytes of a shell: a word or two, a spinner's text
STUB_BYTES = 20_000


def _portal(view: View) -> str:
    """A captive portal, or a filter of our own network: it speaks of the network, or comes from a private address."""
    if not view.is_page or not view.is_thin:
        return ""
    mark = next((m for m in FILTERS if m in view.raw), b"")
    words = view.title_says("portal") or view.heading_says("portal") or view.notice_says("portal", 0.5)
    if words and view.beside(words) > 500:
        words = ""
    foreign = registrable_domain(view.host) != registrable_domain(view.cited_host)
    private = PRIVATE.search(view.raw)
    plain = urlsplit(view.cited).scheme == "http"
    if (words and (mark or private or (foreign and plain))) or (mark and (foreign or private or _password(view))):
        sign = " and ".join(filter(None, (mark.decode(), private.group().decode() if private else "", words)))
        return f"a network's own page: {shown(sign)} at {view.host}; {view.facts()}"
    return ""


def _password(view: View) -> bool:
    return bool(PASSWORD.search(view.raw))


def _login(view: View) -> str:
    """Two signs at least of: led to a login address, title or heading, a demand, a field for a password."""
    if not view.is_page or not view.is_thin or (LOGIN_PATH.search(view.cited_path) and not view.moved):
        return ""
    led = view.moved and bool(LOGIN_PATH.search(view.path) or LOGIN_HOST.search(view.host))
    title, heading = view.title_says("login"), view.heading_says("login")
    demand = view.notice_says("login-demand", 0.4)
    words = demand or heading or title
    beside = view.beside(words)
    points = 1.5 * led + 1.5 * bool(title) + bool(heading) + 1.5 * bool(demand) + (_password(view) and beside < 600)
    points -= 1.0 * (beside > 500)
    if points < 2.5:
        return ""
    signs = [f"led to {view.url}"] * led + [shown(words)] * bool(words) + ["a password field"] * _password(view)
    return ", ".join(signs) + f"; {view.facts()}"


def _paywall(view: View) -> str:
    """Not free by its own metadata, or said to be so, and cut: no article beside the notice."""
    if not view.is_page or view.is_article or view.kept >= 0.7:
        return ""
    words = view.notice_says("paywall")
    if not words:
        return ""
    marked = FREE.search(view.raw)
    closed = bool(marked and marked.group(1) == b"false")
    beside = view.beside(words)
    lost = view.reading.accepted is not None and view.kept < 0.5
    last = _ends_with(view, words)
    if beside < (2 * THIN if closed else THIN) and (closed or lost or (last and beside < THIN)):
        marks = ["isAccessibleForFree: false"] * closed + [f"{view.kept:.0%} of the last version left"] * lost
        return "; ".join([shown(words), *marks, view.facts()])
    return ""


def _ends_with(view: View, words: str) -> bool:
    """Whether hardly any prose follows a notice."""
    seen, after = False, 0
    for block in view.document.blocks:
        if block.label is Label.MAIN:
            if seen and not block.link_chars:
                after += weight(block.text)
            seen = seen or block.text.lower() == words
    return after < 300


def _leaving(view: View) -> str:
    if not view.is_page or not view.is_thin:
        return ""
    points, words = said(view, "leaving")
    return f"{words}; {view.facts()}" if points >= 2.5 and view.beside(words) < 600 else ""


def _consent(view: View) -> str:
    """A title or heading that asks for consent, or a host that does nothing else: banners have neither."""
    if not view.is_page or not view.is_thin:
        return ""
    points, words = said(view, "consent")
    led = view.moved and bool(CONSENT_HOST.search(view.host))
    if not (led or view.title_says("consent") or view.heading_says("consent")):
        return ""
    return f"{words or view.host}; {view.facts()}" if points + 2 * led >= 4 or (led and points) else ""


def _waiting(view: View) -> str:
    if not view.is_page or not view.is_thin:
        return ""
    cookies = " ".join(view.answer.all_headers("set-cookie")).lower()
    points, words = said(view, "waiting")
    marked = "__cfwaitingroom" in cookies or "queue-it" in view.host or b"queue-it.net" in view.raw
    if marked and points:
        points += 2
    return f"{words}{', a queue’s cookie or host' * marked}; {view.facts()}" if points >= 3.5 else ""


def _script_stub(view: View) -> str:
    """Nothing but a script that leads elsewhere."""
    if not view.is_page or len(view.reading.payload.data) > STUB_BYTES or b"<script" not in view.raw:
        return ""
    words = view.title_says("redirecting", 0.5) or view.notice_says("redirecting", 0.5)
    rest = max(0, view.shown - weight(words))
    moves = SCRIPT_MOVE.search(view.raw)
    if rest > (SCRIPTED if words else WORD_OR_TWO) or not (moves or words):
        return ""
    if not words and b"<input" in view.raw:
        return ""
    target = SCRIPT_TARGET.search(view.raw)
    to = f" to {target.group(1).decode('utf-8', 'replace')}" if target else ""
    return f"{view.shown} bytes of text and a script that leads{to or ' elsewhere'}" + (
        f", {shown(words)}" if words else ""
    )


def _shell(view: View) -> str:
    """Hardly a word without scripts, and scripts to fill it; or a page that asks for JavaScript and says no more."""
    if not view.is_page or view.prose > THIN // 2 or b"<script" not in view.raw or view.unseen >= THIN:
        return ""
    wants = view.notice_says("scripts", 0.5) or _noscript(view)
    text = TEMPLATE.sub("", view.document.text).lower()
    rest = max(0, weight(text) - weight(wants if wants in text else ""))
    mount = MOUNT.search(view.raw)
    frames = any(e.kind in ("frame", "object") and e.label is Label.MAIN for e in view.document.embeds)
    if frames and not mount:
        return ""
    if (
        rest < 40
        or (rest < SCRIPTED and (wants or mount))
        or (wants and mount and view.prose - weight(wants) < SCRIPTED)
    ):
        sign = shown(wants) if wants else mount.group().decode("utf-8", "replace") if mount else "scripts"
        return f"{view.shown} bytes of visible text, {sign}; {view.facts()}"
    return ""


def _noscript(view: View) -> str:
    blocks = (b.text.lower() for b in view.document.blocks if b.label is Label.NOSCRIPT)
    return next((text for text in blocks if covered("scripts", text) >= 0.4), "")


NETWORK_RULES = (Rule("network-portal", "network_auth", _portal),)
RULES = (
    Rule("login-wall", "login_wall", _login),
    Rule("paywall", "payment_required", _paywall, stand_in=False),
    Rule("leaving-notice", "interstitial", _leaving),
    Rule("consent-wall", "interstitial", _consent),
    Rule("waiting-room", "interstitial", _waiting),
)
SHELL_RULES = (
    Rule("script-redirect", "redirected_js", _script_stub),
    Rule("script-shell", "needs_js", _shell),
)
