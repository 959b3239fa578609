"""The editors' desk in a real browser: what needs somebody, decisions, changes, sources, search; by keys, by phone."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlencode

import pytest
from asking import Answer
from asking import ask as asked
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

from browser import beacon
from databases import skip
from live import live
from site_of_pages import page, row, serving
from sourcewatch.domain.access import Scope
from sourcewatch.faces import wiring
from watch import Watch

START = datetime.now(UTC).replace(microsecond=0) - timedelta(days=9)
LINE = "<p>集群每天处理的词元数量已经公布，缓存命中率为九成六。</p>"
NIGHT = "<p>夜间由调度器放置专家，白天缓存保持温热，这一段话会换地方。</p>"
END = "<p>阅读量：1204</p><p>全文完，感谢各位读者的来信与指正。</p><p>下一篇谈网络与存储，敬请期待。</p>"
ZH = f"<h1>部署说明</h1>{NIGHT}{LINE}{END}"
QUOTE = "缓存命中率为九成六"
EN = "<p>The cache holds 96% of requests, the operators say.</p>" + "<p>One more line of plain text here.</p>" * 3
expect.set_options(timeout=60_000)
EVIL = "</title><script>window.ran=1</script><img src=x onerror=window.ran=1>\u202etxt"


def painted(colour: tuple[int, int, int]) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (320, 200), colour).save(out, "PNG")
    return out.getvalue()


@dataclass(frozen=True, slots=True)
class Desk:
    folder: Path
    base: str
    heard: list[str]

    def ask(self, path: str, **headers: str) -> Answer:
        return asked(self.base, path, accept="text/html", **headers)

    def post(self, path: str = "/reviews", headers: dict[str, str] | None = None, **fields: str) -> Answer:
        named = {"content_type": "application/x-www-form-urlencoded", "accept": "text/html", **(headers or {})}
        return asked(self.base, path, "POST", urlencode(fields), **named)


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[str]]]:
    """Nine days: a Chinese page whose quote changes, one in English, a picture, a hostile one, and one that is gone."""
    folder = tmp_path_factory.mktemp("desk")
    watch = Watch(folder)
    with serving() as site, beacon() as who:
        zh = row("zh", site.url("/zh"), QUOTE, more='language = "zh"\ncited_on = ["/notes/"]\n')
        en = row("en", site.url("/en"), "holds 96% of requests", more='language = "en"\n')
        rows = zh + en + row("pic", site.url("/pic.png")) + row("gone", site.url("/gone")) + row("nowhere", "")
        rows = rows.replace('url = ""\n', "") + row("evil", site.url("/evil"), "a sentence that never stood there")
        rows = rows.replace('title = "evil"', "title = '''" + EVIL.replace("\u202e", "") + "'''")
        site.pages["/zh"] = page("部署说明", ZH, "zh")
        site.pages["/en"], site.pages["/pic.png"] = (
            page("EN", EN),
            (200, {"Content-Type": "image/png"}, painted((10, 120, 40))),
        )
        trap = f'{EN}<p>{EVIL} <script>fetch("{who.url("text")}")</script><img src="{who.url("img")}" alt="{EVIL}"></p>'
        site.pages["/evil"] = page(EVIL, trap)
        watch.passes(rows, START)
        moved = ZH.replace(NIGHT, "").replace("九成六", "八成一").replace("1204", "1377") + NIGHT
        site.pages["/zh"] = page("部署说明", moved, "zh")
        site.pages["/en"] = page("EN", EN.replace("96%", "91%"))
        site.pages["/pic.png"] = (200, {"Content-Type": "image/png"}, painted((200, 20, 30)))
        site.pages["/evil"] = page(EVIL, trap.replace("plain text", f"{EVIL} text"))
        for day in (2, 4, 7.5):
            watch.passes(rows, START + timedelta(days=day))
        who.heard.clear()
        yield folder, who.heard


@pytest.fixture
def desk(lived: tuple[Path, list[str]], tmp_path: Path) -> Iterator[Desk]:
    """A desk of one's own over those nine days."""
    folder = Path(shutil.copytree(lived[0], tmp_path / "desk"))
    with live(folder) as base:
        yield Desk(folder, base, lived[1])


@pytest.fixture(scope="module")
def shared(lived: tuple[Path, list[str]]) -> Iterator[Desk]:
    """The desk for tests that only look."""
    with live(lived[0]) as base:
        yield Desk(lived[0], base, lived[1])


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        skip("Chromium is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"], env={**os.environ})
        yield browser
        browser.close()


