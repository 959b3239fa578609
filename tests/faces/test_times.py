"""Times that come from outside: what UTC has no year for is no time, whoever says it."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
import typer

from sourcewatch.adapters import archive, brought, brought_warc, review_files
from sourcewatch.adapters.store import FolderStore
from sourcewatch.domain.capture import Exchange
from sourcewatch.faces.times import moment_of, since_of

BEYOND = ("9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59")


@pytest.mark.parametrize("text", [*BEYOND, "0001-01-01", "20261399T000000Z", "soon", ""])
def test_what_is_no_time_is_wrong_use(text: str) -> None:
    for read in (lambda: moment_of(text, "Asia/Shanghai"), lambda: since_of(text, "Asia/Shanghai", datetime.now(UTC))):
        with pytest.raises(typer.BadParameter):
            read()


def test_the_last_moment_that_utc_has_is_one() -> None:
    assert moment_of("9999-12-31T23:59:59+00:00", "UTC").year == 9999
    assert moment_of("2026-10-20", "Asia/Shanghai") == datetime(2026, 10, 19, 16, tzinfo=UTC)


@pytest.mark.parametrize("text", BEYOND)
def test_a_file_that_tells_such_a_time_tells_none(text: str, tmp_path: object) -> None:
    with pytest.raises(ValueError, match="no time that UTC has"):
        archive._moment(text)
    assert brought._moment(lambda: datetime.fromisoformat(text)) is None
    assert brought_warc._found(0, Exchange("https://example.org/", 200, ()), text) is None


def test_a_decision_of_such_a_time_is_told_as_unreadable(tmp_path) -> None:  # type: ignore[no-untyped-def]
    store, lost = FolderStore(tmp_path), list[tuple[str, str]]()
    facts = {"source": "a", "record_id": "r", "at": BEYOND[0], "by": "M", "decision": "accepted", "holds": None}
    path = "snapshots/_reviews/a/2026/20261020T110300Z.x.json"
    store.put(path, json.dumps(facts | {"after": "", "note": ""}).encode())
    assert list(review_files.ReviewFiles(store).read(lost)) == []
    assert [where for where, _ in lost] == [path]
