"""The made-up web of the benchmarks: URL number n, its host and its domain, and the dump of a wiki that links to it.

One law: the number in a path is the URL's own, so that the server can tell whether it was asked twice.
"""

import gzip
import random
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Final, Protocol

DOMAINS: Final = 1024
"""Registrable domains, each with a certificate of its own. They fall into some 900 buckets, which workers lease."""

LINKS_A_PAGE: Final = 40

_PAGE: Final = """CREATE TABLE `page` (
  `page_id` int NOT NULL,
  `page_namespace` int NOT NULL,
  `page_title` varbinary(255) NOT NULL,
  `page_is_redirect` tinyint NOT NULL,
  `page_links_updated` binary(14) DEFAULT NULL,
  `page_latest` int NOT NULL,
  `page_content_model` varbinary(32) DEFAULT NULL
);
"""
_EXTERNALLINKS: Final = """CREATE TABLE `externallinks` (
  `el_id` int NOT NULL,
  `el_from` int NOT NULL,
  `el_to_domain_index` varbinary(255) NOT NULL,
  `el_to_path` blob DEFAULT NULL
);
"""
_ROWS_A_STATEMENT: Final = 5_000


class Hosts(Protocol):
    """Which host a URL lies on."""

    def label(self, number: int) -> str:
        """The host's first label."""
        ...


@dataclass(frozen=True, slots=True)
class Single:
    """Every URL on a host of its own: a new connection to a new host for every check."""

    def label(self, number: int) -> str:
        """The host's first label."""
        return f"h{number}"


class Skewed:
    """Two hosts hold 12 % and 11 % of all URLs, a dozen others 0.2 to 2 %, all others two and a half on average.

    The middle and the tail follow what the external links of wikis look like: few hosts with very many, half of the
    hosts with a single one.
    """

    _SHARES: Final = (0.12, 0.11, 0.02, 0.015, 0.01, 0.008, 0.006, 0.005, 0.004, 0.004, 0.003, 0.003, 0.002, 0.002)
    _TAIL: Final = ((1, 0.55), (2, 0.2), (3, 0.1), (5, 0.08), (10, 0.05), (30, 0.02))
    """URLs of a host, and the share of the hosts that have so many."""

    def __init__(self, urls: int) -> None:
        self._labels = [f"hot{place}" for place, share in enumerate(self._SHARES) for _ in range(int(share * urls))]
        chance = random.Random(1)
        sizes, shares = zip(*self._TAIL, strict=True)
        limits = list(accumulate(shares))
        host = 0
        while len(self._labels) < urls:
            host += 1
            size = sizes[min(bisect_right(limits, chance.random()), len(sizes) - 1)]
            self._labels += [f"h{host}"] * size

    def label(self, number: int) -> str:
        """The host's first label."""
        return self._labels[number]


def host_of(label: str) -> str:
    """The whole name of a host. A host's domain depends on its label alone."""
    digits = int("".join(filter(str.isdigit, label)))
    return f"{label}.s{digits % DOMAINS}.demo"


def urls_of(hosts: Hosts, scheme: str, port: int, numbers: range) -> Iterator[str]:
    """The URLs of these numbers."""
    return (f"{scheme}://{host_of(hosts.label(number))}:{port}/p/{number}" for number in numbers)


def write_dump(folder: Path, hosts: Hosts, scheme: str, port: int, numbers: range) -> tuple[Path, Path]:
    """The dumps ``page`` and ``externallinks`` of a wiki whose pages link to these URLs, `LINKS_A_PAGE` each."""
    page, links = folder / "page.sql.gz", folder / "externallinks.sql.gz"
    first = numbers.start // LINKS_A_PAGE
    pages = range(first, first + -(-len(numbers) // LINKS_A_PAGE))
    _write(page, _PAGE, "page", (f"({n + 1},0,'Page_{n + 1}',0,NULL,{n + 1},'wikitext')" for n in pages))
    _write(links, _EXTERNALLINKS, "externallinks", (_link(hosts, scheme, port, number) for number in numbers))
    return page, links


def _link(hosts: Hosts, scheme: str, port: int, number: int) -> str:
    index = ".".join(reversed(host_of(hosts.label(number)).split(".")))
    return f"({number + 1},{number // LINKS_A_PAGE + 1},'{scheme}://{index}.:{port}','/p/{number}')"


def _write(path: Path, created: str, table: str, rows: Iterator[str]) -> None:
    with gzip.open(path, "wt", compresslevel=1, encoding="utf-8", newline="\n") as file:
        file.write(created)
        statement: list[str] = []
        for row in rows:
            statement.append(row)
            if len(statement) == _ROWS_A_STATEMENT:
                file.write(_insert(table, statement))
                statement = []
        if statement:
            file.write(_insert(table, statement))


def _insert(table: str, rows: list[str]) -> str:
    return f"INSERT INTO `{table}` VALUES\n" + ",\n".join(rows) + ";\n"
