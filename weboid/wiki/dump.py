"""The source that reads Wikimedia's SQL dumps: the way to start a wiki with millions of links without any requests.

Each table has its own order (links by the day they were added), so their rows are brought together by page id, outside
of memory. The syntax of dumps belongs to ``wiki/dump_rows``, the sorting to ``wiki/external_sort``. Memory does not
grow with the wiki, and the work is done in a thread alongside the event loop, chunk by chunk.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, dataclass
from functools import partial
from itertools import chain, compress, repeat
from pathlib import Path
from typing import Final

from weboid.core.url.link_kind import InterwikiLink
from weboid.errors import SourceError
from weboid.wiki.dump_rows import database_of, list_columns
from weboid.wiki.external_sort import Groups, IdSorter
from weboid.wiki.interwiki import Interwiki, InterwikiMap
from weboid.wiki.source import WIKITEXT, PageLinks, all_links, clean_text, default_model, stored_urls

_BATCH_PAGES: Final = 2_000
_BATCH_LINKS: Final = 10_000
"""Links after which a batch ends: enough that rows lie close together, few enough to be recorded in a second."""
_SORT_BYTES: Final = 80 << 20
_PAGE: Final = "\t"
"""The first character of a text about a page itself, not about a link of it; no URL has it, and URLs sort after it."""
_BY_PREFIX: Final = "\t"
"""Divides the text of an interwiki link into URL, prefix and title: it sorts right after its URL."""
_PageTexts = tuple[Iterable[int], list[str]]
"""Page ids, and a text for each: a link's URL or the page's own row."""


@dataclass(eq=False)
class DumpSource:
    """Pages and links from the dumps of the tables of those names, in order of page ids.

    The interwiki map may be a dump too, or come from another source (Wikimedia's wikis have no such table).
    ``progress`` is called with the bytes read and the bytes in all; sorting uses ``temporary`` (None: the system's
    folder for temporary files). Raises SourceError if interwiki links lack their map, or a file is of another database.
    """

    page: Path
    externallinks: Path
    iwlinks: Path | None = None
    interwiki: Path | InterwikiMap | None = None
    _: KW_ONLY
    progress: Callable[[int, int], None] = lambda read, whole: None
    temporary: Path | None = None
    database: str = ""  # that of the first file that names one

    def __post_init__(self) -> None:
        if self.iwlinks and self.interwiki is None:
            raise SourceError(f"{self.iwlinks} needs the wiki's interwiki map too: its interwiki.sql.gz or its API's")
        for path in filter(None, (self.page, self.externallinks, self.iwlinks)):
            named = database_of(path)
            self.database = self.database or named
            if named not in ("", self.database):
                raise SourceError(f"{path}: of the database {named}, not of {self.database}; are these its files?")
        self._bytes_read: dict[Path, int] = {}

    async def pages(self, namespaces: frozenset[int]) -> AsyncGenerator[Sequence[PageLinks], None]:
        """Every wikitext page of the namespaces that is no redirect, with links or not, in batches.

        The links are sorted first, so the first batch takes long. Raises SourceError when a file cannot be read.
        """
        steps = self._steps(namespaces)
        loop = asyncio.get_running_loop()
        whole = sum(map(_size_bytes, filter(None, (self.page, self.externallinks, self.iwlinks))))
        self._bytes_read.clear()
        # One thread, so that closing waits for the step under way: a generator can't be closed while it runs.
        with ThreadPoolExecutor(1, "dump") as thread:
            try:
                while (batch := await loop.run_in_executor(thread, next, steps, None)) is not None:
                    self.progress(sum(self._bytes_read.values()), whole)
                    if batch:
                        yield batch
            finally:
                await loop.run_in_executor(thread, steps.close)

    def _steps(self, namespaces: frozenset[int]) -> Generator[list[PageLinks], None, None]:
        """The whole work in steps of some milliseconds; they are empty while it reads and sorts."""
        with IdSorter(_SORT_BYTES, self.temporary) as sorter:
            for ids, texts in chain(self._links(), self._page_rows(namespaces)):
                sorter.add(ids, texts)
                yield []
            batch, links = list[PageLinks](), 0
            for page in chain.from_iterable(map(_pages, sorter.groups())):
                batch.append(page)
                links += len(page.urls)
                if links >= _BATCH_LINKS or len(batch) == _BATCH_PAGES:
                    yield batch
                    batch, links = [], 0
            yield batch

    def _links(self) -> Iterator[_PageTexts]:
        for ids, indexes, paths in self._columns(
            self.externallinks, "externallinks", "el_from", "el_to_domain_index", "el_to_path"
        ):
            yield map(int, ids), stored_urls(indexes, paths)
        if self.iwlinks:
            interwiki = self._interwiki_map()
            for ids, prefixes, titles in self._columns(self.iwlinks, "iwlinks", "iwl_from", "iwl_prefix", "iwl_title"):
                links = list(map(interwiki.link, prefixes, titles))
                yield map(int, compress(ids, links)), [_BY_PREFIX.join(link[:3]) for link in links if link]

    def _page_rows(self, namespaces: frozenset[int]) -> Iterator[_PageTexts]:
        watched = frozenset(map(str, namespaces))
        names = "id namespace title is_redirect latest links_updated content_model"
        for columns in self._columns(self.page, "page", *(f"page_{name}" for name in names.split())):
            ids, spaces, titles, redirects, latests, updates, models = columns
            is_wanted = [
                space in watched and redirect == "0" and (model or default_model(int(space), title)) == WIKITEXT
                for space, title, redirect, model in zip(spaces, titles, redirects, models, strict=True)
            ]
            known = (_numbers(latests), _numbers(updates), _cleaned(titles))
            rows = map(_PAGE.join, zip(repeat(""), spaces, *known, strict=False))
            yield map(int, compress(ids, is_wanted)), list(compress(rows, is_wanted))

    def _interwiki_map(self) -> InterwikiMap:
        if not isinstance(self.interwiki, Path):
            return self.interwiki or InterwikiMap(())
        rows = list_columns(self.interwiki, "interwiki", ("iw_prefix", "iw_url", "iw_local"))
        return InterwikiMap(
            Interwiki(prefix, url, local != "0")
            for columns in rows
            for prefix, url, local in zip(*columns, strict=True)
        )

    def _columns(self, path: Path, table: str, *names: str) -> Iterator[Sequence[list[str]]]:
        return list_columns(path, table, names, partial(self._bytes_read.__setitem__, path))


def _numbers(texts: list[str]) -> list[str]:
    return texts if all(texts) else [text or "0" for text in texts]


def _cleaned(texts: list[str]) -> list[str]:
    return texts if "".join(texts).isprintable() else list(map(clean_text, texts))


def _pages(groups: Groups) -> Iterator[PageLinks]:
    """The pages for which there is a row, with their links; links of other pages are skipped."""
    pages, rows, links = [], [], []
    for page, texts in groups:
        row, *urls = sorted(set(texts))
        if row.startswith(_PAGE):
            if urls and urls[0].startswith(_PAGE):
                raise SourceError(f"page {page} is there twice: are the files of one wiki, and of one day?")
            pages.append(page)
            rows.append(row)
            links.append(_links(urls))
    _, *fields = "".join(rows).split(_PAGE)
    spaces, latests, marks = (map(int, fields[start::4]) for start in range(3))
    titles = "\n".join(fields[3::4]).replace("_", " ").split("\n")
    known = zip(pages, spaces, titles, latests, (mark or None for mark in marks), links, strict=False)
    return (PageLinks(page, space, title, latest, mark, *out) for page, space, title, latest, mark, out in known)


def _links(texts: list[str]) -> tuple[tuple[str, ...], tuple[InterwikiLink, ...]]:
    if not any(_BY_PREFIX in text for text in texts):
        return tuple(texts), ()
    parts = [text.split(_BY_PREFIX) for text in texts]
    links = [InterwikiLink(url, prefix, title) for url, *rest in parts if rest for prefix, title in [rest]]
    return all_links([url for url, *rest in parts if not rest], links)


def _size_bytes(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0  # a missing file is reported where it is opened
