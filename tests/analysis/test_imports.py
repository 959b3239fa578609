"""Watch lists of other programs: what becomes a row, and what is told because it cannot."""

from __future__ import annotations

import json

import pytest

from sourcewatch.analysis import imports
from sourcewatch.domain.errors import ConfigError
from sourcewatch.domain.mention import NewSource
from sourcewatch.domain.source import Source

URLWATCH = """# jobs
name: "A page"
url: "https://a.example/"
filter:
  - css:
      selector: main
      exclude: nav.ads
      skip: 1
  - html2text
  - grep: "Current.*version"
---
#url: "https://commented.example/"
---
name: Home
command: "ls -al ~"
---
navigate: https://b.example/app
filter: element-by-id:news,html2text
headers:
  Authorization: Bearer secret
---
url: https://api.c.example/v1
user_visible_url: https://c.example/
note: an API
max_tries: 3
---
url: https://d.example/
post: q=1
---
url: https://e.example/
enabled: false
---
url: https://f.example/
use_browser: true
filter:
  - element-by-class: x"y
  - xpath: //a
  - css: .second
---
- not
- a job
"""
CHANGEDETECTION = {
    "watching": {
        "u-1": {
            "url": "https://a.example/", "title": "A", "tags": ["t-1"], "include_filters": ["main", "xpath://b"],
            "subtractive_selectors": ["nav"], "time_between_check": {"days": 1, "hours": 6, "minutes": None},
            "time_between_check_use_default": False, "fetch_backend": "html_webdriver", "last_checked": 17,
            "notification_urls": ["json://secret"], "trigger_text": [], "paused": True, "processor": "text_json_diff",
        },
        "u-2": {"url": "https://b.example/", "method": "POST", "body": "x"},
        "u-3": {"url": "source:https://c.example/", "time_between_check_use_default": True, "ignore_text": ["x"]},
    },
    "settings": {"application": {"tags": {"t-1": {"title": "news"}}}},
}  # fmt: skip
OPML = """<?xml version="1.0"?>
<opml version="2.0"><body>
<outline text="Group">
 <outline text="Blog" type="rss" htmlUrl="https://a.example/" xmlUrl="https://a.example/feed.xml"/>
 <outline title="Feed &amp; more" xmlUrl="https://b.example/rss"/>
</outline></body></opml>
"""


def told(not_read: list[imports.NotRead]) -> list[tuple[int, str]]:
    return [(n.line, n.reason) for n in not_read]


def test_jobs_of_urlwatch_and_webchanges_become_rows_and_every_loss_is_told() -> None:
    form, rows, lost = imports.read("urls.yaml", URLWATCH)
    assert form == "urlwatch"
    assert rows == [
        NewSource("https://a.example/", "A page", select="main", ignore=("nav.ads",), line=3),
        NewSource("https://b.example/app", select='[id="news"]', render="always", line=17),
        NewSource("https://c.example/", read="https://api.c.example/v1", notes="an API", line=22),
        NewSource("https://f.example/", select='[class~="x\\"y"]', render="always", line=33),
    ]
    assert told(lost) == [
        (4, "not carried over: the filter `css.skip`"),
        (4, "not carried over: the filter `grep`"),
        (15, "a shell command is no address; not added"),
        (19, 'not carried over: `headers` (it may be secret: write it into `headers`, values as "${NAME}")'),
        (25, "not carried over: `max_tries`"),
        (27, "https://d.example/ is asked by POST or the like, which nobody can cite; not added"),
        (31, "https://e.example/ is disabled there; not added"),
        (35, "not carried over: the filter `xpath`"),
        (35, "not carried over: the filter `css: .second` (one `select` is all there is)"),
        (40, "no job: a mapping with `url` was expected"),
    ]


def test_no_secret_of_a_foreign_file_is_repeated() -> None:
    for name, text in (("urls.yaml", URLWATCH), ("url-watches.json", json.dumps(CHANGEDETECTION))):
        assert "secret" not in repr([n for n in imports.read(name, text)[2] if "it may be secret" not in n.reason])


