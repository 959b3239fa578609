"""Rules for known kinds of addresses: what they are for, what they ask, and how one that cannot work is told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from site_of_pages import HEAD, row
from sourcewatch.adapters import readers
from sourcewatch.adapters.config import load
from sourcewatch.adapters.reader_models import ExampleModel, FactModel, ReaderModel, TokenModel
from sourcewatch.domain.errors import ConfigError
from sourcewatch.domain.source import Source
from sourcewatch.faces import reading

ROOT = Path(__file__).parents[2]
BOOK = readers.book()
RULE = """[[reader]]
name = "wiki"
cited = ["https://wiki.example.org/{page}"]
read = "https://api.wiki.example.org/pages/{page}"
official = "the wiki's own interface gives the text that the page shows"
form = "json"
proves = { title = "{page}" }
text = ["text"]
[[reader.example]]
cited = "https://wiki.example.org/Cache"
body = '{"title": "Cache", "text": "It keeps what was asked before."}'
shows = ["It keeps what was asked before."]
"""


def source_of(folder: Path, more: str, url: str, environ: dict[str, str] | None = None, own: str = "") -> Source:
    path = folder / "sources.toml"
    head = HEAD.format(language="en")
    if own:
        (folder / "readers.toml").write_text(own, encoding="utf-8")
        head = head.replace("[fetch]\n", '[fetch]\nreaders = "readers.toml"\n')
        assert "readers.toml" in head
    path.write_text(head + row("s", url, more=more), encoding="utf-8")
    return load(path, environ or {}).sources[0]


@pytest.mark.parametrize(
    ("cited", "name", "read"),
    [
        ("https://github.com/o/r", "github-readme", "https://raw.githubusercontent.com/o/r/HEAD/README.md"),
        ("http://www.github.com/o/r/", "github-readme", "https://raw.githubusercontent.com/o/r/HEAD/README.md"),
        ("https://github.com/o/r#readme", "github-readme", "https://raw.githubusercontent.com/o/r/HEAD/README.md"),
        ("https://github.com/o/r/blob/v1/a/b.md", "github-file", "https://raw.githubusercontent.com/o/r/v1/a/b.md"),
        ("https://github.com/o/r/pull/47", "github-pull", "https://api.github.com/repos/o/r/pulls/47"),
        ("https://github.com/o/r/issues/9", "github-issue", "https://api.github.com/repos/o/r/issues/9"),
        ("https://github.com/o/r/releases", "github-releases", "https://github.com/o/r/releases.atom"),
        ("https://github.com/o", "github-account", "https://api.github.com/users/o"),
        ("https://huggingface.co/o/m", "huggingface-model", "https://huggingface.co/o/m/resolve/main/README.md"),
        (
            "https://news.ycombinator.com/item?id=1",
            "hacker-news-item",
            "https://hacker-news.firebaseio.com/v0/item/1.json",
        ),
        ("https://arxiv.org/abs/2609.00001v2", "arxiv-abstract", "https://arxiv.org/abs/2609.00001v2"),
        (
            "https://doi.org/10.1145/3611643.3616343",
            "doi-crossref",
            "https://api.crossref.org/works/10.1145/3611643.3616343",
        ),
        ("https://doi.org/10.5281/zenodo.1", "doi-datacite", "https://api.datacite.org/dois/10.5281/zenodo.1"),
        ("https://docs.ollama.com/api/tags", "mintlify-docs", "https://docs.ollama.com/api/tags.md"),
    ],
)
def test_an_address_is_read_by_the_first_rule_that_fits(cited: str, name: str, read: str) -> None:
    applied = readers.chosen(BOOK, cited, None, "auto", "never", {})
    assert isinstance(applied, readers.Applied)
    assert (applied.reader.name, applied.read) == (name, read)


@pytest.mark.parametrize(
    "cited",
    [
        "https://github.com/",
        "https://github.com/topics/cache",
        "https://github.com/o/r/pull/47/files",
        "https://github.com/o/r/pull/new",
        "https://github.com/o/r/wiki",
        "https://github.com/o/r?tab=readme",
        "https://gist.github.com/o/r",
        "https://github.com.evil.example/o/r",
        "https://evil.example/https://github.com/o/r",
        "https://huggingface.co/papers/2609.19969",
        "https://huggingface.co/docs/hub",
        "https://news.ycombinator.com/news",
        "https://news.ycombinator.com/item?id=1&p=2",
        "https://arxiv.org/list/cs.DC/new",
        "https://doi.org/",
        "https://docs.ollama.com/api/tags.md",
        "https://x.com/o",
        "https://zhuanlan.zhihu.com/column",
    ],
)
def test_what_only_looks_like_such_an_address_is_read_as_it_is(cited: str) -> None:
    assert readers.chosen(BOOK, cited, None, "auto", "never", {}) is None


def test_every_shipped_rule_does_what_its_recorded_answers_say() -> None:
    tried = reading.tried(None)
    assert len(tried) >= 20
    assert {name: wrong for name, wrong in tried.items() if wrong} == {}


def test_a_strangers_rule_works_without_a_line_of_code(tmp_path: Path) -> None:
    source = source_of(tmp_path, "", "https://wiki.example.org/Cache", own=RULE)
    assert source.read == "https://api.wiki.example.org/pages/Cache" and source.url == "https://wiki.example.org/Cache"
    assert source.reader is not None and source.reader.tag == "wiki@1"
    assert reading.tried(tmp_path / "readers.toml") == {"wiki": []}
    assert next(r.name for r in reading.listed(tmp_path / "sources.toml")) == "wiki"


def test_a_rule_that_does_not_do_what_it_says_is_told_by_its_examples(tmp_path: Path) -> None:
    path = tmp_path / "readers.toml"
    path.write_text(RULE.replace('text = ["text"]', 'text = ["words"]').replace("/pages/", "/page/"), encoding="utf-8")
    assert reading.tried(path) == {"wiki": ["example 1: does not show 'It keeps what was asked before.'"]}
    path.write_text(RULE.replace('"title": "Cache"', '"title": "Disk"'), encoding="utf-8")
    [words] = reading.tried(path)["wiki"][:1]
    assert "is interstitial (reader-unproved: wiki@1: not proved: title is Disk, not Cache), not ok" in words


def test_a_sites_own_rule_comes_before_the_packages_of_that_name(tmp_path: Path) -> None:
    own = RULE.replace('"wiki"', '"github-pull"').replace(
        "https://wiki.example.org/{page}", "https://github.com/{o}/{r}/pull/{page}"
    )
    own = own.replace("https://wiki.example.org/Cache", "https://github.com/a/b/pull/Cache")
    source = source_of(tmp_path, "", "https://github.com/a/b/pull/1", own=own)
    assert source.read == "https://api.wiki.example.org/pages/1"


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("version = 1\n", "colour = 1\n", ":3: reader.colour: unknown key"),
        ('name = "wiki"', 'name = "Wiki Page"', ":2: reader.name:"),
        (
            "https://wiki.example.org/{page}",
            "wiki.example.org/{page}",
            ":4: reader.cited: 'wiki.example.org/{page}' is no pattern",
        ),
        ("https://wiki.example.org/{page}", "https://{page}/x", ":4: reader.cited: 'https://{page}/x' is for any host"),
        ("/pages/{page}", "/pages/{title}", ":5: reader.read: not every pattern has {title}"),
        ("the wiki's own interface gives the text that the page shows", "why not", ":6: reader.official:"),
        ('form = "json"', 'form = ""', ":8: reader.proves: is for answers of form"),
        ('proves = { title = "{page}" }\n', "\n", ": reader.proves: an answer that proves nothing is no access"),
        ('form = "json"', 'form = "json"\nselect = "main"', ":8: reader.select: is for pages"),
        ('form = "json"', 'form = "json"\nheaders = { Authorization = "Bearer abc" }', ":8: reader.headers: a secret"),
        ('form = "json"', 'form = "json"\nwhere = { page = "(" }', ":8: reader.where: page: not a regular expression"),
        ("https://api.wiki", "http://api.wiki", ":7: reader.token: goes out only over https"),
        ("[[reader.example]]", "[[reader.other]]", ": reader.other: unknown key"),
    ],
)
def test_a_fault_in_a_readers_file_names_file_line_and_key(tmp_path: Path, old: str, new: str, fault: str) -> None:
    path = tmp_path / "readers.toml"
    text = RULE.replace('name = "wiki"\n', 'name = "wiki"\nversion = 1\n')
    if "reader.token" in fault:
        text = text.replace('form = "json"\n', 'form = "json"\ntoken = { variable = "WIKI" }\n').replace(
            "\nversion = 1", ""
        )
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError) as told:
        readers.load(path)
    assert any(f"{path}" in f and fault in f for f in told.value.faults), told.value.faults


@pytest.mark.parametrize("text", ["[[reader]", "\xff", None])
def test_a_readers_file_that_cannot_be_read_stops_before_anything_is_fetched(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "readers.toml"
    if text is not None:
        path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ConfigError, match=r"readers\.toml"):
        readers.load(path)


def test_a_sources_own_address_wins_and_the_rule_applies_where_it_is_the_same(tmp_path: Path) -> None:
    same = 'read = "https://api.github.com/repos/o/r/pulls/47"\n'
    source = source_of(tmp_path, same, "https://github.com/o/r/pull/47")
    assert source.reader is not None and source.reader.name == "github-pull"
    other = source_of(tmp_path, 'read = "https://mirror.example/47"\n', "https://github.com/o/r/pull/47")
    assert other.reader is None and other.read == "https://mirror.example/47" and not other.headers


def test_a_source_names_its_rule_or_wants_none(tmp_path: Path) -> None:
    cited = "https://github.com/o/r"
    assert source_of(tmp_path, 'reader = "none"\n', cited).read is None
    named = source_of(tmp_path, 'reader = "github-readme-any"\n', cited)
    assert named.read == "https://api.github.com/repos/o/r/readme"
    twin = source_of(tmp_path, 'reader = "md-twin"\n', "https://docs.example.org/a/b")
    assert twin.read == "https://docs.example.org/a/b.md"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('reader = "gitlab"\n', "there is no reader 'gitlab'"),
        ('reader = "hacker-news-item"\n', "is not for https://github.com/o/r/pull/47"),
        ('reader = "github-pull"\nread = "https://elsewhere.example/47"\n', "`read` names another host"),
        ('reader = "github-pull"\nrender = "auto"\n', "reads an API"),
    ],
)
def test_a_wish_that_cannot_be_is_told_with_its_line(tmp_path: Path, more: str, words: str) -> None:
    with pytest.raises(ConfigError) as told:
        source_of(tmp_path, more, "https://github.com/o/r/pull/47")
    [fault] = told.value.faults
    assert "sources.toml:" in fault and "source.reader: " in fault and words in fault


def test_what_a_browser_is_to_read_is_read_as_it_is(tmp_path: Path) -> None:
    assert source_of(tmp_path, 'render = "auto"\n', "https://github.com/o/r").reader is None
    article = source_of(tmp_path, 'render = "auto"\n', "https://mp.weixin.qq.com/s/AbC")
    assert article.reader is not None and article.select == "#activity-name, #js_content"


def test_a_token_comes_from_the_environment_is_secret_and_goes_only_where_the_rule_reads(tmp_path: Path) -> None:
    cited = "https://github.com/o/r/pull/47"
    token = {h.name: h for h in source_of(tmp_path, "", cited, {"GITHUB_TOKEN": "t0p"}).headers}["Authorization"]
    assert token.value == "Bearer t0p" and token.secret and "t0p" not in repr(token)
    assert not [h for h in source_of(tmp_path, "", cited).headers if h.secret]
    raw = source_of(tmp_path, "", "https://github.com/o/r", {"GITHUB_TOKEN": "t0p"})
    assert not raw.headers


def test_an_editors_own_headers_and_selectors_stay(tmp_path: Path) -> None:
    own = source_of(tmp_path, 'headers = { accept = "text/plain" }\n', "https://github.com/o/r/pull/47")
    assert [h.value for h in own.headers if h.name.lower() == "accept"] == ["text/plain"]
    chosen = source_of(tmp_path, 'select = "article"\n', "https://zhuanlan.zhihu.com/p/1")
    assert chosen.select == "article" and chosen.reader is not None and not chosen.reader.proves


def test_a_host_is_asked_no_faster_than_its_rule_says(tmp_path: Path) -> None:
    source_of(tmp_path, "", "https://arxiv.org/abs/2609.00001")
    assert load(tmp_path / "sources.toml", {}).hosts["arxiv.org"].delay_s == 3.0


def blocks_of(name: str) -> list[str]:
    return re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / name).read_text("utf-8"), re.S)


def test_the_documented_rule_does_what_the_documentation_says(tmp_path: Path) -> None:
    [rule] = [block for block in blocks_of("readers.md") if "[[reader]]" in block]
    (tmp_path / "readers.toml").write_text(rule, encoding="utf-8")
    assert reading.tried(tmp_path / "readers.toml") == {"wiki": []}


@pytest.mark.parametrize("name", ["readers.md", "pictures.md"])
def test_documented_sources_are_sound(tmp_path: Path, name: str) -> None:
    path = tmp_path / "sources.toml"
    rows = [block for block in blocks_of(name) if "[[source]]" in block]
    head = HEAD.format(language="en") + '[tiers.D]\ntitle = "community"\n'
    path.write_text(head + "\n".join(rows), encoding="utf-8")
    assert rows and len(load(path, {}).sources) == len(rows)


def test_every_shipped_rule_and_every_key_is_documented() -> None:
    text = (ROOT / "docs" / "readers.md").read_text("utf-8")
    names = [rule.name for rule in readers.load(readers.SHIPPED)]
    keys = [*ReaderModel.model_fields, *ExampleModel.model_fields, *TokenModel.model_fields, *FactModel.model_fields]
    missing = [n for n in names if f"`{n}`" not in text]
    missing += [k for k in keys if f"`{k}`" not in text and f"[[reader.{k}]]" not in text]
    assert not missing


def test_nearly_all_rows_of_the_shipped_sources_file_need_no_address_to_read() -> None:
    located = [s for s in load(ROOT / "sources.toml", {}).sources if s.url]
    by_rule = [s for s in located if s.reader]
    assert len(by_rule) == 23 and len(located) == 31
    assert all(s.read and s.read != s.url for s in by_rule)
