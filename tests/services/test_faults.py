"""What a disk, a clock and an operator do to an archive: told in a sentence, nothing lost, no row without its file."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from databases import skip
from site_of_pages import Site, page, row
from sourcewatch.adapters.snapshots import Snapshots
from sourcewatch.adapters.store import FolderStore
from sourcewatch.adapters.warc_walk import walk
from sourcewatch.domain.capture import Capture, Exchange
from sourcewatch.domain.errors import StorageError
from sourcewatch.domain.kept import Note, Part
from watch import Watch

START = datetime(2026, 10, 20, 3, 3, tzinfo=UTC)
NOBODY = 65534
ARTICLE = "".join(
    f"<p>Paragraph {n} tells how the scheduler places experts at night and why the cache stays warm in the day.</p>"
    for n in range(6)
)
PAGE = Exchange("https://a.example/p", 200, (("Content-Type", "text/html"),), b"<p>text</p>")
NOTE = Note(PAGE.url, START, {"sourcewatch-check": "1", "source": "a"})


def days(n: float) -> datetime:
    return START + timedelta(days=n)


def standing_files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def assert_every_row_has_its_record(watch: Watch) -> None:
    for version in watch.ask(lambda h: h.ledger.versions("p")):
        assert version.record_id in [r.id for r in walk(watch.folder / version.path)]


# the disk


@pytest.fixture
def snapshots_on_a_small_disk(small_disk: Path, watch: Watch) -> Path:
    (watch.folder / "snapshots").symlink_to(small_disk)
    return small_disk


def test_snapshots_that_became_read_only_stop_the_run_and_lose_nothing(
    site: Site, watch: Watch, snapshots_on_a_small_disk: Path
) -> None:
    rows = row("p", site.url("/p"))
    site.pages["/p"] = page("P", ARTICLE)
    watch.passes(rows, START)
    before = standing_files(snapshots_on_a_small_disk)
    subprocess.run(["mount", "-o", "remount,ro", snapshots_on_a_small_disk], check=True)
    for at, body in ((days(1), ARTICLE), (days(2), ARTICLE + "<p>A new paragraph stands at the end of it.</p>")):
        site.pages["/p"] = page("P", body)
        with pytest.raises(StorageError, match="cannot be written: Read-only file system"):
            watch.passes(rows, at)
    assert standing_files(snapshots_on_a_small_disk) == before
    assert [s.n for s in watch.ask(lambda h: h.ledger.spans("p"))] == [1], "no access without its proof"
    subprocess.run(["mount", "-o", "remount,rw", snapshots_on_a_small_disk], check=True)
    assert watch.passes(rows, days(3))["p"]["new_version"]
    assert_every_row_has_its_record(watch)


def test_a_full_disk_dates_nothing_that_it_could_not_prove(
    site: Site, watch: Watch, snapshots_on_a_small_disk: Path
) -> None:
    rows = row("p", site.url("/p"))
    site.pages["/p"] = page("P", ARTICLE)
    watch.passes(rows, START)
    filler = snapshots_on_a_small_disk / "filler"
    with filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space"):
        while True:
            file.write(b"x" * 4096)
    with pytest.raises(StorageError, match="cannot be written: No space left"):
        watch.passes(rows, days(1))
    assert watch.dates(days(1))["p"]["last_accessed"] == "2026-10-20T03:03:00Z"
    filler.unlink()
    watch.passes(rows, days(1.1))
    [file] = (snapshots_on_a_small_disk / "_checks").iterdir()
    assert [r.kind for r in walk(file)] == ["warcinfo", "revisit", "metadata"]
    assert watch.dates(days(2))["p"]["last_accessed"] == "2026-10-21T05:27:00Z"


# permissions


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may write anywhere: what permissions do is seen as somebody else."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def ours() -> Iterator[Path]:
    """A folder of the user who runs `as_nobody`, outside of pytest's own, which only root may enter."""
    folder = Path(tempfile.mkdtemp(prefix="sourcewatch-"))
    if os.geteuid() == 0:
        try:
            os.chown(folder, NOBODY, -1)
        except OSError:
            skip("no other user to be")
    yield folder
    folder.chmod(0o700)
    shutil.rmtree(folder)


