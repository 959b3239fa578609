"""Whole passes over real servers: fetch, judge, keep, report; what editors and the site are told."""

from __future__ import annotations

import asyncio
import hashlib
import json
from base64 import b64encode
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from panels import dashboard, sent
from site_of_pages import Site, page, row, write_sources
from sourcewatch.analysis import render
from sourcewatch.analysis.diff import apply, edits
from sourcewatch.domain.document import unpack
from sourcewatch.faces import wiring
from sourcewatch.services import publish, site_data
from watch import Watch

START = datetime(2026, 10, 20, 3, 3, tzinfo=UTC)
ARTICLE = "<h1>Production</h1>" + "".join(
    f"<p>Paragraph {n} tells how the scheduler places experts at night and why the cache stays warm in the day.</p>"
    for n in range(6)
)
FIGURE = (
    '<figure><img src="{src}" alt="production panel" width="800"><figcaption>production panel</figcaption></figure>'
)


def days(n: float) -> datetime:
    return START + timedelta(days=n)


def test_a_page_is_read_kept_and_dated(site: Site, watch: Watch) -> None:
    site.pages["/p"] = page("Production", ARTICLE)
    line = watch.passes(row("p", site.url("/p"), "the cache stays warm"), START)["p"]
    assert (line["verdict"], line["class"], line["accessed"], line["new_version"]) == ("ok", "ok", True, True)
    assert line["sightings"][0]["sighting"] == "verbatim" and line["last_accessed"] == "2026-10-20T03:03:00Z"
    assert "Paragraph 3 tells how" in (watch.folder / line["text_path"]).read_text("utf-8")
    dated = watch.dates(START)["p"]
    assert dated["text"] == {"zh-CN": "访问于 2026 年 10 月 20 日", "en": "accessed 20 October 2026"}
    assert dated["date"] == "2026-10-20" and dated["precision"] == "minute" and dated["unread"] == []


def test_the_same_content_writes_no_version_but_moves_the_date(site: Site, watch: Watch) -> None:
    site.pages["/p"] = page("Production", ARTICLE)
    rows = row("p", site.url("/p"), "the cache stays warm")
    watch.passes(rows, START)
    line = watch.passes(rows, days(1))["p"]
    assert line["rule"] == "same-bytes" and not line["new_version"] and line["last_accessed"] == "2026-10-21T03:03:00Z"
    assert len(list(watch.folder.glob("snapshots/p/2026/*.warc.gz"))) == 1


def test_white_space_and_a_moving_counter_are_no_version(site: Site, watch: Watch) -> None:
    rows = row("p", site.url("/p"))
    site.pages["/p"] = page("P", ARTICLE + "<p>1,204 views</p>")
    watch.passes(rows, START)
    site.pages["/p"] = page("P", ARTICLE.replace(" the ", "  the\n") + "<p>1,377 views</p>")
    line = watch.passes(rows, days(1))["p"]
    assert line["accessed"] and not line["new_version"] and line["change"] is None
    assert watch.dates(days(1))["p"]["last_accessed"] == "2026-10-21T03:03:00Z"


def test_another_encoding_is_an_event_and_no_change_of_the_text(site: Site, watch: Watch) -> None:
    text = "<p>单集群每天处理一百五十五万亿个词元，低谷电价下每卡每小时收入三十八美元。</p>" * 3
    whole = f"<!doctype html><html><head><title>生产</title></head><body><main>{text}</main></body></html>"
    rows = row("p", site.url("/p"))
    site.pages["/p"] = (200, {"Content-Type": "text/html; charset=gb18030"}, whole.encode("gb18030"))
    watch.passes(rows, START)
    site.pages["/p"] = (200, {"Content-Type": "text/html; charset=utf-8"}, whole.encode())
    line = watch.passes(rows, days(1))["p"]
    assert line["accessed"] and not line["new_version"]
    last = watch.ask(lambda h: h.ledger.recall("p").last)
    assert last.facts["events"] == ["encoding: gb18030 → utf-8"]


def test_changed_figures_in_a_quote_need_somebody(site: Site, watch: Watch) -> None:
    rows = row("p", site.url("/p"), "gains 4–7% at the production point")
    site.pages["/p"] = page("P", ARTICLE + "<p>Verification gains 4–7% at the production point.</p>")
    watch.passes(rows, START)
    site.pages["/p"] = page("P", ARTICLE + "<p>Verification gains 3–5% at the production point.</p>")
    line = watch.passes(rows, days(1))["p"]
    assert line["significance"] == "quote" and line["confirmed"] is False and line["change"]["edits"] == 1
    report = watch.report(days(1))
    assert "numbers changed: 4–7% → 3–5%" in report and "~~4–7%~~ **3–5%**" in report


