"""How fast links become normal forms, next to libraries that do less: ``python -m benchmarks.urls [FILE]``.

FILE holds a URL a line (default: the recorded links of a real wiki next to the checkout, else the shared vectors).
One law: all run in one process on the same links, and the ratio is what counts.
"""

import gzip
import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import ada_url
from yarl import URL

from weboid.core.url.classify import classify
from weboid.core.url.farms import WMF
from weboid.core.url.hosts import host_form
from weboid.core.url.keys import key_of
from weboid.core.url.urls import normal, parse

_ROOT = Path(__file__).resolve().parents[1]
_RECORDED = _ROOT.parent / "shared" / "data" / "api" / "allpages-links.json.gz"
_VECTORS = _ROOT / "tests" / "vectors" / "urls.json"
_ROUNDS = 7


def recorded_links(arguments: list[str]) -> list[str]:
    if arguments:
        return Path(arguments[0]).read_text(encoding="utf-8").splitlines()
    if _RECORDED.exists():
        answers = json.loads(gzip.decompress(_RECORDED.read_bytes()))
        pages = [page for answer in answers for page in answer["response"]["query"]["pages"]]
        return [link["url"] for page in pages for link in page.get("extlinks", ())]
    return [vector["url"] for vector in json.loads(_VECTORS.read_text(encoding="utf-8")) if len(vector["url"]) < 1_000]


def _urls_per_s(work: Callable[[str], object], links: list[str]) -> float:
    """The best of some rounds; the rest was disturbed by others."""
    best = float("inf")
    for _ in range(_ROUNDS):
        begun = perf_counter()
        for link in links:
            work(link)
        best = min(best, perf_counter() - begun)
    return len(links) / best


def _uncached(link: str) -> str:
    host_form.cache_clear()
    return normal(link)


def main(arguments: list[str]) -> None:
    """Prints URLs/s on one core, and ours as a multiple of each peer."""
    links = [link for link in recorded_links(arguments) if classify(link, None).url and ada_url.check_url(link)]
    ours = _urls_per_s(normal, links)
    print(f"{len(links)} links, {len({parse(link).host for link in links})} hosts; best of {_ROUNDS} rounds, one core")
    rows: list[tuple[str, Callable[[str], object]]] = [
        ("weboid normal, host never seen before", _uncached),
        ("weboid classify (with class and note)", lambda link: classify(link, WMF)),
        ("weboid parse and key", lambda link: key_of(parse(link))),
        ("yarl str(URL(…))", lambda link: str(URL(link))),
        ("ada_url normalize_url", ada_url.normalize_url),
    ]
    print(f"{'weboid normal':40}{ours:>12,.0f} URLs/s")
    for name, work in rows:
        rate = _urls_per_s(work, links)
        print(f"{name:40}{rate:>12,.0f} URLs/s   weboid normal / this = {ours / rate:.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