@contextmanager
def tab(chromium: Browser, width: int = 1280, **how: object) -> Iterator[Page]:
    """A page that must not complain."""
    context = chromium.new_context(viewport={"width": width, "height": 900}, **how)  # type: ignore[arg-type]
    context.set_default_timeout(60_000)
    found = context.new_page()
    complaints: list[str] = []
    found.on("console", lambda m: complaints.append(f"{m.type}: {m.text}") if m.type in ("error", "warning") else None)
    found.on("pageerror", lambda e: complaints.append(str(e)))
    found.on("dialog", lambda d: (complaints.append(f"dialog: {d.message}"), d.dismiss()))
    yield found
    assert not complaints
    context.close()


def change_of(desk: Desk, source: str) -> str:
    """The address of the newest change of a source."""
    listed = asked(desk.base, f"/api/v1/sources/{source}/changes").json
    return f"changes/{listed['changes'][0]['id']}"


PAGES = ("", "?lang=en", "sources/zh", "sources/gone?lang=en", "search?q=cache", "ZH", "ZH?view=side", "EVIL", "PIC")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_every_page_is_accessible_fits_its_window_and_complains_of_nothing(
    shared: Desk, chromium: Browser, width: int, scheme: str
) -> None:
    named = {name.upper(): change_of(shared, name) for name in ("zh", "evil", "pic")}
    with tab(chromium, width, color_scheme=scheme) as page:
        for path in PAGES:
            head, question, tail = path.partition("?")
            page.goto(f"{shared.base}{named.get(head, head)}{question}{tail}")
            page.evaluate("document.querySelectorAll('details').forEach((fold) => fold.open = true)")
            found = Axe().run(page, options={"resultTypes": ["violations"]})
            assert not found.violations_count, (path, found.generate_report())
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, path
            assert page.evaluate("window.ran") is None, path
    assert shared.heard == []


def test_the_desk_speaks_both_languages_and_counts_in_its_title(shared: Desk, chromium: Browser) -> None:
    with tab(chromium) as page:
        page.goto(shared.base)
        expect(page).to_have_title("(6) Needs you · 4 Changes · Field Notes")
        page.get_by_role("link", name="中文").click()
        expect(page).to_have_title("(6) 需要您处理 · 4 改动 · Field Notes")
        expect(page.locator("html")).to_have_attribute("lang", "zh-CN")
        page.locator("article.needs").first.get_by_role("link", name="查看差异").click()
        expect(page.locator("html")).to_have_attribute("lang", "zh-CN")  # it is remembered


def test_an_editor_reviews_by_keys_alone(desk: Desk, chromium: Browser) -> None:
    with tab(chromium) as page:
        page.goto(desk.base)
        before = page.locator("article.needs").count()
        page.keyboard.press("j")
        expect(page.locator(".item.at")).to_contain_text(QUOTE)
        page.keyboard.press("j")
        page.keyboard.press("k")
        page.keyboard.press("r")
        page.keyboard.type("林")
        page.keyboard.press("Tab")
        page.keyboard.type("原文已改")
        for _ in range(2):
            page.keyboard.press("Tab")
        expect(page.locator("button:focus")).to_have_text("Accept this version")
        page.keyboard.press("Enter")
        expect(page.get_by_role("status").first).to_contain_text("accepted as the cited version (林")
        page.reload()
        expect(page.locator("article.needs")).to_have_count(before - 1)
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_be_hidden()  # Chromium closes it some time after the key
        page.wait_for_function("!document.activeElement.closest('dialog')")  # and gives the keys back to the page later
        page.keyboard.press("j")
        expect(page.locator(".item.at")).to_be_visible()
        page.keyboard.press("d")
        page.wait_for_url("**/changes/*")
        page.keyboard.press("/")
        expect(page.get_by_label("Search", exact=True)).to_be_focused()


def test_the_second_of_two_editors_is_told_of_the_first_ones_decision(desk: Desk, chromium: Browser) -> None:
    with tab(chromium) as one, tab(chromium) as two:
        for page in (one, two):
            page.goto(f"{desk.base}{change_of(desk, 'en')}")
            page.get_by_text("Review", exact=True).click()
        one.get_by_label("Your name").fill("Lin")
        one.get_by_role("button", name="Not important").click()
        expect(one.locator(".rule")).to_contain_text("No rule would leave out this place alone")
        two.get_by_label("Your name").fill("Wu")
        two.get_by_label("Note (may be empty)").fill("our page still says 96%")
        two.get_by_role("button", name="Fix our page").click()
        expect(two.get_by_role("alert")).to_contain_text("yours was not taken")
        expect(two.get_by_role("status")).to_contain_text("not important (Lin")
        expect(two.get_by_label("Note (may be empty)")).to_have_value("our page still says 96%")
        two.get_by_role("button", name="Fix our page").click()
        expect(two.get_by_role("status")).to_contain_text("the site must be mended (Wu")
        two.get_by_text("Review", exact=True).click()
        two.get_by_role("button", name="Undo").click()
        expect(two.get_by_role("status")).to_contain_text("taken back (Wu")


