"""The report as a page: readable by everybody, complete in both languages, and proof against what it quotes."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markdown_it import MarkdownIt

from sourcewatch.analysis import feed, render, unread
from sourcewatch.domain.change import Drift, Edit, EditKind, Extent, Op, Part, Sighting, SightingKind, Significance
from sourcewatch.domain.report import ChangeLine, ClaimLine, Line, QuoteGroup, QuoteLine, Report
from sourcewatch.domain.source import Claim, Quote, Site, Source, SourceKind
from sourcewatch.domain.standing import Standing
from sourcewatch.domain.verdict import Verdict

NOW = datetime(2026, 12, 2, 12, tzinfo=UTC)
TEMPLATE = Path(render.__file__).parent / "templates" / "report.html.j2"
HOSTILE = "</li><script>alert(1)</script>\"'`](javascript:alert(1)) <!-- \x1b]8;;x\x07 \u202e # [x](y) ]]>"


def standing(word: str, since_days: int = 9, last: datetime | None = None) -> Standing:
    since = NOW - timedelta(days=since_days)
    return Standing(last, verdict=Verdict(word, "rule-name", HOSTILE), checked_at=NOW, failing_since=since, failures=3)


def report(language: str, words: str = "来源") -> Report:
    """Every section, each with *words* wherever somebody else's words go."""
    page = Source("page", "A", words, url="https://a.example/?<script>&\"'", language="en", cited_on=(words,))
    figure = Source("page--12345678", "A", words, url="https://i.example/>", kind=SourceKind.FIGURE, parent="page")
    quote = Quote(words, cited_on=(words,))
    dead = Line(page, Standing(NOW, verdict=Verdict("gone", "r", words), failing_since=NOW, dead=True, strikes=3))
    unseen = Line(figure, standing("tls_unknown_ca"), page)
    parts = (Part(Op.EQUAL, words), Part(Op.DELETE, words), Part(Op.INSERT, words))
    change = ChangeLine(
        page, NOW, NOW - timedelta(days=3), NOW, Significance.TEXT, Drift(0.9, 0.1, Extent.EDITED),
        (Edit(EditKind.REPLACED, 0, 0, parts),), (words, words), 1, 2, False,
    )  # fmt: skip
    broken = Sighting(quote.key, SightingKind.NUMBERS_CHANGED, 0.9, parts=parts)
    unverified = Sighting(quote.key, SightingKind.UNVERIFIED, layer="figure")
    return Report(
        Site(words, "https://site.example/", "Asia/Shanghai", language), NOW, NOW - timedelta(days=7),
        quotes=(QuoteGroup(page, (QuoteLine(page, quote, broken, NOW, NOW),)),),
        unverified=(QuoteGroup(page, (QuoteLine(page, quote, unverified, NOW, None, unseen, dead),)),),
        dead=(dead,), moved=(Line(page, Standing(NOW, final_url="https://b.example/?<script>")),), changes=(change,),
        unreadable=(unseen, Line(page, standing("challenge", last=NOW - timedelta(days=10)))),
        recovered=(Line(page, Standing(NOW, recovered_from=Verdict("gone", "r", words))),),
        quiet=(Line(page, Standing(NOW)),), unchecked=(Line(page, Standing()),),
        unlocated=(Source("lost", "C", words),), claims=(ClaimLine(Claim("c", "B", words), ((dead, 0, 1),)),),
        tiers=(("A", words), ("C", words)), last_run_at=NOW, undelivered=2,
    )  # fmt: skip


class Outline(HTMLParser):
    """Tags in order, the text outside of scripts and styles by the language that it is marked with."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.languages: list[tuple[str, str | None]] = []
        self.words: list[tuple[str | None, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "img"):
            self.languages.append((tag, dict(attrs).get("lang", self.languages[-1][1] if self.languages else None)))

    def handle_endtag(self, tag: str) -> None:
        while self.languages and self.languages.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if self.languages and self.languages[-1][0] not in ("style", "code"):
            self.words.append((self.languages[-1][1], data))


def luminance(colour: str) -> float:
    """Relative luminance of #rgb or #rrggbb (WCAG 2.2)."""
    digits = colour[1:] if len(colour) == 7 else "".join(c * 2 for c in colour[1:])
    channels = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    r, g, b = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(a: str, b: str) -> float:
    light, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def palettes() -> list[dict[str, str]]:
    blocks = re.findall(r":root \{([^}]*)\}", TEMPLATE.read_text(encoding="utf-8"))
    return [dict(re.findall(r"--(\w+):(#[0-9a-f]{3,6})\b", block)) for block in blocks]


@pytest.mark.parametrize("palette", palettes(), ids=["light", "dark", "print"])
def test_every_text_has_the_contrast_that_wcag_aa_asks_for(palette: dict[str, str]) -> None:
    grounds = {
        "ink": ("paper", "card"),
        "soft": ("paper", "card"),
        "link": ("paper", "card"),
        "del": ("delbg",),
        "ins": ("insbg",),
    }
    for ink, papers in grounds.items():
        for paper in papers:
            assert contrast(palette[ink], palette[paper]) >= 4.5, (ink, paper)
    assert contrast(palette["warn"], palette["card"]) >= 3


