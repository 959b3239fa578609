"""The whole chain against a local server: 1,000 pages of 43 KB new, unchanged, 10 % changed, all changed, a day later.

    python benchmarks/chain.py [PAGES]

Prints wall and CPU time (this process and its workers), peak memory and bytes on disk. The machine is shared: compare
CPU figures, and take wall figures as an upper bound.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from sourcewatch.faces import wiring

HOSTS = 32
PROSE = (
    "scheduler places experts night while cache hits stay above what operators expected from traffic power prices "
    "decoding kernels differ percent between releases nobody measured the whole cluster"
)
CHINESE = (
    "单集群每天处理的请求量随流量与电价变化调度器在夜间重新计算专家的放置缓存命中率保持稳定解码速度与首字延迟见下表"
)


@cache
def page(number: int, version: int) -> bytes:
    """About 43 KB of HTML as sites serve it: navigation, scripts, prose in two languages, a table."""
    words = PROSE.split()
    made = random.Random(number)
    nav = "".join(f'<li><a href="/section/{i}">Section {i}</a></li>' for i in range(40))
    script = "<script>" + "window.dataLayer=window.dataLayer||[];" * 120 + "</script>"
    prose = []
    for n in range(70):
        text = " ".join(made.choice(words) for _ in range(45))
        chinese = "".join(made.choice(CHINESE) for _ in range(60))
        prose.append(f"<p>Paragraph {n}: {text}. {chinese}。</p>")
    for edit in range(version):
        prose[(number * 7 + edit * 11) % 70] = f"<p>Version {version} says {155 + version} trillion tokens a day.</p>"
    rows = "".join(f"<tr><td>rank {i}</td><td>{made.randint(1, 99)}%</td></tr>" for i in range(60))
    quote = f"<p>Page {number} keeps the sentence that the site relies on.</p>"
    return (
        f"<!doctype html><html><head><title>Page {number}</title>{script}</head><body><nav><ul>{nav}</ul></nav>"
        f"<article><h1>Page {number}</h1>{quote}{''.join(prose)}<table>{rows}</table></article></body></html>"
    ).encode()


def serve(port: Any, share: Any, version: Any) -> None:
    """Answers /N with the page's version; *share* percent of the pages are at *version*, the rest at the one before."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                path = head.split(b" ", 2)[1].decode().lstrip("/")
                if path.startswith("warm/"):  # pages are made before a pass is timed, not in it
                    for number in range(int(path[5:])):
                        page(number, version.value)
                    body, status = b"", b"200 OK"
                elif not path.isdecimal():
                    body, status = b"none", b"404 Not Found"
                else:
                    number = int(path)
                    at = version.value if number % 100 < share.value else max(0, version.value - 1)
                    body, status = page(number, at), b"200 OK"
                writer.write(
                    b"HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % (status, len(body)) + body
                )
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def main() -> None:
        server = await asyncio.start_server(talk, "0.0.0.0", 0)
        port.value = server.sockets[0].getsockname()[1]
        await server.serve_forever()

    asyncio.run(main())


def configuration(folder: Path, port: int, pages: int) -> Path:
    head = (
        '[site]\nname = "Bench"\n[fetch]\nallow_networks = ["127.0.0.0/8"]\nconcurrency = 64\n'
        '[hosts.default]\ndelay = "0s"\n[tiers.A]\ntitle = "A"\n'
    )
    rows = [
        f'[[source]]\nid = "p{n}"\ntier = "A"\ntitle = "p{n}"\nurl = "http://127.0.0.{2 + n % HOSTS}:{port}/{n}"\n'
        f'[[source.quote]]\nexact = "Page {n} keeps the sentence that the site relies on"\n'
        for n in range(pages)
    ]
    path = folder / "sources.toml"
    path.write_text(head + "".join(rows))
    return path


def cpu_s() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in used)


def on_disk(folder: Path) -> int:
    return sum(f.stat().st_blocks * 512 for f in folder.rglob("*") if f.is_file())


def measured(name: str, house: wiring.House, pages: int, port: int, ahead: timedelta = timedelta()) -> None:
    """One pass in this process; workers have ended when it returns, so their CPU is counted."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/warm/{pages}") as answer:
        answer.read()
    before, cpu, wall = on_disk(house.data), cpu_s(), time.perf_counter()
    tally = asyncio.run(wiring.run_pass(house, all_of_them=True, clock=lambda: wiring.now() + ahead))
    wall, cpu = time.perf_counter() - wall, cpu_s() - cpu
    grown = on_disk(house.data) - before
    print(
        f"{name:<22} {wall:6.2f} s  {pages / wall:6.0f} pages/s  {cpu / pages * 1000:6.2f} ms CPU a page  "
        f"{tally.new_versions:>5} versions  {grown / pages:8.0f} B on disk a check  {dict(tally.words)}"
    )


def main() -> None:
    pages = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    machine = f"{platform.platform()}, CPython {platform.python_version()}, {os.cpu_count()} cores, shared"
    print(f"{machine}; load {os.getloadavg()[0]:.1f}")
    print(f"{pages} pages of {len(page(1, 0)) / 1000:.1f} KB on {HOSTS} loopback hosts")
    port, share, version = (multiprocessing.Value("i", v) for v in (0, 100, 0))
    server = multiprocessing.Process(target=serve, args=(port, share, version), daemon=True)
    server.start()
    while not port.value:
        time.sleep(0.05)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with wiring.open_house(configuration(folder, port.value, pages), folder, {}) as house:
            measured("new", house, pages, port.value)
            measured("unchanged", house, pages, port.value)
            share.value, version.value = 10, 1
            measured("10 % changed", house, pages, port.value)
            share.value, version.value = 100, 2
            measured("all changed", house, pages, port.value)
            measured("unchanged, next day", house, pages, port.value, timedelta(days=1))
            measured("unchanged, same day", house, pages, port.value, timedelta(days=1))
        print(f"peak RSS of the main process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000:.0f} MB")
    server.terminate()
    server.join()
    started = time.perf_counter()
    for _ in range(5):
        subprocess.run([sys.executable, "-m", "sourcewatch.faces.cli", "--help"], stdout=subprocess.DEVNULL, check=True)
    print(f"--help {(time.perf_counter() - started) / 5:.2f} s")


if __name__ == "__main__":
    main()
