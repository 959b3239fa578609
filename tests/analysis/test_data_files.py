"""Data files: what goes in comes out again by any parser, and nothing in the file acts before it is parsed."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hostile import raw, texts
from sourcewatch.analysis.data_files import FORMS, as_entries, as_json, as_toml, as_yaml

NOTES = {
    "url": "https://example.org/", "title": "说明", "dead": False, "strikes": 3, "memento": None,
    "text": {"zh-CN": "访问于 2026 年 10 月 20 日", "en": "accessed 20 October 2026"},
    "unread": [{"url": "https://example.org/a.png", "alt": "96% 缓存命中", "verdict": None}],
}  # fmt: skip
DATA = {"generated_at": "2026-10-20T11:03:00Z", "site": "", "sources": {"notes": NOTES, "null": {}}}


def leaves() -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), texts())


def tables() -> st.SearchStrategy[Any]:
    def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        return st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts(), inner, max_size=3))

    return st.dictionaries(texts(), st.recursive(leaves(), deeper, max_leaves=8), max_size=4)


def sound(value: Any) -> Any:
    """A lone surrogate, which no text file can hold, becomes U+FFFD."""
    if isinstance(value, dict):
        return {sound(k): sound(v) for k, v in value.items()}
    if isinstance(value, list):
        return [sound(v) for v in value]
    return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in value) if isinstance(value, str) else value


def known(value: Any) -> Any:
    """Without what is unknown, in tables: TOML has no null."""
    if isinstance(value, dict):
        return {k: known(v) for k, v in value.items() if v is not None}
    return [known(v) for v in value] if isinstance(value, list) else value


@given(tables())
def test_json_gives_back_what_it_was_given(value: dict[str, Any]) -> None:
    for indent in (None, 1):
        written = as_json(value, indent)
        assert json.loads(written) == value and not raw(written)


@given(tables())
def test_yaml_gives_back_what_it_was_given(value: dict[str, Any]) -> None:
    written = as_yaml(value)
    assert yaml.safe_load(written) == sound(value) if value else written.strip() == ""
    assert not raw(written)


@given(
    st.dictionaries(
        texts(),
        st.one_of(texts(), st.integers(-(2**53), 2**53), st.dictionaries(texts(), leaves(), max_size=3)),
        max_size=4,
    )
)
def test_toml_gives_back_what_is_known(value: dict[str, Any]) -> None:
    written = as_toml(value)
    if len(sound(value)) == len(value):
        assert tomllib.loads(written) == known(sound(value))
    assert not raw(written)


@pytest.mark.parametrize(
    ("name", "path", "read"),
    [
        ("json", "last-accessed.json", json.loads),
        ("toml", "last-accessed.toml", tomllib.loads),
        ("yaml", "last-accessed.yaml", yaml.safe_load),
        ("hugo", "data/last_accessed.json", json.loads),
        ("jekyll", "_data/last_accessed.yml", yaml.safe_load),
        ("eleventy", "_data/last_accessed.json", json.loads),
    ],
)
def test_each_generator_finds_the_same_data_in_its_own_place(name: str, path: str, read: Any) -> None:
    assert FORMS[name].path == path
    assert known(read(FORMS[name].text(DATA))) == known(DATA)


def test_dates_and_odd_ids_stay_text_in_yaml_and_toml() -> None:
    odd = {"date": "2026-10-20", "on": "yes", "1": "1e3", "null": "~", "a-b": "0x1f", "=": "<<"}
    assert yaml.safe_load(as_yaml(odd)) == odd and tomllib.loads(as_toml(odd)) == odd


def test_astro_gets_whole_entries_by_their_id() -> None:
    entries = json.loads(as_entries(DATA))
    assert set(entries) == {"notes", "null"}
    assert entries["notes"] == {**NOTES, "generated_at": DATA["generated_at"], "site": ""}
