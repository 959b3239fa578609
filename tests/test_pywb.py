"""Other people's software reads the archive: real pywb indexes `snapshots/` as it lies there, and replays it."""

from __future__ import annotations

import gzip
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import pytest

from databases import skip
from environments import commands_of
from site_of_pages import Site, page, row, serving
from watch import Watch

START = datetime(2026, 10, 20, 3, 3, tzinfo=UTC)
STARTS_WITHIN_S = 60
ARTICLE = "".join(
    f"<p>Paragraph {n} tells how the scheduler places experts at night and why the cache stays warm in the day.</p>"
    for n in range(6)
)
FIGURE = '<figure><img src="/panel.png" alt="the panel" width="800"></figure>'
SHELL = (
    '<div id="root"></div><script>fetch("/data").then((r) => r.text()).then((t) => { root.textContent = t })</script>'
)
WORDS = "The cache stays warm in the day, and the scheduler places experts at night. " * 20
LATER = "<p>From the twenty-second of October on the panel counts requests instead of words.</p>"


def day(n: int) -> datetime:
    return START + timedelta(days=n)


@pytest.fixture(scope="module")
def pywb(request: pytest.FixtureRequest) -> Path:
    """The folder of pywb's commands."""
    return commands_of("pywb", request.config)


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes
    memento_at: datetime | None
    location: str = ""


