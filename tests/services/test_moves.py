"""Where sources went, over real servers: by redirects, canonical links, site maps, GitHub, DOIs; and what is not it."""

from __future__ import annotations

import asyncio
import gzip
import json
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from urllib.request import HTTPErrorProcessor, Request, build_opener

import pytest

from live import live
from site_of_pages import Answer, Site, page, row
from sourcewatch.analysis import render
from sourcewatch.domain.move import Lead
from sourcewatch.faces import moving
from sourcewatch.services import publish
from sourcewatch.services.moves import ACCEPTED, REFUSED, Looked, NotTaken
from watch import Watch

START = datetime(2026, 10, 20, 3, 3, tzinfo=UTC)
QUOTE = "the cache stays warm"
ARTICLE = "<h1>Production</h1>" + "".join(
    f"<p>Paragraph {n} tells how the scheduler places experts at night and why the cache stays warm in the day.</p>"
    for n in range(6)
)
OTHER = "<h1>Cookery</h1>" + "".join(
    f"<p>Recipe {n} asks for two onions, a spoon of butter, and patience while the broth comes to a slow boil.</p>"
    for n in range(6)
)
GONE = (404, {"Content-Type": "text/plain"}, b"no such page")
XML = {"Content-Type": "application/xml"}


def days(n: float) -> datetime:
    return START + timedelta(days=n)


def look(watch: Watch, site: Site, *ids: str) -> list[Looked]:
    async def all_of(house: Any) -> list[Looked]:
        wanted = [s for s in house.settings.sources if s.id in ids]
        api, doi = {"127.0.0.1": site.url("/api")}, site.url("/doi")
        return [x async for x in moving.look(house, wanted, clock=lambda: days(2), github=api, doi=doi)]

    return list(watch.ask(lambda house: asyncio.run(all_of(house))))


def moved_to(to: str) -> Answer:
    return 301, {"Location": to}, b""


def sitemap(*urls: str) -> Answer:
    return 200, XML, f"<urlset>{''.join(f'<url><loc>{u}</loc></url>' for u in urls)}</urlset>".encode()


def as_json(value: Any, status: int = 200) -> Answer:
    return status, {"Content-Type": "application/json"}, json.dumps(value).encode()


def test_a_permanent_redirect_is_proposed_after_its_target_was_read(site: Site, watch: Watch) -> None:
    site.pages["/old"] = page("Production", ARTICLE)
    rows = row("p", site.url("/old"), QUOTE)
    watch.passes(rows, START)
    site.pages["/old"], site.pages["/new"] = moved_to("/new"), page("Production", ARTICLE)
    watch.passes(rows, days(1))
    [looked] = look(watch, site, "p")
    [move] = looked.moves
    assert move.to_url == site.url("/new") and [e.lead for e in move.evidence] == [Lead.REDIRECT]
    assert move.evidence[0].words == f"301 {site.url('/old')} → 200 {site.url('/new')}"
    assert move.likeness.same_title and move.likeness.kept == 1.0
    assert (move.likeness.held, move.likeness.sought) == (1, 1)


def test_the_report_lists_what_nobody_has_decided_about_with_its_command(site: Site, watch: Watch) -> None:
    site.pages["/old"] = page("Production", ARTICLE)
    rows = row("p", site.url("/old"), QUOTE)
    watch.passes(rows, START)

    def report(language: str | None = None) -> tuple[str, str, Any]:
        values = watch.ask(lambda h: publish.report(h.settings, h.ledger, days(2), days(-9), proposals=h.moves.open()))
        return render.html(values, language), render.markdown(values, language), json.loads(render.as_json(values))

    title = "Where it seems to have moved"
    assert title not in "".join(report()[:2]) and report()[2]["proposals"] == []
    site.pages["/old"], site.pages["/new"] = moved_to("/new"), page("Production", ARTICLE)
    watch.passes(rows, days(1))
    look(watch, site, "p")
    html, text, machine = report()
    for made in (html, text):
        assert title in made and site.url("/new") in made and f"301 {site.url('/old')}" in made.replace("\\", "")
        assert "sourcewatch moved --accept 1 --by NAME" in made
    [one] = machine["proposals"]
    assert (one["id"], one["source"], one["to_url"], one["kept"]) == (1, "p", site.url("/new"), 1.0)
    assert one["evidence"][0]["lead"] == "redirect" and one["quotes"] == {"held": 1, "sought": 1}
    assert "新地址的线索" in report("zh-CN")[0] and "新地址的线索" in report("zh-CN")[1]
    watch.ask(lambda h: moving.decide(h, 1, REFUSED, "Li", days(2)))
    assert title not in report()[1] and report()[2]["proposals"] == []


