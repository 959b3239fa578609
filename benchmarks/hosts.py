"""1,000 pages on 200 hosts that answer after 300 ms, one request in flight each: and the slowest host's time?

    python benchmarks/hosts.py [PAGES] [HOSTS] [LATENCY_MS]

Two distributions: as sites cite (Zipf: the biggest host has many pages, most have one), and even. The slowest host's
own time is the number of its requests (pages, robots.txt, one invented address) times the latency: nothing could be
faster. Whole passes: fetch, judge, keep; first all new, then all unchanged. The machine is shared: wall figures are
upper bounds.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import platform
import resource
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

from sourcewatch.faces import wiring

PROSE = "<p>The scheduler places experts at night and the cache stays warm in the day, as was measured in week {n}.</p>"


def serve(told: Connection, latency_s: float) -> None:
    """Answers every address of 127.0.1.0/24 after the latency; a page of 8 KB, its own for each path."""
    asked = 0

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                asked += 1
                path = head.split(b" ", 2)[1].decode()
                await asyncio.sleep(latency_s)
                status, body = b"404 Not Found", b"none"
                if path.removeprefix("/page/").isdecimal():
                    prose = "".join(PROSE.format(n=f"{path}-{n}") for n in range(60))
                    body = f"<!doctype html><title>{path}</title><main><h1>{path}</h1>{prose}</main>".encode()
                    status = b"200 OK"
                start = b"HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % (status, len(body))
                writer.write(start + body)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def forever() -> None:
        server = await asyncio.start_server(talk, "0.0.0.0", 0, family=socket.AF_INET, backlog=512)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(forever())


def shares(pages: int, hosts: int, *, even: bool) -> list[int]:
    """How many pages each host has."""
    if even:
        return [pages // hosts + (n < pages % hosts) for n in range(hosts)]
    weights = [1 / (n + 1) ** 0.8 for n in range(hosts)]
    found = [max(1, round(pages * w / sum(weights))) for w in weights]
    found[0] += pages - sum(found)
    return found


def configure(folder: Path, port: int, of_hosts: Sequence[int]) -> Path:
    path = folder / "sources.toml"
    rows = [
        f'[[source]]\nid = "h{host}-p{page}"\ntier = "A"\ntitle = "x"\n'
        f'url = "http://127.0.1.{host + 1}:{port}/page/{page}"\n'
        for host, pages in enumerate(of_hosts)
        for page in range(pages)
    ]
    head = '[site]\nname = "Bench"\n[fetch]\nallow_networks = ["127.0.0.0/8"]\n[hosts.default]\ndelay = "0s"\n'
    path.write_text(head + '[tiers.A]\ntitle = "A"\nevery = "6h"\n' + "".join(rows))
    return path


def measure(port: int, of_hosts: Sequence[int], latency_s: float) -> None:
    with tempfile.TemporaryDirectory() as name, wiring.open_house(configure(Path(name), port, of_hosts)) as house:
        for what, extra in (("all new", 2), ("all unchanged", 1)):  # robots.txt each time, the invented address once
            own_s = (max(of_hosts) + extra) * latency_s
            cpu, wall = time.process_time(), time.perf_counter()
            tally = asyncio.run(wiring.run_pass(house, all_of_them=True))
            took, cpu = time.perf_counter() - wall, time.process_time() - cpu
            assert tally.checked == sum(of_hosts) and set(tally.words) == {"ok"}, tally.words
            print(
                f"  {what:14} {took:6.2f} s, slowest host's own time {own_s:6.2f} s: {took / own_s:.2f} times;"
                f" {cpu / tally.checked * 1000:.1f} ms CPU a page here"
            )


def main() -> None:
    pages, hosts, latency_ms = (int(n) for n in (sys.argv[1:] + ["1000", "200", "300"][len(sys.argv) - 1 :]))
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(theirs, latency_ms / 1000), daemon=True)
    server.start()
    port = ours.recv()
    print(f"CPython {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; shared machine")
    for even in (False, True):
        of_hosts = shares(pages, hosts, even=even)
        kind = "even" if even else "as sites cite"
        print(f"{sum(of_hosts)} pages on {hosts} hosts, {kind} (most on one host {max(of_hosts)}), {latency_ms} ms:")
        measure(port, of_hosts, latency_ms / 1000)
    print(f"  {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB peak RSS of this process")
    server.terminate()
    server.join()


if __name__ == "__main__":
    main()
