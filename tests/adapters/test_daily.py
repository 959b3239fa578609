"""A day's file of checks: grows by whole groups, is cut back after a crash, and never changes once its day is over."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from sourcewatch.adapters.daily import Daily
from sourcewatch.adapters.stamps import Stamps
from sourcewatch.adapters.warc_walk import Record, walk
from sourcewatch.domain.capture import Exchange
from sourcewatch.domain.errors import StorageError
from sourcewatch.domain.kept import Note, Revisit

AT = datetime(2026, 10, 21, 3, 3, 5, 120_000, tzinfo=UTC)
VERSION_AT = datetime(2026, 10, 20, 11, 3, tzinfo=UTC)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
SEEN = Exchange("https://a.example/p", 200, (), "<p>正文</p>".encode(), response_head=HEAD, address="192.0.2.1")
UNCHANGED = Revisit(SEEN, "<urn:uuid:1>", SEEN.url, VERSION_AT, SEEN.body_sha256)


def note(source: str = "a", at: datetime = AT, revisit: Revisit | None = None) -> Note:
    return Note(f"https://a.example/{source}", at, {"sourcewatch-check": "1", "source": source}, revisit)


def daily(data: Path) -> Daily:
    return Daily(data / "snapshots", "sourcewatch/test", Stamps())


def folder(data: Path) -> Path:
    return data / "snapshots" / "_checks"


def names(data: Path) -> list[str]:
    return sorted(p.name for p in folder(data).iterdir())


def sources(path: Path) -> list[str]:
    return [r.fields["source"] for r in walk(path) if r.kind == "metadata"]


def test_the_running_days_file_is_open_and_begins_by_saying_who_wrote_it(tmp_path: Path) -> None:
    days = daily(tmp_path)
    days.append([note("a"), note("b")])
    days.append([note("c")])
    [path] = folder(tmp_path).iterdir()
    assert path.name == "2026-10-21.warc.gz.open" and sources(path) == ["a", "b", "c"]
    records = list(walk(path))
    assert [r.kind for r in records] == ["warcinfo", "metadata", "metadata", "metadata"]
    assert records[0].headers["warc-filename"] == "2026-10-21.warc.gz"
    assert not [r.fault for r in records if r.fault]


def test_the_same_bytes_are_a_revisit_that_replay_can_resolve(tmp_path: Path) -> None:
    daily(tmp_path).append([note(revisit=UNCHANGED)])
    _, revisit, metadata = walk(folder(tmp_path) / "2026-10-21.warc.gz.open")
    h = revisit.headers
    assert h["warc-profile"] == "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
    assert (h["warc-refers-to"], h["warc-refers-to-target-uri"]) == ("<urn:uuid:1>", "https://a.example/p")
    assert (h["warc-refers-to-date"], h["warc-date"]) == ("2026-10-20T11:03:00Z", "2026-10-21T03:03:05Z")
    assert h["warc-payload-digest"] == SEEN.body_sha256
    assert revisit.block == HEAD.replace(b"Transfer-Encoding", b"X-Orig-Transfer-Encoding") and not revisit.fault
    assert metadata.headers["warc-concurrent-to"] == revisit.id


def test_a_304_is_a_revisit_without_a_block_of_its_own(tmp_path: Path) -> None:
    answer = Exchange(SEEN.url, 304, (), b"", response_head=b"HTTP/1.1 304 Not Modified\r\n\r\n")
    daily(tmp_path).append([note(revisit=Revisit(answer, "<urn:uuid:1>", SEEN.url, VERSION_AT, SEEN.body_sha256))])
    _, revisit, _ = walk(folder(tmp_path) / "2026-10-21.warc.gz.open")
    assert revisit.headers["warc-profile"].endswith("/server-not-modified") and revisit.block == b""
    assert revisit.headers["warc-payload-digest"] == SEEN.body_sha256


def test_two_revisits_of_one_address_lie_in_two_seconds(tmp_path: Path) -> None:
    daily(tmp_path).append([note("a", revisit=UNCHANGED), note("b", revisit=UNCHANGED)])
    records: list[Record] = list(walk(folder(tmp_path) / "2026-10-21.warc.gz.open"))
    assert [r.headers["warc-date"] for r in records if r.kind == "revisit"] == [
        "2026-10-21T03:03:05Z",
        "2026-10-21T03:03:06Z",
    ]


def test_a_day_is_closed_when_the_next_one_has_begun_for_good(tmp_path: Path) -> None:
    days = daily(tmp_path)
    days.append([note("a", AT.replace(hour=23, minute=59))])
    midnight = AT.replace(hour=0, minute=0) + timedelta(days=1)
    days.append([note("b", midnight)])
    days.append([note("late", AT.replace(hour=23, minute=59))])  # its check began before midnight
    assert names(tmp_path) == ["2026-10-21.warc.gz.open", "2026-10-22.warc.gz.open"]
    days.append([note("c", midnight + timedelta(minutes=11))])
    assert names(tmp_path) == ["2026-10-21.warc.gz", "2026-10-22.warc.gz.open"]
    assert sources(folder(tmp_path) / "2026-10-21.warc.gz") == ["a", "late"]


def test_a_run_that_starts_closes_the_days_that_are_over(tmp_path: Path) -> None:
    daily(tmp_path).append([note()])
    daily(tmp_path).close(AT + timedelta(hours=1))
    assert names(tmp_path) == ["2026-10-21.warc.gz.open"]
    daily(tmp_path).close(AT + timedelta(days=1))
    assert names(tmp_path) == ["2026-10-21.warc.gz"]


@pytest.mark.parametrize("cut", [1, 40, 150])
def test_a_torn_end_is_cut_off_before_the_file_goes_on(tmp_path: Path, cut: int) -> None:
    daily(tmp_path).append([note("a"), note("torn")])
    path = folder(tmp_path) / "2026-10-21.warc.gz.open"
    os.truncate(path, path.stat().st_size - cut)
    daily(tmp_path).append([note("b")])
    assert sources(path) == ["a", "b"]
    with path.open("rb") as file:
        assert [r.rec_type for r in ArchiveIterator(file)] == ["warcinfo", "metadata", "metadata"]


def test_a_torn_end_is_cut_off_when_the_next_run_starts(tmp_path: Path) -> None:
    daily(tmp_path).append([note("a"), note("torn")])
    path = folder(tmp_path) / "2026-10-21.warc.gz.open"
    os.truncate(path, path.stat().st_size - 1)
    daily(tmp_path).close(AT, cut_short=True)
    assert sources(path) == ["a"]


def test_a_file_of_nothing_but_a_torn_record_begins_anew(tmp_path: Path) -> None:
    daily(tmp_path).append([note("a")])
    path = folder(tmp_path) / "2026-10-21.warc.gz.open"
    os.truncate(path, 30)
    daily(tmp_path).append([note("b")])
    assert [r.kind for r in walk(path)] == ["warcinfo", "metadata"]


def test_a_torn_end_is_cut_off_before_the_day_is_closed(tmp_path: Path) -> None:
    daily(tmp_path).append([note("a"), note("torn")])
    path = folder(tmp_path) / "2026-10-21.warc.gz.open"
    os.truncate(path, path.stat().st_size - 1)
    (folder(tmp_path) / "2026-10-20.warc.gz.open").write_bytes(b"\x1f\x8b torn from the start")
    daily(tmp_path).close(AT + timedelta(days=1))
    assert names(tmp_path) == ["2026-10-21.warc.gz"]
    assert sources(folder(tmp_path) / "2026-10-21.warc.gz") == ["a"]


def test_a_clock_that_was_set_back_changes_no_closed_day(tmp_path: Path) -> None:
    days = daily(tmp_path)
    days.append([note("a")])
    days.append([note("b", AT + timedelta(days=1))])
    closed = (folder(tmp_path) / "2026-10-21.warc.gz").read_bytes()
    days.append([note("c", AT + timedelta(hours=2))])
    days.append([note("d", AT + timedelta(days=1, hours=1))])
    days.append([note("e", AT + timedelta(days=2))])
    assert (folder(tmp_path) / "2026-10-21.warc.gz").read_bytes() == closed
    assert names(tmp_path) == [
        "2026-10-21.2.warc.gz", "2026-10-21.warc.gz", "2026-10-22.warc.gz", "2026-10-23.warc.gz.open",
    ]  # fmt: skip
    assert sources(folder(tmp_path) / "2026-10-21.2.warc.gz") == ["c"]
    assert sources(folder(tmp_path) / "2026-10-22.warc.gz") == ["b", "d"]


def test_a_full_disk_adds_nothing_and_leaves_no_torn_record(small_disk: Path) -> None:
    days = daily(small_disk)
    days.append([note("a")])
    path = folder(small_disk) / "2026-10-21.warc.gz.open"
    filler = small_disk / "filler"
    with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        while True:
            file.write(b"x" * 4096)
    noise = {"source": "b", "evidence": os.urandom(8000).hex()}
    with pytest.raises(StorageError, match="cannot be written: No space left"):
        days.append([Note("https://a.example/b", AT, noise)])
    assert sources(path) == ["a"]
    filler.unlink()
    days.append([note("c")])
    assert sources(path) == ["a", "c"]


@pytest.mark.parametrize("link", ["_checks", "_checks/2026-10-21.warc.gz.open"])
def test_a_symbolic_link_is_not_followed_out_of_the_snapshots(tmp_path: Path, link: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    place = tmp_path / "snapshots" / link
    place.parent.mkdir(parents=True)
    if link == "_checks":
        elsewhere.mkdir()
    else:
        elsewhere.write_bytes(b"")
    place.symlink_to(elsewhere)
    with pytest.raises(StorageError, match="a symbolic link leads out of"):
        daily(tmp_path).append([note()])
    assert elsewhere.is_dir() or elsewhere.read_bytes() == b""
    assert not elsewhere.is_dir() or not list(elsewhere.iterdir())


def test_snapshots_may_lie_on_another_disk_behind_a_link_of_the_operator(tmp_path: Path) -> None:
    (tmp_path / "big").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "snapshots").symlink_to(tmp_path / "big")
    daily(tmp_path / "data").append([note()])
    assert (tmp_path / "big" / "_checks" / "2026-10-21.warc.gz.open").exists()
