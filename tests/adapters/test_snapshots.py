"""Snapshots are standard, whole or absent, and hold what was on the wire."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from sourcewatch.adapters.snapshots import Snapshots
from sourcewatch.adapters.store import FolderStore
from sourcewatch.domain.capture import Capture, Certificate, Exchange, Failure
from sourcewatch.domain.errors import StorageError
from sourcewatch.domain.kept import Part

AT = datetime(2026, 10, 20, 11, 3, 5, tzinfo=UTC)
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type:  text/html\r\nTransfer-Encoding: chunked\r\nX-Odd:\tyes\r\n\r\n"
PAGE = Exchange(
    "https://a.example/p", 200, (("Content-Type", "text/html"),), "<p>正文</p>".encode(), response_head=HEAD,
    request_head=b"GET /p HTTP/1.1\r\nHost: a.example\r\n\r\n", address="192.0.2.1",
)  # fmt: skip
HOP = Exchange("https://a.example/old", 301, (("Location", "/p"),))
BAD = Certificate("CN=pic.example", "CN=nobody", AT, AT, "ab" * 32)
PICTURE = Failure(
    AT, "tls_unknown_ca", "tls", "unable to get local issuer certificate", "https://pic.example/1.png", certificate=BAD
)


@pytest.fixture
def snapshots(tmp_path: Path) -> Snapshots:
    return Snapshots(FolderStore(tmp_path), "sourcewatch/test")


def records(path: Path) -> list[tuple[str, str, bytes]]:
    with path.open("rb") as file:
        return [
            (r.rec_type, r.rec_headers.get_header("WARC-Target-URI") or "", r.content_stream().read())
            for r in ArchiveIterator(file)
        ]


def test_a_snapshot_holds_every_hop_and_the_failure_of_its_picture(snapshots: Snapshots, tmp_path: Path) -> None:
    parts = [Part("a", Capture(AT, (HOP, PAGE))), Part("a--1", PICTURE, {"via": PAGE.url, "hopsFromSeed": "E"})]
    stored = snapshots.keep("a", AT, parts, "正文", {"source": "a"})["a"]
    assert stored.path == "snapshots/a/2026/20261020T110305Z.warc.gz"
    found = records(tmp_path / stored.path)
    assert [(kind, url) for kind, url, _ in found] == [
        ("warcinfo", ""),
        ("response", HOP.url), ("request", HOP.url), ("metadata", HOP.url),
        ("response", PAGE.url), ("request", PAGE.url), ("metadata", PAGE.url),
        ("metadata", PICTURE.url),
    ]  # fmt: skip
    note = found[-1][2].decode()
    assert (
        "fetch-status: tls_unknown_ca" in note
        and "tls-certificate-issuer: CN=nobody" in note
        and f"via: {PAGE.url}" in note
    )
    assert (tmp_path / stored.text_path).read_text("utf-8") == "正文"
    meta = json.loads((tmp_path / stored.path.replace(".warc.gz", ".json")).read_text("utf-8"))
    assert meta["source"] == "a" and meta["captured_at"] == "2026-10-20T11:03:05Z"


def test_heads_are_archived_byte_for_byte_but_for_the_framing(snapshots: Snapshots, tmp_path: Path) -> None:
    stored = snapshots.keep("a", AT, [Part("a", Capture(AT, (PAGE,)))], None, {})["a"]
    whole = gzip.decompress((tmp_path / stored.path).read_bytes())
    assert HEAD.replace(b"Transfer-Encoding", b"X-Orig-Transfer-Encoding") + PAGE.body in whole


def test_a_kept_response_is_read_back(snapshots: Snapshots) -> None:
    stored = snapshots.keep("a", AT, [Part("a", Capture(AT, (HOP, PAGE)))], None, {})["a"]
    back = snapshots.exchange(stored.path, stored.offset)
    assert (back.url, back.status, back.body, back.media_type) == (PAGE.url, 200, PAGE.body, "text/html")
    assert stored.body_sha256 == back.body_sha256


def test_warcios_own_check_passes(snapshots: Snapshots, tmp_path: Path) -> None:
    stored = snapshots.keep("a", AT, [Part("a", Capture(AT, (HOP, PAGE))), Part("b", PICTURE)], None, {})["a"]
    command = [sys.executable, "-m", "warcio.cli", "check", "-v", str(tmp_path / stored.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stdout.count("digest pass") == 8, done.stdout


def test_two_snapshots_of_one_second_have_two_names(snapshots: Snapshots) -> None:
    paths = {snapshots.keep("a", AT, [Part("a", Capture(AT, (PAGE,)))], None, {})["a"].path for _ in range(3)}
    assert len(paths) == 3


def test_a_refusal_lies_outside_of_what_replay_sees(snapshots: Snapshots, tmp_path: Path) -> None:
    stored = snapshots.keep("a", AT, [Part("a", Capture(AT, (PAGE,)))], "验证", {}, refused=True)["a"]
    assert stored.path.startswith("snapshots/_refused/a/2026/") and not (tmp_path / "snapshots" / "a").exists()


@pytest.mark.parametrize("damage", ["gone", "cut", "garbage"])
def test_a_damaged_snapshot_is_told_in_a_sentence(snapshots: Snapshots, tmp_path: Path, damage: str) -> None:
    stored = snapshots.keep("a", AT, [Part("a", Capture(AT, (PAGE,)))], None, {})["a"]
    path = tmp_path / stored.path
    if damage == "gone":
        path.unlink()
    elif damage == "cut":
        path.write_bytes(path.read_bytes()[: stored.offset + 60])
    else:
        path.write_bytes(b"x" * path.stat().st_size)
    with pytest.raises(StorageError, match="cannot be read back"):
        snapshots.exchange(stored.path, stored.offset)


def test_a_full_disk_leaves_nothing_torn_and_the_next_write_goes_on(small_disk: Path) -> None:
    snapshots = Snapshots(FolderStore(small_disk), "sourcewatch/test")
    noise = Exchange("https://a.example/p", 200, (), os.urandom(300_000))
    kept = 0
    with pytest.raises(StorageError, match="cannot be written: No space left"):
        for second in range(10):
            snapshots.keep(f"s{second}", AT, [Part("a", Capture(AT, (noise,)))], "text", {})
            kept += 1
    files = [p for p in small_disk.rglob("*") if p.is_file()]
    assert kept >= 2 and not [p for p in files if p.name.startswith(".")]
    for path in (p for p in files if p.name.endswith(".warc.gz")):
        assert [kind for kind, _, _ in records(path)] == ["warcinfo", "response", "request", "metadata"]
    files[0].unlink()
    next(p for p in files if p.name.endswith(".warc.gz") and p.exists()).unlink()
    assert snapshots.keep("again", AT, [Part("a", Capture(AT, (PAGE,)))], None, {})["a"].path


def test_a_snapshot_whose_meta_cannot_be_written_leaves_no_file_that_nobody_knows(
    snapshots: Snapshots, tmp_path: Path
) -> None:
    obstacle = tmp_path / "snapshots" / "a" / "2026" / "20261020T110305Z.json"
    obstacle.mkdir(parents=True)
    with pytest.raises(StorageError, match="cannot be written"):
        snapshots.keep("a", AT, [Part("a", Capture(AT, (PAGE,)))], "text", {})
    assert list(obstacle.parent.iterdir()) == [obstacle]


@pytest.mark.parametrize("killed_before", [".md", ".json", ".warc.gz"])
def test_a_snapshot_that_was_killed_between_its_files_is_whole_or_gone_at_the_next_start(
    snapshots: Snapshots, tmp_path: Path, killed_before: str
) -> None:
    stored = snapshots.keep("a", AT, [Part("a", Capture(AT, (PAGE,)))], "text", {})["a"]
    folder = (tmp_path / stored.path).parent
    whole = {path.name: path.read_bytes() for path in folder.iterdir()}
    order = [f"20261020T110305Z{suffix}" for suffix in (".md", ".json", ".warc.gz")]
    for name in order[order.index(f"20261020T110305Z{killed_before}") :]:
        (folder / name).rename(folder / f".{name}.part")
    snapshots.tidy(AT, cut_short=True)
    left = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert left == ({} if killed_before == ".md" else whole), "all were synced before the first appeared"


def test_a_folder_that_cannot_be_written_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "snapshots").write_text("a file where a folder should be")
    with pytest.raises(StorageError, match="cannot be written"):
        Snapshots(FolderStore(tmp_path), "s").keep("a", AT, [Part("a", Capture(AT, (PAGE,)))], None, {})
