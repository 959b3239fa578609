"""Passes over sources that a rule reads: what is dated, what is told, and how a rule comes and goes."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from site_of_pages import Site, page, row, write_sources
from sourcewatch.faces import wiring
from watch import Watch

START = datetime(2026, 10, 20, 3, 3, tzinfo=UTC)
ARTICLE = "<h1>PR 47</h1>" + "".join(f"<p>Sentence {n} of the page with all its buttons around.</p>" for n in range(8))
RULE = """[[reader]]
name = "forge-pull"
version = {version}
cited = ["https://{host}/{{repo}}/pull/{{number}}"]
read = "http://{host}/api/{{repo}}/{{number}}"
official = "the forge's own interface gives the request that the page shows"
form = "json"
proves = {{ number = "{{number}}", state = "" }}
gone = {{ deleted = true }}
title = "title"
text = ["title"{text}]
[[reader.fact]]
say = "PR #{{number}} not merged"
when = {{ merged = false }}
[[reader.fact]]
say = "PR #{{number}} merged"
when = {{ merged = true }}
[[reader.example]]
cited = "https://{host}/engine/pull/47"
body = '{{"number": 47, "state": "open", "title": "RFC", "merged": false}}'
"""


class Forge:
    """A site with one pull request, as a page and as an API gives it, and passes over it."""

    def __init__(self, site: Site, folder: Path) -> None:
        self.site, self.watch, self.day = site, Watch(folder), 0
        self.url = site.url("/engine/pull/47")
        site.pages["/engine/pull/47"] = page("PR 47", ARTICLE)
        self.says()

    def says(self, **values: Any) -> None:
        answer = {
            "number": 47,
            "state": "open",
            "title": "RFC: another board",
            "merged": False,
            "comments": 12,
        } | values
        self.answers(200, json.dumps(answer))

    def answers(self, status: int, body: str, **headers: str) -> None:
        self.site.pages["/api/engine/47"] = (status, {"Content-Type": "application/json", **headers}, body.encode())

    def rule(self, version: int = 1, text: str = "") -> None:
        host = self.site.url("").partition("://")[2].rstrip("/")
        rule = RULE.format(host=host, version=version, text=text)
        (self.watch.folder / "readers.toml").write_text(rule, encoding="utf-8")

    def passes(self, *quotes: str, more: str = "", ruled: bool = True) -> dict[str, Any]:
        path = write_sources(self.watch.folder, row("pr", self.url, *quotes, more=more))
        if ruled:
            text = path.read_text("utf-8").replace("[fetch]\n", '[fetch]\nreaders = "readers.toml"\n')
            path.write_text(text, encoding="utf-8")
        lines: list[Any] = []
        at = START + timedelta(days=self.day)
        self.day += 1

        async def go(house: wiring.House) -> None:
            await wiring.run_pass(house, ["pr"], told=lines.append, clock=lambda: at)

        with wiring.open_house(path, None, {}) as house:
            asyncio.run(go(house))
        [line] = lines
        return dict(line)


@pytest.fixture
def forge(site: Site, tmp_path: Path) -> Forge:
    forge = Forge(site, tmp_path)
    forge.rule()
    return forge


def kinds(line: dict[str, Any]) -> list[str]:
    return [s["sighting"] for s in line["sightings"]]


def test_a_state_is_a_sentence_that_quotes_rely_on(forge: Forge) -> None:
    line = forge.passes("PR #47 not merged")
    assert (line["verdict"], line["reader"], kinds(line)) == ("ok", "forge-pull@1", ["verbatim"])
    assert line["url"] == forge.url and line["final_url"].endswith("/api/engine/47")
    forge.says(state="closed", merged=True)
    line = forge.passes("PR #47 not merged")
    assert line["significance"] == "quote" and kinds(line) != ["verbatim"]


def test_what_is_dated_is_the_cited_address(forge: Forge) -> None:
    forge.passes()
    dated = forge.watch.dates(START)["pr"]
    assert dated["url"] == forge.url and dated["last_accessed"] == "2026-10-20T03:03:00Z"


def test_counts_are_noise_unless_somebody_quotes_them(forge: Forge) -> None:
    forge.passes()
    forge.says(comments=13)
    assert not forge.passes()["new_version"]
    assert kinds(forge.passes("comments: 13")) == ["verbatim"]
    forge.says(comments=14)
    line = forge.passes("comments: 13")
    assert kinds(line) == ["numbers_changed"] and line["new_version"]
    assert "comments: 13" in forge.watch.report(START + timedelta(days=forge.day))


@pytest.mark.parametrize(
    ("status", "body", "verdict"),
    [
        (200, '{"number": 46, "state": "open", "title": "RFC: another board", "merged": false}', "interstitial"),
        (200, '{"message": "come back later"}', "interstitial"),
        (200, '{"number": 47, "deleted": true}', "removed_notice"),
        (200, '{"number": 47, "state": ', "interstitial"),
        (404, '{"message": "Not Found"}', "not_found"),
    ],
)
def test_an_answer_that_does_not_prove_to_be_the_source_is_no_access(
    forge: Forge, status: int, body: str, verdict: str
) -> None:
    forge.passes()
    forge.answers(status, body)
    line = forge.passes()
    assert (line["verdict"], line["accessed"], line["new_version"]) == (verdict, False, False)
    assert line["last_accessed"] == "2026-10-20T03:03:00Z"


def test_a_host_that_has_nothing_left_to_give_is_no_failure_and_is_left_alone(forge: Forge) -> None:
    forge.passes()
    reset = str(int(datetime.now(UTC).timestamp()) + 1_800)
    forge.answers(403, "{}", **{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset})
    line = forge.passes()
    assert (line["verdict"], line["class"], line["strikes"]) == ("rate_limited", "walled", 0)


def test_a_rule_that_reads_another_address_begins_anew_and_tells_no_change(forge: Forge) -> None:
    line = forge.passes("Sentence 3 of the page", ruled=False)
    assert line["reader"] is None and kinds(line) == ["verbatim"]
    line = forge.passes("PR #47 not merged")
    assert line["accessed"] and line["new_version"] and line["change"] is None and kinds(line) == ["verbatim"]
    [*_, last] = forge.watch.ask(lambda h: h.ledger.spans("pr"))
    assert last.facts["events"] == ["read in another way from now on: as it is → forge-pull"]
    assert not forge.passes("PR #47 not merged")["new_version"]


def test_a_new_version_of_a_rule_is_no_change_of_the_source(forge: Forge) -> None:
    forge.passes()
    forge.rule(version=2, text=', "comments"')
    line = forge.passes()
    assert line["reader"] == "forge-pull@2" and not line["new_version"]
    forge.says(comments=13)
    assert forge.passes()["new_version"]


def test_a_source_that_no_rule_reads_any_more_begins_anew(forge: Forge) -> None:
    forge.passes()
    line = forge.passes(more='reader = "none"\n')
    assert line["reader"] is None and line["new_version"] and line["change"] is None
    assert line["final_url"] == forge.url


def test_the_same_answer_is_not_read_twice(forge: Forge) -> None:
    forge.answers(200, json.dumps({"number": 47, "state": "open", "title": "RFC", "merged": False}), ETag='"a"')
    forge.passes()
    assert forge.passes()["rule"] == "same-bytes"


def test_the_rule_is_named_where_people_look(forge: Forge) -> None:
    forge.passes()
    meta = next(forge.watch.folder.glob("snapshots/pr/*/*.json"))
    assert json.loads(meta.read_text("utf-8"))["reader"] == "forge-pull@1"
