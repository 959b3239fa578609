"""Pages as a browser shows them: at most two at once, each in a context of its own, and every one comes to an end.

No evasion: the browser says who asks, fills in nothing, clicks nothing; a challenge stays a challenge.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from ..domain.capture import Capture, Deferred, Unrendered
from ..domain.source import FetchPolicy, RenderPolicy
from . import chromium
from .browser_page import BrokenOffError, Page
from .chromium import AbsentError, Chromium, StartError
from .guard import Guard
from .guard_proxy import GuardProxy
from .hosts import Hosts

if TYPE_CHECKING:
    from playwright.async_api import Playwright

AT_ONCE = 2  # a page takes 0.7 s of CPU and 100–200 MB (measured, Chromium 156)
PAGES_A_BROWSER = 100
MOST_S = 45.0  # one page; what the network may take is the fetch's to bound
CLOSES_WITHIN_S = 5.0
IDLE_S = 60.0  # a browser that nobody needs has 400 MB
RESTS_S = 600.0  # after one that did not start
WATCH_S = 0.5
MOST_MEMORY_BYTES = 2_000_000_000
MOST_PASSED_BYTES = 200_000_000  # that a page may load
HOW = "Playwright is not installed: `pip install 'sourcewatch[render]'`"

_log = logging.getLogger(__name__)


def _now() -> datetime:
    return datetime.now(UTC)


class Browser:
    """Chromium starts with the first page; it ends by `aclose`, or when nobody needs it. *user_agent* says who asks."""

    def __init__(
        self,
        guard: Guard,
        hosts: Hosts,
        policy: FetchPolicy,
        render: RenderPolicy,
        *,
        user_agent: str,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        self._guard, self._hosts, self._policy, self._render = guard, hosts, policy, render
        self._user_agent, self._clock = user_agent, clock
        self._room = asyncio.Semaphore(AT_ONCE)
        self._alone = asyncio.Lock()
        self._starting = asyncio.Lock()
        self._stack = contextlib.AsyncExitStack()
        self._playwright: Playwright | None = None
        self._proxy = GuardProxy(guard)
        self._engine: Chromium | None = None
        self._resting: asyncio.Task[None] | None = None
        self._failed: tuple[float, Unrendered] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End the browser and all that it needed."""
        if self._resting is not None:
            self._resting.cancel()
        await self._stop()

    async def _stop(self) -> None:
        engine, self._engine, self._playwright = self._engine, None, None
        if engine is not None:
            await engine.end()
        await self._stack.aclose()

    async def look(self) -> str:
        """Start it, and say what it is and how it is kept apart. Raises AbsentError."""
        engine = await self._at_hand()
        if isinstance(engine, Unrendered):
            raise AbsentError(engine.reason)
        apart = ["as a user of its own"] * engine.own_user + ["in its own sandbox"] * engine.sandboxed
        return f"{engine.version}, {', '.join(apart)}"

    async def render(self, capture: Capture, body: bytes) -> Capture | Unrendered | Deferred:
        """Show the page of *capture*, whose *body* is given without its coding, and read what its scripts make of it.

        The same capture comes back with its view, the answer with its `dom`. Unrendered, when no browser can, or the
        page does not come to an end; Deferred when its host wishes to be left alone. A browser that another page
        brought down is no fault of this one: it is read once more, alone.
        """
        host = urlsplit(capture.final_url).hostname or ""
        async with self._hosts.turn(host) as wish:
            if wish is not None:
                until_at = self._clock() + timedelta(seconds=wish)
                return Deferred(capture.final_url, until_at, f"{host} is left alone")
            async with self._room:
                seen, doubtful = await self._once(capture, body)
            if doubtful:
                async with self._alone, self._room, self._room:  # AT_ONCE: all there is
                    seen, _ = await self._once(capture, body)
            return seen

    async def _once(self, capture: Capture, body: bytes) -> tuple[Capture | Unrendered, bool]:
        """A page read, and whether it may be another's fault that it was not."""
        engine = await self._at_hand()
        if isinstance(engine, Unrendered):
            return engine, False
        seen = await self._read(engine, capture, body)
        return seen, isinstance(seen, Unrendered) and engine.gone.is_set() and engine.shared

    async def _read(self, engine: Chromium, capture: Capture, body: bytes) -> Capture | Unrendered:
        engine.pages += 1
        engine.reading += 1
        engine.shared |= engine.reading > 1
        page = Page(engine, self._proxy.causes, self._user_agent)
        watch = asyncio.ensure_future(self._watch(engine, page))
        try:
            async with asyncio.timeout(MOST_S):
                dom, view = await page.read(
                    capture.answer, body,
                    most_bytes=self._policy.max_bytes, screenshot=self._render.screenshot,
                )  # fmt: skip
        except TimeoutError:
            return Unrendered(f"the browser was not done with it after {MOST_S:g} s")
        except BrokenOffError as error:
            return Unrendered(str(error))
        finally:
            watch.cancel()
            engine.reading -= 1
            engine.shared &= bool(engine.reading) or engine.gone.is_set()
            await self._leave(engine, page)
        exchanges = (*capture.exchanges[:-1], replace(capture.answer, dom=dom))
        return replace(capture, exchanges=exchanges, seconds=capture.seconds + view.seconds, view=view)

    async def _watch(self, engine: Chromium, page: Page) -> None:
        """A page that eats the machine takes its browser with it; one that loads without end loads no more."""
        before, warned = self._proxy.passed_bytes, False
        while not engine.gone.is_set():
            if await asyncio.to_thread(engine.memory_bytes) > MOST_MEMORY_BYTES:
                engine.kill(f"it took more than {MOST_MEMORY_BYTES // 1_000_000:,} MB of memory")
            elif not warned and self._proxy.passed_bytes - before > MOST_PASSED_BYTES:
                page.cut_off(f"after {MOST_PASSED_BYTES // 1_000_000} MB it was let load no more")
                warned = True
            await asyncio.sleep(WATCH_S)

    async def _leave(self, engine: Chromium, page: Page) -> None:
        """Close what was read; a browser that cannot even do that, or has read enough, is ended."""
        try:
            async with asyncio.timeout(CLOSES_WITHIN_S):
                await page.close()
        except TimeoutError:
            engine.kill()
        if engine.gone.is_set() or (engine.pages >= PAGES_A_BROWSER and not engine.reading):
            await self._end(engine)
        elif not engine.reading:
            if self._resting is not None:
                self._resting.cancel()
            self._resting = asyncio.ensure_future(self._rest(engine))

    async def _rest(self, engine: Chromium) -> None:
        pages = engine.pages
        await asyncio.sleep(IDLE_S)
        async with self._starting:
            if engine is self._engine and engine.pages == pages:
                await self._stop()

    async def _end(self, engine: Chromium) -> None:
        if self._engine is engine:
            self._engine = None
        await engine.end()

    async def _at_hand(self) -> Chromium | Unrendered:
        """A browser that runs and has not read too much; why there is none, for as long as that is believed."""
        async with self._starting:
            if self._failed is not None and time.monotonic() < self._failed[0]:
                return self._failed[1]
            engine = self._engine
            if engine is not None and engine.pages >= PAGES_A_BROWSER:
                engine = self._engine = None  # whoever still reads in it ends it
            if engine is not None and not engine.gone.is_set():
                return engine
            try:
                self._engine = await self._started()
            except (AbsentError, StartError) as error:
                why = Unrendered(str(error), absent=True)
                self._failed = time.monotonic() + RESTS_S, why
                await self._stop()  # perhaps it is the driver that is ill
                _log.warning("pages that need a browser are read without one: %s", why.reason)
                return why
            return self._engine

    async def _started(self) -> Chromium:
        path = chromium.find(self._render.browser)
        if self._playwright is None:
            try:
                from playwright.async_api import async_playwright
            except ImportError as error:
                raise AbsentError(HOW) from error
            self._playwright = await self._stack.enter_async_context(async_playwright())
            await self._stack.enter_async_context(self._proxy)
        return await chromium.start(self._playwright, path, self._proxy.port, self._policy.ca_bundle)
