"""A plain web server on loopback whose pages a test writes, and the configuration that watches it."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

Answer = tuple[int, dict[str, str], bytes]


def page(title: str, body: str, language: str = "en") -> Answer:
    head = f'<!doctype html><html lang="{language}"><head><title>{title}</title></head>'
    text = f"{head}<body><main>{body}</main></body></html>"
    return 200, {"Content-Type": "text/html; charset=utf-8"}, text.encode()


@dataclass(slots=True)
class Site:
    """*pages* by path: an answer, or a function of the request's headers. *asked* lists what was requested."""

    port: int = 0
    host: str = "127.0.0.1"
    pages: dict[str, Answer | Callable[[dict[str, str]], Answer]] = field(default_factory=dict)
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def url(self, path: str = "/") -> str:
        return f"http://{self.host}:{self.port}{path}"


@contextmanager
def serving(host: str = "127.0.0.1") -> Iterator[Site]:
    site = Site(host=host)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            headers = {k.lower(): v for k, v in self.headers.items()}
            site.asked.append((self.path, headers))
            given = site.pages.get(self.path, (404, {"Content-Type": "text/plain"}, b"no such page"))
            status, fields, body = given(headers) if callable(given) else given
            self.send_response(status)
            for name, value in fields.items():
                self.send_header(name, value)
            if status != 304:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, request: Any, client_address: Any) -> None:
            if not isinstance(sys.exception(), ConnectionError):  # whoever asked was killed, or is to see a dead server
                super().handle_error(request, client_address)

    with Server((host, 0), Handler) as server:
        site.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield site
        server.shutdown()
        thread.join()


HEAD = """\
[site]
name = "Field Notes"
url = "https://notes.example/"
timezone = "Asia/Shanghai"
language = "{language}"
[fetch]
allow_networks = ["127.0.0.0/8"]
deadline = "60s"
[hosts.default]
delay = "0s"
[tiers.A]
title = "official"
every = "6h"
"""


def write_sources(folder: Path, rows: str, language: str = "en", storage: str = "") -> Path:
    """A sources.toml that may read loopback, with *rows* after its head."""
    path = folder / "sources.toml"
    path.write_text(f'storage = "{storage}"\n' + HEAD.format(language=language) + rows, encoding="utf-8")
    return path


def row(id_: str, url: str, *quotes: str, more: str = "") -> str:
    lines = [f'[[source]]\nid = "{id_}"\ntier = "A"\ntitle = "{id_}"\nurl = "{url}"\n{more}']
    lines += [f'[[source.quote]]\nexact = "{q}"' for q in quotes]
    return "\n".join(lines) + "\n"
