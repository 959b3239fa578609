"""How many requests a second the site's data takes: with the ETag, whole, a page of the API, and during writes.

    python benchmarks/site_data.py [SOURCES]

The server is a process of its own (uvicorn, as `serve` runs it); the requests come from this one over a few kept
connections, as raw bytes, so that the client costs little. Both share the machine with whatever else runs on it.
"""

from __future__ import annotations

import json
import os
import platform
import selectors
import socket
import subprocess
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy import create_engine, insert

from desk import fill, sources_toml
from sourcewatch.adapters import tables as t
from sourcewatch.faces import wiring

CONNECTIONS = 8
SECONDS = 5.0


def serve(folder: Path) -> None:
    """Listen on a free port, say which, and serve until killed."""
    import uvicorn

    from sourcewatch.faces.serve import listen
    from sourcewatch.faces.web.app import build

    with wiring.open_house(folder / "sources.toml", None, {}) as house, listen("127.0.0.1", 0) as listening:
        print(listening.getsockname()[1], flush=True)
        config = uvicorn.Config(build(house), log_config=None, access_log=False, lifespan="off")
        uvicorn.Server(config).run([listening])


def request(path: str, **headers: str) -> bytes:
    lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", *(f"{k.replace('_', '-')}: {v}" for k, v in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode()


def once(port: int, asked: bytes) -> tuple[bytes, bytes]:
    """Head and body of one answer."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(asked)
        return _read(connection)


def _read(connection: socket.socket) -> tuple[bytes, bytes]:
    got = b""
    while b"\r\n\r\n" not in got:
        got += connection.recv(65_536)
    head, _, body = got.partition(b"\r\n\r\n")
    length = next((int(x[15:]) for x in head.lower().split(b"\r\n") if x.startswith(b"content-length:")), 0)
    while len(body) < length and b" 304 " not in head[:20]:
        body += connection.recv(1_000_000)
    return head, body


def load(port: int, asked: bytes, status: bytes) -> tuple[float, float]:
    """Answers a second, and the slowest of them in seconds; each must have the status."""
    done, slowest, chosen = 0, 0.0, selectors.DefaultSelector()
    begun: dict[int, float] = {}
    for _ in range(CONNECTIONS):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        chosen.register(connection, selectors.EVENT_READ)
        begun[connection.fileno()] = time.perf_counter()
        connection.sendall(asked)
    start = time.perf_counter()
    while (now := time.perf_counter()) - start < SECONDS:
        for key, _ in chosen.select(1):
            connection = key.fileobj  # type: ignore[assignment]
            head, _ = _read(connection)
            assert head.startswith(b"HTTP/1.1 " + status), head
            done += 1
            slowest = max(slowest, time.perf_counter() - begun[key.fd])
            begun[key.fd] = time.perf_counter()
            connection.sendall(asked)
    for key in list(chosen.get_map().values()):
        key.fileobj.close()  # type: ignore[union-attr]
    return done / (now - start), slowest


def writing(url: str, stop: threading.Event) -> None:
    """Ten commits a second, as a run makes them."""
    engine, n = create_engine(url), 0
    while not stop.wait(0.1):
        n += 1
        with engine.begin() as c:
            row = {"at": datetime.now(UTC), "sample": True, "files": 0, "records": n, "faults": 0, "facts": {}}
            c.execute(insert(t.audits).values(**row))
    engine.dispose()


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 5_000
    print(f"{platform.python_version()}, {os.cpu_count()} cores (shared), {count} sources, {CONNECTIONS} connections")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "sources.toml").write_text(sources_toml(count), encoding="utf-8")
        with wiring.open_house(folder / "sources.toml", None, {}) as house:
            url = house.database_url
        fill(url, count, count * 2)
        server = subprocess.Popen([sys.executable, __file__, "--serve", name], stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout is not None
            measure(int(server.stdout.readline()), url)
        finally:
            server.terminate()
            server.wait()


def measure(port: int, url: str) -> None:
    for what in ("first answer (reads the ledger)", "second answer (from memory)"):
        begun = time.perf_counter()
        head, body = once(port, request("/last-accessed.json"))
        print(f"{what}: {(time.perf_counter() - begun) * 1000:.1f} ms, {len(body) / 1e6:.2f} MB")
    assert len(json.loads(body)["sources"]) > 0
    etag = next(x[6:].decode() for x in head.split(b"\r\n") if x.lower().startswith(b"etag: "))
    _, packed = once(port, request("/last-accessed.json", Accept_Encoding="gzip"))
    known = request("/last-accessed.json", If_None_Match=etag)
    stop = threading.Event()
    for what, asked, status in (
        ("ETag hit (304)", known, b"304"),
        (f"whole, gzip ({len(packed) / 1000:.0f} kB)", request("/last-accessed.json", Accept_Encoding="gzip"), b"200"),
        ("API, 100 sources", request("/api/v1/sources"), b"200"),
        ("API, one source", request("/api/v1/sources/s7"), b"200"),
        ("API, its checks", request("/api/v1/sources/s7/checks"), b"200"),
        ("changes, 20", request("/changes?limit=20"), b"200"),
        ("feed", request("/feed.atom"), b"200"),
        ("ETag hit during ten commits a second", known, b"304"),
    ):
        writer = threading.Thread(target=writing, args=(url, stop))
        if "commits" in what:
            writer.start()
        rate, slowest = load(port, asked, status)
        stop.set()
        if writer.ident:
            writer.join()
        stop.clear()
        print(f"{what}: {rate:,.0f} requests/s, slowest {slowest * 1000:.0f} ms")


if __name__ == "__main__":
    if "--serve" in sys.argv:
        serve(Path(sys.argv[2]))
    else:
        main()
