"""Of a check that was done twice one snapshot stays: the one that a row names."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from sqlalchemy import Engine, insert
from test_database import AT, VERSION, seeded

from sourcewatch.adapters import tables as t
from sourcewatch.adapters.retention import Retention, removed
from sourcewatch.adapters.store import FolderStore
from sourcewatch.adapters.strays import WORDS, Strays
from sourcewatch.domain.kept import Claim


def test_what_was_written_for_the_same_check_and_has_no_row_goes_and_is_noted(engine: Engine, tmp_path: Path) -> None:
    seeded(engine)
    with engine.begin() as c:
        figure = {"id": "a--1", "kind": "figure", "parent": "a", "title": "", "tier": "A", "declared": False, "alt": ""}
        c.execute(insert(t.sources).values(**figure, first_seen_at=AT))
        at = {"captured_at": AT.replace(minute=9), "record_id": "<urn:uuid:2>"}
        lies = {"path": "snapshots/a/2026/20261020T110900Z.warc.gz"}
        c.execute(insert(t.versions).values(**{**VERSION, "source": "a--1", **at, **lies}))
    folder = tmp_path / "snapshots" / "a" / "2026"
    folder.mkdir(parents=True)
    of_before, stray, known = "20261020T110259Z", "20261020T110500Z", "20261020T110900Z"
    for stamp in (of_before, stray, known):
        for suffix in (".warc.gz", ".json", ".md"):
            (folder / f"{stamp}{suffix}").write_bytes(stamp.encode())
    store = FolderStore(tmp_path)
    strays = Strays(engine, store, Retention(engine, store))
    claim = Claim("a", "a.example", "w", AT)
    for _ in range(2):
        strays.clear(claim, AT + timedelta(minutes=10))
    left = {path.name.partition(".")[0] for path in folder.iterdir()}
    assert left == {of_before, known}, "an older one is of another check, a figure's row names the newest"
    gone = removed(store)
    assert set(gone) == {f"snapshots/a/2026/{stray}{suffix}" for suffix in (".warc.gz", ".json", ".md")}
    [note] = set(gone.values())
    assert store.get(note).decode().splitlines()[0] == f"# {WORDS}"