def test_what_is_gone_is_found_by_the_address_that_it_gave_itself(site: Site, watch: Watch) -> None:
    whole = page("Production", ARTICLE)
    link = f'<link rel="canonical" href="{site.url("/articles/production")}">'.encode()
    site.pages["/old?share=1"] = (200, whole[1], whole[2].replace(b"</title>", b"</title>" + link))
    rows = row("p", site.url("/old?share=1"), QUOTE)
    watch.passes(rows, START)
    site.pages["/old?share=1"], site.pages["/articles/production"] = GONE, whole
    watch.passes(rows, days(1))
    [looked] = look(watch, site, "p")
    assert [(m.to_url, m.evidence[0].lead) for m in looked.moves] == [
        (site.url("/articles/production"), Lead.CANONICAL)
    ]


def test_the_sites_map_finds_a_page_of_a_like_name_and_no_page_of_another_text(site: Site, watch: Watch) -> None:
    site.pages["/blog/2025/warm-cache-production"] = page("Production", ARTICLE)
    rows = row("p", site.url("/blog/2025/warm-cache-production"), QUOTE)
    watch.passes(rows, START)
    site.pages["/blog/2025/warm-cache-production"] = GONE
    index = f"<sitemapindex><sitemap><loc>{site.url('/pages.xml.gz')}</loc></sitemap></sitemapindex>"
    names = [site.url(f"/posts/{n}") for n in ("warm-cache-cookery", "warm-cache-production", "unlike")]
    site.pages["/robots.txt"] = (
        200, {"Content-Type": "text/plain"}, f"User-agent: *\nAllow: /\nSitemap: {site.url('/map.xml')}\n".encode()
    )  # fmt: skip
    site.pages["/map.xml"] = (200, XML, index.encode())
    site.pages["/pages.xml.gz"] = (200, {"Content-Type": "application/gzip"}, gzip.compress(sitemap(*names)[2]))
    site.pages["/posts/warm-cache-production"] = page("Production", ARTICLE + "<p>With one more line.</p>")
    site.pages["/posts/warm-cache-cookery"] = page("Cookery", OTHER)
    watch.passes(rows, days(1))
    [looked] = look(watch, site, "p")
    assert [(m.to_url, m.evidence[0].lead) for m in looked.moves] == [(names[1], Lead.SITEMAP)]
    assert (names[0], "what stands there is another page") in looked.dismissed
    assert "/posts/unlike" not in [path for path, _ in site.asked]


def test_a_map_of_a_thousand_pages_costs_a_handful_of_requests(site: Site, watch: Watch) -> None:
    rows = row("p", site.url("/notes/warm-cache"), QUOTE)
    site.pages["/notes/warm-cache"] = page("Production", ARTICLE)
    watch.passes(rows, START)
    site.pages["/notes/warm-cache"] = GONE
    site.pages["/sitemap.xml"] = sitemap(*(site.url(f"/notes/warm-cache-{n}") for n in range(1000)))
    watch.passes(rows, days(1))
    site.asked.clear()
    [looked] = look(watch, site, "p")
    assert not looked.moves and len(looked.dismissed) == 8
    assert len([path for path, _ in site.asked if path.startswith("/notes/warm-cache-")]) == 8


