"""The archive: 1,000 sources over ten days with 5 % changes: what it weighs, how fast it is read, verified and rebuilt.

    python benchmarks/archive.py [SOURCES] [VERSIONS]

The second figure is how many versions the rebuilt archive has (10,000). Wall times are of a shared machine.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import platform
import random
import sys
import tempfile
import time
import urllib.request
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from chain import configuration, on_disk, serve
from sourcewatch.faces import wiring

DAYS = 10
START = datetime(2026, 10, 20, 3, 3, tzinfo=UTC)


def lived(folder: Path, sources: int, rounds: int, share: int, server: tuple[Any, Any, Any]) -> None:
    """*rounds* daily passes, *share* percent of the pages changed in each."""
    port, changing, version = server
    changing.value = share
    for day in range(rounds):
        version.value = day
        urllib.request.urlopen(f"http://127.0.0.1:{port.value}/warm/{sources}").close()
        with wiring.open_house(folder / "sources.toml", None, {}) as house:
            moment = START + timedelta(days=day)
            asyncio.run(wiring.run_pass(house, all_of_them=True, clock=lambda at=moment: at))  # type: ignore[misc]


def timed(what: str, function: Any) -> Any:
    begun = time.perf_counter()
    done = function()
    print(f"{what}: {time.perf_counter() - begun:.1f} s")
    return done


def main() -> None:
    sources = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    versions = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} (shared machine)")
    port, share, version = (multiprocessing.Value("i", 0) for _ in range(3))
    process = multiprocessing.Process(target=serve, args=(port, share, version), daemon=True)
    process.start()
    while not port.value:
        time.sleep(0.05)
    try:
        with tempfile.TemporaryDirectory() as name:
            weigh(Path(name), sources, (port, share, version))
        with tempfile.TemporaryDirectory() as name:
            remake(Path(name), sources, max(1, versions // sources), (port, share, version))
    finally:
        process.terminate()
        process.join()


def weigh(folder: Path, sources: int, server: tuple[Any, Any, Any]) -> None:
    configuration(folder, server[0].value, sources)
    timed(f"{sources} sources, {DAYS} rounds, 5 % changed", lambda: lived(folder, sources, DAYS, 5, server))
    files = [f for f in (folder / "snapshots").rglob("*") if f.is_file()]
    apart = sum(f.stat().st_size for f in files)
    print(f"snapshots: {len(files)} files, {apart / 1e6:.1f} MB, {on_disk(folder / 'snapshots') / 1e6:.1f} MB on disk")
    print(f"database: {sum(f.stat().st_size for f in folder.glob('sourcewatch.db*')) / 1e6:.1f} MB")
    with wiring.open_house(folder / "sources.toml", None, {}) as house:
        rows = [row for n in range(sources) for row in house.ledger.versions(f"p{n}")]
        random.Random(1).shuffle(rows)
        begun = time.perf_counter()
        for row in rows[:500]:
            house.snapshots.exchange(row.path, row.offset)
        print(f"reading one version: {(time.perf_counter() - begun) / len(rows[:500]) * 1000:.2f} ms")
        begun = time.perf_counter()
        audit = wiring.verify(house, START + timedelta(days=DAYS))
        took = time.perf_counter() - begun
        print(
            f"verify: {audit.records} records in {took:.1f} s ({audit.records / took:.0f}/s), {len(audit.flaws)} flaws"
        )


def remake(folder: Path, sources: int, rounds: int, server: tuple[Any, Any, Any]) -> None:
    configuration(folder, server[0].value, sources)
    timed(f"{sources} sources, {rounds} rounds, all changed", lambda: lived(folder, sources, rounds, 100, server))
    for path in folder.glob("sourcewatch.db*"):
        path.unlink()
    with wiring.open_house(folder / "sources.toml", None, {}) as house:
        done = timed("rebuild", lambda: asyncio.run(wiring.rebuild(house, lambda day, so_far: None)))
        print(f"rebuilt: {done.versions} versions, {done.checks} checks, {len(done.lost)} lost")


if __name__ == "__main__":
    main()
