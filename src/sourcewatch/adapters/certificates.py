"""Certificates made on the spot, for the demo's and the tests' own webs. Never for anything that others reach."""

from __future__ import annotations

import ssl
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import AuthorityInformationAccessOID, NameOID

Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


@dataclass(frozen=True, slots=True)
class Identity:
    """A certificate with its private key."""

    certificate: x509.Certificate
    key: Key

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(Encoding.PEM)

    @property
    def der(self) -> bytes:
        return self.certificate.public_bytes(Encoding.DER)

    @property
    def key_pem(self) -> bytes:
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def make_root(name: str = "sourcewatch test root") -> Identity:
    """A root of its own, valid from yesterday for ten years."""
    return issue(None, (), common_name=name, is_authority=True, days=3650)


def issue(
    issuer: Identity | None,
    names: Sequence[str],
    *,
    common_name: str = "",
    not_before: datetime | None = None,
    days: float = 30,
    is_authority: bool = False,
    rsa_bits: int = 0,
    aia_url: str = "",
) -> Identity:
    """A certificate for *names* (DNS or IP), signed by *issuer* or by itself; an elliptic key unless *rsa_bits*."""
    key: Key = rsa.generate_private_key(65537, rsa_bits) if rsa_bits else ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name or names[0])])
    start = not_before or datetime.now(UTC) - timedelta(days=1)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.certificate.subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(_general_names(names)), critical=False)
    if issuer:
        signer = issuer.certificate.public_key()
        assert isinstance(signer, ec.EllipticCurvePublicKey | rsa.RSAPublicKey)
        builder = builder.add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer), critical=False)
    if aia_url:
        where = x509.AccessDescription(
            AuthorityInformationAccessOID.CA_ISSUERS, x509.UniformResourceIdentifier(aia_url)
        )
        builder = builder.add_extension(x509.AuthorityInformationAccess([where]), critical=False)
    return Identity(builder.sign(issuer.key if issuer else key, hashes.SHA256()), key)


def _general_names(names: Iterable[str]) -> Iterable[x509.GeneralName]:
    for name in names:
        try:
            yield x509.IPAddress(ip_address(name))
        except ValueError:
            yield x509.DNSName(name)


def server_context(identity: Identity, *chain: Identity) -> ssl.SSLContext:
    """A server's TLS context that shows *identity* and then *chain*."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_ciphers("DEFAULT:@SECLEVEL=0")  # or it would refuse the weak keys that tests are made of
    with tempfile.TemporaryDirectory() as folder:  # ssl reads keys from files only
        path = Path(folder, "identity.pem")
        path.touch(0o600)
        path.write_bytes(identity.key_pem + identity.pem + b"".join(link.pem for link in chain))
        context.load_cert_chain(path)
    return context
