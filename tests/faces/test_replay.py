"""Replay over HTTP: the right memento, named in the words of RFC 7089, and harmless in a real browser."""

from __future__ import annotations

import gzip
import http.client
import json
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from memento_client import MementoClient
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from browser import Beacon, beacon, dom
from live import live
from pictures import png
from site_of_pages import Site, page, row, serving
from sourcewatch.faces.web.app import answered_for
from watch import Watch

FIRST = datetime(2026, 10, 20, 11, 3, tzinfo=UTC)
SECOND, THIRD = FIRST + timedelta(days=1), FIRST + timedelta(days=16)
PARAGRAPH = "<p>A paragraph that says what the operators of the cluster measured over a whole week of service.</p>"
HEAD = "<!doctype html><html><head><title>{title}</title>"


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass(frozen=True, slots=True)
class Face:
    """Our server, the site that it archived, and the beacon that the hostile page wants to call."""

    base: str
    site: Site
    beacon: Beacon
    started: threading.Event
    ended: threading.Event

    def ask(self, path: str, method: str = "GET", **headers: str) -> Answer:
        connection = http.client.HTTPConnection(urlsplit(self.base).netloc, timeout=60)
        try:
            connection.request(method, path, headers={k.replace("_", "-"): v for k, v in headers.items()})
            answer = connection.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()


def hostile(beacon: Beacon) -> bytes:
    """A page that wants to run scripts and to tell somebody that it is read, in every way that we know."""
    url = beacon.url
    return f"""{HEAD.format(title="Hostile")}
<meta http-equiv="refresh" content="31; url={url("refresh")}"><base href="{url("")}">
<link rel="stylesheet" href="{url("css")}"><link rel="icon" href="{url("icon")}">
<link rel="preconnect" href="{url("")}"><link rel="dns-prefetch" href="{url("")}">
<link rel="prefetch" href="{url("prefetch")}"><link rel="preload" as="image" href="{url("preload")}">
<link rel="modulepreload" href="{url("module.js")}"><link rel="manifest" href="{url("manifest")}">
<style>@import "{url("import")}"; body {{ background: url({url("background")}) }}
@font-face {{ font-family: f; src: url({url("font")}) }} p {{ font-family: f }}</style>
<script>document.title = "script" + " ran"; fetch("{url("fetch")}"); navigator.sendBeacon("{url("send")}")</script>
<script src="{url("script")}"></script></head>
<body onload="document.body.append('script' + ' ran')"><main><h1>Hostile page</h1>{PARAGRAPH * 12}
<img src="{url("img")}" onerror="document.body.append('script' + ' ran')"><img srcset="{url("srcset")} 2x">
<iframe src="{url("frame")}"></iframe>
<iframe srcdoc="<script>parent.document.title='script' + ' ran'</script>"></iframe>
<object data="{url("object")}"></object><embed src="{url("embed")}"><video src="{url("video")}" autoplay></video>
<audio src="{url("audio")}" autoplay></audio>
<svg><image href="{url("svg")}"/><script>document.title = "script" + " ran"</script></svg>
<iframe name="t"></iframe><form target="t" action="{url("form")}"><input autofocus onfocus="this.form.submit()"></form>
<input type="image" src="{url("input")}"></main></body></html>""".encode()


@pytest.fixture(scope="module")
def face(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Face]:
    folder = tmp_path_factory.mktemp("archive")
    with serving() as site, beacon() as who:
        _archive(Watch(folder), site, who)
        started, ended = threading.Event(), threading.Event()

        def slow(_: Request) -> Response:
            started.set()
            return PlainTextResponse("at last" if ended.wait(30) else "never")

        with live(folder, Route("/slow", slow)) as base:
            who.heard.clear()
            yield Face(base, site, who, started, ended)