def test_a_quote_that_never_stood_is_told_at_once(site: Site, watch: Watch) -> None:
    site.pages["/p"] = page("P", ARTICLE)
    line = watch.passes(row("p", site.url("/p"), "a sentence that nobody ever wrote down here"), START)["p"]
    assert line["sightings"][0]["sighting"] == "not_found"
    assert "not found on the page that you cite, from the first reading on" in watch.report(START)


def test_a_quote_added_later_is_looked_for_in_a_page_that_did_not_change(site: Site, watch: Watch) -> None:
    site.pages["/p"] = page("P", ARTICLE)
    watch.passes(row("p", site.url("/p")), START)
    line = watch.passes(row("p", site.url("/p"), "the cache stays warm"), days(1))["p"]
    assert [s["sighting"] for s in line["sightings"]] == ["verbatim"] and not line["new_version"]


def test_a_quote_given_as_text_alone_remembers_its_neighbours(site: Site, watch: Watch) -> None:
    rows = row("p", site.url("/p"), "It doubles the throughput of a rank.")
    there = "<p>The kernel was rewritten in May. It doubles the throughput of a rank. Nobody else has measured it.</p>"
    site.pages["/p"] = page("P", ARTICLE + there)
    watch.passes(rows, START)
    site.pages["/p"] = page("P", ARTICLE + there.replace(" It doubles the throughput of a rank.", ""))
    line = watch.passes(rows, days(1))["p"]
    assert [s["sighting"] for s in line["sightings"]] == ["deleted_here"]


def test_a_304_is_an_access_when_its_validator_came_from_an_accepted_version(site: Site, watch: Watch) -> None:
    body = page("P", ARTICLE)

    def conditional(headers: dict[str, str]) -> Any:
        if headers.get("if-none-match") == '"v1"':
            return 304, {"ETag": '"v1"'}, b""
        return 200, {**body[1], "ETag": '"v1"'}, body[2]

    site.pages["/p"] = conditional
    rows = row("p", site.url("/p"), "the cache stays warm")
    watch.passes(rows, START)
    line = watch.passes(rows, days(1))["p"]
    assert (line["verdict"], line["rule"], line["status"]) == ("ok", "not-modified", 304)
    assert line["last_accessed"] == "2026-10-21T03:03:00Z" and len(line["sightings"]) == 1


@pytest.mark.parametrize(
    ("told", "rule"),
    [('"v2"', "no-objection"), ('W/"v1"', "not-modified"), ('"v1-gzip"', "not-modified"), ("", "not-modified")],
)
def test_a_304_for_another_etag_is_asked_again_without_one(site: Site, watch: Watch, told: str, rule: str) -> None:
    whole = page("P", ARTICLE)

    def conditional(headers: dict[str, str]) -> Any:
        if "if-none-match" in headers:
            return 304, {"ETag": told} if told else {}, b""
        return 200, {**whole[1], "ETag": '"v1"'}, whole[2]

    site.pages["/p"] = conditional
    rows = row("p", site.url("/p"))
    watch.passes(rows, START)
    whole = page("P", ARTICLE + "<p>A sentence came in since the first reading, and it counts.</p>")
    line = watch.passes(rows, days(1))["p"]
    assert (line["verdict"], line["rule"], line["new_version"]) == ("ok", rule, rule == "no-objection")


def test_a_304_for_another_etag_is_no_access_where_nothing_else_comes(site: Site, watch: Watch) -> None:
    site.pages["/p"] = (200, {**page("P", ARTICLE)[1], "ETag": '"v1"'}, page("P", ARTICLE)[2])
    rows = row("p", site.url("/p"))
    watch.passes(rows, START)
    site.pages["/p"] = (304, {"ETag": '"v2"'}, b"")
    line = watch.passes(rows, days(1))["p"]
    assert not line["accessed"] and line["last_accessed"] == "2026-10-20T03:03:00Z"


def test_a_304_that_nobody_asked_for_is_no_access(site: Site, watch: Watch) -> None:
    site.pages["/p"] = (304, {}, b"")
    line = watch.passes(row("p", site.url("/p")), START)["p"]
    assert not line["accessed"] and line["last_accessed"] is None


