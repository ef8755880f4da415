"""Reads a page of a site: its links as absolute URLs, and whether robots may follow them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from typing import Final, NamedTuple

import ada_url

from weboid.core.document.anchors import anchors_of
from weboid.core.document.charset import decoder_of
from weboid.core.document.links import DocumentLink, links_of
from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.urls import DEFAULT_PORTS, MAX_URL, parse, scheme_of

MOST_LINKS: Final = 100_000
"""Links that are read of a page; of more, it is counted that there are."""
_RESOLVED: Final = 2_048
_WRITTEN: Final = 2_000
"""Characters of a URL that is none, as it is shown."""
_HASH_BYTES: Final = 16
_META: Final = re.compile(r"<meta(?=[\s/])[^>]{1,500}>", re.IGNORECASE)
_FOR_ROBOTS: Final = re.compile(r"\bname\s*+=\s*+[\"']?+(?:robots|weboid)\b", re.IGNORECASE)
_NO_FOLLOW: Final = re.compile(r"\b(?:nofollow|none)\b", re.IGNORECASE)
_OTHER_ROBOT: Final = re.compile(r"\s*+([a-z][\w-]*+)\s*+:", re.IGNORECASE)


class Target(NamedTuple):
    """The target of a link: a URL in normal form, or why it is none that can be requested."""

    url: str
    fragment: str
    reason: str = ""
    """A scheme with a colon, or the word of an InvalidReason."""


@dataclass(frozen=True, slots=True)
class SitePage:
    """The content of a page as a run needs it."""

    links: list[tuple[DocumentLink, Target]]
    is_cut: bool
    """It has more links."""
    is_followed: bool
    anchors: set[str]
    content_hash: bytes
    """Of the body and of the folder to which its links are relative: the same body in another has other links."""


def page_of(url: str, body: bytes, headers: Mapping[str, str], *, with_anchors: bool) -> SitePage:
    """Reads a page that was loaded from a URL."""
    rest, decoder = decoder_of(body, headers.get("content-type", ""))
    markup = decoder.decode(rest, final=True)
    found = list(islice(links_of(markup), MOST_LINKS + 1))
    base = url
    for link in found:
        if link.kind == "base":
            base = _joined(url, link.url)
            break
    folder = base.partition("?")[0].rpartition("/")[0] + "/"
    links = [(link, _target(base, folder, link.url)) for link in found[:MOST_LINKS] if link.kind != "base"]
    return SitePage(
        links=links,
        is_cut=len(found) > MOST_LINKS,
        is_followed=not (_forbids(headers.get("x-robots-tag", "")) or any(map(_NO_FOLLOW.search, _robots(markup)))),
        anchors=anchors_of(markup) if with_anchors else set(),
        content_hash=blake2b(folder.encode() + b"\n" + body, digest_size=_HASH_BYTES).digest(),
    )


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
    target = _resolved(folder if written and written[0] != "?" else base, written)
    return target._replace(fragment=fragment) if fragment else target


@lru_cache(_RESOLVED)
def _resolved(base: str, written: str) -> Target:
    try:
        url = ada_url.join_url(base, written)
    except ValueError:
        return Target(written[:_WRITTEN], "", "invalid")
    scheme = scheme_of(url)
    if scheme not in DEFAULT_PORTS:
        return Target(url[:_WRITTEN], "", f"{scheme}:")
    try:
        return Target(str(parse(url)), "")
    except InvalidUrl as invalid:
        return Target(url[:_WRITTEN], "", invalid.reason.value)
