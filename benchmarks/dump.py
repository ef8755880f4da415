"""``python -m benchmarks.dump``: how fast and lean the dump source is, next to a reader that only unpacks and splits.

The bare reader keeps nothing, decodes nothing, takes every comma for a separator, sorts nothing and joins nothing.
"""

import argparse
import asyncio
import gzip
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

from benchmarks.harness import peak_mib, write_dump
from weboid.wiki.dump import DumpSource
from weboid.wiki.dump_rows import list_columns

_WORDS = ("Über", "List_of", "Alabama", "O\\'Hara")
_LATE = 0.3
"""The share of links that were added long after their page, so that they stand far from its others."""


def main() -> None:
    """Write a dump, read it three ways, print rows/s, ratios and peak memory."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pages", type=int, default=200_000)
    options.add_argument("--links", type=int, default=3, help="links a page")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page, links = Path(folder, "page.sql.gz"), Path(folder, "externallinks.sql.gz")
        write_dump(page, "page", _page_rows(asked.pages))
        write_dump(links, "externallinks", _link_rows(asked.pages, asked.links))
        rows = asked.pages * (1 + asked.links)
        print(f"{asked.pages:,} pages, {asked.pages * asked.links:,} links; rows/s:")
        before_mib = peak_mib()
        bare = _rate("bare gzip and split", rows, lambda: _bare(page) + _bare(links))
        columns = _rate("columns (sqlrows)", rows, lambda: _columns(page, links))
        source = _rate("pages with links (DumpSource)", rows, lambda: asyncio.run(_pages(page, links)))
        print(f"ratio to bare: columns {columns / bare:.0%}, pages with links {source / bare:.0%}")
        print(f"peak memory: {peak_mib():.0f} MiB (before reading {before_mib:.0f} MiB)")


def _page_rows(pages: int) -> Iterator[str]:
    chance = random.Random(1)
    for page in range(1, pages + 1):
        title = f"{chance.choice(_WORDS)}_{chance.getrandbits(40):x}"
        yield (
            f"({page},0,'{title}',0,0,{chance.random():.12f},'20261121020703','20261121020703',{page},"
            f"{chance.randrange(99999)},'wikitext',NULL)"
        )


def _link_rows(pages: int, links: int) -> Iterator[str]:
    chance = random.Random(2)
    hosts = [f"com.site{number}.www." for number in range(pages // 20 + 1)]
    for number in range(pages * links):
        page = chance.randrange(pages) if chance.random() < _LATE else number // links
        host = chance.choice(("org.archive.web.", "org.doi.", "com.google.books.", chance.choice(hosts)))
        section = chance.choice(("news", "article", "people\\'s", "2016/04"))
        path = f"/{section}/{chance.getrandbits(64):x}/{chance.getrandbits(64):x}.html?id={chance.randrange(9999)}"
        yield f"({number + 1},{page + 1},'https://{host}','{path}')"


def _bare(path: Path) -> int:
    with gzip.open(path) as file:
        return sum(bool(line.split(b",")) for line in file if line.startswith(b"("))


def _columns(page: Path, links: Path) -> int:
    pages = list_columns(page, "page", ("page_id", "page_title", "page_latest"))
    urls = list_columns(links, "externallinks", ("el_from", "el_to_domain_index", "el_to_path"))
    return sum(len(columns[0]) for table in (pages, urls) for columns in table)


async def _pages(page: Path, links: Path) -> int:
    rows = 0
    async for batch in DumpSource(page, links).pages(frozenset({0})):
        rows += len(batch) + sum(len(linking.urls) for linking in batch)
    return rows


def _rate(name: str, rows: int, read: Callable[[], int]) -> float:
    started = perf_counter()
    found = read()
    rate = found / (perf_counter() - started)
    print(f"  {name:32} {rate:>12,.0f}", flush=True)
    if found != rows:
        sys.exit(f"{name}: {found:,} rows, but {rows:,} were written")
    return rate


if __name__ == "__main__":
    main()