def test_a_failure_keeps_the_date_and_says_since_when(site: Site, watch: Watch) -> None:
    site.pages["/p"] = page("P", ARTICLE)
    rows = row("p", site.url("/p"))
    watch.passes(rows, START)
    site.pages["/p"] = (500, {"Content-Type": "text/plain"}, b"no")
    line = watch.passes(rows, days(1))["p"]
    assert (line["verdict"], line["accessed"], line["failing_since"]) == ("server_error", False, "2026-10-21T03:03:00Z")
    assert line["last_accessed"] == "2026-10-20T03:03:00Z" and line["strikes"] == 1
    site.pages["/p"] = page("P", ARTICLE)
    line = watch.passes(rows, days(2))["p"]
    assert line["failing_since"] is None and line["strikes"] == 0 and not line["new_version"]
    assert "Recovered" in watch.report(days(2))


def test_the_text_is_read_and_the_picture_is_not(site: Site, watch: Watch) -> None:
    rows = row("article", site.url("/p"), "the cache stays warm") + (
        '[[source]]\nid = "panel"\ntier = "A"\ntitle = "The panel"\nkind = "figure"\n'
        'parent = "article"\nalt = "production panel"\n'
        '[[source.quote]]\nexact = "96% cache hits"\n'
    )
    site.pages["/p"] = page("P", ARTICLE + FIGURE.format(src="http://127.0.0.1:1/panel.png"))
    line = watch.passes(rows, START)["article"]
    assert line["verdict"] == "ok_partial" and line["accessed"]
    assert line["embeds"] == [{"url": "http://127.0.0.1:1/panel.png", "verdict": "connect_refused"}]
    dates = watch.dates(START)
    assert dates["article"]["last_accessed"] and dates["panel"]["last_accessed"] is None
    assert dates["article"]["unread"] == [
        {
            "url": "http://127.0.0.1:1/panel.png",
            "alt": "production panel",
            "verdict": "connect_refused",
            "since": "2026-10-20T03:03:00Z",
        }
    ]
    report = watch.report(START)
    assert "“96% cache hits”" in report and "its only evidence is a figure that could not be read" in report
    assert "the text of its page was read" in report
    assert "connection refused" in report.split("What we could not read")[1]


def test_a_figure_whose_page_was_never_read_is_not_called_read(watch: Watch) -> None:
    rows = (
        '[[source]]\nid = "article"\ntier = "A"\ntitle = "unlocated"\n'
        '[[source]]\nid = "panel"\ntier = "A"\ntitle = "The panel"\nkind = "figure"\nparent = "article"\n'
        'alt = "panel"\n[[source.quote]]\nexact = "96% cache hits"\n'
    )
    watch.passes(rows, START)
    assert "so the figure was never asked for" in watch.report(START)


def test_a_picture_is_asked_with_its_page_as_referer_and_dated_by_itself(
    site: Site, watch: Watch, picture: bytes
) -> None:
    site.pages["/p"] = page("P", ARTICLE + FIGURE.format(src="/panel.png"))
    site.pages["/panel.png"] = lambda h: (
        (200, {"Content-Type": "image/png"}, picture) if h.get("referer") == site.url("/p") else (403, {}, b"hot link")
    )
    rows = row("article", site.url("/p"))
    line = watch.passes(rows, START)["article"]
    assert line["verdict"] == "ok" and line["embeds"] == [{"url": site.url("/panel.png"), "verdict": "ok"}]
    site.pages["/panel.png"] = (404, {}, b"")
    line = watch.passes(rows, days(1))["article"]
    assert line["verdict"] == "ok_partial" and line["rule"] == "figure-unread"
    unread = watch.dates(days(1))["article"]["unread"]
    assert [(u["verdict"], u["since"]) for u in unread] == [("not_found", "2026-10-21T03:03:00Z")]


def test_another_picture_under_the_same_address_is_a_change_of_figures(
    site: Site, watch: Watch, picture: bytes, other: bytes
) -> None:
    site.pages["/p"] = page("P", ARTICLE + FIGURE.format(src="/panel.png"))
    site.pages["/panel.png"] = (200, {"Content-Type": "image/png"}, picture)
    watch.passes(row("article", site.url("/p")), START)
    site.pages["/panel.png"] = (200, {"Content-Type": "image/png"}, other)
    watch.passes(row("article", site.url("/p")), days(1))
    report = watch.ask(lambda h: publish.report(h.settings, h.ledger, days(1), START, h.snapshots))
    [change] = report.changes
    assert [p and p.data for p in change.pictures] == [picture, other]
    html = render.html(report)
    assert all(f'src="data:image/png;base64,{b64encode(p).decode()}"' in html for p in (picture, other))
    told = "".join(p.text for e in change.edits for p in e.parts)
    assert change.significance == "figures" and change.source.parent == "article"
    assert hashlib.sha256(picture).hexdigest() in told and hashlib.sha256(other).hexdigest() in told


