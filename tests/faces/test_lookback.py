"""Looking back by command, and what a person read: kept, marked as theirs, and never taken for the machine's."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from pictures import png
from site_of_pages import Site, page, row, serving
from sourcewatch.analysis import render
from sourcewatch.domain.brought import NotUsable
from sourcewatch.faces import lookback, wiring
from sourcewatch.faces.cli import app
from sourcewatch.faces.shown import history
from sourcewatch.services import publish, site_data
from watch import Watch

MACHINE = datetime(2026, 10, 20, 11, 3, tzinfo=UTC)
PERSON = datetime(2026, 11, 3, 9, 30, tzinfo=UTC)
NOW = datetime(2026, 11, 5, 12, 0, tzinfo=UTC)
QUOTE = "the operators of the cluster measured over a whole week"
PARAGRAPHS = "".join(
    f"<p>Paragraph {n} says what {QUOTE} of service, with the numbers of day {n}.</p>" for n in range(6)
)
HTML = (
    f"<!doctype html><html><head><title>Notes</title></head><body><main><h1>Notes</h1>{PARAGRAPHS}</main></body></html>"
)
WALL = """<!doctype html><title>Just a moment...</title><script>window._cf_chl_opt = {cvId: "3"}</script>
<noscript><div id="challenge-error-text">Enable JavaScript and cookies to continue</div></noscript>"""


@dataclass(slots=True)
class Cited:
    """A source behind a wall, and the folder that watches it."""

    watch: Watch
    site: Site
    rows: str

    @property
    def url(self) -> str:
        return self.site.url("/p")

    def capture(self, what: Path | str, at: datetime | None = PERSON, by: str = "Mei", source: str = "p") -> Any:
        def ask(house: wiring.House) -> Any:
            sources = {s.id: s for s in house.settings.sources}
            brought = lookback.capture(house, sources[source], str(what), by, "a captcha", at, clock=lambda: NOW)
            return asyncio.run(brought)

        return self.watch.ask(ask)

    def standing(self) -> Any:
        return self.watch.ask(lambda h: h.ledger.standing_of("p"))

    def kept_files(self) -> list[str]:
        return sorted(p.name for p in (self.watch.folder / "snapshots" / "p").rglob("*") if p.is_file())


@pytest.fixture(scope="module")
def walled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, Path, str]]:
    """A site that shows the machine a captcha, and a folder that has seen it once."""
    folder = tmp_path_factory.mktemp("walled")
    with serving() as site:
        site.pages["/p"] = (403, {"Content-Type": "text/html", "cf-mitigated": "challenge"}, WALL.encode())
        rows = row("p", site.url("/p"), QUOTE)
        Watch(folder).passes(rows, MACHINE)
        yield site, folder, rows


@pytest.fixture
def cited(walled: tuple[Site, Path, str], tmp_path: Path) -> Iterator[Cited]:
    site, folder, rows = walled
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    before = dict(site.pages)
    yield Cited(Watch(tmp_path), site, rows)
    site.pages = before


def sourcewatch(folder: Path, *words: str) -> Any:
    return CliRunner().invoke(app, ["--config", str(folder / "sources.toml"), *words])


def saved_page(cited: Cited) -> bytes:
    saved = "Tue Nov 03 2026 17:30:00 GMT+0800 (CST)"
    comment = f"<!--\n Page saved with SingleFile \n url: {cited.url} \n saved date: {saved}\n-->"
    return HTML.replace("<html>", f"<html>{comment}").encode()


def mhtml(cited: Cited) -> bytes:
    message = EmailMessage()
    message["From"] = "<Saved by Blink>"
    message["Snapshot-Content-Location"] = cited.url
    message["Date"] = "Tue, 03 Nov 2026 09:30:00 -0000"
    message.set_content(HTML, subtype="html", charset="utf-8", cte="quoted-printable")
    message.make_related()
    message.add_attachment(b"GIF89a", maintype="image", subtype="gif")
    return bytes(message).replace(b"09:30:00 -0000", b"09:30:00 +0000")


def warc(*pages: tuple[str, str, list[tuple[str, str]], bytes]) -> bytes:
    out = BytesIO()
    writer = WARCWriter(out, gzip=True)
    for url, status, headers, body in pages:
        head = StatusAndHeaders(status, headers, protocol="HTTP/1.1")
        record = writer.create_warc_record(
            url, "response", payload=BytesIO(body), length=len(body), http_headers=head,
            warc_headers_dict={"WARC-Date": "2026-11-03T09:30:00Z"},
        )  # fmt: skip
        writer.write_record(record)
    return out.getvalue()


def warc_of(cited: Cited) -> bytes:
    body = HTML.encode()
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    kind = ("Content-Type", "text/html; charset=utf-8")
    return warc(
        (cited.url, "302 Found", [("Location", "/read")], b""),
        (cited.site.url("/read"), "200 OK", [kind, ("Transfer-Encoding", "chunked")], chunked),
        (cited.site.url("/style.css"), "200 OK", [("Content-Type", "text/css")], b"p {}"),
    )


def wacz(cited: Cited) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as package:
        package.writestr("archive/data.warc.gz", warc_of(cited))
        package.writestr("datapackage.json", "{}")
    return out.getvalue()


def pdf(_: Cited) -> bytes:
    lines = "".join(f"({QUOTE}, line {n}, in a print of the page.) Tj 0 -14 Td " for n in range(8))
    stream = f"BT /F1 10 Tf 40 800 Td {lines}ET".encode()
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]  # fmt: skip
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj%s endobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % at for at in places)
    return out + b"xref\n0 6\n0000000000 65535 f \n%strailer<</Size 6/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (
        table,
        len(out),
    )


FILES: list[tuple[str, str, Callable[[Cited], bytes]]] = [
    ("page.html", "HTML", lambda _: HTML.encode()),
    ("single.html", "SingleFile HTML", saved_page),
    ("page.mhtml", "MHTML", mhtml),
    ("print.pdf", "PDF", pdf),
    ("page.warc.gz", "WARC", warc_of),
    ("page.warc", "WARC", lambda cited: gzip.decompress(warc_of(cited))),
    ("page.wacz", "WACZ", wacz),
]


@pytest.mark.parametrize(("name", "kind", "make"), FILES, ids=[f[0] for f in FILES])
def test_a_file_of_a_person_is_judged_and_kept_as_theirs(
    cited: Cited, name: str, kind: str, make: Callable[[Cited], bytes]
) -> None:
    path = cited.watch.folder / name
    path.write_bytes(make(cited))
    kept = cited.capture(path)
    assert kept.judgement.verdict.rule == "by-hand" and kind in kept.judgement.verdict.evidence
    assert [s.kind for s in kept.judgement.sightings] == ["verbatim"]
    span = cited.watch.ask(lambda h: h.ledger.spans("p"))[-1]
    assert span.by_hand and span.new_version and span.facts["by"] == "Mei" and span.facts["brought"]["kind"] == kind
    standing = cited.standing()
    assert (standing.last_accessed, standing.by_hand_at, standing.by_hand_by) == (None, PERSON, "Mei")
    assert standing.verdict.word == "challenge" and standing.failing_since == MACHINE
    text = (cited.watch.folder / kept.stored.text_path).read_text("utf-8")
    assert QUOTE in text.replace("\n", " ")
    assert cited.watch.ask(lambda h: wiring.verify(h, NOW)).flaws == ()


@pytest.mark.parametrize("make", [saved_page, mhtml, warc_of, wacz], ids=["singlefile", "mhtml", "warc", "wacz"])
def test_a_file_that_tells_its_date_is_dated_by_it(cited: Cited, make: Callable[[Cited], bytes]) -> None:
    path = cited.watch.folder / "file"
    path.write_bytes(make(cited))
    assert cited.capture(path, at=None).at == PERSON


def test_a_file_that_tells_no_date_is_dated_by_when_it_was_written(cited: Cited) -> None:
    path = cited.watch.folder / "page.html"
    path.write_text(HTML, "utf-8")
    os.utime(path, (PERSON.timestamp(), PERSON.timestamp()))
    assert cited.capture(path, at=None).at == PERSON


def test_what_no_server_answered_is_a_resource_and_never_an_invented_response(cited: Cited) -> None:
    path = cited.watch.folder / "page.mhtml"
    path.write_bytes(mhtml(cited))
    stored = cited.capture(path).stored
    raw = gzip.decompress((cited.watch.folder / stored.path).read_bytes())
    assert b"WARC-Type: response" not in raw and raw.count(b"WARC-Type: resource") == 2 and b"by-hand: Mei" in raw
    assert mhtml(cited).split(b"\n\n")[0].replace(b"\n", b"\r\n") in raw or b"Snapshot-Content-Location" in raw
    back = cited.watch.ask(lambda h: h.snapshots.exchange(stored.path, stored.offset))
    assert (back.status, back.body.decode()) == (0, HTML + "\n") and "utf-8" in back.header("content-type")


def bad_files(cited: Cited) -> list[tuple[bytes, str]]:
    whole = warc_of(cited)
    other = warc(("https://other.example/x", "200 OK", [("Content-Type", "text/html")], HTML.encode()))
    encrypted = bytearray(wacz(cited))
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = -1
        while (place := encrypted.find(mark, place + 1)) >= 0:
            encrypted[place + at] |= 1
    redirect = warc((cited.url, "302 Found", [("Location", "/elsewhere")], b""))
    flipped = bytearray(gzip.decompress(whole))
    flipped[flipped.index(b"numbers of day 3")] ^= 1
    plain_zip = BytesIO()
    with zipfile.ZipFile(plain_zip, "w") as package:
        package.writestr("notes.txt", "hello")
    stranger = saved_page(cited).replace(cited.url.encode(), b"https://other.example/x")
    return [
        (b"", "is empty"),
        (b"\0" * 100, "is empty"),
        (b"just some words", "none of HTML"),
        (b"\x7fELF" + b"x" * 100, "none of HTML"),
        (HTML.encode() + b"x" * 3_000_000, "max_bytes"),
        (b"x" * 21_000_000, "are the most"),
        (whole[:-40], "damaged"),
        (bytes(flipped), "damaged"),
        (gzip.compress(b"no warc"), "damaged"),
        (wacz(cited)[:300], "damaged"),
        (plain_zip.getvalue(), "no WACZ"),
        (bytes(encrypted), "encrypted"),
        (other, "it holds https://other.example/x"),
        (redirect, "only a redirect"),
        (stranger, "other.example"),
        (WALL.encode(), "does not show the page: challenge"),
        (b"%PDF-1.4\n nothing", "does not show the page"),
        (b"MIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n\n--x--\n", "MHTML"),
    ]


def test_what_cannot_be_used_is_told_in_a_sentence_and_nothing_is_kept(cited: Cited) -> None:
    sources = cited.watch.folder / "sources.toml"
    sources.write_text(sources.read_text("utf-8").replace("[fetch]", '[fetch]\nmax_bytes = "2MB"'), "utf-8")
    before = cited.kept_files()
    for data, words in bad_files(cited):
        path = cited.watch.folder / "brought"
        path.write_bytes(data)
        with pytest.raises(NotUsable, match=words) as told:
            cited.capture(path)
            pytest.fail(f"kept what should be told: {words}")
        assert "\n" not in str(told.value)
    for wrong in ("missing.html", str(cited.watch.folder)):
        with pytest.raises(NotUsable):
            cited.capture(wrong)
    assert cited.kept_files() == before and len(cited.watch.ask(lambda h: h.ledger.spans("p"))) == 1


@pytest.mark.parametrize(
    ("at", "words"), [(NOW + timedelta(hours=1), "future"), (PERSON - timedelta(days=1), "before the newest reading")]
)
def test_a_date_that_cannot_be_is_refused(cited: Cited, at: datetime, words: str) -> None:
    path = cited.watch.folder / "page.html"
    path.write_text(HTML, "utf-8")
    cited.capture(path)
    with pytest.raises(NotUsable, match=words):
        cited.capture(path, at=at)


def test_another_address_is_fetched_through_the_guard_and_kept_by_hand(cited: Cited) -> None:
    cited.site.pages["/print"] = page("Notes", f"<h1>Notes</h1>{PARAGRAPHS}")
    kept = cited.capture(cited.site.url("/print"))
    assert kept.stored.final_url == cited.site.url("/print") and cited.standing().by_hand_by == "Mei"
    for bad, words in (("http://10.0.0.1/", "cannot be read"), (cited.site.url("/gone"), "does not show the page")):
        with pytest.raises(NotUsable, match=words):
            cited.capture(bad)


def test_a_picture_is_brought_for_a_figure_and_not_for_a_page(cited: Cited) -> None:
    cited.rows += row("panel", cited.site.url("/panel.png"), more='kind = "figure"\nparent = "p"\n')
    cited.watch.passes(cited.rows, MACHINE + timedelta(hours=1), "p")
    path = cited.watch.folder / "screenshot.png"
    path.write_bytes(png())
    with pytest.raises(NotUsable, match="is a picture and p is a page"):
        cited.capture(path)
    kept = cited.capture(path, source="panel")
    assert kept.judgement.document.form == "image" and kept.stored.path.startswith("snapshots/panel/")


def test_the_machines_next_reading_takes_over_and_compares_with_what_the_person_read(cited: Cited) -> None:
    path = cited.watch.folder / "page.html"
    path.write_text(HTML, "utf-8")
    cited.capture(path)
    cited.site.pages["/p"] = page(
        "Notes", f"<h1>Notes</h1>{PARAGRAPHS}<p>And a sentence that was added since then.</p>"
    )
    line = cited.watch.passes(cited.rows, NOW)["p"]
    assert line["new_version"] and line["change"]["edits"] == 1
    standing = cited.standing()
    assert (standing.last_accessed, standing.by_hand_at, standing.failing_since) == (NOW, None, None)


def test_by_hand_is_said_everywhere(cited: Cited) -> None:
    path = cited.watch.folder / "page.html"
    path.write_text(HTML, "utf-8")
    cited.capture(path)
    path.write_text(HTML.replace("whole week", "long month"), "utf-8")
    cited.capture(path, at=PERSON + timedelta(hours=1), by="梅")

    def told(h: wiring.House) -> tuple[Any, ...]:
        seen = publish.report(h.settings, h.ledger, NOW, MACHINE)
        dated = site_data.last_accessed(h.settings, h.ledger, h.site, NOW)["sources"]["p"]
        rows = history(h.ledger.spans("p"), h.ledger.versions("p"), h.archive.dropped("p"))
        return render.markdown(seen), render.html(seen, "zh-CN"), json.loads(render.as_json(seen)), dated, rows

    markdown, html, as_json, dated, rows = cited.watch.ask(told)
    assert markdown.count("read by hand by 梅, 3 November 2026") == 3  # its quote, its change, its last reading
    assert "人工读取：梅，2026 年 11 月 3 日" in html
    assert as_json["changes"][0]["by_hand"] == "梅" and as_json["unreadable"][0]["by_hand"]["by"] == "梅"
    assert dated["last_accessed"] is None and dated["text"] is None
    assert dated["by_hand"] == {"by": "梅", "at": "2026-11-03T10:30:00Z", "date": "2026-11-03"}
    assert "BY HAND by Mei" in rows and "evidence: snapshots/_refused/p/" in rows
    assert "read by hand by 梅" in sourcewatch(cited.watch.folder, "status").stdout


def test_a_capture_by_hand_comes_back_out_of_the_archive(cited: Cited) -> None:
    path = cited.watch.folder / "page.html"
    path.write_text(HTML, "utf-8")
    cited.capture(path)
    before = cited.watch.ask(lambda h: (h.ledger.spans("p")[-1], h.ledger.standing_of("p")))
    for database in cited.watch.folder.glob("sourcewatch.db*"):
        database.unlink()
    cited.watch.ask(lambda h: asyncio.run(wiring.rebuild(h, lambda day, so_far: None, lambda: NOW)))
    after = cited.watch.ask(lambda h: (h.ledger.spans("p")[-1], h.ledger.standing_of("p")))
    assert (after[0].by_hand, after[0].facts, after[0].verdict) == (True, before[0].facts, before[0].verdict)
    assert (after[1].last_accessed, after[1].by_hand_at, after[1].by_hand_by) == (None, PERSON, "Mei")


def test_the_same_file_again_confirms_what_is_kept(cited: Cited) -> None:
    path = cited.watch.folder / "page.html"
    path.write_text(HTML, "utf-8")
    first, files = cited.capture(path), cited.kept_files()
    again = cited.capture(path, PERSON + timedelta(hours=3), by="Lin")
    assert first.stored is not None and again.stored is None and cited.kept_files() == files
    assert len(cited.watch.ask(lambda h: h.ledger.versions("p"))) == 1
    span = cited.watch.ask(lambda h: h.ledger.spans("p"))[-1]
    assert span.by_hand and not span.new_version and span.verdict.accessed
    standing = cited.standing()
    assert (standing.last_accessed, standing.by_hand_at, standing.by_hand_by) == (
        None,
        PERSON + timedelta(hours=3),
        "Lin",
    )
    assert cited.watch.ask(lambda h: wiring.verify(h, NOW)).flaws == ()
    path.write_text(HTML.replace("Notes</h1>", "Notes, mended</h1>"), "utf-8")
    assert cited.capture(path, PERSON + timedelta(hours=4)).stored is not None


def test_the_command_captures_shows_and_refuses_in_one_sentence(cited: Cited) -> None:
    folder = cited.watch.folder
    (folder / "page.html").write_text(HTML, "utf-8")
    words = (
        "capture",
        "p",
        str(folder / "page.html"),
        "--by",
        "Mei",
        "--reason",
        "a captcha",
        "--at",
        "2026-11-03T17:30",
    )
    done = sourcewatch(folder, *words)
    assert done.exit_code == 0 and "kept by hand, 2026-11-03T09:30:00Z, ok" in done.stdout, done
    (folder / "empty.html").write_text("")
    bad = sourcewatch(folder, "capture", "p", str(folder / "empty.html"), "--by", "Mei", "--reason", "x")
    assert (
        bad.exit_code == 2 and "empty.html is empty" in bad.stderr.replace("\n", " ") and "Traceback" not in bad.stderr
    )
    assert sourcewatch(folder, "capture", "p", "x.html", "--by", " ", "--reason", "x").exit_code == 2
    text = sourcewatch(folder, "show", "p")
    assert (
        QUOTE in text.stdout
        and "version 1 of 1, 2026-11-03T09:30:00Z" in text.stderr
        and "BY HAND by Mei" in text.stderr
    )
    assert sourcewatch(folder, "show", "p", "--format", "html").stdout == HTML
    facts = json.loads(sourcewatch(folder, "show", "p", "--format", "json", "--at", "2026-11-04").stdout)
    assert facts["by"] == "Mei" and facts["status"] == 0
    assert sourcewatch(folder, "show", "p", "--at", "2026-11-01").exit_code == 2
    assert sourcewatch(folder, "show", "p", "--format", "pdf").exit_code == 2
    assert "BY HAND by Mei" in sourcewatch(folder, "history", "p").stdout


def test_status_speaks_one_language_whatever_the_sites_is(cited: Cited) -> None:
    path = cited.watch.folder / "page.html"
    path.write_text(HTML, "utf-8")
    cited.capture(path)
    sources = cited.watch.folder / "sources.toml"
    sources.write_text(sources.read_text("utf-8").replace('language = "en"', 'language = "zh-CN"'), "utf-8")
    shown = sourcewatch(cited.watch.folder, "status").stdout
    assert "read by hand by Mei" in shown and "failing since" in shown and shown.isascii()


def test_the_markdown_report_names_its_zone(cited: Cited) -> None:
    told = sourcewatch(cited.watch.folder, "report", "--format", "md", "--out", "-").stdout
    assert told.splitlines()[2].startswith("Generated ") and told.splitlines()[2].endswith(")"), told