def _archive(watch: Watch, site: Site, who: Beacon) -> None:
    notice = "<p>集群每天处理的词元数量已经公布。</p>" * 6
    gbk = f"{HEAD.format(title='公告')}</head><body><main><h1>公告</h1>{notice}</main>"
    evil = {"Set-Cookie": "id=1", "Refresh": f"0; url={who.url('header')}", "Link": f"<{who.url('l')}>; rel=preload"}
    html = {"Content-Type": "text/html; charset=utf-8"}
    site.pages["/panel.png"] = (200, {"Content-Type": "image/png"}, png())
    site.pages["/hostile"] = (200, {**html, **evil}, hostile(who))
    site.pages["/gbk"] = (
        200, {"Content-Type": "text/html; charset=gbk", "Content-Encoding": "gzip"}, gzip.compress(gbk.encode("gbk")),
    )  # fmt: skip
    site.pages["/moved"] = (302, {"Location": "/elsewhere"}, b"")
    site.pages["/elsewhere"] = page("Moved", f"<h1>Moved</h1>{PARAGRAPH * 4}")
    rows = "".join(
        [
            row("p", site.url("/p?q=1//2")),
            row("cited", site.url("/short#part"), more=f'read = "{site.url("/moved")}"\n'),
            row("hostile", site.url("/hostile"), more='embeds = "none"\n'),
            row("gbk", site.url("/gbk")),
        ]
    )
    for number, at in enumerate((FIRST, SECOND, THIRD)):
        shown = '<img src="/panel.png" alt="the panel"><img src="/gone.png" alt="gone">'
        site.pages["/p?q=1//2"] = page(
            f"Notes {number}", f"<h1>Notes</h1>{PARAGRAPH * 4}<p>Edition {number}</p>{shown}"
        )
        watch.passes(rows, at)
    site.pages["/p?q=1//2"] = (403, html, b"<title>Just a moment...</title><p>Checking your browser</p>")
    watch.passes(rows, THIRD + timedelta(days=1))


def test_the_official_client_finds_closest_first_and_last(face: Face) -> None:
    url = face.site.url("/p?q=1//2")
    with MementoClient(timegate_uri=f"{face.base}timegate/", check_native_timegate=False) as client:
        found = client.get_memento_info(url, SECOND.replace(tzinfo=None) + timedelta(days=2))
    named = {name: (m["datetime"], m["uri"]) for name, m in found["mementos"].items()}
    at = {name: when.replace(tzinfo=UTC) for name, (when, _) in named.items()}
    assert (at["closest"], at["first"], at["last"]) == (SECOND, FIRST, THIRD)
    assert named["closest"][1] == [f"{face.base}memento/20261021T110300Z/{url}"]
    assert found["original_uri"] == url and found["timegate_uri"] == f"{face.base}timegate/{url}"


def test_a_timegate_without_a_date_leads_to_the_newest_accepted_version(face: Face) -> None:
    answer = face.ask(f"/timegate/{face.site.url('/p?q=1//2')}")
    assert answer.status == 302 and "/20261105T110300Z/" in answer.headers["location"]
    assert answer.headers["vary"] == "accept-datetime" and "memento-datetime" not in answer.headers
    assert 'rel="original"' in answer.headers["link"] and 'rel="last memento"' in answer.headers["link"]


@pytest.mark.parametrize(
    ("date", "status"),
    [
        ("Wed, 21 Oct 2026 12:00:00 GMT", 302), ("Mon, 01 Jan 0001 00:00:00 GMT", 302), ("2026-10-21", 400),
        ("Wed, 32 Oct 2026 12:00:00 GMT", 400), ("Wed, 21 Oct 2026 12:00:00 +0800", 400), ("", 400), ("0", 400),
    ],
)  # fmt: skip
def test_a_date_is_read_strictly(face: Face, date: str, status: int) -> None:
    answer = face.ask(f"/timegate/{face.site.url('/p?q=1//2')}", Accept_Datetime=date)
    assert (answer.status, answer.headers["vary"]) == (status, "accept-datetime")


def test_an_address_that_was_never_accepted_is_unknown(face: Face) -> None:
    for path in ("/timegate/{}", "/timemap/link/{}", "/timemap/json/{}", "/memento/20261020T110300Z/{}"):
        answer = face.ask(path.format(face.site.url("/gone.png")))
        assert answer.status == 404 and "ever accepted" in answer.text and "memento-datetime" not in answer.headers
    assert face.ask("/timegate/nonsense").status == 400


def test_a_timemap_lists_every_version_and_no_refusal(face: Face) -> None:
    url = face.site.url("/p?q=1//2")
    answer = face.ask(f"/timemap/link/{url}")
    lines = answer.text.strip().split(",\n")
    assert answer.headers["content-type"] == "application/link-format" and answer.headers["x-memento-count"] == "3"
    assert lines[0] == f'<{url}>; rel="original"'
    assert lines[2].endswith('from="Tue, 20 Oct 2026 11:03:00 GMT"; until="Thu, 05 Nov 2026 11:03:00 GMT"')
    assert [line.split("; ")[1] for line in lines[3:]] == ['rel="first memento"', 'rel="memento"', 'rel="last memento"']
    as_json = json.loads(face.ask(f"/timemap/json/{url}").body)
    assert [m["datetime"] for m in as_json["mementos"]["list"]] == [
        f"{t:%Y-%m-%dT%H:%M:%SZ}" for t in (FIRST, SECOND, THIRD)
    ]
    assert as_json["mementos"]["last"]["uri"] == f"{face.base}memento/20261105T110300Z/{url}"


