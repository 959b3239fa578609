"""A page becomes blocks: nothing that a reader sees is lost, and labels say where it stands."""

from __future__ import annotations

from html import escape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis.html import extract, selector_error
from sourcewatch.domain.document import Document, Label, Link

FIXTURES = Path(__file__).parent / "fixtures_text"
URL = "https://example.org/dir/page.html"
PROSE = "The engine handles many requests at once, and it does so without losing any of them. " * 6


def read(html: str, **options: object) -> Document:
    return extract(html, url=URL, **options)  # type: ignore[arg-type]


def texts(html: str, label: Label | None = None) -> list[str]:
    return [b.text for b in read(html).blocks if label is None or b.label is label]


def label_of(text: str, document: Document) -> Label:
    return next(b.label for b in document.blocks if text in b.text)


# Blocks


@pytest.mark.parametrize(
    ("html", "blocks"),
    [
        ("<p>one <b>t</b>wo</p><p>three", ["one two", "three"]),
        ("<p>a\r\n   b\t\u00a0\u3000c</p>", ["a b c"]),
        ("line one<br>line two", ["line one", "line two"]),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", ["a", "b", "c"]),
        ("<dl><dt>term<dd>meaning</dl>", ["term", "meaning"]),
        ("<pre>a  b\n\n  c</pre>", ["a b", "c"]),
        ("<p>東京<ruby>都<rp>(</rp><rt>と</rt><rp>)</rp></ruby>庁", ["東京都庁"]),
        ("<p>soft\u00adhy\u200bphen&shy;ated", ["softhyphenated"]),
        ("<p>family 👨‍👩‍👧 emoji", ["family 👨‍👩‍👧 emoji"]),
        ("<p>x<script>var a</script><style>p{}</style>y", ["xy"]),
        ("<p>before<!-- a comment -->after", ["beforeafter"]),
        ("<details><summary>more</summary>hidden until asked</details>", ["more", "hidden until asked"]),
        ("<svg><title>no</title><text>in the chart</text></svg>", ["in the chart"]),
        ("<textarea>@article{a}</textarea>", ["@article{a}"]),
        ("<p>a&#xD800;b&#0;c", ["a\ufffdb\ufffdc"]),
        ("<p>a\0b", ["ab"]),
        ("<p>عربي <bdi>abc</bdi> \u202eabc\u202c", ["عربي abc \u202eabc\u202c"]),
        ("<p>&amp;amp; &lt;b&gt;", ["&amp; <b>"]),
        ("no markup at all", ["no markup at all"]),
        ("", []),
        ("<html></html>", []),
    ],
)
def test_text_becomes_blocks_as_a_reader_sees_it(html: str, blocks: list[str]) -> None:
    assert texts(html) == blocks


def test_a_table_row_is_one_line_with_its_cells_a_tab_apart() -> None:
    html = (
        "<table><caption>Prices</caption><tr><th>Model<th>Price<tr><td>A</td><td><b>1</b>0</td><td></td></tr></table>"
    )
    document = read(html)
    assert [(b.text, b.tag) for b in document.blocks] == [
        ("Prices", "caption"),
        ("Model\tPrice", "tr"),
        ("A\t10", "tr"),
    ]


def test_a_table_that_lays_out_a_thread_keeps_its_comments_apart() -> None:
    words = "<div class=comhead>user{0}</div><div class=comment>Comment {0} says much.<p>And more.</div>"
    row = f"<tr><td class=ind></td><td>{words}</td></tr>"
    html = "<table>" + "".join(row.format(n) for n in range(3)) + "</table>"
    assert texts(html)[:3] == ["user0", "Comment 0 says much.", "And more."]
    assert all(b.label is Label.MAIN for b in read(html).blocks)


