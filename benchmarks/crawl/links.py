"""The made-up web of the benchmarks: URL number n, its host and its domain, and the dump of a wiki that links to it.

The number in a path is the URL's own, so that the server can tell whether it was asked twice.
"""

import random
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Final

from benchmarks.harness import write_dump

Labels = Callable[[int], str]
"""The first label of the host on which a URL lies."""

DOMAINS: Final = 1024
"""Registrable domains, each with a certificate of its own. They fall into some 900 buckets, which workers lease."""
LINKS_A_PAGE: Final = 40
_SHARES: Final = (0.12, 0.11, 0.02, 0.015, 0.01, 0.008, 0.006, 0.005, 0.004, 0.004, 0.003, 0.003, 0.002, 0.002)
_TAIL: Final = ((1, 0.55), (2, 0.2), (3, 0.1), (5, 0.08), (10, 0.05), (30, 0.02))
"""URLs of a host, and the share of the hosts that have so many."""


def single(number: int) -> str:
    """Every URL on a host of its own: a new connection to a new host for every check."""
    return f"h{number}"


def skewed(urls: int) -> Labels:
    """Two hosts hold 12 % and 11 % of all URLs, a dozen others 0.2 to 2 %, all others two and a half on average.

    The middle and the tail follow what the external links of wikis look like: few hosts with very many, half of the
    hosts with a single one.
    """
    labels = [f"hot{place}" for place, share in enumerate(_SHARES) for _ in range(int(share * urls))]
    chance = random.Random(1)
    sizes, shares = zip(*_TAIL, strict=True)
    limits = list(accumulate(shares))
    host = 0
    while len(labels) < urls:
        host += 1
        labels += [f"h{host}"] * sizes[min(bisect_right(limits, chance.random()), len(sizes) - 1)]
    return labels.__getitem__


def host_of(label: str) -> str:
    """The whole name of a host. A host's domain depends on its label alone."""
    digits = int("".join(filter(str.isdigit, label)))
    return f"{label}.s{digits % DOMAINS}.demo"


def urls_of(labels: Labels, scheme: str, port: int, numbers: Iterable[int]) -> Iterator[str]:
    return (f"{scheme}://{host_of(labels(number))}:{port}/p/{number}" for number in numbers)


def dumped(folder: Path, labels: Labels, scheme: str, port: int, urls: int) -> tuple[Path, Path]:
    """The dumps ``page`` and ``externallinks`` of a wiki whose pages link to so many URLs, `LINKS_A_PAGE` each."""
    pages = range(1, -(-urls // LINKS_A_PAGE) + 1)
    page, links = folder / "page.sql.gz", folder / "externallinks.sql.gz"

    def link(number: int) -> str:
        index = ".".join(reversed(host_of(labels(number)).split(".")))
        return f"({number + 1},{number // LINKS_A_PAGE + 1},'{scheme}://{index}.:{port}','/p/{number}')"

    write_dump(page, "page", (f"({n},0,'Page_{n}',0,0,0.5,NULL,NULL,{n},0,'wikitext',NULL)" for n in pages))
    write_dump(links, "externallinks", map(link, range(urls)))
    return page, links
