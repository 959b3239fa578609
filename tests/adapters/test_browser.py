"""Pages in the system's Chromium: what is seen, what is refused, and that every page comes to an end."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest

from databases import skip
from site_of_pages import Answer, Site, page, serving
from sourcewatch.adapters import browser as browsers
from sourcewatch.adapters import chromium
from sourcewatch.adapters.browser import PAGES_A_BROWSER, Browser
from sourcewatch.adapters.browser_page import MOST_ASKED, MOST_TOLD
from sourcewatch.adapters.browser_parts import MOST_PARTS
from sourcewatch.adapters.certificates import Identity, issue, make_root, server_context
from sourcewatch.adapters.guard import Guard
from sourcewatch.adapters.guard_proxy import BLOCKED
from sourcewatch.adapters.hosts import Hosts
from sourcewatch.domain.capture import Capture, Deferred, Exchange, Unrendered
from sourcewatch.domain.source import FetchPolicy, HostPolicy, RenderPolicy
from web.server import Server
from web.server import Site as BareSite

AGENT = "sourcewatch/test (+https://notes.example/)"
NAMES = {"inside.example": "127.0.0.2", "pictures.example": "127.0.0.1"}
GONE_WITHIN_S = 60
_T = TypeVar("_T")
Seen = Capture | Unrendered | Deferred


@pytest.fixture(autouse=True, scope="module")
def _needs_chromium() -> None:
    if shutil.which("chromium") is None:
        skip("Chromium is not installed")


async def resolve(host: str, port: int) -> Sequence[str]:
    if host not in NAMES:
        raise socket.gaierror(socket.EAI_NONAME, "no such name")
    return [NAMES[host]]


@pytest.fixture(autouse=True, scope="module")
def _on_a_busy_machine() -> Iterator[None]:
    """A page's bound is for those that never end, which these tests give a shorter one; the others take their time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sourcewatch.adapters.browser.MOST_S", 240.0)
        yield


def a_browser(**policy_of: Any) -> Browser:
    policy = FetchPolicy(allow_networks=("127.0.0.1/32",), **policy_of)
    hosts = Hosts({"default": HostPolicy(0.0)})
    guard = Guard(policy.allow_networks, resolve)
    return Browser(guard, hosts, policy, RenderPolicy(), user_agent=AGENT)


def plain(url: str) -> Capture:
    """What plain HTTP brings."""
    with urllib.request.urlopen(url, timeout=60) as got:
        exchange = Exchange(url, got.status, tuple(got.headers.items()), got.read())
    return Capture(datetime.now(UTC), (exchange,))


async def shown(browser: Browser, url: str) -> Seen:
    capture = await asyncio.to_thread(plain, url)
    return await browser.render(capture, capture.answer.body)