words = st.text(alphabet="abcdeäß中文引擎0123456789 ,.&<>\"'", min_size=1, max_size=30)
wrappers = st.sampled_from(
    ["p", "div", "span", "b", "li", "td", "section", "nav", "footer", "form", "h2", "blockquote", "a", "button"]
)
trees = st.recursive(
    words.map(lambda text: (escape(text), [text])),
    lambda inner: st.tuples(wrappers, st.lists(inner, min_size=1, max_size=4)).map(
        lambda pair: (
            f"<{pair[0]}>" + "".join(child[0] for child in pair[1]) + f"</{pair[0]}>",
            [text for child in pair[1] for text in child[1]],
        )
    ),
    max_leaves=12,
)


@given(trees)
def test_every_text_node_is_in_some_visible_block(page: tuple[str, list[str]]) -> None:
    html, written = page
    seen = "".join(read(f"<body>{html}</body>").text.split())
    for text in written:
        assert "".join(text.split()) in seen


@given(st.text(alphabet="<>/=\"' abpdivtr!-&#x;\0\n", max_size=200))
def test_no_tag_soup_makes_it_raise(html: str) -> None:
    assert read(html).notes == ()


# Labels


@pytest.mark.parametrize(
    "frame",
    [
        "<nav>{}</nav>",
        "<footer>{}</footer>",
        "<div role=navigation>{}</div>",
        "<div class='site-sidebar'>{}</div>",
        "<div id=cookie-banner>{}</div>",
        "<div class='related posts'>{}</div>",
        "<form>{}</form>",
    ],
)
def test_the_frame_of_a_page_is_chrome(frame: str) -> None:
    document = read(f"<body><article><p>{PROSE}</p></article>{frame.format('Sign up for our letters')}</body>")
    assert label_of("Sign up", document) is Label.CHROME
    assert label_of("The engine", document) is Label.MAIN


@pytest.mark.parametrize(
    "page",
    [
        "<form id=aspnetForm><p>{}</p></form>",  # ASP.NET wraps whole pages in a form
        "<div class='content-sidebar'><article>{}</article></div>",
        "<article><header><h1>{}</h1></header></article>",
        "<div class='navigable'>{}</div>",
        "<div class='headers'>{}</div>",
        "<div class='commentlist'>{}</div>",
        "<div style='visibility:hidden' id=js_content>{}</div>",
        "<div aria-hidden=true>{}</div>",
    ],
)
def test_what_only_looks_like_a_frame_stays_main(page: str) -> None:
    document = read(f"<body>{page.format(PROSE)}<nav>Home</nav></body>")
    assert label_of("The engine", document) is Label.MAIN


def test_an_article_inside_a_small_footer_word_is_kept_when_it_reads_like_prose() -> None:
    dense = "It serves, they say, every request, and loses none. " * 10
    document = read(f"<main>{PROSE * 6}</main><aside><p>{dense}</p></aside>")
    assert [b.label for b in document.blocks] == [Label.MAIN, Label.MAIN]


def test_short_list_items_that_are_links_are_chrome() -> None:
    document = read(f"<ul><li><a href=/a>About us</a></ul><p>{PROSE}<p><a href=/b>A linked paragraph</a>")
    assert label_of("About", document) is Label.CHROME
    assert label_of("A linked", document) is Label.MAIN


@pytest.mark.parametrize(
    ("html", "label"),
    [
        ("<div hidden>secret words</div>", Label.HIDDEN),
        ("<p style='color:red;display : none'>secret words</p>", Label.HIDDEN),
        ("<noscript><p>secret words</p></noscript>", Label.NOSCRIPT),
        ("<video><p>secret words</p></video>", Label.NOSCRIPT),
        ("<template><p>secret words</p></template>", Label.HIDDEN),
        ("<frameset><frame src=a.html></frameset><noframes><p>secret words</p></noframes>", Label.NOSCRIPT),
    ],
)
def test_unseen_text_is_kept_under_its_own_label(html: str, label: Label) -> None:
    document = read(html)
    assert label_of("secret words", document) is label
    assert "secret" not in document.text


