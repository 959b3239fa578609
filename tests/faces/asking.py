"""Asks a server on loopback, one request a connection, headers as they are."""

from __future__ import annotations

import gzip
import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return (gzip.decompress(self.body) if self.headers.get("content-encoding") == "gzip" else self.body).decode()

    @property
    def json(self) -> Any:
        return json.loads(self.text)


def ask(base: str, path: str, method: str = "GET", body: str | None = None, **headers: str) -> Answer:
    """Header names are written with underscores."""
    connection = http.client.HTTPConnection(urlsplit(base).netloc, timeout=60)
    try:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body=body, headers=named)
        answer = connection.getresponse()
        return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
    finally:
        connection.close()
