"""Pages as a browser shows them: at most two at once, each in a context of its own, none for longer than a fetch.

No evasion: the browser says who asks, fills in nothing, clicks nothing; a challenge stays a challenge.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from ..domain.capture import Capture, Request, Unrendered
from ..domain.source import FetchPolicy, RenderPolicy
from . import chromium
from .browser_page import CrashedError, Page
from .guard import Guard
from .guard_proxy import GuardProxy
from .hosts import MOST_WAIT_S, Hosts

if TYPE_CHECKING:
    from playwright.async_api import Playwright

AT_ONCE = 2  # a page takes 0.7 s of CPU and 100–200 MB (measured, Chromium 156)
PAGES_A_BROWSER = 100
CLOSES_WITHIN_S = 5.0
HOW = "Playwright is not installed: `pip install 'sourcewatch[render]'`"


class Browser:
    """Use as an async context manager; Chromium starts with the first page. *user_agent* says who asks."""

    def __init__(
        self, guard: Guard, hosts: Hosts, policy: FetchPolicy, render: RenderPolicy, *, user_agent: str
    ) -> None:
        self._guard, self._hosts, self._policy, self._render = guard, hosts, policy, render
        self._user_agent = user_agent
        self._room = asyncio.Semaphore(AT_ONCE)
        self._starting = asyncio.Lock()
        self._stack = contextlib.AsyncExitStack()
        self._playwright: Playwright | None = None
        self._proxy: GuardProxy | None = None
        self._engine: chromium.Chromium | None = None
        self._absent = ""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End the browser and all that it needed."""
        if self._engine is not None:
            await self._engine.end()
        await self._stack.aclose()

    async def look(self) -> str:
        """Start it, and say what it is and how it is kept apart. Raises AbsentError."""
        engine = await self._at_hand()
        apart = [f"as {chromium.USER}"] * engine.own_user + ["in its own sandbox"] * engine.sandboxed
        return f"{engine.version}, {', '.join(apart)}"

    async def render(self, request: Request, capture: Capture) -> Capture | Unrendered:
        """Read the page of *capture* once more, with its scripts: the same capture with its view and `dom`.

        Where scripts led to another address, its answer is the last exchange. A page that takes longer than a fetch
        may, or brings the browser down, is Unrendered.
        """
        if request.headers:  # the browser would send them along redirects, to whomever these name
            return Unrendered("headers of its own go to its origin alone, which a browser cannot promise")
        host = urlsplit(capture.final_url).hostname or ""
        if self._hosts.deferred_s(host) > MOST_WAIT_S:
            return Unrendered(f"{host} wishes to be left alone")
        async with self._room:
            try:
                engine = await self._at_hand()
            except chromium.AbsentError as error:
                return Unrendered(str(error), absent=True)
            async with self._hosts.turn(host) as wish:
                if wish is not None:
                    return Unrendered(f"{host} wishes to be left alone")
                return await self._read(engine, capture)

    async def _read(self, engine: chromium.Chromium, capture: Capture) -> Capture | Unrendered:
        engine.pages += 1
        engine.reading += 1
        page = Page(engine.browser, self._proxy_causes(), self._policy, self._render, self._user_agent)
        try:
            async with asyncio.timeout(self._policy.deadline_s):
                dom, view, last = await page.read(capture)
        except TimeoutError:
            return Unrendered(f"the browser was not done with it after {self._policy.deadline_s:g} s")
        except CrashedError as error:
            return Unrendered(str(error))
        finally:
            engine.reading -= 1
            await self._leave(engine, page)
        answer = replace(last or capture.answer, dom=dom)
        before = capture.exchanges if last else capture.exchanges[:-1]
        view = replace(view, browser=engine.version)
        return replace(capture, exchanges=(*before, answer), seconds=capture.seconds + view.seconds, view=view)

    async def _leave(self, engine: chromium.Chromium, page: Page) -> None:
        """Close what was read; a browser that cannot even do that, or has read enough, is ended."""
        try:
            async with asyncio.timeout(CLOSES_WITHIN_S):
                await page.close()
            stuck = not engine.browser.is_connected()
        except TimeoutError:
            stuck = True
        if stuck or (engine.pages >= PAGES_A_BROWSER and not engine.reading):
            if self._engine is engine:
                self._engine = None
            await engine.end()

    def _proxy_causes(self) -> dict[str, str]:
        assert self._proxy is not None
        return self._proxy.causes

    async def _at_hand(self) -> chromium.Chromium:
        """A browser that runs and has not read too much. Raises AbsentError."""
        async with self._starting:
            if self._absent:
                raise chromium.AbsentError(self._absent)  # it will not be there for the next page either
            engine = self._engine
            if engine is not None and engine.pages >= PAGES_A_BROWSER:
                engine = self._engine = None  # whoever still reads in it ends it
            if engine is not None and engine.browser.is_connected():
                return engine
            try:
                self._engine = await self._started()
            except chromium.AbsentError as error:
                self._absent = str(error)
                raise
            return self._engine

    async def _started(self) -> chromium.Chromium:
        path = chromium.find(self._render.browser)
        if self._playwright is None:
            try:
                from playwright.async_api import async_playwright
            except ImportError as error:
                raise chromium.AbsentError(HOW) from error
            self._playwright = await self._stack.enter_async_context(async_playwright())
            self._proxy = await self._stack.enter_async_context(GuardProxy(self._guard))
        assert self._proxy is not None
        return await chromium.start(self._playwright, path, self._proxy.port, self._policy.ca_bundle)