def test_a_hidden_word_does_not_split_the_sentence_around_it() -> None:
    document = read("<p>It is <span style='display:none'>0099 </span>ninety-nine.</p>")
    assert [(b.text, b.label) for b in document.blocks] == [("It is ninety-nine.", Label.MAIN), ("0099", Label.HIDDEN)]


@pytest.mark.parametrize(
    "html",
    [
        "<div><template shadowrootmode=open><p>seen words</p></template></div>",
        "<iframe srcdoc='<p>seen words</p>'></iframe>",
    ],
)
def test_shadow_roots_and_srcdoc_frames_are_seen(html: str) -> None:
    assert label_of("seen words", read(html)) is Label.MAIN


def test_prose_in_script_data_is_searched_and_nothing_else_of_scripts() -> None:
    html = """<p>x</p><script>var s = "This is a program and it is not prose.";</script>
    <script type="application/ld+json">{"@type": "Article",
      "articleBody": "The body of this article stands here alone.",
      "url": "https://example.org/a/b", "wordCount": 9}</script>
    <script id="js-initialData" type="text/json">{"c": "<p>每天处理的数量达到一百五十五万亿。</p>"}</script>
    <script type="application/json">{broken</script>"""
    assert texts(html, Label.SCRIPT) == [
        "The body of this article stands here alone.",
        "每天处理的数量达到一百五十五万亿。",
    ]


def test_script_data_that_repeats_the_page_is_not_repeated() -> None:
    sentence = "The body of this article stands here alone."
    assert texts(f'<p>{sentence}</p><script type="application/json">["{sentence}"]</script>') == [sentence]


# Selectors


def test_outside_the_selection_all_is_chrome_and_the_ignored_is_hidden() -> None:
    document = read("<main><p>kept</p><p class=ad>ignored</p></main><p>outside</p>", select="main", ignore=(".ad",))
    assert {b.text: b.label for b in document.blocks} == {
        "kept": Label.MAIN,
        "ignored": Label.HIDDEN,
        "outside": Label.CHROME,
    }


def test_selected_and_ignored_parts_of_a_sentence_are_told_apart() -> None:
    document = read("<p>price <b id=v>42</b> seen <i>9</i> times</p>", select="#v", ignore=("i",))
    assert label_of("42", document) is Label.MAIN
    assert label_of("9", document) is Label.HIDDEN
    assert label_of("price", document) is Label.CHROME


def test_a_selector_that_matches_nothing_or_does_not_parse_is_told_and_changes_nothing() -> None:
    document = read("<p>a</p>", select="#gone", ignore=("p[",))
    assert document.text == document.main_text == "a"
    assert len(document.notes) == 2
    assert selector_error("p[") is not None
    assert selector_error("") is not None
    assert selector_error("main > p:nth-child(2), .x") is None


# What the page says about itself


def test_title_language_canonical_and_anchors_are_read() -> None:
    html = """<html lang="zh-CN"><head><title> The
    title </title><link rel="canonical" href="../other"></head>
    <body><h2 id="一节">x</h2><a name="old">y</a><p id="user-content-z">z</p></body></html>"""
    document = read(html)
    assert (document.title, document.language, document.canonical) == (
        "The title",
        "zh-CN",
        "https://example.org/other",
    )
    assert document.anchors == {"一节", "old", "user-content-z"}
    assert read("<meta property=og:title content='From og'>").title == "From og"


@pytest.mark.parametrize(
    ("content", "target", "after_s"),
    [
        ("0; url=/next", "https://example.org/next", 0.0),
        ("5;URL='next.html'", "https://example.org/dir/next.html", 5.0),
        ('3, url="https://other.example/"', "https://other.example/", 3.0),
        ("0;/bare", "https://example.org/bare", 0.0),
        ("1.5 ; url = x y", "https://example.org/dir/x%20y", 1.0),
        ("300", "", 300.0),
        ("url=/next", "", 0.0),
        ("soon; url=/next", "", 0.0),
    ],
)
def test_a_meta_refresh_names_its_target_and_delay(content: str, target: str, after_s: float) -> None:
    document = read(f"<meta http-equiv=Refresh content='{escape(content)}'>")
    assert (document.refresh, document.refresh_after_s) == (target, after_s)


