"""Keys under which URLs are stored, computed from the URL alone, so that no module has to look them up.

They depend on the normal form (``FORM_VERSION``) and the suffix list (``SUFFIX_VERSION``); a change of either needs a
rekey of the store (O-10).
"""

from functools import lru_cache
from hashlib import blake2b
from struct import Struct
from typing import Final, NamedTuple

from weboid.core.url.hosts import registrable_domain
from weboid.core.url.urls import Url

BUCKETS: Final = 4096
"""A power of two, so that each bucket has the same share of the hashes."""
_SIGNED: Final = Struct(">q")


class UrlKey(NamedTuple):
    """The primary key of a URL: all hosts of a domain are in one bucket, all URLs of a host together (U-1)."""

    bucket: int
    host_key: int
    url_key: int


def url_key(normal: str) -> int:
    """The key of a URL in normal form: 64 bits, signed like PostgreSQL's ``bigint``."""
    return _hash(normal)


def host_key(host: str) -> int:
    """The key of a host in normal form: 64 bits, signed like PostgreSQL's ``bigint``."""
    return _hash(host)


def bucket(host: str) -> int:
    """The bucket (0 … 4095) of a host's registrable domain; of an IP address or bare suffix itself."""
    return _hash(registrable_domain(host)) % BUCKETS


def key_of(url: Url, normal: str | None = None) -> UrlKey:
    """The complete key of a URL; `normal` is its normal form, if the caller already has it."""
    return tuple.__new__(UrlKey, (*_host_part(url.host), _hash(normal or str(url))))  # twice as fast as UrlKey(…)


@lru_cache(maxsize=65_536)
def _host_part(host: str) -> tuple[int, int]:
    return bucket(host), host_key(host)


def _hash(text: str) -> int:
    return int(_SIGNED.unpack(blake2b(text.encode("ascii"), digest_size=8).digest())[0])
