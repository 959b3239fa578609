"""Pages in the system's Chromium: what is seen, what is refused, and that every page comes to an end."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import ssl
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from databases import skip
from site_of_pages import Site, page, serving
from sourcewatch.adapters import chromium as engines
from sourcewatch.adapters.browser import PAGES_A_BROWSER, Browser
from sourcewatch.adapters.certificates import issue, make_root, server_context
from sourcewatch.adapters.guard import Guard
from sourcewatch.adapters.guard_proxy import BLOCKED
from sourcewatch.adapters.hosts import Hosts
from sourcewatch.domain.capture import Capture, Exchange, Request, Unrendered
from sourcewatch.domain.source import FetchPolicy, Header, HostPolicy, RenderPolicy

AGENT = "sourcewatch/test (+https://notes.example/)"
LOOPBACK = FetchPolicy(allow_networks=("127.0.0.1/32",), deadline_s=180.0)


@pytest.fixture(autouse=True)
def _needs_chromium() -> None:
    if shutil.which("chromium") is None:
        skip("Chromium is not installed")


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as found:
        yield found


@asynccontextmanager
async def browser(policy: FetchPolicy = LOOPBACK, **render: Any) -> AsyncIterator[Browser]:
    async with Browser(
        Guard(policy.allow_networks),
        Hosts({"default": HostPolicy(0.0)}),
        policy,
        RenderPolicy(**render),
        user_agent=AGENT,
    ) as found:
        yield found


async def read(found: Browser, url: str, **request: Any) -> Capture | Unrendered:
    plain = Exchange(url, 200, (("Content-Type", "text/html"),), b"<p>the plain answer</p>")
    return await found.render(Request(url, **request), Capture(datetime.now(UTC), (plain,)))


def seen(url: str, policy: FetchPolicy = LOOPBACK, **request: Any) -> Capture:
    """One page in a browser of its own."""

    async def once() -> Capture | Unrendered:
        async with browser(policy) as found:
            return await read(found, url, **request)

    outcome = asyncio.run(once())
    assert isinstance(outcome, Capture), outcome
    return outcome


def test_what_scripts_bring_is_read_and_what_failed_is_told_by_its_code(site: Site) -> None:
    site.pages["/data"] = 200, {"Content-Type": "text/plain; charset=utf-8"}, "缓存命中率为九成六".encode()
    site.pages["/p"] = page(
        "Notes",
        '<div id="root"></div><img src="/gone.png" alt="线上系统实际统计">'
        '<img src="/lazy.png" alt="lazy" loading="lazy">'
        '<script>fetch("/data").then(r => r.text()).then(t => { root.textContent = t }); console.error("oh")</script>'
        '<div style="height: 4000px"></div><img src="/far.png" alt="far" loading="lazy">',
    )
    capture = seen(site.url("/p"))
    assert "缓存命中率为九成六" in capture.answer.dom.decode()
    assert capture.answer.body == b"<p>the plain answer</p>" and capture.final_url == site.url("/p")
    view = capture.view
    assert view is not None and view.browser.startswith("Chromium ")
    assert [(b.alt, b.code) for b in view.broken] == [
        ("线上系统实际统计", "HTTP 404"), ("lazy", "HTTP 404"), ("far", "HTTP 404"),
    ]  # fmt: skip
    assert "oh" in view.errors
    assert view.screenshot.startswith(b"\x89PNG")
    assert {(o.url.rpartition("/")[2], o.status) for o in view.others} >= {("data", 200), ("gone.png", 404)}
    asked = [headers for path, headers in site.asked if path == "/data"]
    assert asked[0]["user-agent"] == AGENT, "the browser says who asks"


WAYS = (
    '<img src="{url}">',
    '<iframe src="{url}"></iframe>',
    '<script src="{url}"></script>',
    '<link rel="stylesheet" href="{url}">',
    '<img src="/away">',
    '<script>fetch("{url}").catch(() => 0)</script>',
    '<script>navigator.sendBeacon("{url}", "x")</script>',
)


def test_no_page_reaches_a_private_address(site: Site) -> None:
    async def all_of_them(ways: int) -> list[Capture | Unrendered]:
        async with browser(screenshot=False) as found:
            return [await read(found, site.url(f"/{n}")) for n in range(ways)]

    with serving("127.0.0.2") as inside:
        secret = inside.url("/secret")
        site.pages["/away"] = 302, {"Location": secret}, b""
        for n, way in enumerate(WAYS):
            site.pages[f"/{n}"] = page("P", way.replace("{url}", secret))
        outcomes = asyncio.run(all_of_them(len(WAYS)))
        assert inside.asked == []
    for way, outcome in zip(WAYS, outcomes, strict=True):
        assert isinstance(outcome, Capture) and outcome.view is not None, way
        if "fetch" not in way and "sendBeacon" not in way:  # scripts are told less of what became of their wishes
            assert {u.url: u.code for u in outcome.view.unloaded}.get(secret) == BLOCKED, way


def test_a_page_that_moves_to_a_private_address_is_not_read(site: Site) -> None:
    async def twice() -> list[Capture | Unrendered]:
        async with browser() as found:
            return [await read(found, site.url(path)) for path in ("/by-script", "/by-answer")]

    with serving("127.0.0.2") as inside:
        inside.pages["/secret"] = page("Secret", "<p>secret</p>")
        site.pages["/by-answer"] = 302, {"Location": inside.url("/secret")}, b""
        site.pages["/by-script"] = page("P", f'<script>location = "{inside.url("/secret")}"</script>')
        outcomes = asyncio.run(twice())
        assert inside.asked == []
    for outcome in outcomes:
        assert isinstance(outcome, Unrendered) or b"secret</p>" not in outcome.answer.dom


@pytest.fixture
def untrusted() -> Iterator[str]:
    """A picture host whose certificate nobody vouches for; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.handle_error = lambda *_: None  # type: ignore[method-assign]
        context: ssl.SSLContext = server_context(issue(make_root("a root that nobody knows"), ["localhost"]))
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield f"https://localhost:{server.server_address[1]}"
        server.shutdown()


