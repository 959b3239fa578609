"""RFC 3161 timestamps: another's word that a manifest existed at a time. The token lies beside it as `.tsr`."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

import httpx
from cryptography import x509
from rfc3161_client import (
    HashAlgorithm,
    TimestampRequestBuilder,
    TimeStampResponse,
    VerificationError,
    VerifierBuilder,
    decode_timestamp_response,
)

from ..domain.errors import StorageError
from .store import Store

SUFFIX = ".tsr"
MOST_TOKEN_BYTES = 100_000  # tokens are 2–8 kB
PATIENCE_S = 20.0
HOOK_PATIENCE_S = 120.0


class AuthorityError(Exception):
    """The authority gave no timestamp: what it, or the network, said. Tried again when the next day is closed."""


def stamp(
    store: Store, manifest: str, authority: str, roots: Sequence[x509.Certificate], tls: ssl.SSLContext
) -> datetime:
    """Ask *authority* (an address) to vouch for a manifest, and keep its token beside it; the time that it attests.

    Raises AuthorityError when no token came that holds against *roots* (empty: not checked), StorageError.
    """
    data = store.get(manifest)
    request = TimestampRequestBuilder(data=data, hash_algorithm=HashAlgorithm.SHA256).build()
    token = _asked(authority, request.as_bytes(), tls)
    found = _decoded(token)
    if roots and (fault := _fault(found, data, roots)):
        raise AuthorityError(f"{authority} gave a token that does not hold: {fault}")
    store.put(token_path(manifest), token)  # another's token, if it is there by now, is as good
    return found.tst_info.gen_time


def token_path(manifest: str) -> str:
    return manifest.removesuffix(".sha256") + SUFFIX


def faults(store: Store, manifests: Iterable[str], roots: Sequence[x509.Certificate]) -> dict[str, str]:
    """What is wrong with each token that lies beside a manifest, by its path. Raises StorageError."""
    found: dict[str, str] = {}
    for manifest in manifests:
        path = token_path(manifest)
        if store.find(path) is None:
            continue
        try:
            fault = _fault(_decoded(store.get(path)), store.get(manifest), roots)
        except AuthorityError as error:
            fault = str(error)
        if fault:
            found[path] = f"it does not vouch for {manifest.rpartition('/')[2]}: {fault}"
    return found


def certificates(pem: Path) -> list[x509.Certificate]:
    """The authority's roots. Raises StorageError."""
    try:
        return x509.load_pem_x509_certificates(_bytes(pem))
    except ValueError as error:
        raise StorageError(f"{pem} holds no certificate that can be read: {error}") from error


def hook(command: Sequence[str], manifest: Path) -> str | None:
    """Run another's stamper on a manifest (OpenTimestamps' `ots stamp`); None, or what went wrong."""
    try:
        done = subprocess.run(
            [*command, str(manifest)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=HOOK_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{command[0]} could not be run: {error}"
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return None if done.returncode == 0 else f"{command[0]} ended with {done.returncode}: {said[-1] if said else ''}"


def _asked(authority: str, request: bytes, tls: ssl.SSLContext) -> bytes:
    headers = {"content-type": "application/timestamp-query", "accept": "application/timestamp-reply"}
    try:
        with (
            httpx.Client(verify=tls, timeout=PATIENCE_S, trust_env=False) as client,
            client.stream("POST", authority, content=request, headers=headers) as answer,
        ):
            token = b""
            for bite in answer.iter_bytes():
                token += bite
                if len(token) > MOST_TOKEN_BYTES:
                    raise AuthorityError(f"{authority} answered with more than a token")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise AuthorityError(f"{authority} cannot be asked: {error or type(error).__name__}") from error
    if answer.status_code != 200:
        raise AuthorityError(f"{authority} answered with status {answer.status_code}")
    return token


def _decoded(token: bytes) -> TimeStampResponse:
    try:
        found = decode_timestamp_response(token)
        _ = found.tst_info.gen_time
    except ValueError as error:
        raise AuthorityError(f"not a timestamp token: {error}") from error
    return found


def _fault(token: TimeStampResponse, data: bytes, roots: Sequence[x509.Certificate]) -> str | None:
    builder = VerifierBuilder()
    for root in roots:
        builder = builder.add_root_certificate(root)
    try:
        builder.build().verify_message(token, data)
    except (VerificationError, ValueError) as error:
        return str(error) or type(error).__name__
    return None


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror or error}") from error
