"""A day's notes in a bucket: parts, and the whole that one owner makes of them, are read alike and never doubled."""

from __future__ import annotations

import io
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from buckets import Way, harm, names, new_bucket
from sourcewatch.adapters import bucket as bucket_module
from sourcewatch.adapters import parts as module
from sourcewatch.adapters.archive import Archive
from sourcewatch.adapters.manifest import Manifests
from sourcewatch.adapters.parts import Parts
from sourcewatch.adapters.snapshots import Snapshots
from sourcewatch.adapters.stamps import Stamps
from sourcewatch.adapters.store import FolderStore, Store
from sourcewatch.domain.capture import Exchange
from sourcewatch.domain.errors import StorageError
from sourcewatch.domain.kept import Note, Revisit

AT = datetime(2026, 10, 21, 3, 3, 5, 120_000, tzinfo=UTC)
NEXT = AT + timedelta(days=1)
WHOLE = "snapshots/_checks/2026-10-21.warc.gz"
SEEN = Exchange("https://a.example/p", 200, (), b"<p>text</p>", response_head=b"HTTP/1.1 200 OK\r\n\r\n")


def note(source: str, at: datetime = AT) -> Note:
    facts = {
        "sourcewatch-check": "1",
        "source": source,
        "kind": "page",
        "checked-at": at.isoformat(),
        "verdict": "ok",
        "accessed": "yes",
        "version-record": "<urn:uuid:1>",
    }
    revisit = Revisit(SEEN, "<urn:uuid:1>", SEEN.url, AT - timedelta(days=2), SEEN.body_sha256)
    return Note(f"https://a.example/{source}", at, facts, revisit)


def worker(store: Store) -> Parts:
    return Parts(store, "sourcewatch/test", Stamps())


def told(store: Store, at: datetime = AT) -> list[str]:
    """The sources whose checks of a day the archive tells of."""
    archive = Archive(store)
    found = [one.source for group in archive.groups(at.date()) for one in group]
    assert archive.lost == []
    return sorted(found)


@pytest.fixture
def day(store: Store) -> Store:
    """A day on which two workers noted seven checks in four groups; in a folder they share, and in a bucket."""
    return lived(store)


def lived(store: Store) -> Store:
    one, other = worker(store), worker(store)
    one.append([note("a"), note("b")])
    other.append([note("c")])
    one.append([note("d", AT + timedelta(hours=20))])
    other.append([note("e"), note("f"), note("g")])
    return store


def test_each_group_of_notes_is_an_object_of_its_own_until_its_day_is_over(day: Store) -> None:
    kept = names(day)
    assert len(kept) == 4 and all(name.startswith("snapshots/_checks/2026-10-21/20261021T0303") for name in kept[:3])
    assert told(day) == list("abcdefg")
    worker(day).close(AT.replace(hour=23, minute=59))
    worker(day).close(NEXT.replace(hour=0, minute=9))
    assert names(day) == kept, "a check that began before midnight may still be noted"


def test_the_whole_is_its_parts_one_after_the_other(day: Store) -> None:
    parts = [day.get(name) for name in names(day)]
    worker(day).close(NEXT)
    assert names(day) == [WHOLE] and day.get(WHOLE) == b"".join(parts)
    kinds = [r.rec_type for r in ArchiveIterator(io.BytesIO(day.get(WHOLE)), check_digests="raise")]
    assert kinds.count("warcinfo") == 4 and kinds.count("revisit") == kinds.count("metadata") == 7
    assert told(day) == list("abcdefg")


def test_notes_of_two_days_go_into_two_days(store: Store) -> None:
    worker(store).append([note("a"), note("b", NEXT)])
    worker(store).close(NEXT)
    assert names(store)[0] == WHOLE and names(store)[1].startswith("snapshots/_checks/2026-10-22/")
    assert told(store) == ["a"] and told(store, NEXT) == ["b"]


def test_what_comes_late_goes_into_another_file(day: Store) -> None:
    worker(day).close(NEXT)
    before = day.get(WHOLE)
    worker(day).append([note("late")])
    assert told(day) == [*"abcdefg", "late"]
    worker(day).close(NEXT)
    assert names(day) == ["snapshots/_checks/2026-10-21.2.warc.gz", WHOLE] and day.get(WHOLE) == before
    assert told(day) == [*"abcdefg", "late"]


