"""A day's manifest vouches for every closed file, and for the manifest before it."""

from __future__ import annotations

import subprocess
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from sourcewatch.adapters.evidence import Evidence
from sourcewatch.adapters.manifest import Manifests
from sourcewatch.adapters.store import FolderStore
from sourcewatch.domain.errors import StorageError


def at(day: int, hour: int = 6) -> datetime:
    return datetime(2026, 10, day, hour, tzinfo=UTC)


def put(data: Path, name: str, text: str = "text") -> None:
    path = data / "snapshots" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    put(tmp_path, "a/2026/20261020T110305Z.warc.gz")
    put(tmp_path, "a/2026/20261020T110305Z.md")
    put(tmp_path, "_checks/2026-10-20.warc.gz")
    return tmp_path


def accepted_by_sha256sum(data: Path, manifest: str) -> bool:
    command = ["sha256sum", "--check", "--strict", "--quiet", manifest.removeprefix("snapshots/")]
    return subprocess.run(command, cwd=data / "snapshots", capture_output=True, check=False).returncode == 0


def test_a_day_that_is_over_is_closed_once(data: Path) -> None:
    manifests = Manifests(FolderStore(data))
    path = manifests.close(at(21))
    assert path == "snapshots/_manifest/2026-10-20.sha256" and accepted_by_sha256sum(data, path)
    assert sorted(manifests.read(date(2026, 10, 20)).files) == [
        "_checks/2026-10-20.warc.gz",
        "a/2026/20261020T110305Z.md",
        "a/2026/20261020T110305Z.warc.gz",
    ]
    assert manifests.close(at(21, 23)) is None


def test_the_day_that_runs_and_what_is_being_written_are_left_out(data: Path) -> None:
    put(data, "a/2026/20261021T000001Z.warc.gz")
    put(data, "a/2026/.20261020T230000Z.json.tmp")
    put(data, "_checks/2026-10-19.warc.gz.open")
    manifests = Manifests(FolderStore(data))
    manifests.close(at(21))
    assert len(manifests.read(date(2026, 10, 20)).files) == 3


def test_each_manifest_is_chained_to_the_one_before_and_names_only_what_is_new(data: Path) -> None:
    manifests = Manifests(FolderStore(data))
    manifests.close(at(21))
    put(data, "a/2026/20261022T080000Z.json")
    put(data, "b/2026/20261019T000000Z.md")  # brought in late
    second = manifests.close(at(24))
    assert second == "snapshots/_manifest/2026-10-23.sha256" and accepted_by_sha256sum(data, second)
    read = manifests.read(date(2026, 10, 23))
    assert read.before is not None and read.before[0] == "_manifest/2026-10-20.sha256"
    assert sorted(read.files) == ["a/2026/20261022T080000Z.json", "b/2026/20261019T000000Z.md"]


def test_a_day_without_files_has_no_manifest_and_a_clock_set_back_reopens_none(data: Path) -> None:
    manifests = Manifests(FolderStore(data))
    manifests.close(at(21))
    assert manifests.close(at(22)) is None
    put(data, "a/2026/20261018T080000Z.json")
    assert manifests.close(at(20)) is None and manifests.days() == [date(2026, 10, 20)]


def test_a_clock_that_was_years_ahead_stops_no_manifest(data: Path) -> None:
    manifests, later = Manifests(FolderStore(data)), datetime(2030, 1, 2, tzinfo=UTC)
    first, ahead = manifests.close(at(21)), None
    put(data, "a/2030/20300101T080000Z.json")
    ahead = manifests.close(later)
    assert first is not None and ahead == "snapshots/_manifest/2030-01-01.sha256"
    chain = [ahead]
    for day in (22, 23):
        put(data, f"a/2026/202610{day}T080000Z.json")
        chain.append(str(manifests.close(at(day + 1))))
        assert manifests.close(at(day + 1, 7)) is None
    put(data, "a/2030/20300102T080000Z.json")
    chain.append(str(manifests.close(later + timedelta(days=1))))
    for before, path in pairwise(chain):
        told = manifests.read(date.fromisoformat(path[-17:-7])).before
        assert told is not None and told[0] == before.removeprefix("snapshots/")
    assert Evidence(FolderStore(data)).vouched().breaks == []
    assert all(accepted_by_sha256sum(data, path) for path in (first, *chain))


def test_a_damaged_manifest_is_told_with_its_line(data: Path) -> None:
    manifests = Manifests(FolderStore(data))
    path = data / str(manifests.close(at(21)))
    path.write_text(path.read_text().replace("  a/", "\ta/", 1))
    with pytest.raises(StorageError, match="line 2 is no digest and path"):
        manifests.read(date(2026, 10, 20))


def test_a_full_disk_leaves_no_half_manifest(small_disk: Path) -> None:
    put(small_disk, "a/2026/20261020T110305Z.md")
    filler = small_disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while file.write(b"x" * 4096):
                pass
        except OSError:
            pass
    with pytest.raises(StorageError, match="cannot be written"):
        Manifests(FolderStore(small_disk)).close(at(21))
    assert not list(small_disk.glob("snapshots/_manifest/*"))
    filler.unlink()
    assert Manifests(FolderStore(small_disk)).close(at(21)) is not None
