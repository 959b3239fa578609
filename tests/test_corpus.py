"""A corpus of saved pages, good and bad, and a floor for both errors that only rises."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest

from sourcewatch.analysis.judge import Task, judge
from sourcewatch.domain.capture import Capture, Exchange
from sourcewatch.domain.source import Source
from sourcewatch.domain.verdict import WORDS, Verdict

CORPUS = Path(__file__).parent / "corpus"
ROWS = json.loads((CORPUS / "pages.json").read_text("utf-8"))
FLOOR = json.loads((CORPUS / "floor.json").read_text("utf-8"))


def judged(name: str) -> Verdict:
    url = f"https://{name.removesuffix('.html')}.example/articles/2024/some-article"
    answer = Exchange(url, 200, (("Content-Type", "text/html"),), (CORPUS / "pages" / name).read_bytes())
    capture = Capture(datetime(2026, 10, 20, tzinfo=UTC), (answer,))
    return judge(Task(Source("s", "A", "t", url=url), capture, 20_000_000)).verdict


@pytest.fixture(scope="module")
def verdicts() -> dict[str, Verdict]:
    return {row["file"]: judged(row["file"]) for row in ROWS}


@pytest.mark.parametrize(("kind", "good", "wrong"), [("bad", False, "missed"), ("good", True, "lost")])
def test_the_floor_holds_and_is_raised_with_what_was_reached(
    kind: str, good: bool, wrong: str, verdicts: dict[str, Verdict]
) -> None:
    rows = [row for row in ROWS if (row["expected"] == ["ok"]) is good]
    errors = sorted(row["file"] for row in rows if verdicts[row["file"]].word not in row["expected"])
    share = round(1 - len(errors) / len(rows), 4)
    assert share >= FLOOR[kind], f"{kind} pages judged rightly fell to {share}: {errors}"
    assert share <= FLOOR[kind] and errors == FLOOR[wrong], f"raise the floor: {kind} {share}, {wrong} {errors}"


def test_no_bad_page_is_taken_for_an_access_but_those_named(verdicts: dict[str, Verdict]) -> None:
    taken = [r["file"] for r in ROWS if r["expected"] != ["ok"] and verdicts[r["file"]].accessed]
    assert set(taken) <= set(FLOOR["missed"])


def test_the_files_are_those_that_were_measured() -> None:
    assert {path.name for path in (CORPUS / "pages").iterdir()} == {row["file"] for row in ROWS}
    for row in ROWS:
        assert sha256((CORPUS / "pages" / row["file"]).read_bytes()).hexdigest() == row["sha256"], row["file"]
        assert row["origin"] and row["licence"] and set(row["expected"]) <= set(WORDS)
