"""Certificates for the hosts of a world: the authority that the crawler trusts, and those that it does not (C-9).

One law: a certificate's fault is in the certificate, so that the client's own library finds it.
"""

import ssl
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from weboid.demo.world import Certificate, Lost, World, behaviour_on, lost_on

_CONTEXTS: Final = 20_000
_LONG: Final = timedelta(days=3650)
_STRANGER: Final = "other.example"


def certificate_on(world: World, host: str, day: int, hour: int = 0) -> Certificate:
    """The certificate that a host shows on a day; hosts outside the world have a valid one."""
    if lost_on(world, host, day) is Lost.CAPTIVE:
        return Certificate.WRONG_HOST
    known = world.hosts.get(host.lower())
    return behaviour_on(known.certificate, day, hour) if known else Certificate.FINE


class Authority:
    """An authority of its own with its file of trust in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.ca_file = folder / "authority.pem"
        """What a client must trust."""
        self._folder = folder
        self._now = now = datetime.now(UTC)
        self._key = ec.generate_private_key(ec.SECP256R1())
        """Of all hosts: to make one is what costs."""
        self._ours, self._theirs = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
        root = self._signed("Weboid's little authority", None, self._ours, self._ours, now)
        self.ca_file.write_bytes(root.public_bytes(serialization.Encoding.PEM))
        self.context_of = lru_cache(maxsize=_CONTEXTS)(self._new_context)

    def server_context(self, world: World, day: Callable[[], int], hour: Callable[[str], int]) -> ssl.SSLContext:
        """A context that shows every client the certificate of the host it asks for, as it is at that moment."""

        def choose(connection: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
            host = (name or "").lower()
            connection.context = self.context_of(host, certificate_on(world, host, day(), hour(host)))

        context = self._new_context(_STRANGER, Certificate.FINE)
        context.sni_callback = choose
        return context

    def _new_context(self, host: str, state: Certificate) -> ssl.SSLContext:
        names, signer, begun = host or _STRANGER, self._ours, self._now
        match state:
            case Certificate.EXPIRED:
                begun = self._now - _LONG - timedelta(days=1)
            case Certificate.WRONG_HOST:
                names = _STRANGER
            case Certificate.SELF_SIGNED:
                signer = self._key
            case Certificate.UNKNOWN_ISSUER:
                signer = self._theirs
            case Certificate.FINE:
                pass
        issuer = names if state is Certificate.SELF_SIGNED else None
        certificate = self._signed(names, issuer, self._key, signer, begun)
        file = self._folder / "leaf.pem"
        secret = self._key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        file.write_bytes(secret + certificate.public_bytes(serialization.Encoding.PEM))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(file)
        return context

    def _signed(
        self,
        name: str,
        issuer: str | None,
        key: ec.EllipticCurvePrivateKey,
        signer: ec.EllipticCurvePrivateKey,
        begun: datetime,
    ) -> x509.Certificate:
        """A certificate of a name; `issuer` None = of an authority, who is named after its key."""
        root = key is signer and issuer is None
        names = {self._ours: "Weboid's little authority", self._theirs: "Somebody else's authority"}
        builder = (
            x509.CertificateBuilder()
            .subject_name(_named(name))
            .issuer_name(_named(issuer or names[signer]))
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(begun - timedelta(days=1))
            .not_valid_after(begun + _LONG)
            .add_extension(x509.BasicConstraints(ca=root, path_length=None), critical=True)
        )
        if not root:
            builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        return builder.sign(signer, hashes.SHA256())


def _named(name: str) -> x509.Name:
    # A common name has at most 64 characters; clients go by the alternative names alone.
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name[:64])])
