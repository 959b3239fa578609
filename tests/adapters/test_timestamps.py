"""A real timestamp authority on loopback (OpenSSL's) vouches for a manifest; a changed manifest is found out."""

from __future__ import annotations

import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from databases import skip
from sourcewatch.adapters import timestamps
from sourcewatch.adapters.store import FolderStore, Store

CONFIG = """
[req]
distinguished_name = dn
prompt = no
[dn]
CN = {name}
[root]
basicConstraints = critical, CA:true
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[tsa_cert]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = critical, timeStamping
authorityKeyIdentifier = keyid
[tsa]
default_tsa = tsa1
[tsa1]
serial = {folder}/serial
signer_cert = {folder}/tsa.pem
certs = {folder}/tsa.pem
signer_key = {folder}/tsa.key
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
ess_cert_id_alg = sha256
"""


class Authority:
    """An RFC 3161 authority of its own root; *spoil* changes what it answers."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.spoil, self.status = folder, lambda token: token, 200
        (folder / "conf").write_text(CONFIG.format(name="sourcewatch test authority", folder=folder))
        (folder / "serial").write_text("01\n")
        new = ["-newkey", "rsa:2048", "-nodes", "-config", "conf", "-days", "30"]
        self._openssl("req", "-x509", *new, "-extensions", "root", "-keyout", "root.key", "-out", "root.pem")
        self._openssl("req", "-new", *new[:-2], "-keyout", "tsa.key", "-out", "tsa.csr")
        signing = ["-CA", "root.pem", "-CAkey", "root.key", "-CAcreateserial", "-days", "20"]
        extensions = ["-extfile", "conf", "-extensions", "tsa_cert"]
        self._openssl("x509", "-req", "-in", "tsa.csr", *signing, *extensions, "-out", "tsa.pem")

    def _openssl(self, *words: str, given: bytes = b"") -> bytes:
        done = subprocess.run(["openssl", *words], cwd=self.folder, input=given, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    def answer(self, query: bytes) -> bytes:
        (self.folder / "query").write_bytes(query)
        token = self._openssl("ts", "-reply", "-config", "conf", "-queryfile", "query")
        return self.spoil(token)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    if shutil.which("openssl") is None:
        skip("openssl is not installed")
    return Authority(tmp_path_factory.mktemp("tsa"))


@contextmanager
def asked_at(authority: Authority) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            query = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.headers["Content-Type"] == "application/timestamp-query"
            body = authority.answer(query) if authority.status == 200 else b"busy"
            self.send_response(authority.status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}/tsa"
        server.shutdown()
        thread.join()


NAME = "snapshots/_manifest/2026-10-20.sha256"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A day's manifest."""
    store = FolderStore(tmp_path)
    store.put(NAME, b"ab" * 32 + b"  a/2026/20261020T110305Z.warc.gz\n")
    return store


TLS = ssl.create_default_context()


def test_a_manifest_gets_a_token_that_holds(authority: Authority, store: Store) -> None:
    roots = timestamps.certificates(authority.folder / "root.pem")
    with asked_at(authority) as address:
        attested = timestamps.stamp(store, NAME, address, roots, TLS)
    assert abs(attested - datetime.now(UTC)) < timedelta(minutes=5)
    assert timestamps.token_path(NAME) == "snapshots/_manifest/2026-10-20.tsr"
    assert timestamps.faults(store, [NAME], roots) == {}


def test_a_manifest_that_was_changed_afterwards_is_found_out(authority: Authority, store: Store) -> None:
    roots = timestamps.certificates(authority.folder / "root.pem")
    with asked_at(authority) as address:
        timestamps.stamp(store, NAME, address, roots, TLS)
    forged = store.get(NAME).replace(b"ab", b"ac", 1)
    store.delete([NAME])
    store.put(NAME, forged)
    [(path, words)] = timestamps.faults(store, [NAME], roots).items()
    assert path == timestamps.token_path(NAME) and "does not vouch for 2026-10-20.sha256" in words


def test_a_token_of_a_stranger_is_not_kept(authority: Authority, store: Store, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    strangers = timestamps.certificates(Authority(tmp_path / "other").folder / "root.pem")
    with asked_at(authority) as address, pytest.raises(timestamps.AuthorityError, match="does not hold"):
        timestamps.stamp(store, NAME, address, strangers, TLS)
    assert store.find(timestamps.token_path(NAME)) is None


@pytest.mark.parametrize(
    ("status", "spoilt", "words"),
    [(503, None, "status 503"), (200, b"<html>", "not a timestamp token"), (200, b"x" * 200_000, "more than a token")],
)
def test_an_authority_that_gives_no_token_is_told(
    authority: Authority, store: Store, status: int, spoilt: bytes | None, words: str
) -> None:
    authority.status = status
    authority.spoil = lambda token: token if spoilt is None else spoilt
    try:
        with asked_at(authority) as address, pytest.raises(timestamps.AuthorityError, match=words):
            timestamps.stamp(store, NAME, address, (), TLS)
    finally:
        authority.status, authority.spoil = 200, lambda token: token
    assert store.find(timestamps.token_path(NAME)) is None


def test_nobody_listening_is_told(store: Store) -> None:
    with pytest.raises(timestamps.AuthorityError, match="cannot be asked"):
        timestamps.stamp(store, NAME, "http://127.0.0.1:9/tsa", (), TLS)


def test_a_stamping_command_gets_the_manifest_and_its_failure_is_told(store: Store) -> None:
    with store.as_file(NAME) as manifest:
        assert timestamps.hook(["sh", "-c", 'cp "$0" "$0.ots"'], manifest) is None
    assert store.get(f"{NAME}.ots") == store.get(NAME)
    assert "ended with" in (timestamps.hook(["false"], manifest) or "")
    assert "could not be run" in (timestamps.hook(["no-such-stamper"], manifest) or "")
