"""TLS: the trust store, what a certificate says, and which of the words a failed handshake deserves."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from datetime import UTC
from hashlib import sha256

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, pkcs7
from cryptography.x509.oid import AuthorityInformationAccessOID

from sourcewatch.domain.capture import Certificate, Tls
from sourcewatch.domain.reading import Fault

_OP_LEGACY_SERVER_CONNECT = 0x4  # ssl has the name from 3.12 on; browsers read such servers

ISSUER_UNKNOWN = "issuer-unknown"
"""The rule that deserves a second opinion: the server may have forgotten its intermediate certificate."""

# OpenSSL's X509_V_ERR_* numbers (x509_vfy.h), which do not change.
_VERIFY_WORDS = {
    2: ("tls_unknown_ca", ISSUER_UNKNOWN),
    9: ("tls_not_yet_valid", "certificate-not-yet-valid"),
    10: ("tls_expired", "certificate-expired"),
    18: ("tls_self_signed", "certificate-self-signed"),
    19: ("tls_unknown_ca", "root-unknown"),
    20: ("tls_unknown_ca", ISSUER_UNKNOWN),
    21: ("tls_unknown_ca", ISSUER_UNKNOWN),
    62: ("tls_hostname_mismatch", "certificate-other-name"),
    64: ("tls_hostname_mismatch", "certificate-other-address"),
    66: ("tls_weak_key", "key-too-small"),
    67: ("tls_weak_key", "authority-key-too-small"),
    68: ("tls_weak_key", "digest-too-weak"),
}

# Reasons as OpenSSL names them in ssl.SSLError.reason.
_REASON_WORDS = {
    "TLSV1_ALERT_PROTOCOL_VERSION": ("tls_protocol_version", "alert-protocol-version"),
    "UNSUPPORTED_PROTOCOL": ("tls_protocol_version", "protocol-too-old"),
    "VERSION_TOO_LOW": ("tls_protocol_version", "protocol-too-old"),
    "WRONG_SSL_VERSION": ("tls_protocol_version", "protocol-too-old"),
    "EE_KEY_TOO_SMALL": ("tls_weak_key", "key-too-small"),
    "CA_KEY_TOO_SMALL": ("tls_weak_key", "authority-key-too-small"),
    "CA_MD_TOO_WEAK": ("tls_weak_key", "digest-too-weak"),
    "DH_KEY_TOO_SMALL": ("tls_weak_key", "exchange-key-too-small"),
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": ("tls_client_cert", "alert-certificate-required"),
    "HTTP_REQUEST": ("tls_not_tls", "plain-http"),
}
_CERTIFICATE_REQUEST = 13  # handshake message type (RFC 5246, 7.4.4)


def trust(ca_bundle: str = "") -> ssl.SSLContext:
    """The system's trusted roots and those of *ca_bundle* (a PEM file), judged as browsers do.

    Strictness beyond that (VERIFY_X509_STRICT, default from Python 3.13 on) is left out: a site that every reader can
    open must not be called broken.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= _OP_LEGACY_SERVER_CONNECT
    context.hostname_checks_common_name = False
    context.load_default_certs()
    if ca_bundle:
        context.load_verify_locations(ca_bundle)
    return context


CERTIFICATE_WORDS = frozenset(word for word, _ in _VERIFY_WORDS.values())


