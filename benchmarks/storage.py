"""Snapshots in a folder and in a bucket: written, read back, verified, put together, copied.

    python benchmarks/storage.py [SNAPSHOTS]

The bucket is moto's S3 server on loopback, one Python process: its rates are of that server as much as ours, and of no
network. A real one answers in 10–50 ms and takes many requests at once. Wall times are of a shared machine.
"""

from __future__ import annotations

import os
import platform
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from buckets import SERVER, new_bucket
from sourcewatch.adapters.archive import Archive
from sourcewatch.adapters.copying import copy
from sourcewatch.adapters.evidence import Evidence
from sourcewatch.adapters.manifest import Manifests, sha256_of
from sourcewatch.adapters.parts import Parts
from sourcewatch.adapters.snapshots import Snapshots
from sourcewatch.adapters.stamps import Stamps
from sourcewatch.adapters.store import FolderStore, Store
from sourcewatch.domain.capture import Capture, Exchange
from sourcewatch.domain.kept import Note, Part

AT = datetime(2026, 10, 20, 3, 3, tzinfo=UTC)
BODY_BYTES = 43_000
GROUP = 20  # notes that one job of a worker writes together
WORKERS = 8


@contextmanager
def timed(what: str, count: int, unit: str) -> Iterator[None]:
    wall, cpu = time.monotonic(), time.process_time()
    yield
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    print(f"  {what:<46} {count / wall:8.0f} {unit}/s  {cpu / count * 1000:7.3f} ms CPU each")


def measure(store: Store, count: int) -> None:
    bodies = random.Random(1)
    half = BODY_BYTES // 2  # as pages compress: to about a half of it, once base64 is undone
    pages = [Exchange(f"https://a.example/{n}", 200, (), bodies.randbytes(half) + b"x" * half) for n in range(50)]
    snapshots = Snapshots(store, "benchmark")

    def keep(n: int) -> tuple[str, int]:
        capture = Capture(AT, (pages[n % 50],))
        facts = {"source": f"s{n}", "kind": "page", "changed": True, "accessed": True}
        kept = snapshots.keep(f"s{n}", AT, [Part(f"s{n}", capture)], "text " * 2000, facts)[f"s{n}"]
        return kept.path, kept.offset

    with timed("a snapshot (3 files), one writer", count, "snapshots"):
        placed = [keep(n) for n in range(count)]
    with ThreadPoolExecutor(WORKERS) as pool, timed(f"a snapshot, {WORKERS} writers", count, "snapshots"):
        placed += pool.map(keep, range(count, 2 * count))
    with timed("a capture read back", len(placed), "captures"):
        for path, offset in placed:
            snapshots.exchange(path, offset)
    notes(store, count)
    with timed("files listed, for a manifest and its digests", 6 * count, "files"):
        Manifests(store).close(AT + timedelta(days=1, hours=6))
    evidence = Evidence(store)
    paths = [path for path in evidence.files() if "/_" not in path]
    with timed("a file verified (digest, records)", len(paths), "files"):
        for path in paths:
            sha256_of(store, path)
            if path.endswith(".warc.gz"):
                assert not evidence.inspect(path).faults


def notes(store: Store, count: int) -> None:
    days = Parts(store, "benchmark", Stamps())
    groups = [
        [Note(f"https://a.example/{n}", AT, _fields(n), None) for n in range(start, start + GROUP)]
        for start in range(0, count * 10, GROUP)
    ]
    with (
        timed(f"a group of {GROUP} notes, {WORKERS} writers", len(groups), "groups"),
        ThreadPoolExecutor(WORKERS) as pool,
    ):
        list(pool.map(days.append, groups))
    with timed("a part put together", len(groups), "parts"):
        days.close(AT + timedelta(days=1, hours=6))
    with timed("a day's checks read for `rebuild`", count * 12, "checks"):
        archive = Archive(store)
        assert len(_failures(archive)) == count * 10


def _failures(archive: Archive) -> list[tuple[object, ...]]:
    return [group for group in archive.groups(AT.date()) if len(group) == 1 and group[0].verdict.word == "not_found"]


def _fields(n: int) -> dict[str, str]:
    return {
        "sourcewatch-check": "1", "source": f"n{n}", "kind": "page", "cited-url": f"https://a.example/{n}",
        "checked-at": AT.isoformat(), "verdict": "not_found", "rule": "status-404", "accessed": "no",
    }  # fmt: skip


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    print(f"{platform.platform()}, {os.cpu_count()} cores, CPython {platform.python_version()}, shared machine")
    print(f"{count} snapshots of {BODY_BYTES} bytes and their text; CPU is of this process, not of the server")
    with (
        tempfile.TemporaryDirectory() as name,
        subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server,
    ):
        assert server.stdin and server.stdout
        s3 = f"http://127.0.0.1:{int(server.stdout.readline())}"
        folder, bucket = FolderStore(Path(name)), new_bucket(s3).store
        for what, store in (("folder", folder), ("bucket (moto)", bucket)):
            print(what)
            measure(store, count)
        print("from the folder into another bucket, each file read back and compared")
        files = sum(1 for _ in folder.list("snapshots"))
        with timed("a file copied", files, "files"):
            copy(folder, new_bucket(s3).store)
        server.stdin.close()


if __name__ == "__main__":
    main()
