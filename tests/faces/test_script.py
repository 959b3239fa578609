"""The site's own script in a real browser: it fills what it can, and what it cannot it leaves as it was built."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from asking import ask

from browser import dom
from live import live
from site_of_pages import Answer, Site, page, row, serving
from sourcewatch.faces.web.script import SCRIPT
from watch import Watch

AT = datetime(2026, 10, 20, 11, 3, tzinfo=UTC)
JSON = {"Content-Type": "application/json", "Access-Control-Allow-Origin": "*"}
BUILT = '<time data-source="{}" datetime="2026-01-01">accessed 1 January 2026</time>'


@dataclass(frozen=True, slots=True)
class Built:
    """A site that was built in January, and the service that knows better."""

    site: Site
    base: str
    folder: Path

    def times(self, script: str, *ids: str, language: str = "en") -> list[tuple[str, str, str]]:
        """datetime, title and text of each <time> after the script ran."""
        body = "".join(f"<p>{BUILT.format(id_)}</p>" for id_ in ids)
        self.site.pages["/built"] = page("Built", body + script, language)
        shown = dom(self.site.url("/built"), self.folder)
        found = re.findall(r"<time ([^>]*)>([^<]*)</time>", shown)
        return [(_value(a, "datetime"), _value(a, "title"), text) for a, text in found]

    def script(self, where: str = "") -> str:
        from_ = f' data-from="{self.site.url(where)}"' if where else ""
        return f'<script src="{self.base}sourcewatch.js"{from_}></script>'


def _value(attributes: str, name: str) -> str:
    m = re.search(rf'{name}="([^"]*)"', attributes)
    return m[1] if m else ""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    folder = tmp_path_factory.mktemp("built")
    with serving() as site:
        site.pages["/notes"] = page("Notes", "<h1>Notes</h1>" + "<p>A paragraph that says what was measured.</p>" * 9)
        Watch(folder).passes(row("notes", site.url("/notes")) + row("gone", site.url("/gone")), AT)
        with live(folder) as base:
            yield Built(site, base, folder)


AS_BUILT = ("2026-01-01", "", "accessed 1 January 2026")


def test_it_is_at_most_a_kilobyte_and_needs_nothing() -> None:
    assert len(SCRIPT.encode()) <= 1024 and SCRIPT.isascii()
    assert not re.search(r"innerHTML|eval|import|require|document\.write", SCRIPT)


def test_it_fills_what_was_read_and_leaves_the_rest(built: Built) -> None:
    read, gone, unknown, odd = built.times(built.script(), "notes", "gone", "nobody", "constructor")
    assert read == ("2026-10-20T11:03Z", "2026-10-20T11:03Z · version of 20 October 2026", "accessed 20 October 2026")
    assert gone == unknown == odd == AS_BUILT


def test_it_speaks_the_language_of_its_page(built: Built) -> None:
    [(_, title, text)] = built.times(built.script(), "notes", language="zh-Hans")
    assert (title, text) == ("2026-10-20T11:03Z · 2026 年 10 月 20 日的版本", "访问于 2026 年 10 月 20 日")


EVIL = '{"sources":{"notes":{"precision":"day","date":"2026-10-20","text":{"en":"<img src=x onerror=alert(1)>"}}}}'


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("no answer", (500, JSON, b"")),
        ("no JSON", (200, JSON, b"<!doctype html>")),
        ("an error", (503, JSON, b'{"error":"not now"}')),
        ("nothing of use", (200, JSON, b'{"sources":null}')),
        ("a source that is none", (200, JSON, b'{"sources":{"notes":7}}')),
        ("no date", (200, JSON, b'{"sources":{"notes":{"text":{"en":"x"},"precision":"minute"}}}')),
        ("not for other sites", (200, {"Content-Type": "application/json"}, EVIL.encode())),
    ],
)
def test_the_built_text_stays_when_anything_fails(built: Built, name: str, answer: Answer) -> None:
    built.site.pages["/dates.json"] = answer
    script = built.script("/dates.json")
    if name == "not for other sites":
        script = script.replace(f"http://127.0.0.1:{built.site.port}", f"http://localhost:{built.site.port}")
    assert built.times(script, "notes") == [AS_BUILT], name


def test_without_the_script_the_built_text_stays(built: Built) -> None:
    assert built.times("", "notes") == [AS_BUILT]
    assert built.times('<script src="http://127.0.0.1:9/sourcewatch.js"></script>', "notes") == [AS_BUILT]


def test_what_it_is_told_is_text_and_no_markup(built: Built) -> None:
    built.site.pages["/dates.json"] = (200, JSON, EVIL.encode())
    assert built.times(built.script("/dates.json"), "notes") == [
        ("2026-10-20", "2026-10-20", "&lt;img src=x onerror=alert(1)&gt;")
    ]


def test_it_is_served_to_every_site_and_kept(built: Built) -> None:
    answer = ask(built.base, "/sourcewatch.js")
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8" and answer.text == SCRIPT
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert ask(built.base, "/sourcewatch.js", If_None_Match=answer.headers["etag"]).status == 304
