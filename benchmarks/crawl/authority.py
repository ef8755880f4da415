"""The authority of the benchmarks and a certificate for each domain (ECDSA P-256).

One law: an authority lives as long as the folder it was made in; nobody else ever trusts it.
"""

from dataclasses import dataclass
from pathlib import Path

import trustme

from benchmarks.crawl.links import DOMAINS


@dataclass(frozen=True, slots=True)
class Authority:
    """`ca` is what clients trust, `certificates` what the server shows: certificate and key of each domain in turn."""

    ca: Path
    certificates: Path


def made_authority(folder: Path) -> Authority:
    """A new authority with wildcard certificates for ``*.s<n>.demo``; takes some tenths of a second."""
    made = Authority(folder / "ca.pem", folder / "certificates.pem")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(made.ca))
    with made.certificates.open("wb") as file:
        for number in range(DOMAINS):
            leaf = authority.issue_cert(f"*.s{number}.demo")
            file.write(leaf.cert_chain_pems[0].bytes() + leaf.private_key_pem.bytes())
    return made