def test_everything_works_without_a_script(desk: Desk, chromium: Browser) -> None:
    with tab(chromium, java_script_enabled=False) as page:
        page.goto(f"{desk.base}?significance=quote&lang=en")
        assert page.locator("#changes article").count() == 2
        item = page.locator("#changes article").filter(has_text="91%")
        item.get_by_text("Review", exact=True).click()
        item.get_by_label("Your name").fill("Lin")
        item.get_by_role("button", name="Reviewed").click()
        page.wait_for_url("**/?significance=quote&lang=en")
        assert page.locator("#changes article").count() == 1
        page.goto(f"{desk.base}?significance=quote&lang=en&decided=1")
        expect(page.locator("#changes article").filter(has_text="91%")).to_contain_text("reviewed (Lin")


def test_a_change_is_shown_by_the_character_with_its_quote_its_move_and_its_noise(
    shared: Desk, chromium: Browser
) -> None:
    with tab(chromium) as page:
        page.goto(f"{shared.base}{change_of(shared, 'zh')}?lang=en")
        text = page.locator("section[aria-labelledby=h-text]")
        assert text.locator(".diff del").all_inner_texts() == ["九成六"]
        assert text.locator(".diff ins").all_inner_texts() == ["八成", "一"]  # the quote ends between them
        changed = page.locator("#h-quotes ~ ul li").first
        assert changed.locator("del").inner_text() == "九成六"
        assert changed.locator("ins").inner_text() in "八成一"
        expect(text.locator(".diff mark").first).to_be_visible()
        hidden = page.locator("section[aria-labelledby=h-hidden]")
        hidden.get_by_text("counters of views, stars, votes").click()
        expect(hidden.locator("details[open]")).to_contain_text("阅读量")
        hidden.get_by_text("the same paragraph in another place").click()
        expect(hidden.get_by_text("(moved)")).to_be_visible()
        page.get_by_role("link", name="Side by side").click()
        sides = page.locator(".diff.side .row").filter(has_text="八成一").first
        assert "九成六" not in sides.locator(".new").inner_text()
        for link in page.get_by_role("link", name="Archived page").all():
            assert page.request.get(str(link.get_attribute("href")).join([shared.base[:-1], ""])).status == 200


def test_any_two_versions_can_be_compared_and_pictures_stand_side_by_side(shared: Desk, chromium: Browser) -> None:
    with tab(chromium) as page:
        page.goto(f"{shared.base}{change_of(shared, 'pic')}")
        for picture in page.locator(".pictures img").all():
            picture.scroll_into_view_if_needed()
            page.wait_for_function("(image) => image.naturalWidth === 320", arg=picture.element_handle())
        page.goto(f"{shared.base}sources/zh")
        page.get_by_role("link", name="Compare with the first version").click()
        expect(page.locator("section[aria-labelledby=h-text]")).to_contain_text("八成一")
    image = shared.ask(f"/{page_of_picture(shared)}")
    assert image.headers["content-type"] == "image/png"
    assert image.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in image.headers["content-security-policy"]
    zh = asked(shared.base, "/api/v1/sources/zh/versions").json["versions"][0]["id"]
    assert shared.ask(f"/versions/{zh}/image").status == 404


def test_what_changed_in_a_picture_is_framed_where_it_lies(shared: Desk, chromium: Browser) -> None:
    with tab(chromium) as page:
        page.goto(f"{shared.base}{change_of(shared, 'pic')}?lang=en")
        expect(page.locator(".pictures svg.boxes rect")).to_have_count(2)
        for figure in page.locator(".pictures .boxed").all():
            picture = figure.locator("img")
            picture.scroll_into_view_if_needed()
            page.wait_for_function("(image) => image.naturalWidth === 320", arg=picture.element_handle())
            assert picture.bounding_box() == figure.locator("svg").bounding_box()
        expect(page.locator("article")).to_contain_text("1 place in the picture, 100% of it")


def page_of_picture(desk: Desk) -> str:
    return f"versions/{asked(desk.base, '/api/v1/sources/pic/versions').json['versions'][0]['id']}/image"


