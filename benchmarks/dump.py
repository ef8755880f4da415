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

_PAGE = """CREATE TABLE `page` (
  `page_id` int(10) unsigned NOT NULL AUTO_INCREMENT,
  `page_namespace` int(11) NOT NULL,
  `page_title` varbinary(255) NOT NULL,
  `page_is_redirect` tinyint(3) unsigned NOT NULL DEFAULT 0,
  `page_is_new` tinyint(3) unsigned NOT NULL DEFAULT 0,
  `page_random` double unsigned NOT NULL,
  `page_touched` binary(14) NOT NULL,
  `page_links_updated` binary(14) DEFAULT NULL,
  `page_latest` int(10) unsigned NOT NULL,
  `page_len` int(10) unsigned NOT NULL,
  `page_content_model` varbinary(32) DEFAULT NULL,
  `page_lang` varbinary(35) DEFAULT NULL,
  PRIMARY KEY (`page_id`)
) ENGINE=InnoDB;
"""
_EXTERNALLINKS = """CREATE TABLE `externallinks` (
  `el_id` int(10) unsigned NOT NULL AUTO_INCREMENT,
  `el_from` int(10) unsigned NOT NULL DEFAULT 0,
  `el_to_domain_index` varbinary(255) NOT NULL DEFAULT '',
  `el_to_path` blob DEFAULT NULL,
  PRIMARY KEY (`el_id`)
) ENGINE=InnoDB;
"""
_WORDS = ("Über", "List_of", "Alabama", "O\\'Hara")
_LATE = 0.3
"""The share of links that were added long after their page, so that they stand far from its others."""


def main() -> None:
    """Write a dump, read it three ways, print rows/s, ratios and peak memory."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pages", type=int, default=200_000)
    options.add_argument("--links", type=int, default=3, help="links a page")
    options.add_argument("--layout", choices=["lines", "giant"], default="lines")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        page, links = Path(folder, "page.sql.gz"), Path(folder, "externallinks.sql.gz")
        between = ",\n" if asked.layout == "lines" else ","
        write_dump(page, _PAGE, "page", _page_rows(asked.pages), between)
        write_dump(links, _EXTERNALLINKS, "externallinks", _link_rows(asked.pages, asked.links), between)
        rows = asked.pages * (1 + asked.links)
        print(f"{asked.pages:,} pages, {asked.pages * asked.links:,} links, layout {asked.layout}; rows/s:")
        before_mib = peak_mib()
        bare = _rate("bare gzip and split", rows, lambda: _bare(page, asked.layout) + _bare(links, asked.layout))
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


def _bare(path: Path, layout: str) -> int:
    rows = 0
    with gzip.open(path) as file:
        for line in file:
            if layout == "lines" and line.startswith(b"("):
                line.split(b",")
                rows += 1
            elif layout == "giant" and line.startswith(b"INSERT"):
                for row in line.split(b"),("):
                    row.split(b",")
                    rows += 1
    return rows


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