def test_a_lost_permission_to_write_is_told_and_passes(ours: Path) -> None:
    with as_nobody():
        snapshots = Snapshots(FolderStore(ours), "sourcewatch/test")
        first = snapshots.keep("a", START, [Part("a", Capture(START, (PAGE,)))], "text", {})["a"]
        snapshots.note([NOTE])
        before = standing_files(ours)
        places = [ours / "snapshots" / "a" / "2026", ours / "snapshots" / "_checks" / "2026-10-20.warc.gz.open"]
        for place in places:
            place.chmod(0o500)
        with pytest.raises(StorageError, match="cannot be written: Permission denied"):
            snapshots.keep("a", days(1), [Part("a", Capture(days(1), (PAGE,)))], "text", {})
        with pytest.raises(StorageError, match="cannot be written: Permission denied"):
            snapshots.note([NOTE])
        assert standing_files(ours) == before
        for place in places:
            place.chmod(0o700)
        assert snapshots.keep("a", days(1), [Part("a", Capture(days(1), (PAGE,)))], "text", {})["a"].path
        snapshots.note([NOTE])
        assert snapshots.exchange(first.path, first.offset).body == PAGE.body
        assert [r.kind for r in walk(places[1])] == ["warcinfo", "metadata", "metadata"]


def test_a_lost_permission_to_read_is_told(ours: Path) -> None:
    with as_nobody():
        snapshots = Snapshots(FolderStore(ours), "sourcewatch/test")
        stored = snapshots.keep("a", START, [Part("a", Capture(START, (PAGE,)))], None, {})["a"]
        (ours / stored.path).chmod(0o000)
        with pytest.raises(StorageError, match=r"cannot be read back: .*Permission denied"):
            snapshots.exchange(stored.path, stored.offset)


# the clock and the operator


def test_a_clock_that_was_set_back_loses_no_version_and_no_date(site: Site, watch: Watch) -> None:
    rows = row("p", site.url("/p"))
    site.pages["/p"] = page("P", ARTICLE)
    watch.passes(rows, days(1))
    watch.passes(rows, days(2))
    watch.passes(rows, days(3))
    closed = (watch.folder / "snapshots" / "_checks" / "2026-10-22.warc.gz").read_bytes()
    site.pages["/p"] = page("P", ARTICLE + "<p>From now on the panel counts requests instead of words, they say.</p>")
    assert watch.passes(rows, days(2.2))["p"]["new_version"]
    assert not watch.passes(rows, days(1.2))["p"]["new_version"]
    watch.passes(rows, days(4))
    assert (watch.folder / "snapshots" / "_checks" / "2026-10-22.warc.gz").read_bytes() == closed
    assert len(list(watch.folder.glob("snapshots/p/2026/*.warc.gz"))) == 2
    assert watch.dates(days(4))["p"]["last_accessed"] == "2026-10-24T03:03:00Z"
    assert_every_row_has_its_record(watch)
    for path in watch.folder.glob("snapshots/_checks/*"):
        assert [r.fault for r in walk(path) if r.fault] == []


def test_a_folder_that_was_moved_goes_on_where_it_is(site: Site, tmp_path: Path) -> None:
    rows = row("p", site.url("/p"))
    site.pages["/p"] = page("P", ARTICLE)
    (tmp_path / "here").mkdir()
    Watch(tmp_path / "here").passes(rows, START)
    (tmp_path / "here").rename(tmp_path / "there")
    moved = Watch(tmp_path / "there")
    assert moved.passes(rows, days(1))["p"]["rule"] == "same-bytes"
    assert not (tmp_path / "here").exists()
    assert_every_row_has_its_record(moved)
    [file] = (tmp_path / "there" / "snapshots" / "_checks").iterdir()
    assert [r.kind for r in walk(file)] == ["warcinfo", "revisit", "metadata"]