def test_a_source_shows_its_checks_in_words_too_and_its_quotes_over_time(shared: Desk, chromium: Browser) -> None:
    with tab(chromium) as page:
        page.goto(f"{shared.base}sources/zh?lang=en")
        title = page.locator("svg[role=img] title").text_content()
        assert title
        assert "read 4 times, 2 new versions; kept out 0 times, failed 0 times" in title
        turns = page.locator(".turns li")
        expect(turns.nth(0)).to_contain_text("reworded")
        expect(turns.nth(1)).to_contain_text("verbatim")
        page.goto(f"{shared.base}sources/gone?lang=en")
        expect(page.locator("section[aria-labelledby=h-incidents]")).to_contain_text("404, not found")
        expect(page.locator(".standing")).to_contain_text("never read")


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("缓存命中率", "zh"),
        ("词元", "zh"),
        ("词元 九成六", "zh"),
        ("CACHE holds", "en"),
        ("96%", "en"),
        ('"plain text here"', "en"),
        ('no" OR 1', ""),
        ("_", ""),
        ("不存在的句子", ""),
    ],
)
def test_search_finds_texts_of_all_versions_in_any_language(shared: Desk, query: str, found: str) -> None:
    text = shared.ask(f"/search?{urlencode({'q': query, 'lang': 'en'})}").text
    assert (f'href="/sources/{found}"' in text) if found else "0 paragraphs" in text


def test_a_list_that_is_too_long_for_the_desk_has_pages(shared: Desk) -> None:
    text = shared.ask("/?section=changes&page=2&lang=en").text
    assert "<article" not in text
    assert "<article" in shared.ask("/?section=changes&page=1&lang=en").text


@pytest.mark.parametrize(
    ("filters", "left"),
    [("host=nowhere.example", 0), ("language=zh", 1), ("tier=A", 4), ("since=1d", 0), ("since=30d", 4)],
)
def test_filters_narrow_what_is_shown(shared: Desk, filters: str, left: int) -> None:
    assert f"· {left} Changes" in shared.ask(f"/?{filters}&lang=en").text


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"source": "zh", "decision": "reviewed", "by": ""}, 400),
        ({"source": "zh", "decision": "adopted", "by": "Lin"}, 400),
        ({"source": "none", "decision": "reviewed", "by": "Lin"}, 404),
        ({"source": "zh", "version": "999999", "decision": "reviewed", "by": "Lin"}, 404),
        ({"source": "zh", "version": "1' OR 1", "decision": "reviewed", "by": "Lin"}, 404),
        ({"source": "gone", "decision": "accepted", "by": "Lin"}, 400),
    ],
)
def test_a_decision_that_makes_no_sense_is_refused_in_a_sentence(
    shared: Desk, fields: dict[str, str], status: int
) -> None:
    answer = shared.post(**fields)
    assert answer.status == status
    assert "<html" in answer.text


def test_another_sites_page_decides_nothing(shared: Desk) -> None:
    answer = shared.post(headers={"sec_fetch_site": "cross-site"}, source="zh", decision="reviewed", by="Lin")
    assert answer.status == 403
    assert not asked(shared.base, "/sources/zh").text.count("reviewed (Lin")


def test_a_token_names_the_editor_and_one_for_reading_decides_nothing(desk: Desk, chromium: Browser) -> None:
    with wiring.open_house(desk.folder / "sources.toml", None, {}) as house:
        secrets = {scope: house.tokens.add(f"a {scope}er", scope, START) for scope in (Scope.READ, Scope.REVIEW)}
    assert desk.post(source="zh", decision="reviewed", by="Lin").status == 401
    for scope, secret in secrets.items():
        with tab(chromium) as page:
            page.goto(f"{desk.base}{'sources/zh?lang=en'}")
            page.get_by_role("textbox").fill(secret)
            page.keyboard.press("Enter")
            page.wait_for_url("**/sources/zh?lang=en")
            forms = page.locator("details.decide")
            if scope is Scope.READ:
                assert forms.count() == 0
                bearer = {"authorization": f"Bearer {secret}"}
                assert desk.post(headers=bearer, source="gone", decision="reviewed", by="Lin").status == 403
            else:
                forms.first.locator("summary").click()
                assert page.get_by_label("Your name").count() == 0
                page.get_by_role("button", name="Reviewed").click()
                expect(page.get_by_role("status").first).to_contain_text("reviewed (a reviewer")


def test_a_decision_leads_back_to_our_own_pages_only(desk: Desk) -> None:
    answer = desk.post(source="gone", decision="reviewed", by="Lin", next="https://evil.example/")
    assert (answer.status, answer.headers["location"]) == (303, "/")


@pytest.mark.parametrize(
    "path", ["/changes/0", "/changes/x", "/changes/99999999999", "/sources/none", "/sources/none/diff", "/static/x"]
)
def test_what_is_not_there_is_said_so(shared: Desk, path: str) -> None:
    assert shared.ask(path).status == 404
