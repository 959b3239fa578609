"""One page in a browser: shown, scrolled through, looked at; everything that it did not load is told.

The browser is handed the answer that plain HTTP brought, so no page is asked for twice, and the guard, robots.txt and
the host's pace hold for it, and no header of the source reaches its scripts. It goes nowhere else: where scripts lead
on is told, for the fetch to ask.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import time
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag, urlsplit

from ..domain.capture import BrokenPicture, Exchange, Headers, Unloaded, View
from .browser_parts import FRAMING, read_parts
from .chromium import Chromium
from .guard_proxy import CAUSE
from .headers import ACCEPT_LANGUAGE

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, ConsoleMessage, Dialog, Response
    from playwright.async_api import Page as Tab
    from playwright.async_api import Request as Asked

WIDTH_PX, HEIGHT_PX = 1280, 900
MOST_HEIGHT_PX = 10_000  # of a screenshot: one page made a PNG of 38,780 px (measured)
# Packed fast: 0.2 s of CPU a check less, a third larger.
WHOLE_PAGE = {"captureBeyondViewport": True, "optimizeForSpeed": True}
MOST_SCREENS = 12  # scrolled through: pictures further down are loaded by whoever reads that far
LOADS_WITHIN_S, QUIET_S, SETTLES_WITHIN_S, SHOT_WITHIN_S = 10.0, 0.4, 3.0, 8.0
FRAME_S = 0.05  # after a scroll: observers are told in the next frame
MOST_ASKED = 600  # parts of one page; 10,000 pictures are nobody's article
MOST_SHOT_BYTES = 10_000_000
MOST_TOLD, MOST_CHARS, MOST_URL_CHARS = 100, 400, 2_000
CHANGED_ITS_MIND = "net::ERR_ABORTED"  # a page that no longer wants a part, not a part that failed
UNTOLD = frozenset({"net::ERR_TUNNEL_CONNECTION_FAILED", "net::ERR_PROXY_CONNECTION_FAILED"})  # the proxy knows why

# These run in a world of their own, where the page's scripts have changed nothing.
PICTURES = """(most) => [...document.images]
  .filter((i) => i.complete && i.naturalWidth === 0 && (i.currentSrc || i.src))
  .slice(0, most).map((i) => [i.currentSrc || i.src, i.alt || ""])"""
HEIGHT = "() => Math.max(0, ...[document.documentElement, document.body].map((e) => e ? e.scrollHeight : 0))"
SCROLL = "(y) => window.scrollTo({top: y, behavior: 'instant'})"
# Shadow roots as HTML spells them, or what stands in them would be lost. A <noscript> says what scripts contradict.
DOM = """(most) => {
  const roots = [], gather = (node) => {
    for (const element of node.querySelectorAll('*'))
      if (element.shadowRoot) { roots.push(element.shadowRoot); gather(element.shadowRoot) }
  }
  gather(document)
  document.querySelectorAll('noscript').forEach((element) => element.remove())
  const root = document.documentElement
  if (!root) return '<!DOCTYPE html>'
  const inner = root.getHTML({shadowRoots: roots})
  const tag = root.cloneNode(false).outerHTML.replace(/<\\/html>\\s*$/i, '')
  return inner.length > most ? null : '<!DOCTYPE html>' + tag + inner + '</html>'
}"""


class BrokenOffError(Exception):
    """The page could not be read to its end: a sentence."""


@dataclass(slots=True)
class _Heard:
    """What a page did while it was read."""

    asked: int = 0
    ended: int = 0
    at: float = field(default_factory=time.monotonic)
    unloaded: dict[str, Unloaded] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    whole: list[Asked] = field(default_factory=list)  # what came to its end
    onward: str = ""
    cut_off: bool = False
    broken_off: asyncio.Event = field(default_factory=asyncio.Event)
    loaded: asyncio.Event = field(default_factory=asyncio.Event)  # or stopped: its scripts wanted to go elsewhere
    doing: set[asyncio.Future[None]] = field(default_factory=set)

    def note(self, words: str) -> None:
        if len(self.notes) < MOST_TOLD:
            self.notes[words[:MOST_CHARS]] = None

    def did_not_load(self, url: str, kind: str, code: str) -> None:
        if len(self.unloaded) < MOST_TOLD:
            self.unloaded.setdefault(url, Unloaded(url[:MOST_URL_CHARS], kind, code[:MOST_CHARS]))

    def complained(self, words: str) -> None:
        if len(self.errors) < MOST_TOLD:
            self.errors.append(" ".join(words[: 4 * MOST_CHARS].split())[:MOST_CHARS])


@dataclass(frozen=True, slots=True)
class _Asking:
    """Asks the document, out of the reach of its own scripts. Raises BrokenOffError."""

    devtools: CDPSession
    world: int

    async def __call__(self, function: str, *given: int) -> Any:
        words = f"({function})({', '.join(map(str, given))})"
        asked = {"expression": words, "contextId": self.world, "returnByValue": True}
        told = await self.devtools.send("Runtime.evaluate", asked)
        if "exceptionDetails" in told:
            raise BrokenOffError(f"the page cannot be read: {told['exceptionDetails'].get('text', '')[:MOST_CHARS]}")
        return told["result"].get("value")


class Page:
    """Reads one page in a context of its own. *causes* are the proxy's, by host:port."""

    def __init__(self, engine: Chromium, causes: Mapping[str, str], user_agent: str) -> None:
        self._engine, self._causes, self._user_agent = engine, causes, user_agent
        self._heard = _Heard()
        self._context: BrowserContext | None = None
        self._tab: Tab | None = None
        self._listening: dict[Any, Callable[[Any], None]] = {
            "request": self._began,
            "requestfinished": self._finished,
            "requestfailed": self._failed,
            "response": self._answered,
            "console": self._said,
            "pageerror": lambda error: self._heard.complained(str(error)),
        }
        self._main = ""  # the frame that the page itself is in
        self._served = False

    async def close(self) -> None:
        if self._context is not None:
            with contextlib.suppress(Exception):  # the browser is gone: so is the context
                await self._context.close()

    def cut_off(self, why: str) -> None:
        """From now on it loads nothing more, and is not waited for."""
        self._heard.note(why)
        self._heard.cut_off = True
        self._heard.loaded.set()
        if self._tab is not None and self._context is not None:
            for event, told in self._listening.items():  # nobody wants to hear of thousands of parts that do not load
                self._tab.remove_listener(event, told)
            self._aside(self._context.set_offline(True))

    async def read(self, answer: Exchange, body: bytes, *, most_bytes: int, screenshot: bool) -> tuple[bytes, View]:
        """The document as it stands in the end, and what was seen. *body* is the answer's, without its coding.

        Raises BrokenOffError. Takes as long as the page likes: the caller bounds it.
        """
        from playwright.async_api import Error

        started, heard = time.perf_counter(), self._heard
        reading = asyncio.ensure_future(self._seen(answer, body, most_bytes, screenshot))
        ends: list[asyncio.Future[Any]] = [
            asyncio.ensure_future(event.wait()) for event in (heard.broken_off, self._engine.gone)
        ]
        try:
            await asyncio.wait((reading, *ends), return_when=asyncio.FIRST_COMPLETED)
            if self._engine.gone.is_set():
                raise BrokenOffError(self._engine.why)
            if not reading.done():
                raise BrokenOffError("the page brought its renderer down")
            dom, broken, shot = reading.result()
        except Error as error:
            words = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise BrokenOffError(f"the browser did not read it: {words[:MOST_CHARS]}") from None
        finally:
            for task in (reading, *ends, *heard.doing):
                task.cancel()
            await asyncio.gather(reading, *ends, *heard.doing, return_exceptions=True)
        parts = await read_parts(heard.whole, answer.url, heard.note)
        return dom, View(
            browser=self._engine.version,
            unloaded=tuple(heard.unloaded.values()),
            broken=tuple(broken),
            errors=tuple(heard.errors),
            notes=tuple(heard.notes),
            screenshot=shot,
            others=parts,
            seconds=time.perf_counter() - started,
            onward=heard.onward,
        )

    async def _seen(
        self, answer: Exchange, body: bytes, most_bytes: int, screenshot: bool
    ) -> tuple[bytes, list[BrokenPicture], bytes]:
        heard = self._heard
        devtools = await self._opened(answer, body)
        await devtools.send("Page.navigate", {"url": answer.url})
        await self._loaded()
        world = {"frameId": self._main, "worldName": "sourcewatch"}
        ask = _Asking(devtools, (await devtools.send("Page.createIsolatedWorld", world))["executionContextId"])
        if not heard.onward:  # else whoever reads it is shown the next page
            await self._scrolled(ask)
        dom = await ask(DOM, most_bytes)
        if dom is None:
            raise BrokenOffError(f"the page grew to more than {most_bytes:,} characters")
        broken = [self._broken(url, alt) for url, alt in await ask(PICTURES, MOST_TOLD)]
        shot = await self._shot(devtools, int(await ask(HEIGHT))) if screenshot and not heard.onward else b""
        return dom.encode("utf-8", "replace"), broken, shot

    def _broken(self, url: str, alt: str) -> BrokenPicture:
        known = self._heard.unloaded.get(url)
        return BrokenPicture(url[:MOST_URL_CHARS], alt[:MOST_CHARS], known.code if known else "")

    async def _opened(self, answer: Exchange, body: bytes) -> CDPSession:
        heard = self._heard
        self._context = context = await self._engine.browser.new_context(
            user_agent=self._user_agent,
            extra_http_headers={"Accept-Language": ACCEPT_LANGUAGE},
            locale=ACCEPT_LANGUAGE.partition(",")[0],
            viewport={"width": WIDTH_PX, "height": HEIGHT_PX},
            accept_downloads=False,
            service_workers="block",
            reduced_motion="reduce",
        )
        context.set_default_timeout(0)  # the whole has a deadline
        tab = await context.new_page()
        context.on("page", self._window)
        tab.on("dialog", self._dialog)
        tab.on("crash", lambda _: heard.broken_off.set())
        for event, told in self._listening.items():
            tab.on(event, told)
        self._tab = tab
        devtools = await context.new_cdp_session(tab)
        self._main = (await devtools.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        devtools.on("Fetch.requestPaused", lambda asked: self._aside(self._document(devtools, asked, answer, body)))
        devtools.on("Page.loadEventFired", lambda _: heard.loaded.set())
        await devtools.send("Page.enable")
        await devtools.send("Fetch.enable", {"patterns": [{"resourceType": "Document"}]})
        return devtools

    async def _document(self, devtools: CDPSession, asked: Mapping[str, Any], answer: Exchange, body: bytes) -> None:
        """A document is asked for: the page itself is at hand, frames in it are loaded, and nothing else is."""
        this = {"requestId": asked["requestId"]}
        with contextlib.suppress(Exception):  # the page has gone meanwhile: nobody asks any more
            if asked["frameId"] != self._main:
                await devtools.send("Fetch.continueRequest", this)
            elif not self._served:
                self._served = True
                headers = [{"name": name, "value": value} for name, value in _servable(answer.headers)]
                given = base64.b64encode(body).decode("ascii")
                status = {"responseCode": answer.status, "responseHeaders": headers, "body": given}
                await devtools.send("Fetch.fulfillRequest", {**this, **status})
            else:
                self._left(asked["request"]["method"], asked["request"]["url"], answer.url)
                await devtools.send("Fetch.failRequest", {**this, "errorReason": "Aborted"})

    def _left(self, method: str, url: str, here: str) -> None:
        """Scripts want to show another document in the page's place."""
        there = urldefrag(url).url
        if method != "GET":
            self._heard.note(f"a form that it sent to {url[:200]} was held back")
        elif there == urldefrag(here).url:
            self._heard.note("it wanted to load itself anew, and was not let")
        elif not self._heard.onward:
            self._heard.onward = there[:MOST_URL_CHARS]
        self._heard.loaded.set()  # the browser waits for the other document now

    def _aside(self, doing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(doing)
        self._heard.doing.add(task)
        task.add_done_callback(self._heard.doing.discard)

    def _window(self, window: Tab) -> None:
        async def close() -> None:
            with contextlib.suppress(Exception):  # it may have closed by itself
                await window.close()

        self._heard.note("a window that it opened was closed")
        self._aside(close())

    def _dialog(self, dialog: Dialog) -> None:
        async def end() -> None:
            with contextlib.suppress(Exception):  # the page may have gone meanwhile
                await (dialog.accept() if dialog.type == "beforeunload" else dialog.dismiss())

        if dialog.type != "beforeunload":
            self._heard.note(f"a dialog was dismissed: {dialog.message[:200]}")
        self._aside(end())

    def _began(self, _: Asked) -> None:
        heard = self._heard
        heard.asked, heard.at = heard.asked + 1, time.monotonic()
        if heard.asked == MOST_ASKED:
            self.cut_off(f"after {MOST_ASKED} parts it was let load no more")

    def _ended(self) -> None:
        self._heard.ended, self._heard.at = self._heard.ended + 1, time.monotonic()

    def _finished(self, asked: Asked) -> None:
        self._ended()
        if len(self._heard.whole) < MOST_ASKED:
            self._heard.whole.append(asked)

    def _failed(self, asked: Asked) -> None:
        self._ended()
        code = asked.failure or "net::ERR_FAILED"
        if code in UNTOLD:
            parts = urlsplit(asked.url)
            code = self._causes.get(f"{parts.hostname}:{parts.port or 443}", code)
        if code != CHANGED_ITS_MIND:
            self._heard.did_not_load(asked.url, asked.resource_type, code)

    def _answered(self, response: Response) -> None:
        kind = response.request.resource_type
        if cause := response.headers.get(CAUSE.lower()):
            self._heard.did_not_load(response.url, kind, cause)
            return
        if response.status >= 400 and not self._is_page(response):
            self._heard.did_not_load(response.url, kind, f"HTTP {response.status}")

    def _is_page(self, response: Response) -> bool:
        return response.request.is_navigation_request() and response.frame.parent_frame is None

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not message.text.startswith("Failed to load resource:"):  # told with its code
            self._heard.complained(message.text)

    async def _loaded(self) -> None:
        try:
            async with asyncio.timeout(LOADS_WITHIN_S):
                await self._heard.loaded.wait()
        except TimeoutError:
            self._heard.note(f"it was still loading after {LOADS_WITHIN_S:g} s")
        await self._settled()

    async def _settled(self) -> None:
        """Wait until nothing has moved on the wire for a while, or that has taken too long."""
        heard, until = self._heard, time.monotonic() + SETTLES_WITHIN_S
        while not (heard.onward or heard.cut_off):
            now = time.monotonic()
            if heard.asked <= heard.ended and now - heard.at >= QUIET_S:
                return
            if now >= until:
                heard.note("it never came to rest")
                return
            await asyncio.sleep(0.02)

    async def _scrolled(self, ask: _Asking) -> None:
        """Pictures that wait to be seen are seen."""
        before = self._heard.asked
        for screen in range(1, MOST_SCREENS + 1):
            if screen * HEIGHT_PX >= await ask(HEIGHT):
                break
            await ask(SCROLL, screen * HEIGHT_PX)
            await asyncio.sleep(FRAME_S)
        await ask(SCROLL, 0)
        if self._heard.asked > before:
            await self._settled()

    async def _shot(self, devtools: CDPSession, height_px: int) -> bytes:
        clip = {"x": 0, "y": 0, "width": WIDTH_PX, "height": min(height_px or HEIGHT_PX, MOST_HEIGHT_PX), "scale": 1}
        try:
            async with asyncio.timeout(SHOT_WITHIN_S):
                told = await devtools.send("Page.captureScreenshot", {"clip": clip, **WHOLE_PAGE})
        except TimeoutError:
            self._heard.note(f"no screenshot was to be had within {SHOT_WITHIN_S:g} s")
            return b""
        shot = base64.b64decode(told["data"])
        if len(shot) > MOST_SHOT_BYTES:
            self._heard.note(f"its screenshot is not kept: {len(shot):,} bytes")
            return b""
        return shot


def _servable(headers: Headers) -> list[tuple[str, str]]:
    """The answer's headers but for those of a body that was coded, in characters that a header may have."""
    kept = [(name, value) for name, value in headers if name.lower() not in FRAMING]
    return [(name, value.encode("utf-8").decode("latin-1")) for name, value in kept if name.isascii()]
