"""Copies in outside archives: real pywb speaking Memento, and the shapes that public archives answer in."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from environments import commands_of
from site_of_pages import Answer, Site, page, row
from sourcewatch.analysis import cite, mementos, render
from sourcewatch.faces import moving, wiring
from sourcewatch.services import publish, site_data
from sourcewatch.services.copies import Asked
from watch import Watch

START = datetime(2026, 10, 20, 3, 3, tzinfo=UTC)
QUOTE = "the cache stays warm"
ARTICLE = "<h1>Production</h1>" + "".join(
    f"<p>Paragraph {n} tells how the scheduler places experts at night and why the cache stays warm in the day.</p>"
    for n in range(6)
)
GONE: Answer = (404, {"Content-Type": "text/plain"}, b"no such page")
STAMP, DATE = "20261019120000", "Mon, 19 Oct 2026 12:00:00 GMT"


def days(n: float) -> datetime:
    return START + timedelta(days=n)


def archived(answer: Answer, date: str = DATE) -> Answer:
    return answer[0], {**answer[1], "Memento-Datetime": date}, answer[2]


def ask(watch: Watch, *ids: str) -> list[Asked]:
    async def all_of(house: wiring.House) -> list[Asked]:
        wanted = [s for s in house.settings.sources if s.id in ids]
        return [x async for x in moving.ask_archives(house, wanted, clock=lambda: days(9))]

    return list(watch.ask(lambda house: asyncio.run(all_of(house))))


def gone(watch: Watch, site: Site, archive: str) -> str:
    """A page that was read once, and is dead since."""
    site.pages["/p"] = page("Production", ARTICLE)
    rows = row("p", site.url("/p"), QUOTE) + archive
    watch.passes(rows, START)
    site.pages["/p"] = GONE
    for day in (1, 4, 8):
        watch.passes(rows, days(day))
    return rows


def wayback(site: Site) -> str:
    return (
        f'[[archive]]\nname = "wayback"\ntimegate = "{site.url("/web/")}{{url}}"\n'
        f'timemap = "{site.url("/web/timemap/link/")}{{url}}"\n'
    )


def test_the_waybacks_copy_is_read_raw_judged_and_offered(site: Site, watch: Watch) -> None:
    rows = gone(watch, site, wayback(site))
    original, asked = site.url("/p"), list[str]()

    def gate(headers: dict[str, str]) -> Answer:
        asked.append(headers["accept-datetime"])
        return 302, {"Location": f"/web/{STAMP}/{original}", "Vary": "accept-datetime"}, b""

    site.pages[f"/web/{original}"] = gate
    site.pages[f"/web/{STAMP}/{original}"] = archived(page("Production", "<p>rewritten, with a banner</p>"))
    site.pages[f"/web/{STAMP}id_/{original}"] = archived(page("Production", ARTICLE))
    [found] = ask(watch, "p")
    [copy] = found.copies
    assert asked == ["Tue, 20 Oct 2026 03:03:00 GMT"]
    assert copy.url == site.url(f"/web/{STAMP}/{original}") and copy.memento_at == datetime(
        2026, 10, 19, 12, tzinfo=UTC
    )
    assert (copy.word, copy.held, copy.sought, copy.kept, copy.offered) == ("ok", 1, 1, 1.0, True)
    known = watch.ask(wiring.best_copies)
    assert known["p"] == copy
    report = watch.ask(lambda h: publish.report(h.settings, h.ledger, days(9), days(-9), outside=known))
    for text in (render.markdown(report), render.html(report)):
        assert copy.url in text and "it can stand for the cited version" in text
    assert f'data-versionurl="{copy.url}"' in render.html(report)
    cited = watch.ask(lambda h: site_data.citations(h.settings, h.ledger, h.site, days(9), known))
    assert f'data-versionurl="{copy.url}"' in cite.robust_links(cited)
    assert watch.dates(days(9))["p"]["last_accessed"] == "2026-10-20T03:03:00Z"
    site_says = watch.ask(lambda h: site_data.last_accessed(h.settings, h.ledger, h.site, days(9), known))["sources"]
    assert site_says["p"]["outside"] == {
        "archive": "wayback", "url": copy.url, "memento_at": "2026-10-19T12:00:00Z", "date": "2026-10-19",
        "quotes": {"held": 1, "sought": 1},
    }  # fmt: skip
    site.pages["/p"] = page("Production", ARTICLE)
    watch.passes(rows, days(10))
    back = watch.ask(lambda h: site_data.last_accessed(h.settings, h.ledger, h.site, days(10), known))["sources"]
    assert back["p"]["outside"] is None, "the source itself can be read again"


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (GONE, "not_found"),
        (page("Sign in", '<form><input name="user"><input type="password" name="p"><button>Sign in</button></form>'),
         "login_wall"),
    ],
    ids=["an error page", "a wall"],
)  # fmt: skip
def test_an_archived_error_or_wall_is_recognised_and_not_offered(
    site: Site, watch: Watch, answer: Answer, word: str
) -> None:
    gone(watch, site, wayback(site))
    original = site.url("/p")
    site.pages[f"/web/{original}"] = (302, {"Location": f"/web/{STAMP}/{original}"}, b"")
    site.pages[f"/web/{STAMP}/{original}"] = site.pages[f"/web/{STAMP}id_/{original}"] = archived(answer)
    [found] = ask(watch, "p")
    [copy] = found.copies
    assert (copy.word, copy.offered) == (word, False)
    assert watch.ask(wiring.best_copies) == {}


def test_without_an_answer_of_the_timegate_the_timemap_names_the_closest(site: Site, watch: Watch) -> None:
    gone(watch, site, wayback(site))
    original = site.url("/p")
    listed = ",\n".join(
        [f'<{original}>; rel="original"', f'<{site.url("/web/timemap/link/")}{original}>; rel="self"; type="x"']
        + [
            f'<{site.url(f"/web/{at:%Y%m%d%H%M%S}/{original}")}>; rel="{rel}memento"; '
            f'datetime="{at:%a, %d %b %Y %H:%M:%S} GMT"'
            for at, rel in ((days(-400), "first "), (days(-1), ""), (days(3), "last "))
        ]
    )
    site.pages[f"/web/timemap/link/{original}"] = (200, {"Content-Type": "application/link-format"}, listed.encode())
    at = days(-1)
    site.pages[f"/web/{at:%Y%m%d%H%M%S}id_/{original}"] = archived(
        page("Production", ARTICLE), f"{at:%a, %d %b %Y %H:%M:%S} GMT"
    )
    [copy] = ask(watch, "p")[0].copies
    assert copy.memento_at == at and copy.offered


def test_an_archive_that_fails_or_has_nothing_is_told_and_leaves_no_copy(site: Site, watch: Watch) -> None:
    rows = gone(watch, site, wayback(site))
    assert ask(watch, "p")[0].none == [("wayback", "it has no copy")]
    site.pages[f"/web/{site.url('/p')}"] = (403, {"Content-Type": "text/html"}, b"who are you?")
    [found] = ask(watch, "p")
    assert found.copies == [] and found.none[0][1].startswith("it could not be asked: it answered 403")
    assert rows and watch.ask(lambda h: h.outside.of()) == []


def test_a_timemap_is_read_whatever_stands_between_its_links() -> None:
    text = (
        '<http://a.example/?x=1,2>; rel="original",<http://m.example/timegate/http://a.example/>; rel=timegate,\n'
        f' <http://m.example/{STAMP}/http://a.example/?x=1,2>; rel="first last memento"; datetime="{DATE}",'
        ' <http://m.example/bad>; rel="memento"; datetime="yesterday"'
    )
    assert mementos.timemap(text) == [
        (datetime(2026, 10, 19, 12, tzinfo=UTC), f"http://m.example/{STAMP}/http://a.example/?x=1,2")
    ]
    assert mementos.timemap("<html>no map</html>") == []
    assert mementos.raw(f"http://m.example/c/{STAMP}mp_/http://a.example/") == (
        f"http://m.example/c/{STAMP}id_/http://a.example/"
    )
    assert mementos.raw("https://archive.ph/AbC12") == "https://archive.ph/AbC12"


@pytest.fixture(scope="module")
def pywb(request: pytest.FixtureRequest) -> Path:
    return commands_of("pywb", request.config)


def test_real_pywb_gives_the_copy_that_holds_the_quotes(site: Site, watch: Watch, pywb: Path, tmp_path: Path) -> None:
    """Another archive's snapshots of the same page behind pywb, asked by its TimeGate."""
    theirs = Watch(tmp_path / "theirs")
    theirs.folder.mkdir()
    site.pages["/p"] = page("Production", ARTICLE)
    theirs.passes(row("p", site.url("/p")), days(-1))
    site.pages["/p"] = page("Production", ARTICLE.replace(QUOTE, "nothing is kept"))
    theirs.passes(row("p", site.url("/p")), days(2))
    with replaying(pywb, theirs.folder) as base:
        gate = (
            f'[[archive]]\nname = "pywb"\ntimegate = "{base}/sw/{{url}}"\ntimemap = "{base}/sw/timemap/link/{{url}}"\n'
        )
        gone(watch, site, gate)
        [found] = ask(watch, "p")
    [copy] = found.copies
    assert (copy.memento_at, copy.word, copy.held, copy.offered) == (days(-1), "ok", 1, True), found


def replaying(pywb: Path, folder: Path) -> _Replaying:
    return _Replaying(pywb, folder)


class _Replaying:
    def __init__(self, pywb: Path, folder: Path) -> None:
        self._pywb, self._folder = pywb, folder

    def __enter__(self) -> str:
        tree, folder = self._folder / "snapshots", self._folder
        inputs = [p.name for p in sorted(tree.iterdir()) if p.name not in ("_refused", "_manifest")]
        index = [
            str(self._pywb / "cdx-indexer"),
            "-j",
            "-s",
            "-r",
            "-d",
            ".",
            "-o",
            str(folder / "index.cdxj"),
            *inputs,
        ]
        subprocess.run(index, cwd=tree, check=True, capture_output=True, timeout=120)
        (folder / "config.yaml").write_text(
            "collections:\n  sw:\n    index_paths: ./index.cdxj\n    archive_paths: ./snapshots/\n"
        )
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        command = [str(self._pywb / "wayback"), "-b", "127.0.0.1", "-p", str(port), "-d", str(folder)]
        self._process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 60
        while time.monotonic() < until and self._process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return f"http://127.0.0.1:{port}"
            except OSError:
                time.sleep(0.05)
        self.__exit__()
        raise AssertionError("pywb did not start")

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(20)