def test_a_figure_that_was_encoded_again_is_no_new_version_and_is_counted(site: Site, watch: Watch) -> None:
    site.pages["/p"] = page("P", ARTICLE + FIGURE.format(src="/panel"))
    for n, kind in enumerate(("PNG", "WEBP", "JPEG")):
        site.pages["/panel"] = (200, {"Content-Type": f"image/{kind.lower()}"}, sent(dashboard(), kind, quality=80))
        watch.passes(row("article", site.url("/p")), days(n))
    figure = watch.ask(lambda h: h.ledger.figures())[0].id
    first, again, third = watch.ask(lambda h: h.ledger.spans(figure))
    assert (first.new_version, again.new_version, third.new_version) == (True, False, False)
    assert again.verdict.rule == third.verdict.rule == "same-picture" and again.verdict.accessed
    assert again.verdict.evidence.endswith("PNG 640 × 360 px → WEBP 640 × 360 px")
    assert not watch.ask(lambda h: h.ledger.changes_since(None, figure))


def test_a_changed_digit_in_a_figure_is_boxed_in_report_and_archive(site: Site, watch: Watch) -> None:
    site.pages["/p"] = page("P", ARTICLE + FIGURE.format(src="/panel"))
    for n, rate in enumerate(("87.3%", "81.3%")):
        site.pages["/panel"] = (200, {"Content-Type": "image/jpeg"}, sent(dashboard(rate), "JPEG", quality=80))
        watch.passes(row("article", site.url("/p")), days(n))
    report = watch.ask(lambda h: publish.report(h.settings, h.ledger, days(1), START, h.snapshots))
    [change] = report.changes
    assert change.picture is not None
    [box] = change.picture.regions
    assert 215 <= box.x <= 250 and box.width < 40
    html, md = render.html(report, "en"), render.markdown(report, "zh-CN")
    assert html.count(f'<rect x="{box.x}" y="{box.y}" width="{box.width}" height="{box.height}"/>') == 2
    assert f"px at {box.x}, {box.y}" in html and f"左 {box.x}、上 {box.y} 起" in md
    assert '"regions": [' in render.as_json(report)


def test_redirects_are_followed_and_every_hop_is_in_the_snapshot(site: Site, watch: Watch) -> None:
    site.pages["/old"] = (301, {"Location": "/new"}, b"")
    site.pages["/new"] = page("P", ARTICLE)
    line = watch.passes(row("p", site.url("/old")), START)["p"]
    assert line["verdict"] == "redirected_permanent" and line["final_url"] == site.url("/new")
    assert f"now at <{site.url('/new')}>" in watch.report(START).split("## Moved")[1]
    meta = json.loads((watch.folder / line["snapshot"].replace(".warc.gz", ".json")).read_text())
    assert [h["status"] for h in meta["hops"]] == [301, 200]


def test_a_pass_on_postgresql_finds_what_one_on_sqlite_does(site: Site, tmp_path: Path, empty_postgresql: str) -> None:
    site.pages["/p"] = page("P", ARTICLE + FIGURE.format(src="http://127.0.0.1:1/panel.png"))
    path = write_sources(tmp_path, row("p", site.url("/p"), "the cache stays warm"))
    environ = {"SOURCEWATCH_DATABASE_URL": empty_postgresql.replace("+psycopg", "")}
    with wiring.open_house(path, None, environ) as house:
        for day in range(2):
            asyncio.run(wiring.run_pass(house, all_of_them=True, clock=partial(days, day)))
        dated = site_data.last_accessed(house.settings, house.ledger, house.site, days(2))["sources"]["p"]
        report = render.markdown(publish.report(house.settings, house.ledger, days(2), START))
    assert dated["last_accessed"] == "2026-10-21T03:03:00Z" and dated["verdict"] == "ok_partial"
    assert "connection refused" in report and not list(tmp_path.glob("*.db"))


def test_an_unlocated_source_is_listed_never_fetched_never_dated(watch: Watch) -> None:
    rows = '[[source]]\nid = "qa"\ntier = "A"\ntitle = "Q&A"\n[[source.quote]]\nexact = "155 万亿"\n'
    assert watch.passes(rows, START) == {}
    assert watch.dates(START)["qa"]["last_accessed"] is None
    assert "## Address unknown" in watch.report(START)


