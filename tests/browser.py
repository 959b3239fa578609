"""The system's Chromium, headless, and a beacon that counts who calls."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from databases import skip

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--no-proxy-server",
    "--virtual-time-budget=35000",
)  # fmt: skip


def dom(url: str, folder: Path) -> str:
    """The document as it stands after its scripts ran, had they been allowed to."""
    chromium = shutil.which("chromium")
    if chromium is None:
        skip("Chromium is not installed")
    words = [str(chromium), *FLAGS, f"--user-data-dir={folder / 'profile'}", "--dump-dom", url]
    environ = {**os.environ, "HOME": str(folder)}
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, env=environ, check=True)
    return done.stdout


@dataclass(slots=True)
class Beacon:
    """Whoever connects is remembered by the first line that it says; "" for a connection that says nothing."""

    port: int
    heard: list[str] = field(default_factory=list)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}/{path}"


@contextmanager
def beacon() -> Iterator[Beacon]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        found = Beacon(server.getsockname()[1])
        threading.Thread(target=_listen, args=(server, found), daemon=True).start()
        yield found
        server.shutdown(socket.SHUT_RDWR)


def _listen(server: socket.socket, found: Beacon) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            connection.settimeout(1)
            try:
                line = connection.recv(2_000).split(b"\r\n")[0].decode("latin-1")
                found.heard.append(line)
                connection.sendall(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
            except OSError:
                found.heard.append("")