@dataclass(frozen=True, slots=True)
class Reader:
    """A browser for many tests, in a loop of its own."""

    browser: Browser
    loop: asyncio.AbstractEventLoop

    def run(self, doing: Coroutine[Any, Any, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(doing, self.loop).result(300)

    def look(self, url: str) -> Seen:
        return self.run(shown(self.browser, url))

    def read(self, url: str) -> Capture:
        outcome = self.look(url)
        assert isinstance(outcome, Capture), outcome
        return outcome

    @property
    def engine(self) -> chromium.Chromium:
        assert self.browser._engine is not None
        return self.browser._engine


@contextmanager
def reading(browser: Callable[[], Browser]) -> Iterator[Reader]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def made() -> Browser:
        return browser()

    try:
        reader = Reader(asyncio.run_coroutine_threadsafe(made(), loop).result(10), loop)
        yield reader
        reader.run(reader.browser.aclose())
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> tuple[Identity, Path]:
    """A root that the browser trusts, where certutil can tell it so."""
    made, path = make_root(), tmp_path_factory.mktemp("root") / "root.pem"
    path.write_bytes(made.pem)
    return made, path


@pytest.fixture(scope="module")
def reader(root: tuple[Identity, Path]) -> Iterator[Reader]:
    with reading(lambda: a_browser(ca_bundle=str(root[1]))) as found:
        yield found


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as found:
        yield found


def html(body: bytes) -> bytes:
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def test_what_scripts_bring_is_read_and_what_failed_is_told_by_its_code(reader: Reader, site: Site) -> None:
    site.pages["/data"] = 200, {"Content-Type": "text/plain; charset=utf-8"}, "缓存命中率为九成六".encode()
    site.pages["/p"] = page(
        "Notes",
        '<div id="root"></div><img src="/gone.png" alt="线上系统实际统计">'
        '<img src="http://nobody.example/x.png" alt="no such host"><img src="/lazy.png" alt="lazy" loading="lazy">'
        '<script>fetch("/data").then(r => r.text()).then(t => { root.textContent = t }); console.error("oh")</script>'
        '<div style="height: 4000px"></div><img src="/far.png" alt="far" loading="lazy">',
    )
    capture = reader.read(site.url("/p"))
    assert "缓存命中率为九成六" in capture.answer.dom.decode()
    assert (capture.answer.body, capture.final_url) == (site.pages["/p"][2], site.url("/p"))
    view = capture.view
    assert view is not None and view.browser.startswith("Chromium ")
    assert {(b.alt, b.code) for b in view.broken} == {
        ("线上系统实际统计", "HTTP 404"), ("no such host", "net::ERR_NAME_NOT_RESOLVED"),
        ("lazy", "HTTP 404"), ("far", "HTTP 404"),
    }  # fmt: skip
    assert view.errors == ("oh",)
    assert view.screenshot.startswith(b"\x89PNG")
    assert {(o.url.rpartition("/")[2], o.status) for o in view.others} >= {("data", 200), ("gone.png", 404)}
    asked = [headers for path, headers in site.asked if path == "/data"]
    assert asked[0]["user-agent"] == AGENT, "the browser says who asks"
    assert [path for path, _ in site.asked].count("/p") == 1, "the page itself is asked for once"


def test_text_in_shadow_roots_is_read_and_what_stands_for_missing_scripts_is_not(reader: Reader, site: Site) -> None:
    site.pages["/p"] = page(
        "Parts",
        "<x-note>light</x-note><noscript>Please enable JavaScript.</noscript><script>customElements.define('x-note',"
        "class extends HTMLElement { connectedCallback() {"
        "this.attachShadow({mode: 'open'}).innerHTML = '<p>in the shadow: <slot></slot></p>' } })</script>",
    )
    dom = reader.read(site.url("/p")).answer.dom
    assert b'<template shadowrootmode="open"><p>in the shadow: <slot></slot></p></template>light</x-note>' in dom
    assert b"Please enable" not in dom


def test_no_script_of_a_page_forges_what_is_read_of_it(reader: Reader, site: Site) -> None:
    forging = "Element.prototype.getHTML = () => 'forged'; Document.prototype.querySelectorAll = () => { throw 1 }"
    site.pages["/p"] = page("P", f"<p>text</p><script>{forging}</script>")
    dom = reader.read(site.url("/p")).answer.dom
    assert b"<p>text</p>" in dom and dom.endswith(b"</html>")


WAYS = (
    '<img src="{url}">',
    '<iframe src="{url}"></iframe>',
    '<script src="{url}"></script>',
    '<link rel="stylesheet" href="{url}">',
    '<img src="/away">',
    '<script>fetch("{url}").catch(() => 0)</script>',
    '<script>navigator.sendBeacon("{url}", "x")</script>',
    '<script>new WebSocket("{url}".replace("http", "ws"))</script>',
    '<video src="{url}" autoplay></video>',
    '<script>new Worker(URL.createObjectURL(new Blob([`fetch("{url}").catch(() => 0)`])))</script>',
)


@pytest.mark.parametrize("name", ["127.0.0.2", "inside.example"])
def test_no_page_reaches_a_private_address(reader: Reader, site: Site, name: str) -> None:
    with serving("127.0.0.2") as inside:
        secret = f"http://{name}:{inside.port}/secret"
        site.pages["/away"] = 302, {"Location": secret}, b""
        site.pages["/p"] = page("P", "".join(WAYS).replace("{url}", secret))
        view = reader.read(site.url("/p")).view
        assert inside.asked == []
    assert view is not None and {u.url: u.code for u in view.unloaded}[secret] == BLOCKED


LEAVING = {
    "by script": '<script>location.href = "{url}"</script>',
    "later": '<script>setTimeout(() => location.replace("{url}"), 50)</script>',
    "by meta refresh": '<meta http-equiv="refresh" content="0; url={url}">',
    "by a click": '<a id="a" href="{url}">on</a><script>a.click()</script>',
}


@pytest.mark.parametrize("way", LEAVING)
def test_where_scripts_lead_on_is_told_and_not_asked(reader: Reader, site: Site, way: str) -> None:
    with serving("127.0.0.2") as inside:
        inside.pages["/secret"] = page("Secret", "<p>secret</p>")
        site.pages["/p"] = page("P", "<p>stub</p>" + LEAVING[way].replace("{url}", inside.url("/secret")))
        capture = reader.read(site.url("/p"))
        assert inside.asked == []
    assert capture.view is not None and capture.view.onward == inside.url("/secret")
    assert b"<p>stub</p>" in capture.answer.dom, "and never the browser's own page of errors"


@pytest.mark.parametrize(
    ("script", "note"),
    [
        ("location.reload()", "it wanted to load itself anew, and was not let"),
        ("f.submit()", "a form that it sent to {url} was held back"),
    ],
)
def test_a_page_that_sends_itself_away_and_back_is_read_as_it_came(
    reader: Reader, site: Site, script: str, note: str
) -> None:
    site.pages["/p"] = page(
        "P", f'<p>text</p><form id="f" method="post" action="/form"></form><script>{script}</script>'
    )
    capture = reader.read(site.url("/p"))
    assert capture.view is not None and capture.view.onward == ""
    assert b"<p>text</p>" in capture.answer.dom and note.replace("{url}", site.url("/form")) in capture.view.notes
    assert [path for path, _ in site.asked if path != "/favicon.ico"] == ["/p"]


@contextmanager
def tls_host(identity: Identity) -> Iterator[str]:
    png = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 0\r\n\r\n"
    with Server(BareSite({"/a.png": png}), context=server_context(identity)) as server:
        yield f"https://pictures.example:{server.port}/a.png"


def test_the_text_is_read_while_the_picture_host_fails_by_its_certificate(
    reader: Reader, site: Site, root: tuple[Identity, Path]
) -> None:
    names, then = ["pictures.example"], datetime.now(UTC) - timedelta(days=9)
    hosts = {"net::ERR_CERT_AUTHORITY_INVALID": issue(make_root("a root that nobody knows"), names)}
    if shutil.which("certutil") is not None:  # the browser trusts our root only where that can tell it to
        hosts |= {
            "net::ERR_CERT_DATE_INVALID": issue(root[0], names, not_before=then, days=3),
            "net::ERR_CERT_COMMON_NAME_INVALID": issue(root[0], ["other.example"]),
        }
    with ExitStack() as stack:
        pictures = {code: stack.enter_context(tls_host(identity)) for code, identity in hosts.items()}
        shows = "".join(f'<img src="{url}" alt="统计图 {code}">' for code, url in pictures.items())
        site.pages["/p"] = page("文章", f"<p>正文读得到。</p>{shows}")
        capture = reader.read(site.url("/p"))
    assert capture.view is not None and "正文读得到" in capture.answer.dom.decode()
    assert {(b.alt, b.code) for b in capture.view.broken} == {(f"统计图 {code}", code) for code in hosts}


NUISANCES: dict[str, tuple[str, str]] = {
    "dialogs": ('<script>alert("one"); confirm("two"); prompt("three")</script>', "a dialog was dismissed: one"),
    "a question before it is left": (
        '<script>onbeforeunload = (e) => { e.preventDefault(); return "stay" }</script>', "",
    ),
    "windows": ('<script>for (let i = 0; i < 50; i++) open("/other")</script>', ""),
    "endless scrolling": (
        '<script>onscroll = () => { const d = document.createElement("div"); d.style.height = "2000px";'
        "document.body.append(d) }</script><div style='height: 3000px'></div>", "",
    ),
    "wishes without end": (
        '<script>setInterval(() => fetch("/data?" + Math.random()).catch(() => 0), 50)</script>',
        "it never came to rest",
    ),
    "ten thousand pictures": (
        '<script>for (let i = 0; i < 10000; i++) { const p = new Image(); p.src = "/p" + i; document.body.append(p) }'
        "</script>", f"after {MOST_ASKED} parts it was let load no more",
    ),
    "a canvas of 2 GB": (
        '<script>const c = document.createElement("canvas"); c.width = c.height = 22000;'
        "document.body.append(c); c.getContext('2d').fillRect(0, 0, 9, 9)</script>", "",
    ),
    "a download": ('<iframe src="/file"></iframe>', ""),
    "chatter": ('<script>for (let i = 0; i < 3000; i++) console.error("x".repeat(2000) + i)</script>', ""),
    "a service worker": ('<script>navigator.serviceWorker?.register("/sw.js")</script>', ""),
    "sockets": ('<script>setInterval(() => new WebSocket("ws://nobody.example/"), 50)</script>', ""),
    "no document": ('<script>addEventListener("load", () => document.body.remove())</script><!--', ""),
}  # fmt: skip


@pytest.mark.parametrize("nuisance", NUISANCES)
def test_no_nuisance_keeps_a_page_from_coming_to_its_end(reader: Reader, site: Site, nuisance: str) -> None:
    body, note = NUISANCES[nuisance]
    site.pages["/p"] = page("P", f"<p>text</p>{body}")
    site.pages["/file"] = 200, {"Content-Type": "application/zip", "Content-Disposition": "attachment"}, b"PK"
    capture = reader.read(site.url("/p"))
    assert capture.view is not None
    assert (b"<p>text</p>" in capture.answer.dom) == (nuisance != "no document")
    assert note in ("", *capture.view.notes)
    assert len(capture.view.others) <= MOST_PARTS and len(capture.view.unloaded) <= MOST_TOLD
    assert sum(len(words) for words in capture.view.errors) < 50_000
    assert not any(path in ("/other", "/sw.js") for path, _ in site.asked)


def test_a_page_that_grows_too_big_to_keep_is_not_read(
    reader: Reader, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader.browser, "_policy", FetchPolicy(max_bytes=100_000))
    growing = (
        "for (let i = 0; i < 5000; i++) document.body.append('paragraph after paragraph', document.createElement('p'))"
    )
    site.pages["/p"] = page("P", f"<script>{growing}</script>")
    assert reader.look(site.url("/p")) == Unrendered("the page grew to more than 100,000 characters")


def test_a_page_that_hangs_is_left_in_time_and_the_next_one_is_read(
    reader: Reader, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.pages["/hang"] = page("Hang", "<script>while (true) {}</script>")
    site.pages["/good"] = page("Good", "<p>well</p>")
    with monkeypatch.context() as hurried:
        hurried.setattr(browsers, "MOST_S", 4.0)
        assert reader.look(site.url("/hang")) == Unrendered("the browser was not done with it after 4 s")
    assert b"well" in reader.read(site.url("/good")).answer.dom


def test_a_page_that_eats_the_machine_takes_only_its_browser_along(
    reader: Reader, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browsers, "MOST_MEMORY_BYTES", 700_000_000)
    eating = "setInterval(() => { const a = new Uint8Array(1 << 26); a.fill(1); kept.push(a) }, 20)"
    site.pages["/p"] = page("P", f"<script>const kept = []; {eating}; fetch('/slow')</script>")
    waits = threading.Event()
    site.pages["/slow"] = lambda _: (waits.wait(100), page("slow", ""))[1]
    try:
        assert reader.look(site.url("/p")) == Unrendered("it took more than 700 MB of memory")
    finally:
        waits.set()
    monkeypatch.undo()
    site.pages["/good"] = page("Good", "<p>well</p>")
    assert b"well" in reader.read(site.url("/good")).answer.dom


def test_a_browser_that_is_killed_costs_one_page_and_not_the_one_beside_it(reader: Reader, site: Site) -> None:
    """The second page is at another host: those of one host are read one after the other."""
    beside, killed = threading.Event(), threading.Event()

    def kill(_: dict[str, str]) -> Answer:
        beside.wait(60)
        os.killpg(reader.engine.group, signal.SIGKILL)
        killed.set()
        return 404, {}, b""

    def wait(_: dict[str, str]) -> Answer:
        beside.set()
        killed.wait(60)
        return 404, {}, b""

    site.pages |= {"/bad": page("Bad", '<img src="/kill">'), "/kill": kill, "/wait": wait}
    site.pages["/good"] = page("Good", '<p>well</p><img src="/wait">')

    async def both() -> tuple[Seen, Seen]:
        bad, good = plain(site.url("/bad")), plain(site.url("/good"))
        elsewhere = replace(good, exchanges=(replace(good.answer, url=f"http://pictures.example:{site.port}/good"),))
        first = reader.browser.render(bad, bad.answer.body)
        second = reader.browser.render(elsewhere, good.answer.body)
        return await asyncio.gather(first, second)

    bad, good = reader.run(both())
    assert bad == Unrendered("the browser ended in the middle of the page")
    assert isinstance(good, Capture) and b"well" in good.answer.dom


def test_a_browser_that_has_read_enough_makes_room_for_a_new_one_and_leaves_nothing_behind(
    reader: Reader, site: Site
) -> None:
    site.pages["/p"] = page("P", "<p>well</p>")
    reader.read(site.url("/p"))
    first = reader.engine
    first.pages = PAGES_A_BROWSER - 1
    reader.read(site.url("/p"))
    assert first.gone.is_set()
    _await_end_of(first.group)
    reader.read(site.url("/p"))
    assert reader.engine is not first


def test_a_browser_runs_apart_from_us(reader: Reader, site: Site) -> None:
    site.pages["/p"] = page("P", "<p>well</p>")
    reader.read(site.url("/p"))
    engine = reader.engine
    owners = {uid for pid in chromium._members(engine.group) if (uid := _owner(pid)) is not None}
    assert owners and 0 not in owners, "never as root"
    assert engine.sandboxed or engine.own_user
    assert engine.memory_bytes() > 10_000_000


def _owner(pid: int) -> int | None:
    try:
        return Path(f"/proc/{pid}").stat().st_uid
    except FileNotFoundError:
        return None  # a helper of the browser that has ended since


def test_no_browser_outlives_us_however_we_end(site: Site, tmp_path: Path) -> None:
    site.pages["/p"] = page("P", '<img src="/waits">')
    waits = threading.Event()
    site.pages["/waits"] = lambda _: (waits.wait(100), (404, {}, b""))[1]
    script = (
        "import asyncio, test_browser as t\n"
        "async def main():\n"
        "    browser = t.a_browser()\n"
        f"    page = asyncio.ensure_future(t.shown(browser, {site.url('/p')!r}))\n"
        "    while browser._engine is None: await asyncio.sleep(0.02)\n"
        "    print(browser._engine.group, flush=True)\n"
        "    await page\n"
        "asyncio.run(main())\n"
    )
    path = os.pathsep.join([str(Path(__file__).parent), str(Path(__file__).parents[1]), *sys.path])
    child = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}
    )
    with child:
        assert child.stdout is not None
        group = int(child.stdout.readline())
        assert chromium._members(group)
        child.kill()
        child.wait()
        _await_end_of(group)
    waits.set()


def _await_end_of(group: int) -> None:
    until = time.monotonic() + GONE_WITHIN_S
    while alive := [pid for pid in chromium._members(group) if _state(pid) not in ("Z", "")]:
        assert time.monotonic() < until, f"still there: {alive}"
        time.sleep(0.05)


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ("", "no Chromium is installed: `apt install chromium`, or name one by [render] browser"),
        ("/none/such", "there is no browser at /none/such, which [render] browser names"),
    ],
)
def test_without_a_browser_one_sentence_says_how_to_get_one(
    site: Site, monkeypatch: pytest.MonkeyPatch, named: str, sentence: str
) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_: None)
    site.pages["/p"] = page("P", "")

    async def once() -> Seen:
        policy = FetchPolicy(allow_networks=("127.0.0.1/32",))
        hosts = Hosts({"default": HostPolicy(0.0)})
        async with Browser(Guard(), hosts, policy, RenderPolicy(named), user_agent=AGENT) as found:
            return await shown(found, site.url("/p"))

    assert asyncio.run(once()) == Unrendered(sentence, absent=True)


def test_a_host_that_wishes_to_be_left_alone_is(site: Site) -> None:
    site.pages["/p"] = page("P", "")

    async def once() -> Seen:
        browser = a_browser()
        browser._hosts.answered("127.0.0.1", Exchange(site.url("/"), 429, (("Retry-After", "3600"),)))
        return await shown(browser, site.url("/p"))

    outcome = asyncio.run(once())
    assert isinstance(outcome, Deferred) and outcome.until_at > datetime.now(UTC) + timedelta(minutes=50)