def test_a_refresh_for_readers_without_scripts_is_none() -> None:
    assert read("<noscript><meta http-equiv=refresh content='0;url=/nojs'></noscript>").refresh == ""


def test_links_are_absolute_labelled_and_on_the_web() -> None:
    html = """<base href="/base/"><nav><a href="home">Home</a></nav><p>Read <a href="a#b"><b>this</b> one</a>,
    <a href="#x">x</a>    <a href="javascript:void(0)">j</a> <a href="mailto:a@b.example">m</a>
    <a href="http://[">broken</a> and much more text.</p>"""
    assert read(html).links == (
        Link("https://example.org/base/home", "Home", Label.CHROME),
        Link("https://example.org/base/a#b", "this one", Label.MAIN),
    )


# Hostile pages


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 60_000 + "deep words" + "</div>" * 60_000,
        "".join(f"<p><b id={n}>deep words" for n in range(3000)),
        "<p " + " ".join(f"a{n}" for n in range(60_000)) + ">deep words",
    ],
    ids=["nested", "formatting", "attributes"],
)
def test_what_would_stall_the_parser_is_read_as_bare_text(html: str) -> None:
    document = read(html)
    assert "deep words" in document.text
    assert len(document.notes) == 1
    assert document.notes[0].endswith("read as bare text")


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 4_000 + "deep words" + "</div>" * 4_000,
        "<p>deep words" * 10_000,
        "<ul>" + "<li>deep words <i class=icon></i>" * 3_000 + "</ul>",
        f"<img alt=x src='data:image/png;base64,{'A/ b' * 60_000}'><p>deep words",
        f"<p>deep words {'字' * 900_000}",
        "<script>" * 20_000 + "</script><p>deep words",
        "<p>deep words" + "<template>" * 2_000,
        "<select>" + "<option>deep words" * 5_000,
    ],
    ids=["nested", "paragraphs", "icons", "data", "line", "scripts", "templates", "options"],
)  # fmt: skip
def test_large_but_harmless_pages_are_read_as_pages(html: str) -> None:
    document = read(html)
    assert "deep words" in document.text
    assert document.notes == ()


# Real pages


def test_hidden_nodes_of_a_real_page_are_not_content() -> None:
    document = read((FIXTURES / "readability-hidden-nodes.html").read_text(encoding="utf-8"))
    assert [b.label for b in document.blocks if b.tag == "p"].count(Label.HIDDEN) == 2


def test_white_space_and_script_comments_of_real_pages_make_no_text() -> None:
    spaces = read((FIXTURES / "readability-normalize-spaces.html").read_text(encoding="utf-8"))
    assert not any("  " in b.text for b in spaces.blocks)
    comments = read((FIXTURES / "readability-comment-inside-script-parsing.html").read_text(encoding="utf-8"))
    assert "script" not in comments.text.lower().replace("test script parsing", "")


def test_entities_of_a_real_page_are_decoded_once() -> None:
    page = (FIXTURES / "readability-005-unescape-html-entities.html").read_text(encoding="utf-8")
    assert len(read(page).blocks) == 1


def test_right_to_left_text_keeps_its_letters() -> None:
    page = read((FIXTURES / "readability-rtl-1.html").read_text(encoding="utf-8"))
    assert page.blocks


def test_a_page_that_hides_itself_until_its_scripts_run_is_read_as_if_they_had() -> None:
    article = "<p>The whole article stands in here, and no reader sees it before the scripts have run.</p>" * 5
    hidden = extract(f'<body style="display:none">{article}</body>', url="https://a.example/")
    assert {b.label for b in hidden.blocks} == {Label.MAIN}
    partly = extract(f"<p>Seen.</p><div hidden>{article}</div>", url="https://a.example/")
    assert {b.label for b in partly.blocks} == {Label.MAIN, Label.HIDDEN}
