"""What the archive alone tells of checks that brought no new version, and what it never holds."""

from __future__ import annotations

import asyncio
import gzip
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from site_of_pages import Site, page, row, write_sources
from sourcewatch.adapters.warc_walk import Record, walk
from sourcewatch.domain.capture import Failure
from sourcewatch.domain.check import Finding, Judgement, Span
from sourcewatch.domain.errors import StorageError
from sourcewatch.domain.source import Source
from sourcewatch.domain.standing import Recall, Standing
from sourcewatch.domain.verdict import Verdict
from sourcewatch.faces import wiring
from sourcewatch.services.notes import note_of
from watch import Watch

START = datetime(2026, 10, 20, 3, 3, tzinfo=UTC)
ARTICLE = "".join(
    f"<p>Paragraph {n} tells how the scheduler places experts at night and why the cache stays warm in the day.</p>"
    for n in range(6)
)


def hours(n: float) -> datetime:
    return START + timedelta(hours=n)


def noted(folder: Path) -> list[Record]:
    files = sorted((folder / "snapshots" / "_checks").glob("*"))
    return [record for file in files for record in walk(file) if record.kind in ("metadata", "revisit")]


def words(folder: Path) -> list[tuple[str, str]]:
    """(day and hour, verdict) of every noted check."""
    return [(r.fields["checked-at"][8:13], r.fields["verdict"]) for r in noted(folder) if r.kind == "metadata"]


def test_a_days_first_check_is_noted_with_the_version_that_it_saw(site: Site, watch: Watch) -> None:
    site.pages["/p"] = page("P", ARTICLE)
    rows = row("p", site.url("/p"), "the cache stays warm")
    line = watch.passes(rows, START)["p"]
    assert not (watch.folder / "snapshots" / "_checks").exists(), "the version itself is that day's proof"
    watch.passes(rows, hours(23))
    watch.passes(rows, hours(29))
    revisit, metadata = noted(watch.folder)
    [version] = [r for r in walk(watch.folder / line["snapshot"]) if r.kind == "response"]
    assert revisit.headers["warc-refers-to"] == version.id
    assert revisit.headers["warc-refers-to-target-uri"] == version.headers["warc-target-uri"] == site.url("/p")
    assert revisit.headers["warc-refers-to-date"] == version.headers["warc-date"]
    assert revisit.headers["warc-payload-digest"] == version.headers["warc-payload-digest"]
    fields = metadata.fields
    assert {k: fields[k] for k in ("source", "kind", "verdict", "rule", "status", "accessed", "checked-at")} == {
        "source": "p", "kind": "page", "verdict": "ok", "rule": "same-bytes", "status": "200", "accessed": "yes",
        "checked-at": "2026-10-21T02:03:00Z",
    }  # fmt: skip
    assert (fields["version-record"], fields["version-path"]) == (version.id, line["snapshot"])
    assert fields["version-date"] == version.headers["warc-date"] and fields["cited-url"] == site.url("/p")


def test_the_same_text_in_other_bytes_is_noted_but_is_no_revisit(site: Site, watch: Watch) -> None:
    site.pages["/p"] = page("P", ARTICLE)
    watch.passes(row("p", site.url("/p")), START)
    site.pages["/p"] = page("P", ARTICLE.replace(" the ", "  the\n"))
    line = watch.passes(row("p", site.url("/p")), hours(24))["p"]
    assert line["accessed"] and not line["new_version"]
    [metadata] = noted(watch.folder)
    assert metadata.kind == "metadata" and metadata.fields["accessed"] == "yes" and metadata.fields["version-record"]


def test_a_304_is_noted_as_a_revisit_without_a_block(site: Site, watch: Watch) -> None:
    whole = page("P", ARTICLE)
    site.pages["/p"] = lambda h: (
        (304, {}, b"") if h.get("if-none-match") == '"v1"' else (200, {**whole[1], "ETag": '"v1"'}, whole[2])
    )
    watch.passes(row("p", site.url("/p")), START)
    watch.passes(row("p", site.url("/p")), hours(24))
    revisit, metadata = noted(watch.folder)
    assert revisit.headers["warc-profile"].endswith("server-not-modified") and revisit.block == b""
    assert metadata.fields["status"] == "304" and metadata.fields["rule"] == "not-modified"


def test_every_turn_of_a_verdict_is_noted_and_its_repeats_on_that_day_are_not(site: Site, watch: Watch) -> None:
    good = page("P", ARTICLE)
    rows = row("p", site.url("/p"))
    site.pages["/p"] = good
    watch.passes(rows, START)
    for hour, answer in ((24, None), (25, None), (26, good), (27, good), (48, None), (49, None)):
        site.pages["/p"] = answer or (lambda h: (_ for _ in ()).throw(ConnectionError))
        watch.passes(rows, hours(hour))
    first, *rest = words(watch.folder)
    assert first[0] == "21T03" and first[1] != "ok"
    assert rest == [("21T05", "ok"), ("22T03", first[1])]
    assert all(r.fields["accessed"] == "no" for r in noted(watch.folder) if r.fields.get("verdict") == first[1])


