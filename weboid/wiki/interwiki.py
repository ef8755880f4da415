"""The interwiki map: from a prefix and a title to the URL that MediaWiki links to (L-1). It is read by the sources."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import quote

from weboid.core.url.link_kind import InterwikiLink
from weboid.wiki.source import clean_text, with_scheme

_KEPT: Final = ";@$!*(),/~:"
"""The characters that MediaWiki's ``wfUrlencode`` does not encode, besides letters, digits and ``-_.``."""


@dataclass(frozen=True, slots=True)
class Interwiki:
    """One entry of the map; ``url`` has ``$1`` in place of the title."""

    prefix: str
    url: str
    local: bool


class InterwikiMap:
    """The interwiki prefixes of one wiki."""

    def __init__(self, entries: Iterable[Interwiki]) -> None:
        self._urls = {entry.prefix.lower(): with_scheme(entry.url) for entry in entries if not entry.local}

    @classmethod
    def from_siteinfo(cls, listed: object) -> Self:
        """The map in an API answer's ``query.interwikimap``; entries of another shape are skipped."""
        return cls(_entries(listed if isinstance(listed, list) else ()))

    def target(self, prefix: str, title: str) -> str | None:
        """The URL of an interwiki link, https if the map gives no scheme; None for an unknown or local prefix (L-1)."""
        url = self._urls.get(prefix.lower())
        if url is None:
            return None
        return url.replace("$1", quote(title.replace(" ", "_"), safe=_KEPT, errors="replace"))

    def link(self, prefix: str, title: str) -> InterwikiLink | None:
        """The link of a page with that prefix and title; None if it is not watched."""
        url = self.target(prefix, title)
        if not url:
            return None
        return InterwikiLink(clean_text(url), clean_text(prefix), clean_text(title.replace("_", " ")))

    def __len__(self) -> int:
        return len(self._urls)


def _entries(listed: Iterable[object]) -> Iterable[Interwiki]:
    for entry in listed:
        match entry:
            case {"prefix": str(prefix), "url": str(url), **more}:
                # Format version 1 writes a flag that is set as the empty string, and leaves the others out.
                # MediaWiki fills a missing scheme in with that of the request.
                bare = url.removeprefix("http:") if more.get("protorel", False) is not False else url
                yield Interwiki(prefix, bare, local=more.get("local", False) is not False)
            case _:
                pass