def test_github_tells_of_a_renamed_repository_and_of_a_file_that_a_commit_renamed(site: Site, watch: Watch) -> None:
    text = "# Deployment\n\n" + "\n\n".join(f"Step {n}: the scheduler places experts, {QUOTE}." for n in range(8))
    plain = (200, {"Content-Type": "text/plain; charset=utf-8"}, text.encode())
    site.pages["/acme/engine/blob/main/docs/deploy.md"] = plain
    rows = row("p", site.url("/acme/engine/blob/main/docs/deploy.md"), QUOTE)
    watch.passes(rows, START)
    site.pages["/acme/engine/blob/main/docs/deploy.md"] = GONE
    watch.passes(rows, days(1))
    repository = {"full_name": "acme-labs/engine", "default_branch": "main"}
    site.pages["/api/repos/acme/engine"] = moved_to("/api/repositories/42")
    site.pages["/api/repositories/42"] = as_json(repository)
    base = "/api/repos/acme-labs/engine"
    site.pages[f"{base}/contents/guide/deploying.md?ref=main"] = as_json({"type": "file", "path": "guide/deploying.md"})
    site.pages[f"{base}/contents/docs/deploy.md?ref=main"] = as_json({"message": "Not Found"}, 404)
    site.pages[f"{base}/commits?path=docs/deploy.md&sha=main&per_page=1"] = as_json([{"sha": "3c1f" * 10}])
    site.pages[f"{base}/commits/{'3c1f' * 10}"] = as_json(
        {"sha": "3c1f" * 10, "files": [
            {"filename": "README.md", "status": "modified"},
            {"filename": "guide/deploying.md", "status": "renamed", "previous_filename": "docs/deploy.md"},
        ]}
    )  # fmt: skip
    site.pages["/acme-labs/engine/blob/main/guide/deploying.md"] = plain
    [looked] = look(watch, site, "p")
    [move] = looked.moves
    assert move.to_url == site.url("/acme-labs/engine/blob/main/guide/deploying.md")
    assert move.evidence[0].words == (
        "GitHub says that acme/engine is now acme-labs/engine; "
        "commit 3c1f3c1f3c renamed docs/deploy.md to guide/deploying.md"
    )
    assert (move.likeness.held, move.likeness.sought) == (1, 1)


@pytest.mark.parametrize(
    "answer",
    [
        GONE,
        as_json({"message": "API rate limit exceeded"}, 403),
        (200, {}, b"{"),
        as_json([1]),
        as_json({"full_name": 3}),
    ],
)
def test_a_github_that_tells_nothing_proposes_nothing(site: Site, watch: Watch, answer: Answer) -> None:
    site.pages["/acme/engine"], site.pages["/api/repos/acme/engine"] = GONE, answer
    watch.passes(row("p", site.url("/acme/engine"), QUOTE), START)
    [looked] = look(watch, site, "p")
    assert looked.moves == [] and looked.not_lost == ""


def test_a_doi_leads_to_where_its_article_is_now(site: Site, watch: Watch) -> None:
    site.pages["/journal/10.1234/abc.5/full"] = page("Production", ARTICLE)
    rows = row("p", site.url("/journal/10.1234/abc.5/full"), QUOTE)
    watch.passes(rows, START)
    site.pages["/journal/10.1234/abc.5/full"] = GONE
    site.pages["/doi/10.1234/abc.5"] = (302, {"Location": "/publisher/abc-5"}, b"")
    site.pages["/publisher/abc-5"] = page("Production", ARTICLE)
    watch.passes(rows, days(1))
    [looked] = look(watch, site, "p")
    assert [(m.to_url, m.evidence[0].words) for m in looked.moves] == [
        (site.url("/publisher/abc-5"), "the DOI 10.1234/abc.5 leads there")
    ]


def test_the_front_page_a_failure_and_another_page_are_told_and_not_proposed(site: Site, watch: Watch) -> None:
    link = '<link rel="canonical" href="{}">'
    whole = page("Production", ARTICLE)
    targets = {"a": site.url("/"), "b": site.url("/broken"), "c": site.url("/other"), "d": site.url("/wall")}
    for name, to in targets.items():
        site.pages[f"/{name}"] = (200, whole[1], whole[2].replace(b"</title>", b"</title>" + link.format(to).encode()))
    rows = "".join(row(name, site.url(f"/{name}"), QUOTE) for name in targets)
    watch.passes(rows, START)
    for name in targets:
        site.pages[f"/{name}"] = GONE
    site.pages |= {
        "/": page("Production", ARTICLE),
        "/broken": (503, {"Content-Type": "text/plain"}, b"no"),
        "/other": page("Cookery", OTHER),
        "/wall": (403, {"Content-Type": "text/plain"}, b"no"),
    }
    watch.passes(rows, days(1))
    found = look(watch, site, *targets)
    assert all(not x.moves for x in found)
    assert {x.source.id: x.dismissed[0][1] for x in found} == {
        "a": "leads to the front page",
        "b": "could not be read: server_error",
        "c": "what stands there is another page",
        "d": "could not be read: forbidden",
    }


def test_a_source_that_can_be_read_is_not_looked_for(site: Site, watch: Watch) -> None:
    site.pages["/p"] = page("Production", ARTICLE)
    watch.passes(row("p", site.url("/p"), QUOTE), START)
    site.asked.clear()
    [looked] = look(watch, site, "p")
    assert looked.not_lost == "it is not gone: ok" and site.asked == []


