"""CPU per request and requests a second for 1,000 pages of 43 KB over 32 hosts, against a server in another process.

python benchmarks/fetch.py [pages] [hosts]
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import platform
import resource
import socket
import sys
import time
from multiprocessing.connection import Connection

from sourcewatch.adapters.hosts import Hosts
from sourcewatch.adapters.http import Web
from sourcewatch.domain.capture import Capture, Request
from sourcewatch.domain.source import FetchPolicy, HostPolicy

PAGE = b"<!doctype html><title>page</title>" + b"<p>The prefix cache answers 87.3 % of all tokens.</p>" * 810
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (len(PAGE), PAGE)
NONE = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


class Page(asyncio.Protocol):
    """The cheapest server that answers every head with a page."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.head = transport, b""

    def data_received(self, data: bytes) -> None:
        self.head += data
        if self.head.endswith(b"\r\n\r\n"):
            self.transport.write(NONE if b"/robots.txt" in self.head[:40] else ANSWER)
            self.head = b""


def serve(told: Connection) -> None:
    async def forever() -> None:
        server = await asyncio.get_running_loop().create_server(Page, "0.0.0.0", 0, family=socket.AF_INET, backlog=512)
        told.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(forever())


async def fetch_all(port: int, pages: int, hosts: int) -> tuple[float, float]:
    """Wall and CPU seconds."""
    policy = FetchPolicy(allow_networks=("127.0.0.0/8",), concurrency=32)
    async with Web(policy, Hosts({"default": HostPolicy(0.0)}), user_agent="sourcewatch/benchmark") as web:

        async def one_host(number: int) -> None:
            for page in range(number, pages, hosts):
                fetched = await web.fetch(Request(f"http://127.0.0.{number + 2}:{port}/page/{page}"))
                assert isinstance(fetched, Capture) and len(fetched.answer.body) == len(PAGE)

        wall, cpu = time.perf_counter(), time.process_time()
        await asyncio.gather(*(one_host(number) for number in range(hosts)))
        return time.perf_counter() - wall, time.process_time() - cpu


def main() -> None:
    pages, hosts = (int(n) for n in sys.argv[1:]) if len(sys.argv) == 3 else (1000, 32)
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=serve, args=(theirs,), daemon=True)
    server.start()
    port = ours.recv()
    print(f"CPython {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; shared machine")
    print(f"{pages} pages of {len(PAGE):,} bytes over {hosts} hosts (and a robots.txt each), three times:")
    for _ in range(3):
        wall, cpu = asyncio.run(fetch_all(port, pages, hosts))
        print(f"  {cpu / pages * 1000:.2f} ms CPU a page, {pages / wall:,.0f} pages/s")
    print(f"  {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB peak RSS")
    server.terminate()
    server.join()


if __name__ == "__main__":
    main()
