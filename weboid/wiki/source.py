"""The protocol of every source of pages and links, and the value that all of them yield; no source lives here.

One law: whichever source answers, the same page gives the same ``PageLinks`` (L-2).
"""

import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

WIKITEXT: Final = "wikitext"
"""The only content model that is watched (P-2)."""

_USER: Final = 2
_MEDIAWIKI: Final = 8
_MODULE: Final = 828
_MODELS_BY_ENDING: Final = {"js": "javascript", "css": "css", "json": "json", "vue": "vue"}
_UNFIT: Final = re.compile("[\0-\x1f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class PageLinks:
    """One page and everything outside the wiki that it links to.

    ``title`` has spaces and no namespace prefix: ``namespace`` says it. ``latest`` is the current revision id;
    ``links_updated`` a MediaWiki timestamp (``20261121020703``), or None where the source does not know it.
    ``urls`` are external links and targets of foreign interwiki links (L-1), sorted by code point, each once.
    """

    page: int
    namespace: int
    title: str
    latest: int
    links_updated: str | None
    urls: tuple[str, ...]


class WikiSource(Protocol):
    """A way to read pages with their links."""

    def pages(self, namespaces: frozenset[int]) -> AsyncIterator[Sequence[PageLinks]]:
        """Every wikitext page of the namespaces that is no redirect, linking or not, in batches of at most 500.

        The order is the source's own. Raises SourceError when the source cannot be read to its end.
        """
        ...

    async def find_pages(self, *, ids: Sequence[int] = (), titles: Sequence[str] = ()) -> list[PageLinks]:
        """The named wikitext pages as they are this second, by page id and each once; missing ones are left out.

        A title (with its namespace prefix) that redirects gives the page it leads to; an id gives that page itself.
        Raises SourceError when the source cannot answer now.
        """
        ...

    async def close(self) -> None:
        """Give back what the source itself opened."""
        ...


def clean_text(text: str) -> str:
    """The text with control characters and lone surrogates, which MediaWiki never stores, as U+FFFD.

    It can then be encoded, kept in PostgreSQL and written one to a line.
    """
    return text if text.isprintable() else _UNFIT.sub("\ufffd", text)


def default_model(namespace: int, title: str) -> str:
    """The content model of a page whose ``page_content_model`` is NULL; the title is without prefix."""
    ending = title.rpartition(".")[2]
    if namespace == _MODULE:
        return WIKITEXT if title.endswith("/doc") else "Scribunto"
    if namespace == _MEDIAWIKI or (namespace == _USER and "/" in title):
        return _MODELS_BY_ENDING.get(ending, WIKITEXT)
    return WIKITEXT
