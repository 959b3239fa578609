"""Many loopback hosts that count how many requests each has in flight, and worker processes that ask them."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import Engine, text


@dataclass(slots=True)
class Swarm:
    """Hosts 127.0.1.1 … at one port. *most* is the largest number of requests that each had in flight at once."""

    hosts: list[str]
    latency_s: float
    port: int = 0
    in_flight: Counter[str] = field(default_factory=Counter)
    most: Counter[str] = field(default_factory=Counter)
    asked: Counter[tuple[str, str]] = field(default_factory=Counter)
    body: Callable[[str, str], bytes] = lambda host, path: _page(host, path)

    def url(self, host: str, path: str) -> str:
        return f"http://{host}:{self.port}{path}"

    @property
    def pages(self) -> int:
        """How many requests for pages came; robots.txt and soft-404 probes left out."""
        return sum(n for (_, path), n in self.asked.items() if path.startswith("/p"))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host = writer.get_extra_info("sockname")[0]
        try:
            while line := await reader.readline():
                while (await reader.readline()).strip():
                    pass
                path = line.split()[1].decode()
                self.asked[host, path] += 1
                self.in_flight[host] += 1
                self.most[host] = max(self.most[host], self.in_flight[host])
                try:
                    await asyncio.sleep(self.latency_s)
                    known = path.startswith("/p")
                    body = self.body(host, path) if known else b"<h1>no such page</h1>"
                    head = f"HTTP/1.1 {'200 OK' if known else '404 Not Found'}\r\nContent-Length: {len(body)}\r\n"
                    writer.write(f"{head}Content-Type: text/html; charset=utf-8\r\n\r\n".encode() + body)
                finally:
                    self.in_flight[host] -= 1
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()


def _page(host: str, path: str) -> bytes:
    prose = "".join(
        f"<p>Paragraph {n} of {path} at {host} tells how the cache stays warm at night.</p>" for n in range(8)
    )
    return f"<!doctype html><html lang=en><title>{path}</title><body><main>{prose}</main></body></html>".encode()


@contextmanager
def swarming(hosts: int, latency_s: float = 0.01) -> Iterator[Swarm]:
    """In a thread of this process, or of the test's."""
    swarm = Swarm([f"127.0.1.{n + 1}" for n in range(hosts)], latency_s)
    ready, loop = threading.Event(), asyncio.new_event_loop()

    async def start() -> list[asyncio.Server]:
        servers = []
        for host in swarm.hosts:
            servers.append(await asyncio.start_server(swarm._serve, host, swarm.port, backlog=256))
            swarm.port = swarm.port or servers[0].sockets[0].getsockname()[1]
        return servers

    def run() -> None:
        asyncio.set_event_loop(loop)
        servers = loop.run_until_complete(start())
        ready.set()
        loop.run_forever()
        for server in servers:
            server.close()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0.05))

    thread = threading.Thread(target=run, name="swarm", daemon=True)
    thread.start()
    assert ready.wait(20)
    try:
        yield swarm
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


def write_sources(
    folder: Path, swarm: Swarm, count: int, *, delay: str = "20ms", deadline: str = "15s", more: str = ""
) -> Path:
    """*count* sources, spread over the hosts, each due once a day."""
    head = (
        f'{more}[site]\nname = "Swarm"\nurl = "https://notes.example/"\ntimezone = "UTC"\nlanguage = "en"\n'
        f'[fetch]\nallow_networks = ["127.0.0.0/8"]\ndeadline = "{deadline}"\n[hosts.default]\ndelay = "{delay}"\n'
        '[tiers.A]\ntitle = "A"\nevery = "24h"\n'
    )
    addresses = [swarm.url(swarm.hosts[n % len(swarm.hosts)], f"/p{n}") for n in range(count)]
    rows = [
        f'[[source]]\nid = "s{n:05}"\ntier = "A"\ntitle = "s{n}"\nurl = "{address}"\n'
        for n, address in enumerate(addresses)
    ]
    path = folder / "sources.toml"
    path.write_text(head + "".join(rows), encoding="utf-8")
    return path


@dataclass(slots=True)
class Fleet:
    """Worker processes over one configuration and database; all are ended with the context."""

    config: Path
    url: str
    environ: dict[str, str] = field(default_factory=dict)
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, concurrency: int = 10, *arguments: str) -> subprocess.Popen[bytes]:
        """A worker, or whatever the *arguments* say."""
        log = (self.config.parent / f"worker{len(self.running)}.log").open("wb")
        command = self._command(*(arguments or ("worker", f"--concurrency={concurrency}")))
        process = subprocess.Popen(command, env=self._environ, stdout=log, stderr=log)
        log.close()
        self.running.append(process)
        return process

    def ask(self, *arguments: str, expect: int | None = 0) -> str:
        """What a command says; it exits with *expect*, or however it likes."""
        command = self._command(*arguments)
        told = subprocess.run(command, env=self._environ, capture_output=True, text=True, check=False, timeout=120)
        assert expect is None or told.returncode == expect, told.stderr
        return told.stdout + told.stderr

    def _command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "sourcewatch.faces.cli", "--config", str(self.config), *arguments]

    @property
    def _environ(self) -> dict[str, str]:
        return os.environ | self.environ | {"SOURCEWATCH_DATABASE_URL": self.url.replace("+psycopg", "")}

    def logs(self) -> str:
        return "\n".join(p.read_text("utf-8", "replace") for p in sorted(self.config.parent.glob("worker*.log")))

    def __enter__(self) -> Fleet:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.running:
            if process.poll() is None:
                process.kill()
            process.wait(20)


def until(what: Callable[[], bool], within_s: float = 120.0) -> None:
    """Wait for a condition; only a test that has failed waits for the whole time."""
    end = time.monotonic() + within_s
    while not what():
        if time.monotonic() > end:
            raise AssertionError("it did not come about in time")
        time.sleep(0.05)


def count(engine: Engine, query: str) -> int:
    with engine.connect() as c:
        return int(c.execute(text(query)).scalar_one())
