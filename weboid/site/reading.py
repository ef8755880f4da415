"""Reads a page of a site: its links as absolute URLs, and whether robots may follow them."""

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from html import unescape
from itertools import islice
from typing import Final, NamedTuple
from zlib import crc32

import ada_url

from weboid.core.document.card import DESCRIPTION_BYTES, plain
from weboid.core.document.charset import decoder_of
from weboid.core.document.links import DocumentLink, links_of
from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.urls import DEFAULT_PORTS, MAX_URL, parse, scheme_of
from weboid.robot.orders import Orders
from weboid.store.site.entry import KeptPage

MOST_BYTES: Final = 16_777_216
"""Bytes of a page, decompressed, that are read; its links after that are not found."""
MOST_LINKS: Final = 100_000
"""Links that are read of a page; of more, it is counted that there are."""
_RESOLVED: Final = 2_048
_WRITTEN: Final = 2_000
"""Characters of a URL that is none, as it is shown."""
_HASH_BYTES: Final = 16
_META: Final = re.compile(r"<meta(?=[\s/])[^>]{1,500}>", re.IGNORECASE)
_HEAD: Final = 65_536
"""Characters in which title and description stand."""
_TITLE: Final = re.compile(r"<title\b[^>]{0,200}>(?P<words>[^<]{1,2000})", re.IGNORECASE)
_DESCRIPTION: Final = re.compile(
    r"<meta\s[^>]{0,200}?name=[\"']?description[\"']?\s[^>]{0,200}?content=([\"'])(?P<words>[^>]{1,2000}?)\1",
    re.IGNORECASE,
)
_FOR_ROBOTS: Final = re.compile(r"\bname\s*+=\s*+[\"']?+(?:robots|weboid)\b", re.IGNORECASE)
_NO_FOLLOW: Final = re.compile(r"\b(?:nofollow|none)\b", re.IGNORECASE)
_OTHER_ROBOT: Final = re.compile(r"\s*+([a-z][\w-]*+)\s*+:", re.IGNORECASE)


class Target(NamedTuple):
    """The target of a link: a URL, or why it is none that can be requested."""

    url: str
    """Absolute, as browsers resolve what is written; without a password."""
    fragment: str
    reason: str = ""
    """A scheme with a colon, or the word of an InvalidReason."""
    form: str = ""
    """In normal form, if it can be requested."""


@dataclass(frozen=True, slots=True)
class SitePage:
    """The content of a page as a run needs it."""

    links: list[tuple[DocumentLink, Target]]
    is_cut: bool
    """It has more links, or more bytes."""
    is_followed: bool
    anchors: "array[int] | None"
    """Numbers of what fragments can name, sorted; None if they are not known."""
    content_hash: bytes
    """Of the body and of the folder to which its links are relative: the same body in another has other links."""
    written: Sequence[DocumentLink] = ()
    """All that was read, those of kind `base`, too."""
    source: str = ""
    title: str = ""
    description: str = ""


def page_of(url: str, body: bytes, headers: Mapping[str, str], orders: Orders, *, with_anchors: bool) -> SitePage:
    """Reads a page that was loaded from a URL by these orders."""
    rest, decoder = decoder_of(body, headers.get("content-type", ""))
    markup = decoder.decode(rest, final=True)
    names: set[str] | None = set() if with_anchors else None
    found = list(islice(links_of(markup, names), MOST_LINKS + 1))
    written = found[:MOST_LINKS]
    is_cut = len(found) > MOST_LINKS or len(body) >= min(orders.most_bytes, MOST_BYTES)
    links, folder = _with_targets(url, written)
    return SitePage(
        links=links,
        is_cut=is_cut,
        is_followed=not (_forbids(headers.get("x-robots-tag", "")) or any(map(_NO_FOLLOW.search, _robots(markup)))),
        # What is missing may be in the rest.
        anchors=None if names is None or is_cut else array("I", sorted({0, *map(number_of, names)})),
        content_hash=blake2b(folder.encode() + b"\n" + body, digest_size=_HASH_BYTES).digest(),
        written=written,
        source=markup if orders.needs_source else "",
        title=_words(_TITLE.search(markup, 0, _HEAD)),
        description=_words(_DESCRIPTION.search(markup, 0, _HEAD)),
    )


