"""``python -m benchmarks.replica``: rows/s of the replica source, beside bare PyMySQL cursors that read the same rows.

One bare reader streams both tables whole, in their own order; the other looks the links up by page as the source does,
500 pages at a time. Both keep nothing. The source walks, asks for each page again before its links, turns rows back
into URLs, sorts and joins them. Needs a MariaDB installed; a private server is started.
"""

import argparse
import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

import pymysql
from pymysql.cursors import SSCursor

_TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path.insert(0, str(_TESTS))

from support.mariadb import open_mariadb  # noqa: E402 (lives with the tests)

from weboid.wiki.interwiki import InterwikiMap  # noqa: E402
from weboid.wiki.mariadb import Access  # noqa: E402
from weboid.wiki.replica import ReplicaSource  # noqa: E402
from weboid.wiki.source import Selection  # noqa: E402

_PAGE_ROWS = (
    "SELECT page_id, page_namespace, page_title, page_latest, page_is_redirect, page_links_updated, page_content_model "
    "FROM page WHERE page_namespace = 0 AND page_is_redirect = 0"
)
_LINK_ROWS = "SELECT el_from, el_to_domain_index, el_to_path FROM externallinks"
_PAGES = """
    DELETE FROM page; DELETE FROM externallinks;
    INSERT INTO page SELECT seq, 0, CONCAT('Alabama_', MD5(seq)), 0, 0, 0, '20261121020703', '20261121020703', seq, 9,
        'wikitext', NULL FROM seq_1_to_{pages};
    INSERT INTO externallinks SELECT NULL,
        1 + IF(seq MOD 10 < 3, seq * 7919 MOD {pages}, (seq - 1) DIV {each}),
        CONCAT('https://com.site', seq MOD (1 + {pages} DIV 20), '.www.'),
        CONCAT('/article/', MD5(seq), '.html?id=', seq MOD 9999) FROM seq_1_to_{links};
"""
"""Three links of ten were added long after their page, so that they lie far from its others."""


def main() -> None:
    """Fill the tables, read them both ways in turn, print the rates and their ratio."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--pages", type=int, default=20_000)
    options.add_argument("--links", type=int, default=10, help="links a page")
    options.add_argument("--rounds", type=int, default=3)
    asked = options.parse_args()
    try:
        with open_mariadb() as server:
            fixtures = [_TESTS / "wiki" / "fixtures" / f"{table}.sql" for table in ("page", "externallinks")]
            links = asked.pages * asked.links
            filled = _PAGES.format(pages=asked.pages, links=links, each=asked.links)
            access = server.replicate("benchwiki", *fixtures, also=[filled])
            rows = asked.pages + links
            print(f"{asked.pages:,} pages, {links:,} links; rows/s, median of {asked.rounds} rounds:")
            readers: dict[str, Callable[[], int]] = {
                "bare cursor, whole tables": lambda: _bare(access, [_PAGE_ROWS, _LINK_ROWS]),
                "bare cursor, 500 pages at a time": lambda: _bare(access, [_PAGE_ROWS, *_by_pages(asked.pages)]),
                "pages with links (ReplicaSource)": lambda: asyncio.run(_import(access)),
            }
            rounds = [{name: _rate(rows, read) for name, read in readers.items()} for _ in range(asked.rounds)]
    except LookupError as error:
        sys.exit(f"skipped: {error}")
    for name in readers:
        print(f"  {name:32} {median(rates[name] for rates in rounds):>12,.0f}")
    *bare, source = readers
    print("the source's ratio to:", end="")
    for name in bare:
        ratios = sorted(rates[source] / rates[name] for rates in rounds)
        print(
            f" {name} {median(ratios):.0%} ({ratios[0]:.0%} to {ratios[-1]:.0%})", end=";" if name == bare[0] else "\n"
        )


def _by_pages(pages: int) -> list[str]:
    begins = range(1, pages + 1, 500)
    return [f"{_LINK_ROWS} WHERE el_from IN ({','.join(map(str, range(begin, begin + 500)))})" for begin in begins]


def _bare(access: Access, statements: Sequence[str]) -> int:
    rows = 0
    connection = pymysql.connect(
        unix_socket=access.socket, user=access.user, password=access.password, database=access.database
    )
    with connection, connection.cursor(SSCursor) as cursor:
        for statement in statements:
            cursor.execute(statement)
            for _ in cursor:
                rows += 1
    return rows


async def _import(access: Access) -> int:
    rows = 0
    source = ReplicaSource(access, interwiki=InterwikiMap(()), namespaces=())
    try:
        async for stretch in source.walk(Selection(None, "select_namespace", {"namespace": 0})):
            pages = await source.find_pages(ids=[page.page for page in stretch.pages])
            rows += len(pages) + sum(len(page.urls) for page in pages)
    finally:
        await source.close()
    return rows


def _rate(rows: int, read: Callable[[], int]) -> float:
    started = perf_counter()
    found = read()
    rate = found / (perf_counter() - started)
    if found != rows:
        sys.exit(f"{found:,} rows, but {rows:,} were written")
    return rate


if __name__ == "__main__":
    main()
