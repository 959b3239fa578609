"""Every figure that a page shows is found once, at the address where a reader's browser asks for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.analysis.figures import best_candidate
from sourcewatch.analysis.html import extract
from sourcewatch.domain.document import Embed, Label

FIXTURES = Path(__file__).parent / "fixtures_text"
URL = "https://example.org/a/b"
BLANK = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
PROSE = "<p>The engine handles many requests at once, and it does so without losing any.</p>" * 4


def embeds(html: str) -> tuple[Embed, ...]:
    return extract(PROSE + html, url=URL).embeds


def shown(html: str) -> list[tuple[str, str]]:
    return [(embed.url.removeprefix("https://example.org"), embed.kind) for embed in embeds(html)]


@pytest.mark.parametrize(
    ("html", "figures"),
    [
        # plain
        ("<img src=/f.png>", [("/f.png", "img")]),
        ("<img src='f.png '>", [("/a/f.png", "img")]),
        ("<img src=//cdn.example.net/f.png>", [("https://cdn.example.net/f.png", "img")]),
        ("<img src=/f.png><img src=/f.png>", [("/f.png", "img")]),
        # lazy
        (f"<img src='{BLANK}' data-src=/f.png>", [("/f.png", "img")]),
        (f"<img src='{BLANK}' data-original=/big.png data-actualsrc=/f.png>", [("/f.png", "img")]),
        ("<img src=/img/placeholder.gif data-lazy-src=/f.png>", [("/f.png", "img")]),
        ("<img src=/assets/loading.svg data-original=/f.png>", [("/f.png", "img")]),
        ("<img class=lazy data-src=https://x.example/f?type=png>", [("https://x.example/f?type=png", "img")]),
        (f"<img src='{BLANK}' data-srcset='/s.png 300w, /l.png 900w'>", [("/l.png", "img")]),
        ("<img src=/small.png data-src=/f.png>", [("/small.png", "img")]),  # what readers without scripts see
        ("<img src=/f.png data-url='some words' data-image='{\"a\":1}'>", [("/f.png", "img")]),
        ("<img data-src='not an address'>", []),
        # srcset and picture: one candidate, not each
        ("<img src=/f.png srcset='/f.png 1x, /f2.png 2x'>", [("/f2.png", "img")]),
        ("<img src=/f.png srcset='/i/a,b_c.png 600w,/i/w_900,h_2.png 900w'>", [("/i/w_900,h_2.png", "img")]),
        (
            "<picture><source media='(prefers-color-scheme: dark)' srcset=/dark.png>"
            "<source srcset=/f.jxl type=image/jxl><source srcset='/f.webp 1x' type=image/webp>"
            "<img src=/f.png></picture>",
            [("/f.webp", "img")],
        ),
        ("<picture><source media='(max-width: 9px)' srcset=/n.png><img src=/f.png></picture>", [("/f.png", "img")]),
        # other ways
        ("<div style=\"background-image: url('/bg.jpg')\">x</div>", [("/bg.jpg", "css")]),
        ("<div style='background:#fff url(/bg.jpg) no-repeat'>x</div>", [("/bg.jpg", "css")]),
        # backgrounds that load late
        ("<div data-bg=/bg.jpg>x</div>", [("/bg.jpg", "css")]),
        ("<div data-bg=bg.jpg data-bg-hidpi=bg@2x.jpg>x</div>", [("/a/bg.jpg", "css")]),
        ("<a data-bg=\"url('/a.jpg'), url(/b.jpg)\">x</a>", [("/a.jpg", "css"), ("/b.jpg", "css")]),
        ("<li data-background-image=/a.png>x", [("/a.png", "css")]),
        ("<li data-background-image=/a.png,/b.png>x", [("/a.png", "css"), ("/b.png", "css")]),
        ("<li data-background-image=/i/w_9,h_8/a.png>x", [("/i/w_9,h_8/a.png", "css")]),
        ("<section data-background=https://x.example/f?id=1>x</section>", [("https://x.example/f?id=1", "css")]),
        ("<div data-bgset='/s.jpg 200w, /l.jpg 900w'>x</div>", [("/l.jpg", "css")]),
        ("<div data-bgset='/s.jpg [(max-width: 480px)] | /l.jpg'>x</div>", [("/l.jpg", "css")]),
        ("<div data-bg-set=\"url('/s.jpg') 1x, url(/l.jpg) 2x\">x</div>", [("/l.jpg", "css")]),
        ("<div data-background-image-set='/s.jpg 1x, /l.jpg 2x'>x</div>", [("/l.jpg", "css")]),
        ("<div data-bg='#fff'>x</div><div data-background=dark>x</div><div data-bg></div>", []),
        ("<div data-background='rgb(0, 0, 0)'>x</div><div data-bgset='red 1x'>x</div>", []),
        ("<div data-background='linear-gradient(#fff, #000)' data-bg='data:image/gif;base64,R0='>x</div>", []),
        ("<div data-bg=/img/blank.gif>x</div>", []),
        ("<div data-bg=/t.png style='width:1px;height:1px'></div><div data-bg=/t.png hidden></div>", []),
        ("<div data-bg='https://hm.baidu.com/hm.gif?si=1'></div>", []),
        ("<video poster=/p.jpg src=/v.mp4></video>", [("/p.jpg", "poster")]),
        ("<object data=/o.svg type=image/svg+xml></object>", [("/o.svg", "object")]),
        ("<embed src=/e.svg>", [("/e.svg", "object")]),
        ("<iframe src=/frame></iframe>", [("/frame", "frame")]),
        ("<iframe src=about:blank data-src=/frame></iframe>", [("/frame", "frame")]),
        ("<svg><image href=/i.png /><image xlink:href=/j.png /></svg>", [("/i.png", "img"), ("/j.png", "img")]),
        # noscript twins
        (f"<noscript><img src=/f.png></noscript><img src='{BLANK}' data-src=/f.png>", [("/f.png", "img")]),
        (f"<p><img src='{BLANK}' data-src=/f.png><noscript><img src=/f.png?w=9></noscript></p>", [("/f.png", "img")]),
        ("<p><img class=js-image><noscript><img src=/only.png></noscript></p>", [("/only.png", "img")]),
        # the page's own social card
        ("<meta property=og:image content=/og.png>", [("/og.png", "social")]),
        ("<img src=/f.png><meta property=og:image content=https://example.org/f.png>", [("/f.png", "img")]),
        # none
        (f"<img src='{BLANK}'>", []),
        ("<img src=/t.gif width=1 height=1>", []),
        ("<img src=/t.gif style='width:1px;height:1px'>", []),
        ("<img src=/t.gif style='display:none'>", []),
        ("<img src=/t.gif hidden>", []),
        ("<noscript><img height=1 width=1 style='display:none' src='https://www.facebook.com/tr?id=1'></noscript>", []),
        ("<img src='https://www.facebook.com/tr?id=1&ev=PageView'>", []),
        ("<img src='https://hm.baidu.com/hm.gif?si=1'>", []),
        ("<img src='https://stats.g.doubleclick.net/r/collect'>", []),
        ("<iframe src='https://www.googletagmanager.com/ns.html?id=GTM-1'></iframe>", []),
        ("<img src=/matomo.php?idsite=1>", []),
        ("<img src=/images/pixel.gif>", []),
        ("<img src='javascript:x'><img src=''><img><iframe src=javascript:false></iframe>", []),
        ("<img src='ftp://example.org/f.png'>", []),
    ],
)  # fmt: skip
def test_what_a_page_shows(html: str, figures: list[tuple[str, str]]) -> None:
    assert shown(html) == figures


@pytest.mark.parametrize(
    "html",
    [
        "<img src=https://pixel-magazine.example/a.png>",
        "<img src=/tracking-results-2025.png>",
        "<img src=/facebook.com/tr/chart.png>",
        "<img src=/blank-verse.png width=640>",
    ],
)
def test_a_figure_that_only_looks_like_a_beacon_counts(html: str) -> None:
    assert len(embeds(html)) == 1


@pytest.mark.parametrize(
    ("html", "label"),
    [
        ("<img src=/f.png width=640 height=480>", Label.MAIN),
        ("<img src=/f.png width=100%>", Label.MAIN),
        ("<img src=/f.png width=48 height=300>", Label.MAIN),
        ("<img src=/f.png width=48 height=48>", Label.CHROME),
        ("<img src=/f.png width=20px>", Label.CHROME),
        ("<img src=/f.png class='user-avatar'>", Label.CHROME),
        ("<img src=https://img.shields.io/pypi/v/x>", Label.CHROME),
        ("<img src=https://github.example/o/r/actions/workflows/ci.yml/badge.svg>", Label.CHROME),
        ("<img src=/cadge-badger.png>", Label.MAIN),
        ("<nav><img src=/f.png></nav>", Label.CHROME),
        ("<div hidden><img src=/f.png></div>", Label.HIDDEN),
        ("<noscript><img src=/f.png></noscript>", Label.MAIN),
        ("<footer><noscript><img src=/f.png></noscript></footer>", Label.CHROME),
    ],
)
def test_ornaments_and_the_frame_are_labelled_so_that_callers_can_skip_them(html: str, label: Label) -> None:
    assert [embed.label for embed in embeds(html)] == [label]


def test_alt_text_and_caption_belong_to_the_figure() -> None:
    caption = "<figcaption>Fig. 1: <b>cache</b> hits</figcaption>"
    html = f"<figure><img src=/f.png alt=' Hit  rate '>{caption}</figure><img src=/g.png>"
    first, second = embeds(html)
    assert (first.alt, first.caption) == ("Hit rate", "Fig. 1: cache hits")
    assert second.caption == ""


def test_a_relative_base_moves_relative_figures_of_a_real_page() -> None:
    page = (FIXTURES / "readability-base-url-base-element-relative.html").read_text(encoding="utf-8")
    urls = [embed.url for embed in extract(page, url="http://fakehost/test/page.html").embeds]
    assert urls == [
        "http://fakehost/test/base/foo/bar/baz.png",
        "http://fakehost/foo/bar/baz.png",
        "http://test/foo/bar/baz.png",
        "https://test/foo/bar/baz.png",
    ]


def test_the_lazy_figures_of_a_real_page_are_found() -> None:
    page = (FIXTURES / "readability-lazy-image-3.html").read_text(encoding="utf-8")
    found = extract(page, url=URL).embeds
    assert [embed.alt for embed in found] == ["performance.jpg", "performance.jpg"]
    assert all(embed.url.startswith("https://p3-juejin.byteimg.com/") for embed in found)


@given(st.text(alphabet="a.png,/ 123wx\n:data", max_size=80))
def test_no_srcset_makes_it_raise_and_what_comes_out_was_in_it(srcset: str) -> None:
    assert best_candidate(srcset) in srcset
