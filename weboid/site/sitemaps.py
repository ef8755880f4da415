"""Reads sitemaps (sitemaps.org): the URLs that they list, without entities of their own, and within bounds. Pure."""

import re
import zlib
from collections.abc import Iterator
from html import unescape
from typing import Final

from weboid.core.url.urls import MAX_URL

MOST_BYTES: Final = 50_000_000
"""Of a sitemap, unpacked; the rest is not read (sitemaps.org allows as many)."""
_GZIP: Final = b"\x1f\x8b"
_LOCATION: Final = re.compile(
    rb"<(?:(?!image:|video:|news:)[A-Za-z0-9]++:)?loc(?=[\s>])[^>]*+>\s*+(?:<!\[CDATA\[\s*+)?+([^<\]]++)"
)
_INDEX: Final = re.compile(rb"<(?:[A-Za-z0-9]++:)?sitemapindex[\s>]")
_OWN_ENTITY: Final = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#[0-9]{1,7}|#x[0-9a-fA-F]{1,6});)")
_BEGINNING: Final = 65_536


def unpacked(body: bytes) -> bytes:
    """The text of a sitemap, which may be packed by gzip; what is damaged ends there."""
    if not body.startswith(_GZIP):
        return body[:MOST_BYTES]
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(body, MOST_BYTES)
    except zlib.error:
        return b""


def is_sitemap(body: bytes) -> bool:
    """True if a document is a sitemap or an index of some."""
    return re.search(rb"<(?:[A-Za-z0-9]++:)?(?:urlset|sitemapindex)[\s>]", body[:_BEGINNING]) is not None


def is_index(body: bytes) -> bool:
    """True if a sitemap lists other sitemaps."""
    return _INDEX.search(body[:_BEGINNING]) is not None


def locations_of(body: bytes) -> Iterator[str]:
    """The URLs that a sitemap lists, as written; those with an entity of the document's own are left out."""
    for found in _LOCATION.finditer(body):
        text = found[1].decode("utf-8", "replace").strip()
        if len(text) <= MAX_URL and not _OWN_ENTITY.search(text):
            yield unescape(text)
