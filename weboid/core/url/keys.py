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
    return int(_SIGNED.unpack(blake2b(normal.encode("ascii"), digest_size=8).digest())[0])


host_key: Final = url_key
"""The key of a host in normal form, likewise."""


def bucket(host: str) -> int:
    """The bucket (0 … 4095) of a host's registrable domain; of an IP address or bare suffix itself."""
    return url_key(registrable_domain(host)) % BUCKETS


def key_of(url: Url) -> UrlKey:
    """The complete key of a URL."""
    return tuple.__new__(UrlKey, (*_host_part(url.host), url_key(str(url))))  # twice as fast as UrlKey(…)


@lru_cache(maxsize=65_536)
def _host_part(host: str) -> tuple[int, int]:
    return bucket(host), host_key(host)
