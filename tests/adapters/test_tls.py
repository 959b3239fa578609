"""What certificates say, which word a failed handshake deserves, and what AIA may and may not do."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, pkcs7
from hypothesis import given
from hypothesis import strategies as st

from sourcewatch.adapters import tls
from sourcewatch.adapters.certificates import issue, make_root
from sourcewatch.domain.verdict import WORDS


def test_a_certificate_is_told_with_its_names_and_dates() -> None:
    start = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    identity = issue(make_root("our root"), ("a.example", "127.0.0.1"), not_before=start, days=90)
    told = tls.certificate(identity.der)
    assert told is not None
    assert (told.subject, told.issuer) == ("CN=a.example", "CN=our root")
    assert (told.not_before, told.not_after) == (start, start + timedelta(days=90))
    assert told.names == ("a.example", "127.0.0.1")


@given(st.binary(max_size=200))
def test_bytes_that_are_no_certificate_tell_nothing(data: bytes) -> None:
    assert tls.certificate(data) is None
    assert tls.issuer_url(data) == ""
    assert tls.issuer_of(data) is None


def test_an_issuer_is_read_in_every_form_that_aia_serves() -> None:
    root = make_root()
    middle = issue(root, (), common_name="middle", is_authority=True, aia_url="http://aia.example/root.der")
    bundle = pkcs7.serialize_certificates([middle.certificate], Encoding.DER)
    for body in (middle.der, middle.pem, bundle):
        issuer = tls.issuer_of(body)
        assert issuer is not None
        assert (issuer.is_root, issuer.next_url) == (False, "http://aia.example/root.der")
        assert issuer.pem.encode() == middle.pem
    itself = tls.issuer_of(root.der)
    assert itself is not None and itself.is_root


@given(st.binary(max_size=300), st.sampled_from(["SSLV3_ALERT_HANDSHAKE_FAILURE", "NEW_IN_OPENSSL_9", ""]))
def test_every_failure_of_a_handshake_has_a_word(first_bytes: bytes, reason: str) -> None:
    error = ssl.SSLError(1, "failed")
    error.reason = reason
    others = (ssl.SSLEOFError(8, "eof"), ConnectionResetError(), TimeoutError(), ValueError("name"), OSError())
    for cause in (error, *others):
        fault = tls.fault_of(cause, first_bytes)
        assert fault.word in WORDS and fault.rule and fault.evidence is not None


def test_an_alert_after_a_request_for_a_certificate_is_about_that_certificate() -> None:
    error = ssl.SSLError(1, "alert")
    error.reason = "SSLV3_ALERT_HANDSHAKE_FAILURE"
    hello, request = b"\x02\x00\x00\x02ab", b"\x0d\x00\x00\x01c"
    flight = hello + request
    record = b"\x16\x03\x03" + len(flight).to_bytes(2, "big") + flight
    assert tls.fault_of(error, record).word == "tls_client_cert"
    assert tls.fault_of(error, record.replace(request, b"\x0e\x00\x00\x01c")).word == "tls_handshake_failed"


@pytest.mark.parametrize("code", [2, 7, 9, 10, 18, 19, 20, 21, 23, 26, 62, 64, 66, 67, 68, 79])
def test_every_verdict_of_openssl_on_a_certificate_has_a_word(code: int) -> None:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_code, error.verify_message = code, "because"
    fault = tls.fault_of(error)
    assert fault.word in tls.CERTIFICATE_WORDS and fault.evidence == "because"


def test_the_trust_store_holds_the_systems_roots_and_ours(tmp_path: Path) -> None:
    bundle = tmp_path / "root.pem"
    root = make_root("only ours")
    bundle.write_bytes(root.pem)
    ours = tls.trust(str(bundle)).get_ca_certs(binary_form=True)
    assert root.der in ours
    assert len(ours) == len(tls.trust().get_ca_certs(binary_form=True)) + 1
