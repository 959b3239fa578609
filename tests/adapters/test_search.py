"""The search index: made of the documents on any database, grown by what is new, found again in any language."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Engine, insert
from test_database import AT, VERSION, seeded

from sourcewatch.adapters import tables as t
from sourcewatch.adapters.search import FILE, Search
from sourcewatch.domain.document import Block, Document, Form, Label, pack
from sourcewatch.domain.errors import StorageError


def read(engine: Engine, number: int, *texts: str) -> None:
    """Keep a version with these paragraphs."""
    document = Document(Form.HTML, blocks=(*map(Block, texts), Block("secret script", Label.SCRIPT)))
    with engine.begin() as c:
        if number > 1:
            at = AT.replace(minute=10 + number)
            c.execute(insert(t.versions).values(**{**VERSION, "captured_at": at, "record_id": f"<urn:uuid:{number}>"}))
        values = {"version": number, "title": "T", "language": "zh", "packed": pack(document), "maker": "m"}
        c.execute(insert(t.documents).values(**values))


@pytest.fixture
def search(engine: Engine, tmp_path: Path) -> Search:
    seeded(engine)
    read(engine, 1, "缓存命中率为九成六。", "The cache holds 96% of requests")
    read(engine, 2, "缓存命中率为八成一。", "The cache holds 96% of requests")
    return Search(engine, tmp_path)


def test_a_paragraph_is_one_row_however_many_versions_have_it(search: Search) -> None:
    assert search.fill(10) == 2
    [hit] = search.find(["CACHE", "96%"], 10)
    assert (hit.source, hit.first, hit.last) == ("a", 1, 2)
    assert [(h.first, h.last) for h in search.find(["缓存命中率"], 10)] == [(2, 2), (1, 1)]
    assert [h.first for h in search.find(["九成"], 10)] == [1]


def test_only_what_is_new_is_taken_in_a_few_at_a_time(search: Search, engine: Engine) -> None:
    assert [search.fill(1), search.fill(1), search.fill(1)] == [1, 1, 0]
    read(engine, 3, "a wholly new line")
    assert search.fill(10) == 1
    assert search.find(["wholly new"], 10)


@pytest.mark.parametrize("word", ['"', "'", "%", "_", "\\", "AND", "NEAR(", "*", "a" * 500, "\0\0\0", "text:x"])
def test_signs_of_query_languages_are_only_signs(search: Search, word: str) -> None:
    search.fill(10)
    assert all(word.lower() in hit.text.lower() for hit in search.find([word], 10))


def test_what_no_reader_sees_is_not_found(search: Search) -> None:
    search.fill(10)
    assert not search.find(["secret script"], 10)
    assert not search.find([], 10)


def test_an_index_that_was_deleted_is_made_again(search: Search, tmp_path: Path) -> None:
    search.fill(10)
    for path in tmp_path.glob(f"{FILE}*"):
        path.unlink()
    assert not search.find(["cache"], 10)
    assert search.fill(10) == 2
    assert search.find(["cache"], 10)


def test_a_damaged_index_is_told_in_a_sentence(search: Search, tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b"not a database" * 100)
    with pytest.raises(StorageError, match="it may be deleted"):
        search.find(["cache"], 10)


def test_a_version_that_is_committed_after_a_later_one_is_found_as_well(engine: Engine, tmp_path: Path) -> None:
    if engine.dialect.name == "sqlite":
        return  # one writer at a time
    seeded(engine)
    read(engine, 1, "the first line")
    search = Search(engine, tmp_path)
    with engine.begin() as slow:
        slow.execute(insert(t.versions).values(**{**VERSION, "captured_at": AT.replace(minute=50)}))  # number 2
        read(engine, 3, "the third line")
        search.fill(10)
        packed = pack(Document(Form.HTML, blocks=(Block("2nd line"),)))
        values = {"version": 2, "title": "T", "language": "zh", "packed": packed}
        slow.execute(insert(t.documents).values(**values, maker="m"))
    search.fill(10)
    assert sorted(hit.first for hit in search.find(["line"], 10)) == [1, 2, 3]
