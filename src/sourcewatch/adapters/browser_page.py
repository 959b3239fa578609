"""One page in a browser: loaded, scrolled through, looked at; everything that it did not load is told."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag, urlsplit

from ..domain.capture import BrokenPicture, Capture, Exchange, Unloaded, View
from ..domain.source import FetchPolicy, RenderPolicy
from .guard_proxy import CAUSE

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Dialog, Download, Response, Route
    from playwright.async_api import Page as Tab
    from playwright.async_api import Request as Asked

WIDTH_PX, HEIGHT_PX = 1280, 900
MOST_HEIGHT_PX = 10_000  # of a screenshot: one page made a PNG of 38,780 px (measured)
MOST_SCREENS = 15  # scrolled through: pictures further down are loaded by whoever reads that far
LOADS_WITHIN_S, QUIET_S, SETTLES_WITHIN_S, SHOT_WITHIN_S, BODY_WITHIN_S = 15.0, 0.5, 3.0, 10.0, 3.0
MOST_PARTS, MOST_PARTS_BYTES = 400, 30_000_000
MOST_TOLD, MOST_CHARS = 100, 400
CLOSED = "a window that it opened was closed"
NOT_LOADED = frozenset({"net::ERR_ABORTED", "net::ERR_BLOCKED_BY_CLIENT"})  # by the page, or by us

PICTURES = """(most) => [...document.images]
  .filter((i) => i.complete && i.naturalWidth === 0 && (i.currentSrc || i.src))
  .slice(0, most).map((i) => [i.currentSrc || i.src, i.alt || ""])"""
HEIGHT = "() => Math.max(document.documentElement.scrollHeight, document.body ? document.body.scrollHeight : 0)"
SCROLL = "(y) => window.scrollTo({top: y, behavior: 'instant'})"


class CrashedError(Exception):
    """The page brought its browser down, or was none: a sentence."""


@dataclass(slots=True)
class _Heard:
    """What a page did while it was read."""

    let: int = 0
    asked: int = 0
    ended: int = 0
    at: float = field(default_factory=time.monotonic)
    unloaded: dict[str, Unloaded] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    answers: list[Response] = field(default_factory=list)
    crashed: asyncio.Event = field(default_factory=asyncio.Event)
    doing: set[asyncio.Future[None]] = field(default_factory=set)

    def note(self, words: str) -> None:
        if len(self.notes) < MOST_TOLD:
            self.notes[words[:MOST_CHARS]] = None

    def stir(self) -> None:
        self.at = time.monotonic()


class Page:
    """Reads one page in a context of its own. *causes* are the proxy's, by host:port."""

    def __init__(
        self, browser: Browser, causes: dict[str, str], policy: FetchPolicy, render: RenderPolicy, user_agent: str
    ) -> None:
        self._browser, self._causes, self._policy, self._render = browser, causes, policy, render
        self._user_agent = user_agent
        self._heard = _Heard()
        self._context: BrowserContext | None = None
        self._tab: Tab | None = None

    async def close(self) -> None:
        if self._context is not None:
            with contextlib.suppress(Exception):  # the browser is gone: so is the context
                await self._context.close()

    async def read(self, capture: Capture) -> tuple[bytes, View, Exchange | None]:
        """The document as it stands in the end, what was seen, and the last answer where scripts led elsewhere.

        Raises CrashedError. Takes as long as the page likes: the caller bounds it.
        """
        from playwright.async_api import Error

        started, heard = time.perf_counter(), self._heard
        reading = asyncio.ensure_future(self._seen(capture))
        crash = asyncio.ensure_future(heard.crashed.wait())
        try:
            await asyncio.wait({reading, crash}, return_when=asyncio.FIRST_COMPLETED)
            if not reading.done():
                raise CrashedError("the page brought its renderer down")
            dom, broken, screenshot, others, last = reading.result()
        except Error as error:
            words = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise CrashedError(f"the browser did not read it: {words[:MOST_CHARS]}") from None
        finally:
            for task in (reading, crash):
                task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Error):
                await reading
        view = View(
            browser="",
            unloaded=tuple(heard.unloaded.values())[:MOST_TOLD],
            broken=tuple(broken),
            errors=tuple(heard.errors[:MOST_TOLD]),
            notes=tuple(heard.notes),
            screenshot=screenshot,
            others=tuple(others),
            seconds=time.perf_counter() - started,
        )
        return dom, view, last

    async def _seen(
        self, capture: Capture
    ) -> tuple[bytes, list[BrokenPicture], bytes, list[Exchange], Exchange | None]:
        tab = await self._opened(capture)
        main = await tab.goto(capture.final_url, wait_until="domcontentloaded", timeout=0)
        await self._loaded(tab)
        await self._scrolled(tab)
        await tab.evaluate("window.stop()")  # what has not come by now is not waited for
        broken = [
            BrokenPicture(url[:2_000], alt[:MOST_CHARS], found.code if (found := self._heard.unloaded.get(url)) else "")
            for url, alt in await tab.evaluate(PICTURES, MOST_TOLD)
        ]
        dom = (await tab.content()).encode("utf-8", "replace")
        if len(dom) > self._policy.max_bytes:
            raise CrashedError(f"its document has {len(dom):,} bytes, more than are read")
        screenshot = await self._shot(tab) if self._render.screenshot else b""
        last = await self._arrived(tab, main, capture)
        return dom, broken, screenshot, await self._parts(last.url if last else capture.final_url), last

    async def _opened(self, capture: Capture) -> Tab:
        self._context = context = await self._browser.new_context(
            user_agent=self._user_agent,
            viewport={"width": WIDTH_PX, "height": HEIGHT_PX},
            accept_downloads=False,
            service_workers="block",
            reduced_motion="reduce",
        )
        context.set_default_timeout(0)  # the whole has a deadline
        tab = await context.new_page()
        heard = self._heard
        context.on("page", lambda popup: self._turned_away(popup))
        tab.on("dialog", lambda dialog: self._aside(self._dismissed(dialog)))
        tab.on("download", lambda download: self._aside(self._refused(download)))
        tab.on("crash", lambda _: heard.crashed.set())
        self._browser.on("disconnected", lambda _: heard.crashed.set())
        tab.on("request", self._began)
        tab.on("requestfinished", lambda _: self._ended())
        tab.on("requestfailed", self._failed)
        tab.on("response", self._answered)
        tab.on("console", lambda m: self._complained(m.text) if m.type == "error" else None)
        tab.on("pageerror", lambda error: self._complained(str(error)))
        await context.route("**/*", self._let)
        self._tab = tab
        return tab

    async def _let(self, route: Route) -> None:
        """A page may ask for so many parts, and a window that it opened for none."""
        frame = route.request.frame if not route.request.is_navigation_request() else None
        heard, popup = self._heard, frame is not None and frame.page is not self._tab
        heard.let += not popup
        if popup or heard.let > MOST_PARTS:
            heard.note(
                "a window that it opened was closed" if popup else f"only its first {MOST_PARTS} parts were asked for"
            )
            await route.abort("blockedbyclient")
        else:
            await route.continue_()

    def _aside(self, doing: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(doing)
        self._heard.doing.add(task)
        task.add_done_callback(self._heard.doing.discard)

    def _turned_away(self, popup: Tab) -> None:
        async def close() -> None:
            with contextlib.suppress(Exception):  # it may have closed by itself
                await popup.close()

        self._heard.note(CLOSED)
        self._aside(close())

    async def _dismissed(self, dialog: Dialog) -> None:
        if dialog.type == "beforeunload":
            with contextlib.suppress(Exception):
                await dialog.accept()  # it may be left
            return
        self._heard.note(f"a dialog was dismissed: {dialog.message[:200]}")
        with contextlib.suppress(Exception):  # the page may have gone meanwhile
            await dialog.dismiss()

    async def _refused(self, download: Download) -> None:
        self._heard.note(f"a download was refused: {download.url[:200]}")
        with contextlib.suppress(Exception):
            await download.cancel()

    def _began(self, _: Asked) -> None:
        self._heard.asked += 1
        self._heard.stir()

    def _ended(self) -> None:
        self._heard.ended += 1
        self._heard.stir()

    def _failed(self, asked: Asked) -> None:
        self._ended()
        code = asked.failure or "net::ERR_FAILED"
        if code in NOT_LOADED:
            return
        if code in ("net::ERR_TUNNEL_CONNECTION_FAILED", "net::ERR_PROXY_CONNECTION_FAILED"):
            parts = urlsplit(asked.url)
            code = self._causes.get(f"{parts.hostname}:{parts.port or 443}", code)
        self._unloaded(asked.url, asked.resource_type, code)

    def _answered(self, response: Response) -> None:
        if cause := response.headers.get(CAUSE.lower()):
            self._unloaded(response.url, response.request.resource_type, cause)
            return
        if response.status >= 400:
            self._unloaded(response.url, response.request.resource_type, f"HTTP {response.status}")
        self._heard.answers.append(response)

    def _unloaded(self, url: str, kind: str, code: str) -> None:
        if len(self._heard.unloaded) < MOST_TOLD:
            self._heard.unloaded.setdefault(url, Unloaded(url[:2_000], kind, code))

    def _complained(self, words: str) -> None:
        if len(self._heard.errors) < MOST_TOLD:
            self._heard.errors.append(" ".join(words.split())[:MOST_CHARS])

    async def _loaded(self, tab: Tab) -> None:
        try:
            async with asyncio.timeout(LOADS_WITHIN_S):
                await tab.wait_for_load_state("load", timeout=0)
        except TimeoutError:
            self._heard.note(f"it was still loading after {LOADS_WITHIN_S:g} s")
        await self._settled()

    async def _settled(self) -> None:
        """Wait until nothing has moved on the wire for a while, or that has taken too long."""
        heard, until = self._heard, time.monotonic() + SETTLES_WITHIN_S
        while (now := time.monotonic()) < until:
            if heard.asked <= heard.ended and now - heard.at >= QUIET_S:
                return
            await asyncio.sleep(0.05)
        self._heard.note("it never came to rest")

    async def _scrolled(self, tab: Tab) -> None:
        """Pictures that wait to be seen are seen."""
        before = self._heard.asked
        for screen in range(1, MOST_SCREENS + 1):
            if screen * HEIGHT_PX >= await tab.evaluate(HEIGHT):
                break
            await tab.evaluate(SCROLL, screen * HEIGHT_PX)
            await asyncio.sleep(0.05)  # observers are told in the next frame
        await tab.evaluate(SCROLL, 0)
        if self._heard.asked > before:
            await self._settled()

    async def _shot(self, tab: Tab) -> bytes:
        height = min(int(await tab.evaluate(HEIGHT)) or HEIGHT_PX, MOST_HEIGHT_PX)
        area: Any = {"x": 0, "y": 0, "width": WIDTH_PX, "height": height}
        try:
            async with asyncio.timeout(SHOT_WITHIN_S):
                return await tab.screenshot(full_page=True, clip=area, animations="disabled", timeout=0)
        except TimeoutError:
            self._heard.note(f"no screenshot was to be had within {SHOT_WITHIN_S:g} s")
            return b""

    async def _arrived(self, tab: Tab, main: Response | None, capture: Capture) -> Exchange | None:
        """The answer of the document that is shown, when scripts led away from the one that was asked for."""
        if urldefrag(tab.url).url == urldefrag(capture.final_url).url:
            return None
        documents = [r for r in self._heard.answers if r.request.is_navigation_request() and r.frame == tab.main_frame]
        shown = next((r for r in reversed(documents) if r.status < 300 or r.status >= 400), main)
        if shown is None or urldefrag(shown.url).url == urldefrag(capture.final_url).url:
            return None  # the history API changed what the bar shows; nothing else was read
        return await _exchange(shown)

    async def _parts(self, main_url: str) -> list[Exchange]:
        """The answers that the page was made of, whole ones only, within bounds."""
        wanted: dict[str, Response] = {}
        for response in self._heard.answers:
            url = urldefrag(response.url).url
            if url != main_url and url.startswith(("http:", "https:")) and not 300 <= response.status < 400:
                wanted.setdefault(url, response)
        read = await asyncio.gather(*(_exchange(response) for response in list(wanted.values())[:MOST_PARTS]))
        found: list[Exchange] = []
        for exchange in read:
            if exchange is not None:
                if sum(len(e.body) for e in found) + len(exchange.body) > MOST_PARTS_BYTES:
                    self._heard.note(f"of its parts only the first {MOST_PARTS_BYTES // 1_000_000} MB are kept")
                    break
                found.append(exchange)
        return found


async def _exchange(response: Response) -> Exchange | None:
    """A response as the browser tells it: its body decoded, its head without what the coding said."""
    try:
        async with asyncio.timeout(BODY_WITHIN_S):
            await response.finished()
            body = await response.body()
            headers = await response.headers_array()
    except Exception:  # its body went with the page that it was for, or never ended
        return None
    gone = ("content-encoding", "content-length", "transfer-encoding")
    kept = tuple((h["name"], h["value"].replace("\n", ", ")) for h in headers if h["name"].lower() not in gone)
    return Exchange(
        url=urldefrag(response.url).url,
        status=response.status,
        headers=kept,
        body=body,
        reason=response.status_text,
        started_at=datetime.now(UTC),
    )