@pytest.mark.parametrize("language", ["zh-CN", "en"])
def test_headings_nest_labels_are_there_and_ids_are_unique(language: str) -> None:
    outline = Outline(render.html(report(language)))
    levels = [int(tag[1]) for tag, _ in outline.tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    ids = [a["id"] for _, a in outline.tags if "id" in a]
    assert len(ids) == len(set(ids))
    targets = [str(a["href"])[1:] for tag, a in outline.tags if tag == "a" and str(a.get("href", "")).startswith("#")]
    assert targets and set(targets) <= set(ids)
    assert all(a.get("aria-label") for tag, a in outline.tags if tag == "nav")
    assert all(a.get("alt") for tag, a in outline.tags if tag == "img")
    assert next(a["lang"] for tag, a in outline.tags if tag == "html") == language


def test_a_chinese_report_has_no_english_of_ours() -> None:
    """What is quoted (marked as English), ids, addresses, zone and a format's own name aside."""
    outline = Outline(render.html(report("zh-CN")))
    ours = " ".join(words for language, words in outline.words if language == "zh-CN")
    ours = re.sub(r"https?://\S+|Asia/Shanghai|sourcewatch notify list|SSL|\b[AC]\b", "", ours)
    assert re.findall(r"[A-Za-z]{2,}", ours) == []


def test_an_english_report_has_no_chinese_of_ours() -> None:
    assert not re.findall(r"[\u4e00-\u9fff]", render.html(report("en", "words")).partition("<body>")[2])


@pytest.mark.parametrize("language", ["zh-CN", "en"])
def test_hostile_words_stay_words_in_every_format(language: str) -> None:
    values = report(language, HOSTILE)
    plain = report(language, "words")
    for write in (render.html, unread.html):
        outline = Outline(write(values))
        assert [tag for tag, _ in outline.tags] == [tag for tag, _ in Outline(write(plain)).tags]
        assert not any(name.startswith("on") for _, a in outline.tags for name in a)
        assert all(str(a["href"]).startswith(("#", "https://")) for tag, a in outline.tags if tag == "a")
    for markdown in (render.markdown, unread.markdown):
        text = markdown(values)
        shown = Outline(MarkdownIt("commonmark", {"html": True}).render(text))
        assert {tag for tag, _ in shown.tags} <= {
            "h1",
            "h2",
            "h3",
            "p",
            "ul",
            "li",
            "a",
            "code",
            "strong",
            "s",
            "blockquote",
        }
        assert all(str(a["href"]).startswith("https://") for tag, a in shown.tags if tag == "a")
        assert len(text.splitlines()) == len(markdown(plain).splitlines())
    assert json.loads(render.as_json(values))["quotes"][0]["exact"] == HOSTILE
    ElementTree.fromstring(feed.atom(values, None))
    for text in (render.html(values), render.markdown(values), unread.html(values), unread.markdown(values)):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]", text)


@pytest.mark.parametrize(("write", "mark"), [(unread.html, "<li>"), (unread.markdown, "- [")])
@pytest.mark.parametrize("language", ["zh-CN", "en"])
def test_what_could_not_be_read_can_be_published_as_it_is(write: object, mark: str, language: str) -> None:
    text = write(report(language, "words"))  # type: ignore[operator]
    assert text.count(mark) == 2
    assert "rule-name" not in text and "page--12345678" not in text and "alert" not in text.replace("?<script>", "")
    zh, en = (
        ("自 2026 年 11 月 23 日起读不到", "SSL 证书签发者不受信任"),
        ("could not be read since 23 November 2026", "untrusted"),
    )
    for words in zh if language == "zh-CN" else en:
        assert words in text
    assert ("因此未能核实" if language == "zh-CN" else "unverified for that reason") in text


def test_everything_was_read_is_said_only_where_that_is_known() -> None:
    site = Site("x", language="en")
    quiet = (Line(Source("a", "A", "a"), Standing(NOW)),)
    assert "we could read every source" in unread.html(Report(site, NOW, None, quiet=quiet))
    for unknown in (Report(site, NOW, None, quiet=quiet, void_reason="x"), Report(site, NOW, None, unchecked=quiet)):
        assert "nothing can be said" in unread.html(unknown)


def test_nobodys_name_is_published() -> None:
    line = Line(
        Source("a", "A", "a", url="https://a.example/"),
        Standing(verdict=Verdict("challenge", "r", ""), by_hand_at=NOW, by_hand_by="Mei"),
    )
    for text in (
        unread.html(Report(Site("x"), NOW, None, unreadable=(line,))),
        unread.markdown(Report(Site("x"), NOW, None, unreadable=(line,))),
    ):
        assert "read by a person 2 December 2026" in text
        assert "Mei" not in text