def test_a_refusal_has_a_file_of_its_own_once_a_day_and_no_note(site: Site, watch: Watch) -> None:
    site.pages["/p"] = (404, {"Content-Type": "text/html"}, b"<h1>Not found</h1>")
    rows = row("p", site.url("/p"))
    for hour in (0, 1, 2, 3):
        watch.passes(rows, hours(hour))
    assert len(list(watch.folder.glob("snapshots/_refused/p/2026/*.warc.gz"))) == 1
    assert not (watch.folder / "snapshots" / "_checks").exists()
    spans = watch.ask(lambda h: h.ledger.spans("p"))
    assert len({span.facts["evidence_path"] for span in spans}) == 1 and len(spans) == 4


def test_a_persons_reading_of_that_day_is_no_proof_of_the_machines() -> None:
    source = Source("p", "A", "P", url="https://a.example/p")
    verdict = Verdict("connect_refused", "refused", "nobody listens")
    failure = Failure(hours(1), verdict.word, verdict.rule, verdict.evidence, "https://a.example/p")
    finding = Finding("p", hours(1), failure, Judgement(verdict), 0.1)
    machine = Span(1, "p", START, START, 1, verdict, 0, "https://a.example/p", "")
    assert note_of(source, finding, Recall(None, machine, Standing()), 1) is None
    assert note_of(source, finding, Recall(None, replace(machine, by_hand=True), Standing()), 1) is not None


def test_a_figure_that_is_shown_again_is_noted_with_its_parent(site: Site, watch: Watch, picture: bytes) -> None:
    site.pages["/p"] = page("P", ARTICLE + '<figure><img src="/f.png" alt="the panel" width="800"></figure>')
    site.pages["/f.png"] = (200, {"Content-Type": "image/png"}, picture)
    rows = row("p", site.url("/p"))
    line = watch.passes(rows, START)["p"]
    watch.passes(rows, hours(24))
    figure = next(r.fields for r in noted(watch.folder) if r.fields.get("kind") == "figure")
    assert (figure["parent"], figure["alt"], figure["accessed"]) == ("p", "the panel", "yes")
    meta = json.loads((watch.folder / line["snapshot"].replace(".warc.gz", ".json")).read_text("utf-8"))
    [shown] = meta["figures"]
    responses = {r.id: r for r in walk(watch.folder / line["snapshot"]) if r.kind == "response"}
    assert shown["source"] == figure["source"] and shown["parent"] == "p" and meta["parent"] is None
    for one, url in ((meta, site.url("/p")), (shown, site.url("/f.png"))):
        record = responses[one["record_id"]]
        assert (record.headers["warc-target-uri"], record.offset) == (url, one["offset"])
    assert figure["version-record"] == shown["record_id"]


def test_a_new_figure_on_an_unchanged_page_says_which_version_the_page_still_shows(
    site: Site, watch: Watch, picture: bytes, other: bytes
) -> None:
    site.pages["/p"] = page("P", ARTICLE + '<figure><img src="/f.png" alt="the panel" width="800"></figure>')
    site.pages["/f.png"] = (200, {"Content-Type": "image/png"}, picture)
    rows = row("p", site.url("/p"))
    first = watch.passes(rows, START)["p"]
    site.pages["/f.png"] = (200, {"Content-Type": "image/png"}, other)
    watch.passes(rows, hours(24))
    before, now = sorted(watch.folder.glob("snapshots/p/2026/*.json"))
    was, meta = json.loads(before.read_text("utf-8")), json.loads(now.read_text("utf-8"))
    assert meta["saw"] == {
        "record_id": was["record_id"], "path": first["snapshot"], "captured_at": "2026-10-20T03:03:00Z",
    }  # fmt: skip
    assert "record_id" not in meta and meta["figures"][0]["record_id"]
    assert [r.fields["source"] for r in noted(watch.folder) if r.kind == "metadata"] == ["p"]


def test_two_sources_of_one_address_have_their_captures_in_two_seconds(site: Site, watch: Watch) -> None:
    site.pages["/p"] = page("P", ARTICLE)
    rows = row("p", site.url("/p")) + row("q", site.url("/p") + "#part")
    watch.passes(rows, START)
    watch.passes(rows, hours(24))
    dates = [
        record.headers["warc-date"]
        for file in [*watch.folder.glob("snapshots/[pq]/2026/*.gz"), *watch.folder.glob("snapshots/_checks/*")]
        for record in walk(file)
        if record.kind in ("response", "revisit")
    ]
    assert len(dates) == len(set(dates)) == 4