@pytest.mark.parametrize("path", ["/short", "/moved", "/elsewhere"])
def test_a_version_is_found_by_what_was_cited_asked_and_finally_read(face: Face, path: str) -> None:
    assert "/20261020T110300Z/" in face.ask(f"/timemap/link/{face.site.url(path)}").text


@pytest.mark.parametrize("change", ["http:/", "HTTP://", "http%3A%2F%2F"])
def test_an_address_survives_proxies_and_cautious_clients(face: Face, change: str) -> None:
    url = face.site.url("/p?q=1//2").replace("http://", change)
    assert face.ask(f"/timemap/json/{url}").headers["x-memento-count"] == "3"


def test_a_time_that_is_not_exact_leads_to_the_closest_version(face: Face) -> None:
    url = face.site.url("/p?q=1//2")
    for stamp, wanted in (
        ("20261022T000000Z", "20261021T110300Z"), ("2026", "20261020T110300Z"), ("20261104id_", "20261105T110300Zid_"),
        ("20261021110300", "20261021T110300Z"),
    ):  # fmt: skip
        answer = face.ask(f"/memento/{stamp}/{url}")
        assert (answer.status, answer.headers["location"]) == (302, f"{face.base}memento/{wanted}/{url}")
    assert face.ask(f"/memento/20269999T000000Z/{url}").status == 404


def test_the_framed_page_says_what_and_when_and_shows_the_pictures_of_that_time(face: Face) -> None:
    url = face.site.url("/p?q=1//2")
    answer = face.ask(f"/memento/20261021T110300Z/{url}")
    assert answer.headers["memento-datetime"] == "Wed, 21 Oct 2026 11:03:00 GMT"
    assert 'rel="last next memento"' in answer.headers["link"] and 'rel="first prev memento"' in answer.headers["link"]
    for words in ("Notes 1", "21 October 2026 19:03", "2026-10-21T11:03:00Z", "ok_partial", "<iframe sandbox "):
        assert words in answer.text
    picture = f"/memento/20261020T110300Zid_/{face.site.url('/panel.png')}"
    assert f'<img src="{picture}" alt="the panel">' in answer.text and "not read:" in answer.text
    assert face.ask(picture).body == png()
    assert "script-src" not in answer.headers["content-security-policy"]


def test_archived_bytes_come_decoded_with_their_own_charset_and_nothing_that_acts(face: Face) -> None:
    answer = face.ask(f"/memento/2026id_/{face.site.url('/gbk')}")
    answer = face.ask(urlsplit(answer.headers["location"]).path)
    assert answer.headers["content-type"] == "text/html; charset=gbk" and "公告" in answer.body.decode("gbk")
    assert "content-encoding" not in answer.headers
    evil = face.ask(f"/memento/20261020T110300Zid_/{face.site.url('/hostile')}")
    assert evil.body == hostile(face.beacon) and not {"set-cookie", "refresh"} & set(evil.headers)
    assert evil.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert str(face.beacon.port) not in evil.headers["link"]


def test_an_archived_page_neither_runs_a_script_nor_phones_home(face: Face, tmp_path: Path) -> None:
    url = face.site.url("/hostile")
    free = dom(url, tmp_path)
    assert "script ran" in free and len(set(face.beacon.heard)) > 5, "the hostile page is harmless by itself"
    face.beacon.heard.clear()
    for raw in ("", "id_"):
        shown = dom(f"{face.base}memento/20261020T110300Z{raw}/{url}", tmp_path)
        assert "Hostile" in shown and "script ran" not in shown
    assert face.beacon.heard == []


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "203.0.113.9", "[::1", "a@b:x"])
def test_a_strangers_name_is_refused(face: Face, host: str) -> None:
    answer = face.ask(f"/timemap/link/{face.site.url('/gbk')}", Host=host)
    assert answer.status == 400 and face.site.url("/gbk") not in answer.text


@pytest.mark.parametrize("host", ["localhost:8080", "127.0.0.1", "[::1]:80", "LOCALHOST."])
def test_loopback_is_answered_by_any_of_its_names(face: Face, host: str) -> None:
    assert face.ask("/style.css", Host=host).status == 200