def proposed(site: Site, watch: Watch) -> str:
    site.pages["/old"] = page("Production", ARTICLE)
    rows = "# the article, as cited in May\n" + row("p", site.url("/old"), QUOTE, more="# why: see the minutes\n")
    rows += "\n# kept for its table\n" + row("q", site.url("/q"))
    site.pages["/q"] = page("Q", OTHER)
    watch.passes(rows, START)
    site.pages["/old"], site.pages["/new"] = moved_to("/new"), page("Production", ARTICLE)
    watch.passes(rows, days(1))
    look(watch, site, "p")
    return rows


def test_accepting_changes_one_address_keeps_every_comment_and_lets_the_date_start_anew(
    site: Site, watch: Watch
) -> None:
    proposed(site, watch)
    path = watch.folder / "sources.toml"
    before = path.read_text("utf-8")
    [move] = watch.ask(lambda h: h.moves.open())
    done = watch.ask(lambda h: moving.decide(h, move.id, ACCEPTED, "Li", days(2)))
    assert done.decided_by == "Li"
    old, new = site.url("/old"), site.url("/new")
    assert path.read_text("utf-8") == before.replace(f'url = "{old}"\n', f'url = "{new}"\nformerly = ["{old}"]\n')
    assert watch.ask(lambda h: h.moves.open()) == []
    dated = watch.dates(days(2))["p"]
    assert (dated["url"], dated["last_accessed"]) == (new, None)
    assert [v.url for v in watch.ask(lambda h: h.ledger.versions("p"))] == [old]
    line = watch.passes(path.read_text("utf-8").partition('every = "6h"\n')[2], days(3))["p"]
    assert line["accessed"] and line["new_version"] and line["last_accessed"] == "2026-10-23T03:03:00Z"
    assert [v.url for v in watch.ask(lambda h: h.ledger.versions("p"))] == [old, new]
    assert [m.version.url for m in watch.ask(lambda h: h.archive.mementos({old}))] == [old]


def test_a_decision_is_taken_once_and_a_refused_address_is_not_proposed_again(site: Site, watch: Watch) -> None:
    proposed(site, watch)
    [move] = watch.ask(lambda h: h.moves.open())
    assert watch.ask(lambda h: moving.decide(h, move.id, REFUSED, " ", days(2))) == NotTaken("r_no_name")
    watch.ask(lambda h: moving.decide(h, move.id, REFUSED, "Li", days(2)))
    assert watch.ask(lambda h: moving.decide(h, move.id, ACCEPTED, "Wu", days(2))) == NotTaken("mv_decided")
    assert watch.ask(lambda h: moving.decide(h, 99, ACCEPTED, "Wu", days(2))) == NotTaken("mv_none")
    [looked] = look(watch, site, "p")
    assert looked.moves == [] and (site.url("/new"), "an editor has decided about it") in looked.dismissed


class _Seen(HTTPErrorProcessor):
    def http_response(self, request: Any, response: Any) -> Any:
        return response

    https_response = http_response


def asked(url: str, **sent: str) -> tuple[int, str]:
    data = urlencode(sent).encode() if sent else None
    headers = {"Accept": "text/html", "Origin": url.partition("/moves")[0]} if sent else {"Accept": "text/html"}
    with build_opener(_Seen).open(Request(url, data, headers), timeout=60) as answer:
        return answer.status, answer.read().decode()


def test_one_click_on_the_desk_accepts_it(site: Site, watch: Watch) -> None:
    proposed(site, watch)
    [move] = watch.ask(lambda h: h.moves.open())
    with live(watch.folder) as base:
        _, shown = asked(f"{base}sources/p")
        assert "Where it seems to have moved" in shown and site.url("/new") in shown and "the same title" in shown
        assert asked(f"{base}moves", move=str(move.id), decision="accepted")[0] == 400  # nobody's name
        assert asked(f"{base}moves", move=str(move.id), decision="accepted", by="Li")[0] == 303
        assert asked(f"{base}moves", move=str(move.id), decision="accepted", by="Li")[0] == 409
        assert asked(f"{base}moves", move="7000", decision="accepted", by="Li")[0] == 404
        assert asked(f"{base}moves", move="x", decision="accepted", by="Li")[0] == 400
    assert f'formerly = ["{site.url("/old")}"]' in (watch.folder / "sources.toml").read_text("utf-8")
    with live(watch.folder) as base:
        assert "formerly at" in asked(f"{base}sources/p")[1]