def no_trust() -> ssl.SSLContext:
    """For the record only: shows what a server has, however bad. Nothing is ever asked over it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_ciphers("DEFAULT:@SECLEVEL=0")
    return context


def described(connection: ssl.SSLObject) -> Tls:
    """How a finished handshake protects the connection."""
    der = connection.getpeercert(binary_form=True)
    cipher = connection.cipher()
    return Tls(
        version=connection.version() or "", cipher=cipher[0] if cipher else "", certificate=certificate(der or b"")
    )


def certificate(der: bytes) -> Certificate | None:
    """What a certificate says of itself, or None when it cannot be read."""
    try:
        leaf = x509.load_der_x509_certificate(der)
        return Certificate(
            subject=leaf.subject.rfc4514_string(),
            issuer=leaf.issuer.rfc4514_string(),
            not_before=leaf.not_valid_before_utc.astimezone(UTC),
            not_after=leaf.not_valid_after_utc.astimezone(UTC),
            sha256="sha256:" + sha256(der).hexdigest(),
            names=_names(leaf),
        )
    except ValueError:
        return None


def _names(leaf: x509.Certificate) -> tuple[str, ...]:
    try:
        san = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return ()
    return tuple(str(n) for kind in (x509.DNSName, x509.IPAddress) for n in san.get_values_for_type(kind))


def fault_of(error: BaseException, first_bytes: bytes = b"") -> Fault:
    """Why a handshake failed. *first_bytes* are the server's first, as they came."""
    if isinstance(error, ssl.SSLCertVerificationError):
        word, rule = _VERIFY_WORDS.get(error.verify_code, ("tls_unknown_ca", f"verify-{error.verify_code}"))
        return Fault(word, rule, error.verify_message)
    if _is_text(first_bytes):
        said = first_bytes[:60].decode("ascii").splitlines()[0]
        return Fault("tls_not_tls", "plain-text", f"the server answers the handshake in plain text: {said!r}")
    if isinstance(error, TimeoutError):
        return Fault("tls_handshake_failed", "handshake-timeout", "the TLS handshake came to no end")
    if isinstance(error, ssl.SSLEOFError):
        return Fault("tls_handshake_failed", "handshake-closed", "the server closed the connection in the handshake")
    if isinstance(error, ssl.SSLError):
        reason = error.reason or ""
        if "ALERT" in reason and _asks_for_certificate(first_bytes):
            return Fault("tls_client_cert", "certificate-requested", f"asks for a client certificate, then {reason}")
        word, rule = _REASON_WORDS.get(reason, ("tls_handshake_failed", _rule(reason)))
        return Fault(word, rule, reason.replace("_", " ").lower() or str(error))
    if isinstance(error, ConnectionError):
        return Fault("tls_handshake_failed", "handshake-reset", "the server reset the connection in the handshake")
    return Fault("tls_handshake_failed", "handshake-failed", str(error))


def _rule(reason: str) -> str:
    return "handshake-" + (reason.lower().replace("_", "-") or "failed")


def _is_text(data: bytes) -> bool:
    """Whether bytes are printable ASCII; a TLS record starts with 0x14–0x18."""
    head = data[:60]
    return len(head) > 2 and all(32 <= byte < 127 or byte in b"\r\n\t" for byte in head)


def _asks_for_certificate(handshake: bytes) -> bool:
    """Whether a TLS 1.2 server's first flight holds a CertificateRequest. (That of TLS 1.3 is encrypted.)"""
    messages = bytearray()
    while len(handshake) >= 5 and handshake[0] == 22:
        size = int.from_bytes(handshake[3:5], "big")
        messages += handshake[5 : 5 + size]
        handshake = handshake[5 + size :]
    while len(messages) >= 4:
        if messages[0] == _CERTIFICATE_REQUEST:
            return True
        del messages[: 4 + int.from_bytes(messages[1:4], "big")]
    return False


@dataclass(frozen=True, slots=True)
class Issuer:
    """A certificate fetched by its AIA address. *is_root* when it signed itself; then it must not be trusted."""

    pem: str
    is_root: bool
    next_url: str


def issuer_url(der: bytes) -> str:
    """Where a certificate says that its issuer's certificate is (AIA, RFC 5280, 4.2.2.1), or ""."""
    try:
        access = x509.load_der_x509_certificate(der).extensions.get_extension_for_class(x509.AuthorityInformationAccess)
    except (x509.ExtensionNotFound, ValueError):
        return ""
    return next(
        (
            d.access_location.value
            for d in access.value
            if d.access_method == AuthorityInformationAccessOID.CA_ISSUERS
            and isinstance(d.access_location, x509.UniformResourceIdentifier)
        ),
        "",
    )


def issuer_of(body: bytes) -> Issuer | None:
    """Read what an AIA address served: DER, PEM, or a PKCS #7 bundle."""
    for load in (x509.load_der_x509_certificate, x509.load_pem_x509_certificate, _from_pkcs7):
        try:
            found = load(body)
        except ValueError:
            continue
        der = found.public_bytes(Encoding.DER)
        return Issuer(ssl.DER_cert_to_PEM_cert(der), found.issuer == found.subject, issuer_url(der))
    return None


def _from_pkcs7(body: bytes) -> x509.Certificate:
    return pkcs7.load_der_pkcs7_certificates(body)[0]
