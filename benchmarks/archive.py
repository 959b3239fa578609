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
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from chain import configuration, on_disk, page
from sourcewatch.faces import wiring

DAYS = 10
START = datetime(2026, 10, 20, 3, 3, tzinfo=UTC)


def changes(number: int, day: int, every: int) -> int:
    """How often a page has changed until a day, one page in *every* each day."""
    return sum((number + passed * 7) % every == 0 for passed in range(1, day + 1))


def as_served(body: bytes) -> bytes:
    """The page with five of six paragraphs in attributes: of 43 KB a sixth is text, as on real pages (median 17 %)."""
    head, *paragraphs = body.split(b"<p>Paragraph ")
    kept = (b"<p>Paragraph " + p if n % 6 == 0 else hidden(p) for n, p in enumerate(paragraphs))
    return head + b"".join(kept)


def hidden(paragraph: bytes) -> bytes:
    text, _, rest = paragraph.partition(b"</p>")
    return b'<div data-state="%s"></div>%s' % (text, rest)


def serve(port: Any, day: Any, every: Any) -> None:
    """Answers /N with the page as it is on that day."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                path = (await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)[1].decode().lstrip("/")
                known = path.isdecimal()
                body = as_served(page(int(path), changes(int(path), day.value, every.value))) if known else b"none"
                status = b"200 OK" if known else b"404 Not Found"
                head = b"HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % (status, len(body))
                writer.write(head + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def listen() -> None:
        server = await asyncio.start_server(talk, "0.0.0.0", 0)
        port.value = server.sockets[0].getsockname()[1]
        await server.serve_forever()

    asyncio.run(listen())


def lived(folder: Path, rounds: int, one_in: int, server: tuple[Any, Any, Any]) -> None:
    """*rounds* daily passes; each day one page in *one_in* has changed."""
    _, day, every = server
    every.value = one_in
    for passed in range(rounds):
        day.value = passed
        with wiring.open_house(folder / "sources.toml", None, {}) as house:
            moment = START + timedelta(days=passed)
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
    port, day, every = (multiprocessing.Value("i", 0) for _ in range(3))
    process = multiprocessing.Process(target=serve, args=(port, day, every), daemon=True)
    process.start()
    while not port.value:
        time.sleep(0.05)
    try:
        with tempfile.TemporaryDirectory() as name:
            weigh(Path(name), sources, (port, day, every))
        with tempfile.TemporaryDirectory() as name:
            remake(Path(name), sources, max(1, versions // sources), (port, day, every))
    finally:
        process.terminate()
        process.join()


def weigh(folder: Path, sources: int, server: tuple[Any, Any, Any]) -> None:
    configuration(folder, server[0].value, sources)
    timed(f"{sources} sources, {DAYS} rounds, 5 % changed", lambda: lived(folder, DAYS, 20, server))
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
    timed(f"{sources} sources, {rounds} rounds, all changed", lambda: lived(folder, rounds, 1, server))
    for path in folder.glob("sourcewatch.db*"):
        path.unlink()
    with wiring.open_house(folder / "sources.toml", None, {}) as house:
        done = timed("rebuild", lambda: asyncio.run(wiring.rebuild(house, lambda day, so_far: None)))
        print(f"rebuilt: {done.versions} versions, {done.checks} checks, {len(done.lost)} lost")


if __name__ == "__main__":
    main()