class Same(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Replay:
    """pywb over one archive. *site* is the web that was archived, *picture* what it showed."""

    base: str
    site: Site
    folder: Path
    picture: bytes

    def ask(self, path: str) -> Answer:
        opener = urllib.request.build_opener(Same, urllib.request.ProxyHandler({}))
        try:
            with opener.open(f"{self.base}{path}", timeout=30) as got:
                status, headers, body = got.status, got.headers, got.read()
        except urllib.error.HTTPError as error:
            with error:
                status, headers, body = error.code, error.headers, error.read()
        at = headers.get("Memento-Datetime")
        return Answer(status, body, parsedate_to_datetime(at) if at else None, headers.get("Location", ""))

    def __call__(self, path: str, at: datetime) -> Answer:
        """The bytes that are replayed for an address at a time, without pywb's own additions (`id_`)."""
        return self.ask(f"/sw/{at:%Y%m%d%H%M%S}id_/{self.site.url(path)}")


def archive(watch: Watch, site: Site, picture: bytes) -> None:
    """Four days: day 1 brings nothing new, day 2 a new version, day 3 closes the files of the days before it."""
    article, conditional = page("P", ARTICLE + FIGURE), page("C", ARTICLE)

    def not_modified(headers: dict[str, str]) -> Any:
        if headers.get("if-none-match") == '"v1"':
            return 304, {"ETag": '"v1"'}, b""
        return 200, {**conditional[1], "ETag": '"v1"'}, conditional[2]

    def dance(headers: dict[str, str]) -> Any:
        if "step=1" in headers.get("cookie", ""):
            return page("D", ARTICLE)
        return 302, {"Location": "/dance", "Set-Cookie": "step=1"}, b""

    def dead(headers: dict[str, str]) -> Any:
        raise ConnectionError

    site.pages |= {
        "/p": article, "/panel.png": (200, {"Content-Type": "image/png"}, picture),
        "/packed": (200, {**article[1], "Content-Encoding": "gzip"}, gzip.compress(page("Packed", ARTICLE)[2])),
        "/old": (301, {"Location": "/new"}, b""), "/new": page("New", ARTICLE),
        "/conditional": not_modified, "/dance": dance, "/dead": dead, "/sometimes": page("S", ARTICLE),
        "/wall": (404, {"Content-Type": "text/html"}, b"<h1>Not found</h1>"),
    }  # fmt: skip
    names = ("p", "packed", "old", "conditional", "dance", "dead", "sometimes", "wall")
    rows = "".join(row(name, site.url(f"/{name}")) for name in names)
    if shutil.which("chromium") is not None:
        site.pages |= {"/shell": page("Shell", SHELL), "/data": (200, {"Content-Type": "text/plain"}, WORDS.encode())}
        rows += row("shell", site.url("/shell"), more='render = "auto"\n')
    watch.passes(rows, day(0))
    site.pages["/sometimes"] = dead
    watch.passes(rows, day(1))
    site.pages["/p"] = page("P", ARTICLE + FIGURE + LATER)
    watch.passes(rows, day(2))
    watch.passes(rows, day(3), "p")


@pytest.fixture(scope="module")
def replay(pywb: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replay]:
    folder = tmp_path_factory.mktemp("replayed")
    picture = _png()
    with serving() as site:
        archive(Watch(folder), site, picture)
        port = _index(pywb, folder)
        command = [str(pywb / "wayback"), "-b", "127.0.0.1", "-p", str(port), "-d", str(folder)]
        with (folder / "pywb.log").open("wb") as log:
            process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        try:
            _await(port, process, folder / "pywb.log")
            yield Replay(f"http://127.0.0.1:{port}", site, folder, picture)
        finally:
            process.terminate()
            process.wait(20)


def _png() -> bytes:
    import io

    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", (320, 200), (10, 120, 40)).save(out, "PNG")
    return out.getvalue()


def _index(pywb: Path, folder: Path) -> int:
    """What docs/decisions/0007-archive.md tells operators to do: index all folders but `_refused/`, in place."""
    tree = folder / "snapshots"
    inputs = [p.name for p in sorted(tree.iterdir()) if p.name not in ("_refused", "_manifest")]
    command = [str(pywb / "cdx-indexer"), "-j", "-s", "-r", "-d", ".", "-o", str(folder / "index.cdxj"), *inputs]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    (folder / "config.yaml").write_text(
        "collections:\n  sw:\n    index_paths: ./index.cdxj\n    archive_paths: ./snapshots/\n"
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _await(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + STARTS_WITHIN_S
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"pywb did not start: {log.read_text()[-2000:]}")


def test_a_version_is_replayed_byte_for_byte_under_its_own_date(replay: Replay) -> None:
    first, second = page("P", ARTICLE + FIGURE)[2], page("P", ARTICLE + FIGURE + LATER)[2]
    assert replay("/p", day(0)) == Answer(200, first, day(0))
    assert replay("/p", day(2)) == Answer(200, second, day(2))


def test_an_unchanged_check_is_replayed_under_its_own_date_with_the_versions_body(replay: Replay) -> None:
    assert replay("/p", day(1)) == Answer(200, page("P", ARTICLE + FIGURE)[2], day(1))


def test_a_304_is_replayed_as_the_page_that_it_vouched_for(replay: Replay) -> None:
    assert replay("/conditional", day(1)) == Answer(200, page("C", ARTICLE)[2], day(1))


def test_a_body_that_was_archived_packed_is_unpacked_both_times(replay: Replay) -> None:
    assert replay("/packed", day(0)) == Answer(200, page("Packed", ARTICLE)[2], day(0))
    assert replay("/packed", day(1)) == Answer(200, page("Packed", ARTICLE)[2], day(1))


def test_a_redirect_is_replayed_hop_by_hop(replay: Replay) -> None:
    hop = replay("/old", day(0))
    assert (hop.status, hop.memento_at, hop.location) == (301, day(0), "/new")
    assert replay("/new", day(0)).body == replay("/new", day(1)).body == page("New", ARTICLE)[2]
    assert replay("/new", day(1)).memento_at == day(1)


def test_a_page_that_redirects_to_itself_for_a_cookie_is_replayed_as_the_page(replay: Replay) -> None:
    assert replay("/dance", day(0)) == Answer(200, page("D", ARTICLE)[2], day(0))


def test_a_page_that_a_browser_read_is_replayed_with_what_its_scripts_asked_for(replay: Replay) -> None:
    if shutil.which("chromium") is None:
        skip("Chromium is not installed")
    shown = replay("/shell", day(0))
    assert (shown.status, shown.memento_at) == (200, day(0))
    assert WORDS.strip().encode() in shown.body, "as readers saw it; the answer itself lies beside it"
    assert replay("/shell", day(1)) == Answer(200, page("Shell", SHELL)[2], day(1)), "the same answer came again"
    assert replay("/data", day(1)) == Answer(200, WORDS.encode(), day(0)), "and its scripts find what they ask for"
    shot = replay.ask(f"/sw/{day(0):%Y%m%d%H%M%S}id_/urn:fullPage:{replay.site.url('/shell')}")
    assert (shot.status, shot.body[:4]) == (200, b"\x89PNG")


def test_a_figure_is_replayed_with_its_page(replay: Replay) -> None:
    assert replay("/panel.png", day(0)) == Answer(200, replay.picture, day(0))
    assert replay("/panel.png", day(1)) == Answer(200, replay.picture, day(1))


def test_what_never_came_is_not_found(replay: Replay) -> None:
    assert "/dead" in {p for p, _ in replay.site.asked}
    assert replay("/dead", day(0)).status == 404


def test_a_failure_today_is_answered_by_the_last_good_day_under_that_days_date(replay: Replay) -> None:
    assert replay("/sometimes", day(1)).memento_at == day(0)


def test_a_refusal_is_kept_and_never_replayed(replay: Replay) -> None:
    assert list((replay.folder / "snapshots" / "_refused" / "wall").rglob("*.warc.gz"))
    assert replay("/wall", day(0)).status == 404


def test_the_timemap_lists_versions_and_unchanged_days_alike(replay: Replay) -> None:
    listed = replay.ask(f"/sw/timemap/cdxj/{replay.site.url('/p')}").body.decode().splitlines()
    assert [line.split(" ")[1] for line in listed] == ["20261020030300", "20261021030300", "20261022030300"]