def test_a_private_address_is_never_asked(site: Site, watch: Watch) -> None:
    path = write_sources(watch.folder, row("p", site.url("/p")))
    path.write_text(path.read_text().replace('allow_networks = ["127.0.0.0/8"]', ""))
    with wiring.open_house(path, None, {}) as house:
        lines: list[Any] = []
        asyncio.run(wiring.run_pass(house, all_of_them=True, told=lines.append, clock=lambda: START))
    assert lines[0]["verdict"] == "redirect_to_private" and site.asked == []


def test_secrets_reach_the_host_and_nothing_else(site: Site, watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGE_TOKEN", "s3cret-value")
    site.pages["/p"] = page("P", ARTICLE)
    path = write_sources(
        watch.folder, row("p", site.url("/p"), more='headers = { Authorization = "Bearer ${PAGE_TOKEN}" }')
    )
    with wiring.open_house(path, None) as house:
        asyncio.run(wiring.run_pass(house, all_of_them=True, clock=lambda: START))
    assert ("/p", "Bearer s3cret-value") in [(p, h.get("authorization")) for p, h in site.asked]
    import gzip

    for file in (f for f in watch.folder.rglob("*") if f.is_file() and f.name != "run.lock"):
        data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        assert b"s3cret-value" not in data, file


def test_a_page_that_kills_its_reader_gets_a_verdict_and_the_run_goes_on(
    site: Site, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.pages["/good"] = page("P", ARTICLE)
    site.pages["/deadly"] = page("P", "<p>deadly</p>")
    monkeypatch.setattr(wiring, "judge", deadly_judge)
    rows = row("deadly", site.url("/deadly")) + row("good", site.url("/good"))
    lines = watch.passes(rows, START)
    assert (lines["deadly"]["verdict"], lines["deadly"]["rule"]) == ("document_broken", "worker-died")
    assert lines["good"]["verdict"] == "ok"


def deadly_judge(task: Any) -> Any:
    import os

    from sourcewatch.analysis.judge import judge

    if b"deadly" in task.capture.answer.body:
        os.abort()
    return judge(task)


HISTORIES = Path(__file__).parents[1] / "corpus_histories"


@pytest.mark.parametrize("history", sorted(p.name for p in HISTORIES.iterdir() if p.is_dir()))
def test_a_real_history_comes_out_as_it_was(site: Site, watch: Watch, history: str) -> None:
    """Each version that differs in text is a version; any two of them give the second from the first."""
    files = sorted((HISTORIES / history).glob("*.md"))
    rows = row("readme", site.url("/README.md"), more='embeds = "none"')
    brought: list[bool] = []
    for day, file in enumerate(files):
        site.pages["/README.md"] = (200, {"Content-Type": "text/plain; charset=utf-8"}, file.read_bytes())
        brought.append(watch.passes(rows, days(day))["readme"]["new_version"])
    texts = watch.ask(lambda h: [unpack(h.ledger.packed_document(v.id)) for v in h.ledger.versions("readme")])
    assert sum(brought) == len(texts) and brought[0]
    different = [
        " ".join(a.read_text("utf-8").split()) != " ".join(b.read_text("utf-8").split()) for a, b in pairwise(files)
    ]
    assert all(d or not b for d, b in zip(different, brought[1:], strict=True)), "white space alone is no version"
    for a, b in [(x, y) for x in texts for y in texts]:
        rebuilt = apply(edits(a.visible, b.visible), [block.text for block in a.visible])
        assert rebuilt == [block.text for block in b.visible]


def test_the_report_says_when_the_network_itself_is_down(watch: Watch) -> None:
    async def down(host: str, port: int) -> Sequence[str]:
        import socket

        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    path = write_sources(watch.folder, "".join(row(f"s{n}", f"https://host{n}.example/") for n in range(4)))
    with wiring.open_house(path, None, {}) as house:
        lines: list[Any] = []
        tally = asyncio.run(
            wiring.run_pass(house, all_of_them=True, told=lines.append, clock=lambda: START, resolve=down)
        )
    assert {line["verdict"] for line in lines} == {"dns_not_found"} and len(lines) == 4
    assert tally.void_reason == "dns_not_found 4 4"
    report = watch.report(START)
    assert "Our own network is at fault: 4 of 4 hosts failed alike (the name does not resolve)" in report
    assert "Everything was read" not in report and "Nothing was read reliably" in report
    assert all(d["failing_since"] is None for d in watch.dates(START).values())