def test_the_text_is_read_while_the_picture_host_fails_with_a_certificate_error(site: Site, untrusted: str) -> None:
    site.pages["/p"] = page("文章", f'<p>正文读得到。</p><img src="{untrusted}/a.png" alt="统计图">')
    policy = FetchPolicy(allow_networks=("127.0.0.1/32", "::1/128"), deadline_s=60.0)
    capture = seen(site.url("/p"), policy)
    assert capture.view is not None and "正文读得到" in capture.answer.dom.decode()
    assert [(b.alt, b.code) for b in capture.view.broken] == [("统计图", "net::ERR_CERT_AUTHORITY_INVALID")]


def test_a_page_that_never_ends_is_left_in_time_and_the_next_one_is_read(site: Site) -> None:
    hung = FetchPolicy(allow_networks=("127.0.0.1/32",), deadline_s=6.0)
    site.pages["/hang"] = page("Hang", "<script>while (true) {}</script>")
    site.pages["/good"] = page("Good", "<p>well</p>")

    async def both() -> tuple[Capture | Unrendered, Capture | Unrendered]:
        async with browser(hung, screenshot=False) as found:
            first = await read(found, site.url("/hang"))
            found._policy = LOOPBACK  # the second is not to depend on how busy the machine is
            return first, await read(found, site.url("/good"))

    first, second = asyncio.run(both())
    assert first == Unrendered("the browser was not done with it after 6 s")
    assert isinstance(second, Capture) and b"well" in second.answer.dom


NUISANCES: dict[str, tuple[str, str]] = {
    "dialogs": (
        '<p>text</p><script>alert("one"); confirm("two"); prompt("three")</script>', "a dialog was dismissed: one",
    ),
    "a question before it is left": (
        '<p>text</p><script>onbeforeunload = (e) => { e.preventDefault(); return "stay" }</script>', "",
    ),
    "a window": ('<p>text</p><script>open("/other")</script>', "a window that it opened was closed"),
    "endless scrolling": (
        '<p>text</p><script>onscroll = () => { const d = document.createElement("div"); d.style.height = "2000px";'
        "document.body.append(d) }</script><div style='height: 3000px'></div>", "",
    ),
    "a socket that never rests": (
        '<p>text</p><script>setInterval(() => fetch("/data?" + Math.random()).catch(() => 0), 100)</script>',
        "it never came to rest",
    ),
    "thousands of pictures": (
        '<p>text</p><script>for (let i = 0; i < 2000; i++) { const p = new Image(); p.src = "/p" + i;'
        "document.body.append(p) }</script>", "only its first 400 parts were asked for",
    ),
    "a canvas of 2 GB": (
        '<p>text</p><script>const c = document.createElement("canvas"); c.width = c.height = 22000;'
        "document.body.append(c); c.getContext('2d').fillRect(0, 0, 9, 9)</script>", "",
    ),
    "a download": ('<p>text</p><iframe src="/file"></iframe>', ""),
}  # fmt: skip