@pytest.mark.parametrize("lost", [0, -1])
def test_an_owner_that_dies_at_any_request_loses_and_doubles_nothing(
    s3: str, way: Way, lost: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """*lost* -1: what it asked for was done, and it never heard of it."""
    monkeypatch.setattr(bucket_module, "RETRIES", 0)
    for dies_at in count():
        bucket = new_bucket(s3, way.endpoint)
        way.fails = lambda method, path: None
        store = lived(bucket.store)
        requests = count()
        # a killed process asks no more
        way.fails = lambda method, path, of=requests, last=dies_at: lost if next(of) >= last else None
        try:
            worker(store).close(NEXT)
            return
        except StorageError:
            pass
        finally:
            way.fails = lambda method, path: None
        assert told(store) == list("abcdefg"), dies_at
        worker(store).close(NEXT)
        assert told(store) == list("abcdefg") and names(store) == [WHOLE], dies_at


def test_two_owners_at_once_do_no_harm(store: Store) -> None:
    for round_ in range(6):
        at = AT + timedelta(days=round_)
        for source in "abcdefg":
            worker(store).append([note(source, at)])
        start = threading.Barrier(3)

        def close(store: Store, now: datetime, start: threading.Barrier) -> None:
            start.wait()
            worker(store).close(now)

        with ThreadPoolExecutor(3) as pool:
            list(pool.map(close, [store] * 3, [at + timedelta(days=1)] * 3, [start] * 3))
        assert told(store, at) == list("abcdefg")
    assert names(store) == [f"snapshots/_checks/2026-10-2{n}.warc.gz" for n in range(1, 7)]


def test_a_large_day_is_put_together_in_pieces(day: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    size = sum(len(day.get(name)) for name in names(day))
    monkeypatch.setattr(module, "MOST_WHOLE_BYTES", size // 2)
    worker(day).close(NEXT)
    assert len(names(day)) >= 2 and all(name.count("/") == 2 for name in names(day))
    assert told(day) == list("abcdefg")


def test_a_damaged_part_stays_by_itself(day: Store, caplog: pytest.LogCaptureFixture) -> None:
    torn = names(day)[0]
    harm(day, torn, lambda path: path.write_bytes(path.read_bytes()[:-20]))
    worker(day).close(NEXT)
    assert set(names(day)) == {WHOLE, torn} and "is damaged and stays by itself" in caplog.text
    assert "torn" not in told_at_least(day)


def told_at_least(store: Store) -> list[str]:
    archive = Archive(store)
    found = [one.source for group in archive.groups(AT.date()) for one in group]
    assert len(archive.lost) == 1 and "cut off" in archive.lost[0][1], "it is told, and the others are read"
    return found


def test_a_reader_whose_list_is_older_than_the_whole_finds_everything(day: Store) -> None:
    archive = Archive(day)
    worker(day).close(NEXT)
    assert sorted(one.source for [one] in archive.groups(AT.date())) == list("abcdefg") and archive.lost == []


def test_a_manifest_names_wholes_and_no_part(day: Store) -> None:
    manifests = Manifests(day)
    worker(day).append([note("h", NEXT)])
    worker(day).close(NEXT)
    worker(day).append([note("late")])
    manifests.close(NEXT)
    assert list(manifests.read(AT.date()).files) == ["_checks/2026-10-21.warc.gz"]


def test_of_two_owners_that_close_a_day_one_writes_its_manifest(day: Store) -> None:
    worker(day).close(NEXT)
    start = threading.Barrier(3)

    def close(_: int) -> str | None:
        start.wait()
        return Manifests(day).close(NEXT)

    with ThreadPoolExecutor(3) as pool:
        assert [p for p in pool.map(close, range(3)) if p][:1] == ["snapshots/_manifest/2026-10-21.sha256"]
    assert Manifests(day).days() == [AT.date()]


def test_a_manifest_that_comes_after_a_later_one_is_taken_back(day: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    worker(day).close(NEXT)
    slow = Manifests(day)
    unnamed = slow._unnamed

    def sleeps(*args: object) -> set[str]:
        found = unnamed(*args)  # type: ignore[arg-type]
        worker(day).append([note("b", NEXT)])
        worker(day).close(NEXT + timedelta(days=1))
        assert Manifests(day).close(NEXT + timedelta(days=1)) is not None
        return found

    monkeypatch.setattr(slow, "_unnamed", sleeps)
    assert slow.close(NEXT) is None and Manifests(day).days() == [NEXT.date()]


def test_snapshots_of_many_processes_note_and_tidy_in_this_way(store: Store) -> None:
    snapshots = Snapshots(store, "sourcewatch/test")
    snapshots.share()
    snapshots.note([note("a")])
    assert len(names(store, "_checks/2026-10-21/*")) == 1
    Snapshots(store, "sourcewatch/test").tidy(NEXT, cut_short=True)
    assert names(store) == [WHOLE]


def test_a_day_that_one_process_began_and_many_went_on_with_is_told_whole(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    alone, one_of_many = Snapshots(store, "sourcewatch/test"), Snapshots(store, "sourcewatch/test")
    one_of_many.share()
    alone.note([note("a")])
    one_of_many.note([note("b")])
    assert told(store) == ["a", "b"]
    alone.tidy(NEXT, cut_short=False)
    assert names(store) == ["snapshots/_checks/2026-10-21.2.warc.gz", WHOLE] and told(store) == ["a", "b"]
    one_of_many.note([note("c")])
    alone.note([note("d")])
    alone.tidy(NEXT, cut_short=False)
    assert len(names(store)) == 4 and told(store) == ["a", "b", "c", "d"]
