"""The protocols of the sources of pages and links, and the values that all of them yield.

The sources are ``wiki/api``, ``wiki/replica`` and ``wiki/dump``. The same page gives the same ``PageLinks`` from every
source (L-2).
"""

import re
from collections.abc import AsyncGenerator, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import repeat
from operator import add
from typing import TYPE_CHECKING, Final, Protocol

from weboid.core.url.link_kind import InterwikiLink
from weboid.core.url.mediawiki import stored_url
from weboid.core.wikitext.titles import Namespace

if TYPE_CHECKING:
    from weboid.wiki.interwiki import InterwikiMap

WIKITEXT: Final = "wikitext"
"""The only content model that is watched (P-2)."""
_ORIGINS: Final = 150_000
_USER: Final = 2
_MEDIAWIKI: Final = 8
_MODULE: Final = 828
_MODELS_BY_ENDING: Final = {"js": "javascript", "css": "css", "json": "json", "vue": "vue"}
_UNFIT: Final = re.compile("[\0-\x1f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class PageState:
    """A page as its wiki lists it, without its links.

    ``title`` has spaces and no namespace prefix; ``namespace`` is the number. ``latest`` is the current revision id.
    ``mark`` differs whenever the links may: a MediaWiki timestamp as a number (20261121020703), of the last time the
    links were updated or, where a source does not know that, the page was touched; None if nothing is known.
    """

    page: int
    namespace: int
    title: str
    latest: int
    mark: int | None
    model: str = WIKITEXT
    redirect: bool = False

    @property
    def is_watchable(self) -> bool:
        """Returns whether such a page is watched at all (P-2)."""
        return self.model == WIKITEXT and not self.redirect


@dataclass(frozen=True, slots=True)
class PageLinks:
    """One wikitext page and all URLs outside the wiki that it links to; the first fields are those of `PageState`.

    ``urls`` are external links and targets of foreign interwiki links (L-1), sorted by code point, each once;
    ``interwiki`` are those among them that the page links to by a prefix, each URL once. ``local`` are interwiki links
    to wikis of the same farm, which are not watched: the Action API gives them, for a reader's answer.
    """

    page: int
    namespace: int
    title: str
    latest: int
    mark: int | None
    urls: tuple[str, ...]
    interwiki: tuple[InterwikiLink, ...] = ()
    local: tuple[InterwikiLink, ...] = field(default=(), compare=False)

    @property
    def all_urls(self) -> tuple[str, ...]:
        """``urls`` and those of ``local`` links, sorted by code point, each once."""
        return tuple(sorted({*self.urls, *(link.url for link in self.local)})) if self.local else self.urls


@dataclass(frozen=True, slots=True)
class Selection:
    """One query for pages, in the languages of both live sources. Criteria make them (P-4), sources run them.

    ``question`` has the Action API's parameters of a generator of pages, without limit and continuation; None = the
    API cannot answer it. ``statement`` is the name of a query in ``sql/replica/``, ``values`` are its parameters.
    """

    question: Mapping[str, str] | None
    statement: str
    values: Mapping[str, int | str | Sequence[int]]


@dataclass(frozen=True, slots=True)
class WalkBatch:
    """A batch of a walk, and the place from which the same walk goes on after it."""

    pages: Sequence[PageState]
    place: str


class PageReader(Protocol):
    """A way to read single pages live. Every method raises SourceError when it cannot answer now."""

    async def find_namespaces(self) -> Sequence[Namespace]:
        """The names of the wiki's namespaces."""

    async def find_pages(self, *, ids: Sequence[int] = (), titles: Sequence[str] = ()) -> list[PageLinks]:
        """The named wikitext pages as they are now, by page id and each once; missing ones are left out.

        A title (with its namespace prefix) that redirects gives the page it leads to; an id gives that page itself.
        """

    async def close(self) -> None:
        """Closes what the source itself opened."""


@dataclass(frozen=True, slots=True)
class Members:
    """Some pages of a category, by id; `place` is the parameter for the next ones, empty at the end."""

    pages: tuple[int, ...]
    place: str


@dataclass(frozen=True, slots=True)
class RevisionText:
    """A revision of a page with its wikitext; `text` None = it is hidden, or no wikitext. `parent` is the revision
    before it, 0 for the first one."""

    page: int
    revision: int
    parent: int
    text: str | None


@dataclass(frozen=True, slots=True)
class ListedEdit:
    """An edit of a page: its revision and the one before it; `comment` and `user` are text from outside, "" = hidden.

    `moment` is in UTC as MediaWiki writes it, "" = not given.
    """

    revision: int
    parent: int
    comment: str
    user: str
    moment: str


class WikiItself(PageReader, Protocol):
    """The wiki itself, queried for a reader's request (W-10, W-12); errors as in `PageReader`.

    Who reads for a reader gives `most_links`: TooManyLinks is raised as soon as the pages have more links together.
    `interwiki` is the wiki's map once it is known; it is not read again where somebody has set it.
    """

    interwiki: "InterwikiMap | None"

    @property
    def answered(self) -> int:
        """The number of answers through this source: a page that takes long has some, a silent wiki none."""

    async def find_pages(
        self, *, ids: Sequence[int] = (), titles: Sequence[str] = (), most_links: int | None = None
    ) -> list[PageLinks]: ...

    async def find_titled(self, titles: Sequence[str], *, most_links: int | None = None) -> dict[str, PageLinks]:
        """The pages that `find_pages` gives, each by the titles that lead to it; other titles are left out."""

    async def find_interwiki(self) -> "InterwikiMap":
        """The wiki's interwiki map."""

    async def find_texts(self, revisions: Sequence[int]) -> dict[int, RevisionText]:
        """The texts of at most 50 revisions by their ids; those that do not exist, or are deleted, are left out."""

    async def list_edits(self, page: int, first: int) -> list[ListedEdit]:
        """At most twenty edits of a page, from the revision `first` on; none if that is no revision of the wiki."""

    async def list_titles(self, beginning: str) -> list[str]:
        """At most ten titles that the wiki's search box offers for what somebody has typed; none if it offers none."""

    async def list_members(self, category: str, *, place: str = "", limit: int = 500) -> Members:
        """Some pages of a category (named without prefix) from `place` on, without those of its subcategories.

        `limit` is at most 500. A category that does not exist has none. An invalid place raises SourceError.
        """


class WikiSource(PageReader, Protocol):
    """A live way to read all that is watched of a wiki; errors as in `PageReader`."""

    def walk(self, selection: Selection, place: str = "") -> AsyncGenerator[WalkBatch, None]:
        """The pages of the selection, whatever their kind, in batches of at most 500, beginning after `place`.

        The order is the source's own. A page that matches throughout the walk is yielded at least once.
        """

    async def find_states(self, ids: Sequence[int]) -> list[PageState]:
        """The pages with these ids as they are now, by id; deleted ones are left out."""

    async def find_lag_s(self) -> float:
        """The seconds that the source is behind the wiki: 0 for a source that is the wiki itself."""


def all_links(
    external: Collection[str], interwiki: Iterable[InterwikiLink]
) -> tuple[tuple[str, ...], tuple[InterwikiLink, ...]]:
    """``urls`` and ``interwiki`` of `PageLinks`: of several prefixes or titles with one URL the first is taken."""
    first: dict[str, InterwikiLink] = {}
    for link in sorted(interwiki):
        first.setdefault(link.url, link)
    if not first:
        return tuple(sorted(set(external))), ()
    there = set(external)
    links = tuple(link._replace(is_external=link.url in there) for link in first.values())
    return tuple(sorted(there | first.keys())), links


def clean_text(text: str) -> str:
    """The text with control characters and lone surrogates, which MediaWiki never stores, replaced by U+FFFD.

    The result can be encoded, stored in PostgreSQL and written to one line.
    """
    return text if text.isprintable() else _UNFIT.sub("\ufffd", text)


@lru_cache(_ORIGINS)
def _origin(index: str | bytes | None) -> str:
    """Scheme, host and port. Cached, because a wiki's links share their hosts."""
    return clean_text(stored_url(index or "", "/").removesuffix("/"))


def stored_urls(indexes: Sequence[str | bytes | None], paths: Sequence[str]) -> list[str]:
    """The clean URLs of some rows: what ``stored_url`` gives, but mostly without a Python call for each row."""
    paths = paths if "".join(paths).isprintable() else list(map(clean_text, paths))
    if all(map(str.startswith, paths, repeat("/"))):
        return list(map(add, map(_origin, indexes), paths))
    return [
        _origin(index) + path if path.startswith("/") else clean_text(stored_url(index or "", path))
        for index, path in zip(indexes, paths, strict=True)
    ]


def with_scheme(url: str) -> str:
    return f"https:{url}" if url.startswith("//") else url


def default_model(namespace: int, title: str) -> str:
    """The content model of a page whose ``page_content_model`` is NULL; the title is without prefix."""
    ending = title.rpartition(".")[2]
    if namespace == _MODULE:
        return WIKITEXT if title.endswith("/doc") else "Scribunto"
    if namespace == _MEDIAWIKI or (namespace == _USER and "/" in title):
        return _MODELS_BY_ENDING.get(ending, WIKITEXT)
    return WIKITEXT