def page_again(url: str, kept: KeptPage) -> SitePage:
    """The page that is kept of a URL."""
    anchors = array("I", kept.ids) if kept.ids else None
    links, _ = _with_targets(url, kept.links)
    words = {"title": kept.title, "description": kept.description}
    return SitePage(links, False, kept.followed, anchors, kept.content_hash, kept.links, **words)


def kept_page(page: SitePage, headers: Mapping[str, str]) -> KeptPage:
    """The page as it is kept."""
    etag, modified = (headers.get(name, "") for name in ("etag", "last-modified"))
    ids = b"" if page.anchors is None else page.anchors.tobytes()
    words = page.title, page.description
    return KeptPage(page.content_hash, etag, modified, ids, page.is_followed, *words, tuple(page.written))


def _words(found: re.Match[str] | None) -> str:
    """The words of a page about itself, bounded and without hidden characters."""
    return plain(unescape(found["words"]), DESCRIPTION_BYTES) if found else ""


def number_of(anchor: str) -> int:
    """The number of what a fragment names, alike in all runs: 32 bits."""
    return crc32(anchor.encode("utf-8", "surrogatepass"))


def _with_targets(url: str, written: Sequence[DocumentLink]) -> tuple[list[tuple[DocumentLink, Target]], str]:
    """The links of a page with their targets, and the folder to which they are relative."""
    base = next((_joined(url, link.url) for link in written if link.kind == "base"), url)
    folder = base.partition("?")[0].rpartition("/")[0] + "/"
    return [(link, _target(base, folder, link.url)) for link in written if link.kind != "base"], folder


def _robots(markup: str) -> Iterator[str]:
    """The tags by which a document speaks to robots."""
    return (tag[0] for tag in _META.finditer(markup) if _FOR_ROBOTS.search(tag[0]))


def _forbids(header: str) -> bool:
    """True if a header ``X-Robots-Tag`` forbids us to follow links; it may be for another robot."""
    other = _OTHER_ROBOT.match(header)
    return _NO_FOLLOW.search(header) is not None and (other is None or other[1].lower() in ("robots", "weboid"))


def _joined(base: str, href: str) -> str:
    try:
        joined = ada_url.join_url(base, href)
    except ValueError:
        return base
    return joined if joined.startswith(("http:", "https:")) else base


def _target(base: str, folder: str, href: str) -> Target:
    written, _, fragment = href.partition("#")
    if len(href) > MAX_URL:
        return Target(written[:_WRITTEN], fragment, "too-long")
    # What a link of a folder leads to does not hang on the page, but for empty links and those of a query alone.
    target = resolved(folder if written and written[0] != "?" else base, written)
    return target._replace(fragment=fragment) if fragment else target


@lru_cache(_RESOLVED)
def resolved(base: str, written: str) -> Target:
    """The target of what is written without a fragment, as seen from a URL."""
    try:
        url = ada_url.join_url(base, written)
    except ValueError:
        return Target(written[:_WRITTEN], "", "invalid")
    scheme = scheme_of(url)
    if scheme not in DEFAULT_PORTS:
        return Target(url[:_WRITTEN], "", f"{scheme}:")
    host = base.split("/")[2].partition(":")[0]
    try:
        # A page may name its own server, even if there is no dot in its name.
        form = str(parse(url) if "." in host else parse(url, frozenset((host,))))
    except InvalidUrl as invalid:
        return Target(url[:_WRITTEN], "", invalid.reason.value)
    return Target(form if url == form or "@" in url.split("/")[2] else url, "", "", form)