def test_watches_of_changedetection_become_rows_and_every_loss_is_told() -> None:
    form, rows, lost = imports.read("url-watches.json", json.dumps(CHANGEDETECTION, indent=1))
    assert form == "changedetection"
    assert rows == [
        NewSource(
            "https://a.example/", "A", every="1d 6h", select="main", ignore=("nav",), render="always",
            notes="changedetection.io: news", line=3,
        ),
        NewSource("https://c.example/", line=36),
    ]  # fmt: skip
    assert told(lost) == [
        (3, "not carried over: the filter 'xpath://b' (only CSS selectors are)"),
        (3, "not carried over: that it is paused (a `pause` needs its end and a reason)"),
        (3, "not carried over: `notification_urls`"),
        (31, "a POST request is no address to cite; not added"),
        (36, "not carried over: `source:` (its HTML is not watched, its text is)"),
        (36, "not carried over: `ignore_text`"),
    ]


def test_outlines_become_rows_that_read_their_feeds() -> None:
    _, rows, lost = imports.read("feeds.opml", OPML)
    assert rows == [
        NewSource("https://a.example/", "Blog", read="https://a.example/feed.xml", line=4),
        NewSource("https://b.example/rss", "Feed & more", line=5),
    ]
    assert not lost


def test_a_list_has_an_address_a_line_and_the_rest_is_its_title() -> None:
    _, rows, lost = imports.read("l.txt", "# c\nhttps://a.example/ The first\n\n- https://b.example/x\nnothing here\n")
    assert rows == [NewSource("https://a.example/", "The first", line=2), NewSource("https://b.example/x", line=4)]
    assert told(lost) == [(5, "no address in 'nothing here'")]


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("u.yaml", "url: https://a.example/\n---\nurl: [", "u.yaml:3: not valid YAML"),
        ("w.json", '{"watching": {\n"a": }}', "w.json:2: not valid JSON"),
        ("w.json", '{"a": 1}', "w.json:1: no watches of changedetection.io"),
        ("f.opml", "<opml>\n<outline>", "f.opml:2: not valid XML"),
        ("f.opml", '<!DOCTYPE x [<!ENTITY a "b">]><opml/>', "f.opml:1: an OPML file that defines entities"),
    ],
)
def test_a_file_that_is_not_of_its_format_is_refused_with_its_line(name: str, text: str, fault: str) -> None:
    with pytest.raises(ConfigError) as caught:
        imports.read(name, text)
    assert str(caught.value).startswith(fault)


def test_aliases_upon_aliases_cost_one_job_and_no_memory() -> None:
    levels = "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 9))
    _, rows, lost = imports.read(
        "u.yaml", f"a0: &a0 [1]\n{levels}url: https://a.example/\n---\nurl: https://b.example/"
    )
    assert [r.url for r in rows] == ["https://b.example/"]
    assert told(lost) == [(1, "a job with too many values; not added")]


def test_only_new_addresses_of_the_web_with_sound_selectors_are_added() -> None:
    rows = [
        NewSource("https://known.example/", line=1),
        NewSource("https://u:p@a.example/", line=2),
        NewSource("ftp://a.example/", line=3),
        NewSource("https://a.example/x", select="div[", ignore=("nav", "::"), line=4),
        NewSource("http://a.example/x/", line=5),
    ]
    good, lost = imports.fit("f", rows, [Source("known", "A", "K", url="http://known.example")])
    assert good == [NewSource("https://a.example/x", ignore=("nav",), line=4)]
    assert told(lost) == [
        (1, "https://known.example/ is watched already, as known"),
        (2, "an address with a user name or password in it; not added"),
        (3, "not an address of the web; not added"),
        (4, "not carried over: 'div[' is no CSS selector here"),
        (4, "not carried over: '::' is no CSS selector here"),
        (5, "http://a.example/x/ stands in line 4 already"),
    ]