def test_no_nuisance_keeps_a_page_from_being_read(site: Site) -> None:
    site.pages["/file"] = 200, {"Content-Type": "application/zip", "Content-Disposition": "attachment"}, b"PK"
    for n, (body, _) in enumerate(NUISANCES.values()):
        site.pages[f"/{n}"] = page("P", body)

    async def all_of_them() -> list[Capture | Unrendered]:
        async with browser() as found:
            return await asyncio.gather(*(read(found, site.url(f"/{n}")) for n in range(len(NUISANCES))))

    for (name, (_, note)), outcome in zip(NUISANCES.items(), asyncio.run(all_of_them()), strict=True):
        assert isinstance(outcome, Capture), (name, outcome)
        assert "<p>text</p>" in outcome.answer.dom.decode(), name
        assert outcome.view is not None
        assert note in ("", *outcome.view.notes), (name, outcome.view.notes)
        assert len(outcome.view.others) <= 400 and len(outcome.view.unloaded) <= 100


def test_a_browser_that_is_killed_costs_one_page(site: Site) -> None:
    site.pages["/good"] = page("Good", "<p>well</p>")

    async def killed() -> tuple[Capture | Unrendered, Capture | Unrendered]:
        async with browser() as found:
            await read(found, site.url("/good"))
            engine = found._engine
            assert engine is not None
            pid = int((engine.folder / "pid").read_text())
            site.pages["/kill"] = lambda _: (os.killpg(pid, signal.SIGKILL), page("P", "never"))[1]
            return await read(found, site.url("/kill")), await read(found, site.url("/good"))

    first, second = asyncio.run(killed())
    assert isinstance(first, Unrendered) and not first.absent
    assert isinstance(second, Capture)


def test_a_browser_that_has_read_enough_makes_room_for_a_new_one_and_leaves_nothing_behind(site: Site) -> None:
    site.pages["/p"] = page("P", "<p>well</p>")

    async def many() -> list[Path]:
        async with browser(screenshot=False) as found:
            await read(found, site.url("/p"))
            assert found._engine is not None
            first = found._engine.folder
            found._engine.pages = PAGES_A_BROWSER - 1
            await read(found, site.url("/p"))
            await read(found, site.url("/p"))
            assert found._engine is not None and found._engine.folder != first
            return [first, found._engine.folder]

    assert not any(folder.exists() for folder in asyncio.run(many()))


def test_a_browser_runs_apart_from_us(site: Site) -> None:
    site.pages["/p"] = page("P", "<p>well</p>")

    async def whose() -> tuple[set[int], bool]:
        async with browser() as found:
            await read(found, site.url("/p"))
            engine = found._engine
            assert engine is not None
            pid = int((engine.folder / "pid").read_text())
            return {os.stat(f"/proc/{pid}").st_uid}, engine.sandboxed  # noqa: PTH116

    owners, sandboxed = asyncio.run(whose())
    assert 0 not in owners, "never as root"
    assert sandboxed or os.geteuid() == 0


def test_headers_of_a_source_are_never_given_to_a_browser(site: Site) -> None:
    async def once() -> Capture | Unrendered:
        async with browser() as found:
            return await read(found, site.url("/p"), headers=(Header("X-Key", "s3cret", secret=True),))

    assert isinstance(asyncio.run(once()), Unrendered) and site.asked == []


def test_scripts_that_lead_elsewhere_give_the_answer_that_they_led_to(site: Site) -> None:
    site.pages["/old"] = page("Old", '<script>location.replace("/new")</script>')
    site.pages["/new"] = page("New", "<p>it is here now</p>")
    capture = seen(site.url("/old"))
    assert [e.url for e in capture.exchanges] == [site.url("/old"), site.url("/new")]
    assert b"it is here now" in capture.answer.dom and capture.answer.status == 200


def _no_browser(_: str = "") -> str:
    raise engines.AbsentError("no Chromium is installed: `apt install chromium`")


@pytest.mark.parametrize("break_it", [lambda m: m.setattr(engines, "find", _no_browser)])
def test_without_a_browser_one_sentence_says_how_to_get_one(
    site: Site, monkeypatch: pytest.MonkeyPatch, break_it: Callable[[pytest.MonkeyPatch], None]
) -> None:
    break_it(monkeypatch)

    async def once() -> Capture | Unrendered:
        async with browser() as found:
            return await read(found, site.url("/p"))

    assert asyncio.run(once()) == Unrendered("no Chromium is installed: `apt install chromium`", absent=True)


def test_a_browser_that_is_named_but_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(engines.AbsentError, match=r"which \[render\] browser names"):
        engines.find(str(tmp_path / "none"))
