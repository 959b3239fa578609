"""Retention lets go only of what nothing relies on, says so beforehand, and leaves a note that can be verified."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from sqlalchemy import Engine, func, insert, select, text
from sqlalchemy.exc import DBAPIError

from buckets import Bucket, later, names
from sourcewatch.adapters import tables as t
from sourcewatch.adapters.bucket import BucketStore
from sourcewatch.adapters.manifest import Manifests
from sourcewatch.adapters.retention import Retention, removed
from sourcewatch.adapters.store import FolderStore, Store
from sourcewatch.domain.retention import Removal
from sourcewatch.domain.source import FetchPolicy, Settings, Site, Tier
from sourcewatch.domain.source import Retention as Rule
from sourcewatch.services.retain import retain

NOW = datetime(2026, 10, 20, 3, 3, tzinfo=UTC)
YEAR_S = 365 * 86_400.0


class Kept:
    """An archive written row by row: a thread (tier D) with many versions, a page (tier A) with some."""

    def __init__(self, engine: Engine, store: Store) -> None:
        self.engine, self.store = engine, store
        with engine.begin() as c:
            for name, tier in (("thread", "D"), ("page", "A")):
                given = {"kind": "page", "title": "", "declared": True, "first_seen_at": NOW, "alt": "", "url": "u"}
                c.execute(insert(t.sources).values(id=name, tier=tier, **given))
            c.execute(insert(t.runs).values(id=1, started_at=NOW, trigger="t", code_version="0"))

    def version(self, source: str, days_ago: float, stayed_days: float = 0.0, path: str = "", **check: Any) -> int:
        at = NOW - timedelta(days=days_ago)
        path = path or f"snapshots/{source}/{at:%Y}/{at:%Y%m%dT%H%M%SZ}.warc.gz"
        for suffix in (".warc.gz", ".md", ".json"):
            self.store.put(path.removesuffix(".warc.gz") + suffix, b"x" * 100)
        texts = dict.fromkeys(
            ("url", "final_url", "media_type", "body_sha256", "payload_sha256", "text_sha256", "etag", "last_modified"),
            "u",
        )
        values = {**texts, "source": source, "captured_at": at, "status": 200, "path": path, "record_id": "<r>"}
        with self.engine.begin() as c:
            row = insert(t.versions).values(**values, offset=0, size_bytes=1).returning(t.versions.c.id)
            version = int(c.execute(row).scalar_one())
        self.check(source, days_ago, stayed_days, version=version, new_version=True, **check)
        return version

    def check(self, source: str, days_ago: float, stayed_days: float = 0.0, **values: Any) -> None:
        at = NOW - timedelta(days=days_ago)
        given = {"word": "ok", "accessed": True, "new_version": False, "by_hand": False, "version": None} | values
        texts = {"rule": "r", "evidence": "", "url": "u", "final_url": "u", "body_sha256": ""}
        times = {"first_at": at, "last_at": at + timedelta(days=stayed_days), "n": 1, "run": 1, "status": 200, "ms": 1}
        with self.engine.begin() as c:
            c.execute(insert(t.checks).values(source=source, facts={}, **times, **texts, **given))

    def quote(self, version: int, kind: str) -> None:
        values = {"version": version, "quote": "q", "source": "thread", "kind": kind, "score": 1.0, "facts": {}}
        with self.engine.begin() as c:
            c.execute(insert(t.sightings).values(seen_at=NOW, maker="m", **values))

    def retain(self, *, apply: bool = False, **rule: float) -> Removal:
        tiers = {name: Tier(name, name) for name in ("A", "D")}
        rules = MappingProxyType({"D": Rule(**rule)})
        settings = Settings(Site("N"), FetchPolicy(), {}, tiers, (), retention=rules)
        return retain(Retention(self.engine, self.store), settings, NOW, apply=apply)

    def files(self) -> int:
        return len(names(self.store, "[!_]*"))


@pytest.fixture
def kept(request: pytest.FixtureRequest, engine: Engine, tmp_path: Path) -> Kept:
    """A folder beside SQLite, a bucket beside PostgreSQL."""
    if engine.dialect.name == "sqlite":
        return Kept(engine, FolderStore(tmp_path))
    bucket: Bucket = request.getfixturevalue("bucket")
    return Kept(engine, BucketStore.of(bucket.url, bucket.environ, later))


def test_only_old_versions_on_which_nothing_relies_go(kept: Kept) -> None:
    first = kept.version("thread", 900)
    idle = kept.version("thread", 800)
    stayed = kept.version("thread", 700, stayed_days=2)
    quoted, other = kept.version("thread", 600), kept.version("thread", 599)
    kept.quote(quoted, "verbatim")
    kept.quote(other, "not_found")
    by_hand = kept.version("thread", 500, by_hand=True)
    kept.version("thread", 100)
    kept.version("thread", 1)
    kept.version("page", 900)
    found = kept.retain(versions_s=YEAR_S)
    assert [v.id for v in found.versions] == [idle, other]
    assert {v.id: v.relies for v in found.kept_back} == {
        first: "the first version",
        stayed: "a revisit relies on it",
        quoted: "a quote relies on it",
        by_hand: "a person relies on it",
    }


def test_without_apply_nothing_is_touched_and_with_it_what_was_said(kept: Kept) -> None:
    for days in (900, 800, 700, 1):
        kept.version("thread", days)
    said = kept.retain(versions_s=YEAR_S)
    assert (len(said.versions), said.size_bytes, kept.files()) == (2, 600, 12)
    assert kept.retain(versions_s=YEAR_S, apply=True) == said
    assert kept.files() == 6 and kept.retain(versions_s=YEAR_S).versions == ()


def test_a_file_stays_while_one_version_in_it_does(kept: Kept) -> None:
    shared = "snapshots/thread/2024/20240801T000000Z.warc.gz"
    kept.version("thread", 900)
    kept.version("thread", 800, path=shared)
    kept.version("page", 800, path=shared)
    kept.version("thread", 1)
    found = kept.retain(versions_s=YEAR_S)
    assert found.versions == () and [v.relies for v in found.kept_back] == ["the first version", ""]


def test_what_was_removed_is_noted_beside_the_snapshots_with_its_digest(kept: Kept) -> None:
    for days in (900, 800, 1):
        kept.version("thread", days)
    kept.retain(versions_s=YEAR_S, apply=True)
    noted = removed(kept.store)
    assert len(noted) == 3 and set(noted.values()) == {"snapshots/_removed/20261020T030300Z.0.txt"}
    [note] = set(noted.values())
    assert kept.store.get(note).decode().startswith("# versions older than [retain] allows\n")
    manifest = Manifests(kept.store).close(NOW + timedelta(days=1))
    assert manifest is not None and "_removed/20261020T030300Z.0.txt" in kept.store.get(manifest).decode()


def test_a_crash_between_note_and_removal_is_made_good_the_next_time(kept: Kept) -> None:
    for days in (900, 800, 1):
        kept.version("thread", days)
    [idle] = kept.retain(versions_s=YEAR_S).versions
    Retention(kept.engine, kept.store).note_dropped([idle.id], "r", NOW)
    assert kept.files() == 9
    kept.retain(versions_s=YEAR_S, apply=True)
    assert kept.files() == 6


def test_old_refusals_go_by_their_own_rule(kept: Kept) -> None:
    for day in ("20240101T000000Z", "20261019T000000Z"):
        kept.store.put(f"snapshots/_refused/thread/{day[:4]}/{day}.warc.gz", b"wall")
    assert len(kept.retain(refused_s=YEAR_S, apply=True).refused) == 1
    assert names(kept.store, "_refused/*") == ["snapshots/_refused/thread/2026/20261019T000000Z.warc.gz"]


def test_rows_of_checks_go_unless_a_date_rests_on_them(kept: Kept) -> None:
    kept.version("thread", 900)
    version = kept.version("thread", 850)
    for days in (840, 830, 820):
        kept.check("thread", days, word="not_found", accessed=False)
    kept.check("thread", 500, version=version)  # the last access, as old as it is
    kept.check("thread", 490, word="not_found", accessed=False)
    kept.check("page", 900, word="not_found", accessed=False)
    assert kept.retain(checks_s=YEAR_S).checks == 3
    assert kept.retain(checks_s=YEAR_S, apply=True).checks == 3
    with kept.engine.connect() as c:
        assert c.execute(select(func.count()).select_from(t.checks)).scalar() == 5


def test_no_row_that_no_rule_noted_can_be_deleted(kept: Kept) -> None:
    kept.version("thread", 900)
    kept.retain(checks_s=YEAR_S, apply=True)
    kept.check("thread", 10, word="not_found", accessed=False)
    with pytest.raises(DBAPIError, match="append-only"), kept.engine.begin() as c:
        c.execute(text("DELETE FROM checks WHERE word = 'not_found'"))


def test_what_an_editor_decided_about_stays(kept: Kept) -> None:
    kept.version("thread", 900)
    accepted = kept.version("thread", 800)
    kept.version("thread", 1)
    with kept.engine.begin() as c:
        c.execute(
            insert(t.reviews).values(
                key="k", source="thread", record="r", version=accepted, at=NOW, by="Lin", decision="accepted", after="",
                note="",
            )
        )  # fmt: skip
    found = kept.retain(versions_s=YEAR_S)
    assert found.versions == () and {v.id: v.relies for v in found.kept_back}[accepted] == "a person relies on it"


def test_a_row_that_saw_a_version_is_pruned_no_sooner_than_that_version(kept: Kept) -> None:
    kept.version("thread", 900)
    seen = kept.version("thread", 800)
    kept.check("thread", 700, version=seen)
    kept.version("thread", 1)
    found = kept.retain(checks_s=YEAR_S, apply=True)
    assert found.checks == 0
    later = kept.retain(versions_s=YEAR_S)
    assert {v.id: v.relies for v in later.kept_back}[seen] == "a revisit relies on it"