def test_a_run_whose_failures_prove_nothing_says_so_in_the_archive(watch: Watch) -> None:
    import socket
    from collections.abc import Sequence

    async def down(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    path = write_sources(watch.folder, "".join(row(f"s{n}", f"https://host{n}.example/") for n in range(4)))
    with wiring.open_house(path, None, {}) as house:
        asyncio.run(wiring.run_pass(house, all_of_them=True, clock=lambda: START, resolve=down))
    *checks, void = noted(watch.folder)
    assert {r.fields["verdict"] for r in checks} == {"dns_not_found"} and len(checks) == 4
    assert void.fields == {
        "sourcewatch-void": "1", "run": checks[0].fields["run"], "started-at": "2026-10-20T03:03:00Z",
        "ended-at": "2026-10-20T03:03:00Z", "reason": "dns_not_found 4 4",
    }  # fmt: skip


def test_no_secret_and_no_session_is_archived(site: Site, watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cookies that a redirect set are sent on, secrets from the environment, too; records name them without values."""
    for name in ("TOKEN", "KEY", "PROXY"):
        monkeypatch.setenv(name, f"s3cret-{name.lower()}")
    whole = page("P", ARTICLE)

    def dance(headers: dict[str, str]) -> Any:
        if "dance=s3cret-step" not in headers.get("cookie", ""):
            return 302, {"Location": "/p", "Set-Cookie": "dance=s3cret-step; Path=/"}, b""
        return 200, {**whole[1], "Set-Cookie": "session=s3cret-session"}, whole[2]

    site.pages["/p"] = dance
    secrets = (
        'headers = { Authorization = "Bearer ${TOKEN}", X-Api-Key = "${KEY}", Proxy-Authorization = "Basic ${PROXY}" }'
    )
    path = write_sources(watch.folder, row("p", site.url("/p"), more=secrets))
    for at in (START, hours(24)):
        with wiring.open_house(path, None) as house:
            asyncio.run(wiring.run_pass(house, all_of_them=True, clock=lambda at=at: at))
    sent = [h for p, h in site.asked if p == "/p" and "cookie" in h]
    assert sent and all(h["authorization"] == "Bearer s3cret-token" and h["x-api-key"] == "s3cret-key" for h in sent)
    files = [f for f in watch.folder.rglob("*") if f.is_file() and f.name != "run.lock"]
    unpacked = {f: gzip.decompress(f.read_bytes()) if ".gz" in f.name else f.read_bytes() for f in files}
    assert [f for f, data in unpacked.items() if b"s3cret" in data] == []
    archived = b"".join(data for f, data in unpacked.items() if ".warc.gz" in f.name)
    for name in (b"Authorization", b"X-Api-Key", b"Proxy-Authorization", b"Cookie", b"Set-Cookie"):
        assert b"\n" + name + b": [redacted]" in archived, name
    assert len(list(watch.folder.glob("snapshots/_checks/*"))) == 1


def test_a_cookie_that_anybody_gets_stays_as_the_server_sent_it(site: Site, watch: Watch) -> None:
    whole = page("P", ARTICLE)
    site.pages["/p"] = (200, {**whole[1], "Set-Cookie": "visitor=anybody"}, whole[2])
    line = watch.passes(row("p", site.url("/p")), START)["p"]
    assert b"Set-Cookie: visitor=anybody" in gzip.decompress((watch.folder / line["snapshot"]).read_bytes())


def test_what_a_killed_run_left_half_written_is_cleared_at_the_next_start(site: Site, watch: Watch) -> None:
    site.pages["/p"] = page("P", ARTICLE)
    rows = row("p", site.url("/p"))
    watch.passes(rows, START)
    year = watch.folder / "snapshots" / "p" / "2026"
    ours, theirs = year / ".20261021T030300Z.warc.gz.tmp", [year / "notes.tmp", watch.folder / ".mine.tmp"]
    for file in (ours, *theirs):
        file.write_bytes(b"half")
    watch.passes(rows, hours(1))
    assert ours.exists(), "the run before came to its end: nobody walks the whole tree for nothing"
    (watch.folder / "run.lock").write_text("run, pid 1, since 2026-10-20T04:03:00Z\n")  # nobody let go of it
    watch.passes(rows, hours(3))
    assert not ours.exists() and all(file.exists() for file in theirs)


def test_a_link_in_a_sources_place_stops_the_run_and_writes_nothing_behind_it(
    site: Site, watch: Watch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    site.pages["/p"] = page("P", ARTICLE)
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (watch.folder / "snapshots").mkdir()
    (watch.folder / "snapshots" / "p").symlink_to(elsewhere)
    with pytest.raises(StorageError, match="a symbolic link leads out of"):
        watch.passes(row("p", site.url("/p")), START)
    assert list(elsewhere.iterdir()) == [] and watch.ask(lambda h: h.ledger.spans("p")) == []
