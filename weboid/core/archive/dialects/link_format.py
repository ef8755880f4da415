"""Reads link-format (RFC 6690, RFC 8288), the TimeMaps of Memento written in it (RFC 7089 §5), and Link headers.

Order of links, of attributes and of the words of ``rel`` is free; commas, semicolons and line breaks occur inside of
targets and quoted values; values need no quotes.
"""

import re
from datetime import datetime
from typing import Final, NamedTuple
from urllib.parse import urljoin

from weboid.core.archive.captures import Capture
from weboid.core.archive.dialects.cdx import MOST_CAPTURES
from weboid.core.archive.dialects.replies import http_moment_of, moment_of, original_of
from weboid.core.url.spellings import as_meant

_TARGET: Final = re.compile(r"[\s,]*<([^<>]*)>")
_ATTRIBUTE: Final = re.compile(
    r"""\s*;\s*(?:([^\s=;,"<>]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"<>]+)))?)?""", re.DOTALL
)
_END: Final = re.compile(r"\s*(,|\Z)")
_NEXT: Final = re.compile(r",\s*(?=<)")
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)
_ABSOLUTE: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_STAMPED: Final = re.compile(r"/([0-9]{14})(?:[a-z]{2}_)?/(.+)", re.DOTALL)
_BREAK: Final = re.compile(r"(?<![ \t])[ \t]*[\r\n]\s*")
"""In the middle of a target, as in RFC 7089, figure 28."""
_BEGINS: Final = re.compile(r"<[^<>]*>\s*;")


class TypedLink(NamedTuple):
    """One link: its target as written, the words of its `rel` in lower case, and its other attributes by lower-case
    name, the first of each name counting."""

    target: str
    relations: frozenset[str]
    attributes: dict[str, str]


class TimeMap(NamedTuple):
    """The captures of a TimeMap, with the address of each; `original` None if it does not say of what it is one.

    `more` are further TimeMaps, `bad` counts unreadable links to captures, `is_cut` = the end is missing.
    """

    captures: tuple[Capture, ...]
    original: str | None = None
    more: tuple[str, ...] = ()
    bad: int = 0
    is_cut: bool = False


def links_of(text: str) -> tuple[TypedLink, ...]:
    """The links of a link-format text or a Link header; what cannot be read is passed over."""
    return _read(text)[0]


def is_link_format(text: str) -> bool:
    """True if a text from ``replies.text_of`` begins as link-format does."""
    return _BEGINS.match(text) is not None


def timemap_of(text: str, *, base: str, url: str) -> TimeMap | None:
    """The captures of a TimeMap or of a Link header; None if the text is no link-format. Relative targets are resolved
    at `base`; `url` is the original where the text names none."""
    if not is_link_format(text):
        return None
    links, is_cut = _read(text)
    named = next((link.target for link in links if "original" in link.relations), None)
    original = original_of(as_meant(named, url)) if named else None
    captures: dict[tuple[datetime, str], Capture] = {}
    mementos = [link for link in links if "memento" in link.relations]
    readable = 0
    for link in mementos[:MOST_CAPTURES]:
        if capture := memento_at(_resolved(base, link.target), original or url, link.attributes.get("datetime", "")):
            captures.setdefault((capture.taken, capture.original), capture)
            readable += 1
    more = tuple(
        _resolved(base, link.target) for link in links if "timemap" in link.relations and "self" not in link.relations
    )
    return TimeMap(tuple(captures.values()), original, more, min(len(mementos), MOST_CAPTURES) - readable, is_cut)


def memento_at(address: str, original: str, date: str = "") -> Capture | None:
    """The capture at an address; None if neither that nor `date` (an HTTP date) has a moment.

    Moment and original in the address count more, since they are replayed. What `original` has not escaped for HTML,
    the address has not, either.
    """
    taken = http_moment_of(date)
    address = as_meant(address, original)
    if stamped := _STAMPED.search(address):
        taken = moment_of(stamped[1]) or taken
        inside = stamped[2] if _ABSOLUTE.match(stamped[2]) else f"http://{stamped[2]}"
        original = original_of(inside) or original
    whole = original_of(address)
    return Capture(taken, original, address=whole) if taken and whole else None


def _read(text: str) -> tuple[tuple[TypedLink, ...], bool]:
    """The links, and whether the last one is cut or announces another."""
    links: list[TypedLink] = []
    text = text.rstrip()
    at = 0
    is_cut = False
    while at < len(text):
        link, at, is_whole = _link_at(text, at)
        if link and is_whole:
            links.append(link)
            is_cut = at == len(text) and text.endswith((",", ";"))
            continue
        resumed = _NEXT.search(text, at)
        is_cut = resumed is None and text[at:].strip(" \t\r\n,") != ""
        at = resumed.end() if resumed else len(text)
    return tuple(links), is_cut


def _link_at(text: str, at: int) -> tuple[TypedLink | None, int, bool]:
    """The link at a position, the position behind it, and whether it ends as a link does."""
    target = _TARGET.match(text, at)
    if not target:
        return None, at, False
    at = target.end()
    attributes: dict[str, str] = {}
    while attribute := _ATTRIBUTE.match(text, at):
        at = attribute.end()
        name, quoted, plain = attribute.groups()
        if name:
            value = _ESCAPED.sub(r"\1", quoted) if quoted is not None else plain or ""
            attributes.setdefault(name.lower(), value)
    relations = frozenset(attributes.pop("rel", "").lower().split())
    end = _END.match(text, at)
    link = TypedLink(_BREAK.sub("", target[1].strip()), relations, attributes)
    return link, end.end() if end else at, end is not None


def _resolved(base: str, target: str) -> str:
    if _ABSOLUTE.match(target):
        return target
    try:
        return urljoin(base, target)
    except ValueError:
        return target
