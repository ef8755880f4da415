"""The source that reads Wikimedia's SQL dumps: the way to start a wiki with millions of links without asking anybody.

The tables come in their own orders (links by the day they were added), so links and pages are each sorted by page id
outside of memory and then read side by side. The syntax of dumps is ``sqlrows``' business, the sorting ``linesort``'s.

One law: memory does not grow with the wiki, and the work is done beside the event loop, chunk by chunk.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby, repeat
from operator import add
from pathlib import Path
from typing import Final

from weboid.core.mediawiki import stored_url
from weboid.errors import SourceError
from weboid.wiki.interwiki import Interwiki, InterwikiMap
from weboid.wiki.linesort import LineSorter
from weboid.wiki.source import WIKITEXT, PageLinks, clean_text, default_model
from weboid.wiki.sqlrows import list_columns

_BATCH_PAGES: Final = 500
_SORT_CHARS: Final = 32 << 20
_ORIGINS: Final = 50_000
_ID_DIGITS: Final = 10
"""A page id is a 32-bit number. Padded to this width, ids sort as text as they do as numbers."""


class DumpSource:
    """Pages and links out of the dumps of the tables of those names, in order of page ids.

    The interwiki map may be a dump too, or come from elsewhere (Wikimedia's wikis have no such table). ``progress``
    hears bytes read and bytes in all; sorting uses ``temporary`` (None: the system's folder for temporary files).
    Raises SourceError if there are interwiki links but no map.
    """

    def __init__(
        self,
        page: Path,
        externallinks: Path,
        iwlinks: Path | None = None,
        interwiki: Path | InterwikiMap | None = None,
        *,
        progress: Callable[[int, int], None] = lambda read, whole: None,
        temporary: Path | None = None,
    ) -> None:
        if iwlinks and interwiki is None:
            raise SourceError(f"{iwlinks} needs the wiki's interwiki map beside it: its interwiki.sql.gz or its API's")
        self._page = page
        self._externallinks = externallinks
        self._iwlinks = iwlinks
        self._interwiki = interwiki
        self._progress = progress
        self._temporary = temporary
        self._bytes_read: dict[Path, int] = {}

    async def pages(self, namespaces: frozenset[int]) -> AsyncGenerator[Sequence[PageLinks], None]:
        """As Sweep says; the links are sorted first, so the first batch takes its time."""
        steps = self._steps(namespaces)
        loop = asyncio.get_running_loop()
        whole = sum(map(_size_bytes, filter(None, (self._page, self._externallinks, self._iwlinks))))
        self._bytes_read.clear()
        # One thread, so that closing waits for the step under way: a generator can't be closed while it runs.
        with ThreadPoolExecutor(1, "dump") as thread:
            try:
                while (batch := await loop.run_in_executor(thread, next, steps, None)) is not None:
                    self._progress(sum(self._bytes_read.values()), whole)
                    if batch:
                        yield batch
            finally:
                await loop.run_in_executor(thread, steps.close)

    async def find_pages(self, *, ids: Sequence[int] = (), titles: Sequence[str] = ()) -> list[PageLinks]:
        """Always raises SourceError: a dump says nothing of this second."""
        raise SourceError(f"{self._page} is a dump and can't be read live; ask the wiki's API, or the store")

    async def close(self) -> None:
        """Nothing is kept open between two calls."""

    def _steps(self, namespaces: frozenset[int]) -> Generator[list[PageLinks], None, None]:
        """The whole work in steps of some milliseconds; while it reads and sorts they are empty."""
        with LineSorter(_SORT_CHARS, self._temporary) as links, LineSorter(_SORT_CHARS, self._temporary) as pages:
            for lines in self._link_lines():
                links.add(lines)
                yield []
            for lines in self._page_lines(namespaces):
                pages.add(lines)
                yield []
            yield from _joined(pages.blocks(), links.blocks())

    def _link_lines(self) -> Iterator[list[str]]:
        """Lines of padded page id, tab, URL."""
        origins = _Origins()
        for ids, indexes, paths in self._columns(
            self._externallinks, "externallinks", "el_from", "el_to_domain_index", "el_to_path"
        ):
            yield _lines(ids, _stored_urls(origins, indexes, paths))
        if self._iwlinks:
            interwiki = self._interwiki_map()
            for ids, prefixes, titles in self._columns(self._iwlinks, "iwlinks", "iwl_from", "iwl_prefix", "iwl_title"):
                targets = map(interwiki.target, prefixes, titles)
                foreign = [(page, url) for page, url in zip(ids, targets, strict=True) if url]
                yield _lines([page for page, _ in foreign], [url for _, url in foreign])

    def _page_lines(self, namespaces: frozenset[int]) -> Iterator[list[str]]:
        """Lines of padded page id, namespace, latest revision, time of links, title, apart by tabs."""
        watched = frozenset(map(str, namespaces))
        names = "id namespace title is_redirect latest links_updated content_model"
        for columns in self._columns(self._page, "page", *(f"page_{name}" for name in names.split())):
            yield [
                f"{page:0>{_ID_DIGITS}}\t{namespace}\t{latest}\t{updated}\t{clean_text(title)}"
                for page, namespace, title, redirect, latest, updated, model in zip(*columns, strict=True)
                if namespace in watched
                and redirect == "0"
                and (model or default_model(int(namespace), title)) == WIKITEXT
            ]

    def _interwiki_map(self) -> InterwikiMap:
        if not isinstance(self._interwiki, Path):
            return self._interwiki or InterwikiMap(())
        rows = list_columns(self._interwiki, "interwiki", ("iw_prefix", "iw_url", "iw_local"))
        return InterwikiMap(
            Interwiki(prefix, url, local != "0")
            for columns in rows
            for prefix, url, local in zip(*columns, strict=True)
        )

    def _columns(self, path: Path, table: str, *names: str) -> Iterator[Sequence[list[str]]]:
        def told(read: int) -> None:
            self._bytes_read[path] = read

        return list_columns(path, table, names, told)


class _Origins(dict[str, str]):
    """Domain index -> scheme, host and port. Remembered, because a wiki's links share their hosts; bounded."""

    def __missing__(self, index: str) -> str:
        if len(self) >= _ORIGINS:
            self.clear()
        self[index] = origin = stored_url(index, "/").removesuffix("/")
        return origin


def _stored_urls(origins: _Origins, indexes: list[str], paths: list[str]) -> list[str]:
    """The URLs of a stretch of rows: what ``stored_url`` gives for each, but mostly without a Python call a row."""
    if all(map(str.startswith, paths, repeat("/"))):
        return list(map(add, map(origins.__getitem__, indexes), paths))
    return [
        origins[index] + path if path.startswith("/") else stored_url(index, path)
        for index, path in zip(indexes, paths, strict=True)
    ]


def _lines(ids: list[str], urls: list[str]) -> list[str]:
    if not "".join(urls).isprintable():
        urls = list(map(clean_text, urls))
    return list(map("\t".join, zip(map(str.zfill, ids, repeat(_ID_DIGITS)), urls, strict=True)))


def _joined(pages: Iterator[list[str]], links: Iterator[list[str]]) -> Iterator[list[PageLinks]]:
    """Pages and links, both in order of ids, read side by side; links of pages not asked for are passed over."""
    groups = _grouped(links)
    past_all = ("~", list[str]())
    linking, urls = next(groups, past_all)
    batch: list[PageLinks] = []
    for block in pages:
        for line in block:
            page, namespace, latest, updated, title = line.split("\t")
            while linking < page:
                linking, urls = next(groups, past_all)
            # Sorted already: the lines were.
            found = tuple(dict.fromkeys(urls)) if linking == page else ()
            spaced = title.replace("_", " ")
            batch.append(
                PageLinks(int(page), int(namespace), spaced, int(latest or 0), int(updated or 0) or None, found)
            )
            if len(batch) == _BATCH_PAGES:
                yield batch
                batch = []
    yield batch


def _grouped(blocks: Iterator[list[str]]) -> Iterator[tuple[str, list[str]]]:
    """The URLs of each page, whose lines may go on from one block to the next."""
    page, urls = "", list[str]()
    for block in blocks:
        flat = "\t".join(block).split("\t")
        start, block_urls = 0, flat[1::2]
        for linking, same in groupby(flat[::2]):
            end = start + len(list(same))
            if linking != page:
                if urls:
                    yield page, urls
                page, urls = linking, []
            urls += block_urls[start:end]
            start = end
    if urls:
        yield page, urls


def _size_bytes(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0  # a missing file is told where it is opened