def test_the_bound_host_and_the_public_one_are_answered() -> None:
    assert {"sw.example", "10.0.0.7", "localhost"} <= answered_for("10.0.0.7", "https://sw.example/archive/")
    assert "*" in answered_for("0.0.0.0", "") and "*" not in answered_for("127.0.0.1", "")


def test_methods_and_errors_are_told_in_a_sentence(face: Face) -> None:
    url = f"/memento/20261021T110300Z/{face.site.url('/p?q=1//2')}"
    head, get = face.ask(url, "HEAD"), face.ask(url)
    assert head.body == b"" and head.headers["content-length"] == str(len(get.body))
    assert head.headers["memento-datetime"] == get.headers["memento-datetime"]
    options = face.ask(url, "OPTIONS")
    assert (options.status, options.headers["allow"]) == (204, "GET, HEAD, OPTIONS")
    post = face.ask(url, "POST")
    assert (post.status, post.text) == (405, "POST is not possible here; GET, HEAD is\n")
    assert json.loads(face.ask("/api/v1/nothing").body) == {"error": "there is nothing here"}
    assert "<p>there is nothing here</p>" in face.ask("/nothing", Accept="text/html").text
    for answer in (head, post, face.ask("/nothing")):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert answer.headers["referrer-policy"] == "same-origin"


def test_a_slow_read_of_the_storage_stops_nobody_else(face: Face) -> None:
    with ThreadPoolExecutor(1) as other:
        slow = other.submit(face.ask, "/slow")
        assert face.started.wait(60)
        assert face.ask("/style.css").status == 200 and not slow.done()
        face.ended.set()
        assert slow.result(10).text == "at last"


ODD = (
    "/a%0d%0ab", "/a%0A", "/a%00b", "/a%2Fb", "/a%3Fb", "/a%23b", "/a%25b", "/a//b", "/a;b=1", "/a'b", "/a|b", "/a[b]",
    "/a%20b", "/a?", "/a?b", "/a?b=c&&d", "/a?b=http://c/d", "/a?b=%0d%0aSet-Cookie:%20x", "/%E6%96%87", "/a%ffb",
    "/a/memento/20261020T110300Z/b", "/a?b?c", "/~a!b*(c)", "/a:b@c", "/a=b,c+d", "/a%5Cb",
)  # fmt: skip


def test_odd_but_legal_addresses_are_replayed_as_well(tmp_path: Path) -> None:
    """Addresses as a standard's grammar allows them (RFC 3986, WHATWG): each is its own, and none breaks a header."""
    watch = Watch(tmp_path)
    with serving() as site:
        for n, path in enumerate(ODD):
            body = f"<main><h1>Page {n}</h1>{PARAGRAPH * 4}</main>"
            site.pages[path] = site.pages[path.removesuffix("?")] = page(f"Page {n}", body)  # no empty query is sent
        rows = "".join(row(f"p{n}", site.url(path)) for n, path in enumerate(ODD))
        read = watch.passes(rows, FIRST)
        missing = [ODD[int(name[1:])] for name, line in read.items() if not line["accessed"]]
        assert not missing
        with live(tmp_path) as base:
            ask = Face(base, site, None, threading.Event(), threading.Event()).ask  # type: ignore[arg-type]
            wrong = {}
            for n, path in enumerate(ODD):
                gate = ask(f"/timegate/{site.url(path)}")
                there = gate.headers.get("location", "").removeprefix(base.rstrip("/")).replace("Z/", "Zid_/", 1)
                found = ask(there) if gate.status == 302 else gate
                listed = ask(f"/timemap/link/{site.url(path)}").status
                if (gate.status, found.status, listed) != (302, 200, 200) or f"<h1>Page {n}</h1>" not in found.text:
                    wrong[path] = gate.status, there, found.status, listed
                assert "set-cookie" not in gate.headers
            assert wrong == {}


def test_the_page_around_a_memento_speaks_the_readers_language(face: Face) -> None:
    path = f"/memento/20261021T110300Z/{face.site.url('/p?q=1//2')}"
    answer = face.ask(path, Cookie="sourcewatch_lang=zh-CN")
    assert "存档页面，不是现在的网页" in answer.text and "2026 年 10 月 21 日" in answer.text
    assert answer.headers["vary"] == "Cookie" and "An archived page" in face.ask(path).text
