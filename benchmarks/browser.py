"""What a page costs in the browser: seconds, CPU, memory; and whether either grows over many pages.

    python benchmarks/browser.py [PAGES]

Pages of 40 KB, half of whose text a script brings, and ten pictures, from loopback. CPU and memory (PSS)
are those of Chromium's processes and the driver's, read from /proc. The machine is shared.
"""

from __future__ import annotations

import asyncio
import os
import platform
import statistics
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from sourcewatch.adapters.browser import Browser
from sourcewatch.adapters.guard import Guard
from sourcewatch.adapters.hosts import Hosts
from sourcewatch.domain.capture import Capture, Exchange
from sourcewatch.domain.source import FetchPolicy, HostPolicy, RenderPolicy

TEXT = "The scheduler places experts at night and the cache stays warm. " * 300
REPLACED_S = 10.0  # so much CPU time is gone at once only with a whole browser
PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63606060f80f0001040100"
    "5fe5c34b0000000049454e44ae426082"
)


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            path = (await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)[1].decode()
            kind, body = answer(path)
            head = f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            writer.write(head + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


def answer(path: str) -> tuple[str, bytes]:
    if path.startswith("/picture"):
        return "image/png", PICTURE
    if path.startswith("/data"):
        return "text/plain", TEXT.encode()
    pictures = "".join(f'<img src="/picture{n}.png" alt="picture {n}" loading="lazy">' for n in range(10))
    script = '<script>fetch("/data").then((r) => r.text()).then((t) => { root.textContent = t })</script>'
    return "text/html", f"<title>{path}</title><div id=root></div>{script}<p>{TEXT}</p>{pictures}".encode()


def family(parent: int) -> list[int]:
    """All processes below one, itself apart."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children.setdefault(int(words[1]), []).append(int(stat.parent.name))
    found, todo = [], [parent]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def cpu_s(pids: list[int]) -> float:
    ticks = 0
    for pid in pids:
        try:
            words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += sum(int(words[n]) for n in (11, 12, 13, 14))
        except OSError:
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


def pss_mb(pids: list[int]) -> float:
    total = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        except (OSError, StopIteration):
            continue
    return total / 1000


async def measure(pages: int) -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    policy = FetchPolicy(allow_networks=("127.0.0.1/32",))
    hosts = Hosts({"default": HostPolicy(0.0)})
    took, memory, used_s, last_s = [], [], 0.0, 0.0
    async with Browser(
        Guard(policy.allow_networks), hosts, policy, RenderPolicy(), user_agent="sourcewatch/bench"
    ) as b:
        for n in range(pages):
            url = f"http://127.0.0.1:{port}/{n}"
            kind, body = answer(f"/{n}")
            plain = Exchange(url, 200, (("Content-Type", kind),), body)
            begun = time.perf_counter()
            seen = await b.render(Capture(datetime.now(UTC), (plain,)), body)
            assert isinstance(seen, Capture) and TEXT.strip().encode() in seen.answer.dom
            took.append(time.perf_counter() - begun)
            pids = family(os.getpid())
            now_s = cpu_s(pids)
            if now_s < last_s - REPLACED_S:  # else a process has ended, and its parent has not added it up yet
                last_s = now_s
            used_s, last_s = used_s + max(0.0, now_s - last_s), max(now_s, last_s)
            memory.append(pss_mb(pids))
            if (n + 1) % 50 == 0 or n + 1 == pages:
                recent = slice(max(0, n - 49), n + 1)
                print(
                    f"pages {n + 1}: {statistics.median(took[recent]):.2f} s a page (slowest {max(took[recent]):.2f}), "
                    f"PSS {statistics.median(memory[recent]):.0f} MB, peak {max(memory[recent]):.0f} MB", flush=True,
                )  # fmt: skip
    print(f"CPU of browser and driver: {used_s / pages:.2f} s a page, starts included")
    server.close()


if __name__ == "__main__":
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} (shared machine)")
    asyncio.run(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 300))
