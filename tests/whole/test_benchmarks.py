"""The benchmarks run, each in a tiny form: they measure something, and what they measure is what they say.

Their figures are nobody's business here: a slow machine passes.
"""

import shutil
import sys
from collections import Counter
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path

import pytest

from benchmarks.crawl.bench import Settings
from benchmarks.crawl.fast import drip, tls
from benchmarks.crawl.life import life
from benchmarks.crawl.links import host_of, single, skewed, urls_of
from benchmarks.crawl.rounds import skew, workers
from benchmarks.crawl.server import FIRST_ADDRESS, open_web
from benchmarks.due import due
from benchmarks.lookups import lookups
from benchmarks.repairs import repairs

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the benchmarks read /proc")

FEW = 40
needs_compiler = pytest.mark.skipif(
    not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="the server of the benchmarks is compiled here"
)


@pytest.fixture(scope="session")
def compiled_here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where this run compiles to: nothing of it stays in the user's cache."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, compiled_here: Path) -> None:
    """No peers from PyPI: no test needs the internet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(compiled_here))


@needs_compiler
def test_the_server_answers_any_host_and_counts_what_was_asked_twice(tmp_path: Path) -> None:
    with open_web(tmp_path) as web:
        connection = HTTPConnection(FIRST_ADDRESS, web.port, timeout=10)
        seen = []
        for method, path in (
            ("HEAD", "/p/1"),
            ("GET", "/p/1"),
            ("HEAD", "/p/2"),
            ("HEAD", "/p/1"),
            ("GET", "/nothing"),
        ):
            connection.request(method, path, headers={"Host": "hot1.s1.demo"})
            reply = connection.getresponse()
            seen.append((reply.status, len(reply.read()), reply.headers["Content-Type"]))
        connection.close()
        counts = web.counts()
        anew = web.counts("reset")
    page = seen[1][1]
    kind = "text/html; charset=utf-8"
    assert page > 100
    assert seen == [(200, 0, kind), (200, page, kind), (200, 0, kind), (200, 0, kind), (404, 0, kind)]
    assert (counts.requests, counts.urls, counts.heads, counts.gets, counts.twice, counts.hot) == (4, 2, 3, 1, 1, 4)
    assert (anew.requests, anew.urls, anew.twice) == (0, 0, 0)


def test_skewed_hosts_have_their_shares_and_every_url_a_number_of_its_own() -> None:
    urls = 10_000
    labels = skewed(urls)
    counts = Counter(map(labels, range(urls)))
    assert [count for _, count in counts.most_common(2)] == [1_200, 1_100]
    small = [count for count in counts.values() if count <= 30]
    assert 2 < sum(small) / len(small) < 3
    assert len(set(urls_of(labels, "http", 80, range(urls)))) == urls
    assert host_of("h1030") == "h1030.s6.demo"
    assert len(set(map(single, range(100)))) == 100


def skewed_by_hosts(settings: Settings) -> object:
    return skew(settings, 1.2, connections=10, answer_ms=(5, 15), delay_s=0.1, warm_s=0.2)


@needs_compiler
@pytest.mark.long
@pytest.mark.parametrize(
    ("run", "urls", "said"),
    [
        (tls, FEW, ["weboid crawl, with store", "bare loop of our engine", "skipped: not installed"]),
        (lambda settings: life(settings, None, None), FEW, ["mean"]),
        (skewed_by_hosts, 600, ["0 of them twice"]),
        (lambda settings: drip(settings, connections=3), FEW, ["next to 3 hostile connections"]),
    ],
    ids=["next to peers", "over a life", "skewed", "next to hostile servers"],
)
def test_a_crawl_is_measured_and_all_is_found_fine(
    database: str,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    run: Callable[[Settings], object],
    urls: int,
    said: list[str],
) -> None:
    monkeypatch.setattr("benchmarks.crawl.life._ROUNDS", 2)
    monkeypatch.setattr("benchmarks.crawl.life._SIZES_KB", (10,))
    run(Settings(rounds=1, urls=urls, install=False, database=database))
    answer = capfd.readouterr().out
    assert [words for words in said if words not in answer] == []
    assert not {words for words in ("other than fine", "asked nothing") if words in answer}


@needs_compiler
@pytest.mark.long
def test_two_workers_ask_no_url_twice(database: str) -> None:
    targets = workers(Settings(database=database), FEW, numbers=(1, 2))
    assert [(target.value, target.met) for target in targets] == [(0, True), (0, True)]


async def test_due_measures_reading_hosts_of_a_generated_store(
    database: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = await due(database, 1_000, 500)
    assert all(
        ms > 0 for ms in (found.lease, found.in_round, found.everything, found.next_to_open, found.urls, found.bare)
    )
    assert "1,000 URLs on 500 hosts, all of them due" in capsys.readouterr().out


@pytest.mark.long
async def test_look_ups_are_counted_as_the_archive_counts_them(empty_database: str) -> None:
    figures = await lookups(empty_database, 60, 1.5)
    assert figures["rate"] > 0
    assert figures["found"] == pytest.approx(2.1, abs=0.2)
    assert (figures["none"], figures["excluded"], figures["cited"]) == (2, 1, 1)


@pytest.mark.long
def test_repairs_counts_what_is_asked() -> None:
    figures = repairs(100)
    assert (figures.saved, figures.texts, figures.asked) == (10, 2, 1)
    assert figures.seconds > 0
    assert figures.peak_mib > 10
