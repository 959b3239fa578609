"""Object storage of the suite's own: moto's S3 server, fresh buckets, and a way to it that fails when it is told to."""

from __future__ import annotations

import http.client
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatch
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from sourcewatch.adapters.bucket import BucketStore
from sourcewatch.adapters.copying import copy
from sourcewatch.adapters.store import FolderStore, Store

SERVER = """
import logging, sys
from moto.server import ThreadedMotoServer
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
"""  # it ends when who started it ends, however that is
KEY, SECRET = "AKIATESTTESTTEST", "a-secret-that-nobody-may-see"
NUMBERS = count(1)


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    """The address of an S3 server in a process of its own, on a free port."""
    with subprocess.Popen([sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin and child.stdout
        port = int(child.stdout.readline())
        yield f"http://127.0.0.1:{port}"
        child.stdin.close()


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket with nothing in it: its name as sources.toml has it, and what the environment says of it."""

    url: str
    environ: Mapping[str, str]

    @property
    def store(self) -> BucketStore:
        return BucketStore.of(self.url, self.environ)


@pytest.fixture
def bucket(s3: str) -> Bucket:
    return new_bucket(s3)


def new_bucket(s3: str, endpoint: str = "") -> Bucket:
    name = f"bucket-{next(NUMBERS)}"
    region = f"AWS4-HMAC-SHA256 Credential={KEY}/20260101/us-east-1/s3/aws4_request"
    connection = http.client.HTTPConnection(urlsplit(s3).netloc, timeout=30)
    connection.request("PUT", f"/{name}", headers={"Authorization": region})
    assert connection.getresponse().status == 200
    connection.close()
    environ = {
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_ENDPOINT_URL": endpoint or s3,
        "AWS_REGION": "us-east-1",
    }
    return Bucket(f"s3://{name}/some/prefix", environ)


def later() -> datetime:
    """What was put just now is no longer young: a group of which a file is gone is one that was damaged."""
    return datetime.now(UTC) + timedelta(hours=2)


@pytest.fixture(params=["folder", "bucket"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """Both kinds in turn, empty."""
    if request.param == "folder":
        return FolderStore(tmp_path)
    bucket: Bucket = request.getfixturevalue("bucket")
    return BucketStore.of(bucket.url, bucket.environ, later)


def moved(folder: Path, bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> BucketStore:
    """Let the snapshots of a data folder lie in a bucket from now on, for commands too."""
    store = BucketStore.of(bucket.url, bucket.environ, later)
    copy(FolderStore(folder), store)
    shutil.rmtree(folder / "snapshots")
    config = folder / "sources.toml"
    config.write_text(config.read_text("utf-8").replace('storage = ""', f'storage = "{bucket.url}"'), "utf-8")
    for name, value in bucket.environ.items():
        monkeypatch.setenv(name, value)
    return store


def names(store: Store, pattern: str = "*") -> list[str]:
    """What is kept under `snapshots/`, by a shell's pattern."""
    return [found.name for found in store.list("snapshots") if fnmatch(found.name, f"snapshots/{pattern}")]


def harm(store: Store, name: str, how: Callable[[Path], object]) -> None:
    """Do to a kept file what the archive itself never would."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name.rpartition("/")[2])
        path.write_bytes(store.get(name))
        how(path)
        store.delete([name])
        if path.exists():
            store.put(name, path.read_bytes())


@dataclass
class Way:
    """A way to the S3 server. *fails* looks at method and path of each request, and says with what status it is
    answered instead of being let through: 0 cuts the connection off, -1 lets it through and loses the answer."""

    endpoint: str = ""
    fails: Callable[[str, str], int | None] = lambda method, path: None
    deaf: bool = False  # whether conditions do not reach the server
    asked: list[tuple[str, str]] = field(default_factory=list)


@contextmanager
def way_to(s3: str) -> Iterator[Way]:
    way = Way()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one packet: else each answer waits 40 ms for an acknowledgement

        def _any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            way.asked.append((self.command, self.path))
            status = way.fails(self.command, self.path)
            if status == 0:
                self.close_connection = True
                return
            if status is not None and status > 0:
                key = f"<Error><Code>SlowDown</Code><AWSAccessKeyId>{KEY}</AWSAccessKeyId></Error>".encode()
                self._answer(status, {"Content-Type": "application/xml"}, key)
                return
            there = http.client.HTTPConnection(urlsplit(s3).netloc, timeout=30)
            condition = {"if-none-match"} if way.deaf else set()
            heard = {name: value for name, value in self.headers.items() if name.lower() not in condition}
            there.request(self.command, self.path, body, heard)
            answer = there.getresponse()
            data = answer.read()
            there.close()
            if status == -1:
                self.close_connection = True
                return
            own = {"content-length", "connection", "server", "date", "transfer-encoding"}
            length = answer.headers.get("Content-Length") if self.command == "HEAD" else None
            self._answer(answer.status, {k: v for k, v in answer.getheaders() if k.lower() not in own}, data, length)

        do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = _any  # noqa: N815

        def _answer(self, status: int, headers: Mapping[str, str], body: bytes, length: str | None = None) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", length or str(len(body)))
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(body if self.command != "HEAD" else b"")

        def log_message(self, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        way.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield way
        server.shutdown()
        thread.join()


@pytest.fixture
def way(s3: str) -> Iterator[Way]:
    with way_to(s3) as way:
        yield way
