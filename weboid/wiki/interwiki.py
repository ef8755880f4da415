"""The interwiki map: from a prefix and a title to the URL that MediaWiki links to (L-1). It is read by the sources."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Final, NamedTuple, Self
from urllib.parse import quote, unquote

from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.link_kind import InterwikiLink
from weboid.core.url.urls import Url, parse
from weboid.wiki.source import clean_text, with_scheme

_KEPT: Final = ";@$!*(),/~:"
"""The characters that MediaWiki's ``wfUrlencode`` does not encode, besides letters, digits and ``-_.``."""

_MOST: Final = 20_000
"""Entries that are read: Wikimedia's map has a thousand."""


@dataclass(frozen=True, slots=True)
class Interwiki:
    """One entry of the map; ``url`` has ``$1`` in place of the title. ``api`` and ``wikiid`` are empty if not given."""

    prefix: str
    url: str
    local: bool
    api: str = ""
    wikiid: str = ""


class InterwikiMap:
    """The interwiki prefixes of one wiki."""

    def __init__(self, entries: Iterable[Interwiki]) -> None:
        listed = [replace(entry, prefix=entry.prefix.lower(), url=with_scheme(entry.url)) for entry in entries]
        self._urls = {entry.prefix: entry.url for entry in listed if not entry.local}
        self._local = {entry.prefix: entry for entry in listed if entry.local}

    @cached_property
    def _by_host(self) -> dict[tuple[str, int], "LocalWiki"]:
        """Of several entries of one host that with the shortest addresses."""
        wikis = [wiki for wiki in map(_local_wiki, self._local.values()) if wiki is not None]
        return {wiki.host: wiki for wiki in sorted(wikis, key=lambda wiki: -len(wiki.head))}

    @classmethod
    def from_siteinfo(cls, listed: object) -> Self:
        """The map in an API answer's ``query.interwikimap``; entries of another shape are skipped."""
        return cls(_entries(islice(listed, _MOST) if isinstance(listed, list) else ()))

    def target(self, prefix: str, title: str) -> str | None:
        """The URL of an interwiki link, https if the map gives no scheme; None for an unknown or local prefix (L-1)."""
        return None if (url := self._urls.get(prefix.lower())) is None else _filled(url, title)

    def link(self, prefix: str, title: str) -> InterwikiLink | None:
        """The link of a page with that prefix and title; None if it is not watched."""
        url = self.target(prefix, title)
        if not url:
            return None
        return InterwikiLink(clean_text(url), clean_text(prefix), clean_text(title.replace("_", " ")))

    def local_link(self, prefix: str, title: str) -> InterwikiLink | None:
        """The same of a wiki of the same farm, whose pages are not watched either; None for every other prefix."""
        if (entry := self._local.get(prefix.lower())) is None or not title:
            return None
        url = _filled(entry.url, title)
        return InterwikiLink(clean_text(url), clean_text(prefix), clean_text(title.replace("_", " ")), is_local=True)

    def page_at(self, url: Url) -> "tuple[LocalWiki, str] | None":
        """The wiki of the same farm to which a URL leads, and the title of the page; None if it leads to no page."""
        if (wiki := self._by_host.get((url.host, url.port))) is None or not url.path.startswith(wiki.head):
            return None
        rest = url.path.removeprefix(wiki.head)
        if not rest or ("&" if "?" in wiki.head else "?") in rest:
            return None
        title = unquote(rest.replace("+", " ") if "?" in wiki.head else rest)
        return wiki, clean_text(title.replace("_", " "))

    def __len__(self) -> int:
        return len(self._urls) + len(self._local)


class LocalWiki(NamedTuple):
    """A wiki of the same farm, by its entry in the map: `origin` and `head` begin its addresses, up to the title."""

    host: tuple[str, int]
    origin: str
    head: str
    entry: Interwiki


def _local_wiki(entry: Interwiki) -> LocalWiki | None:
    """None for an entry whose addresses do not end in the title, or begin it themselves (``…/wiki/Special:…/$1``)."""
    head, is_titled, tail = entry.url.partition("$1")
    with suppress(InvalidUrl):
        url = parse(head)
        if is_titled and not tail and ":" not in url.path:
            return LocalWiki((url.host, url.port), str(url._replace(path="")), url.path, entry)
    return None


def _filled(url: str, title: str) -> str:
    return url.replace("$1", quote(title.replace(" ", "_"), safe=_KEPT, errors="replace"))


def _entries(listed: Iterable[object]) -> Iterable[Interwiki]:
    for entry in listed:
        match entry:
            case {"prefix": str(prefix), "url": str(url), **more}:
                # Format version 1 writes a flag that is set as the empty string, and leaves the others out.
                # MediaWiki fills a missing scheme in with that of the request.
                bare = url.removeprefix("http:") if more.get("protorel", False) is not False else url
                is_local = more.get("local", False) is not False
                yield Interwiki(prefix, bare, is_local, str(more.get("api", "")), str(more.get("wikiid", "")))
            case _:
                pass
