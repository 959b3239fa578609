"""A server on loopback that speaks Save Page Now 2: answers are a test's, requests are written down."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs

from site_of_pages import Answer

TOKEN = "key:a-secret-word"
FOUND = {"Content-Type": "application/json"}


def said(value: Any, status: int = 200, **headers: str) -> Answer:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return status, {**FOUND, **named}, json.dumps(value).encode()


def refused(word: str, message: str = "", job: str = "") -> Answer:
    body = {"status": "error", "status_ext": f"error:{word}", "message": message}
    return said({**body, "job_id": job} if job else body)


@dataclass(slots=True)
class Spn:
    """*asks* are answered in turn, then by a job for each; *states* likewise. *mementos* by path."""

    port: int = 0
    asks: list[Answer | None] = field(default_factory=list)
    states: list[Answer | None] = field(default_factory=list)
    mementos: dict[str, Answer] = field(default_factory=dict)
    asked: list[dict[str, str]] = field(default_factory=list)
    polled: list[str] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)
    jobs: dict[str, str] = field(default_factory=dict)
    stamp: str = "20261020030500"
    stopped: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def on_post(self, body: str, headers: dict[str, str]) -> Answer | None:
        form = {k: v[0] for k, v in parse_qs(body).items()}
        self.asked.append(form)
        if self.asks:
            return self.asks.pop(0)
        job = f"spn2-{len(self.asked):040x}"
        self.jobs[job] = form["url"]
        return said({"url": form["url"], "job_id": job})

    def on_get(self, path: str) -> Answer | None:
        if not path.startswith("/save/status/"):
            return self.mementos.get(path, (404, {"Content-Type": "text/plain"}, b"none"))
        self.polled.append(path)
        if self.states:
            return self.states.pop(0)
        job = path.rpartition("/")[2]
        return said(
            {"status": "success", "job_id": job, "original_url": self.jobs[job], "timestamp": self.stamp,
             "duration_sec": 6.2, "resources": []}
        )  # fmt: skip


@contextmanager
def saving() -> Iterator[Spn]:
    spn = Spn()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if self.path == "/save" and self.headers["Content-Type"] == "application/x-www-form-urlencoded":
                self.answer(spn.on_post(body, dict(self.headers)))
            else:
                self.answer((400, {}, b""))

        def do_GET(self) -> None:
            self.answer(spn.on_get(self.path))

        def answer(self, given: Answer | None) -> None:
            spn.tokens.add(self.headers.get("Authorization", ""))
            if given is None:  # it hangs
                spn.stopped.wait(30)
                self.close_connection = True
                return
            status, fields, body = given
            self.send_response(status)
            for name, value in fields.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        spn.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield spn
        spn.stopped.set()
        server.shutdown()
        thread.join()
