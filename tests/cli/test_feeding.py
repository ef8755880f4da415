"""`weboid feed` as people call it: spam lists, replicas, criteria, what it says when it cannot; and passes that run for
long: whose turn it is, and by which configuration (P-4, P-7). The wikis that a page of a wiki adds to the configured
ones, as passes and events go by it.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from io import StringIO
from ipaddress import ip_network
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.progress import Progress
from support.commands import Place, open_place
from support.mariadb import PASSWORD, USER, MariaServer, mariadb_server
from support.misbehaving import serve
from support.realsources import TABLES
from support.stored import do
from support.wikireplay import Exchange, exchange, open_wiki_replay

from weboid.cli import passes, watched
from weboid.cli.processes.sources import open_source
from weboid.config import Config, WikiConfig, load_config
from weboid.core.url.farms import WikiName
from weboid.demo.littlewiki import open_littlewiki
from weboid.demo.wikipages import WikiLink, WikiPage
from weboid.demo.world import World
from weboid.errors import ConfigError
from weboid.feed import watch_list
from weboid.mechanism.tasks import cancel
from weboid.remote.feed.calls import local_feed_store
from weboid.store.db.pool import Pool, open_pool
from weboid.store.pages.pending import Pending, record_pending
from weboid.store.pages.wiki import list_wikis
from weboid.wiki.action import ActionApi

__all__ = ["mariadb_server"]

FIXTURES = Path(__file__).parents[1] / "wiki" / "fixtures"
PAGES = {"One": ["http://good.demo/", "http://pills.demo/"], "Two": ["http://pills.demo/", "http://other.demo/"]}


@pytest.fixture
async def place(database: str, tmp_path: Path) -> AsyncIterator[Place]:
    """A folder with a configuration, a little wiki, and no web behind its links."""
    async with open_place(tmp_path, World({}), PAGES) as place:
        place.environ["WEBOID_DATABASE"] = database
        yield place


async def test_the_first_pass_of_all_takes_the_list_that_a_farm_shares(place: Place) -> None:
    assert place.wiki
    pages = place.wiki.pages
    pages["Spam blacklist"] = WikiPage(90, "Spam blacklist", text="pills\\.demo\n")
    api = f'api = "{place.wiki.api_url}"\n'
    (place.folder / "weboid.toml").write_text(
        f'[wiki."dewiki@WMF"]\n{api}[wiki."metawiki@WMF"]\n{api}pages = ["Nothing"]\n', encoding="utf-8"
    )
    fed = await place.run("feed", "pass", "--day", "100")
    assert fed.status == 0, fed.err
    assert "spam list of metawiki@WMF: 1 line in force" in fed.err
    shown = (await place.run("show", "--json", "dewiki@WMF:Two")).lines()
    assert [line["verdict"] for line in shown] == ["unknown", "spam"]


async def test_a_wiki_is_fed_from_its_replica(place: Place, mariadb_server: MariaServer) -> None:
    file = place.folder / "weboid.toml"
    replica = f'source = "replica"\n[replica]\nhosts = "{mariadb_server.socket}"\n'
    file.write_text(f"{file.read_text(encoding='utf-8')}{replica}", encoding="utf-8")
    place.environ |= {"TOOL_REPLICA_USER": USER, "TOOL_REPLICA_PASSWORD": PASSWORD}
    mariadb_server.replicate("demowiki", *(FIXTURES / f"{table}.sql" for table in TABLES))
    fed = await place.run("feed", "pass", "--day", "100")
    assert (fed.status, "3 matching pages; 3 new" in fed.err) == (0, True), fed.err
    assert "3 matching pages; nothing has changed" in (await place.run("feed", "pass", "--day", "107")).err
    shown = (await place.run("show", "--json", "demowiki@wmflabs:Harbour light")).lines()
    assert "http://www.lamps.net:8080/a?b=c" in {line["normal"] for line in shown}


def feeding(pool: Pool, day: int, console: Console | None = None, **more: Any) -> passes.Feeding:
    printed = console or Console(file=StringIO())
    return passes.Feeding(local_feed_store(pool), (), lambda: day, printed, Progress(disable=True), **more)


PLAIN = [WikiPage(1, "A"), WikiPage(2, "Talk:B", namespace=1)]


def config_of(*wikis: tuple[str, str], **matching: object) -> Config:
    config = load_config(None, {})
    known = tuple(WikiConfig(WikiName(name, "wmflabs"), api=api, matching=matching) for name, api in wikis)
    return replace(config, wikis=known, net=replace(config.net, permit=(ip_network("127.0.0.0/8"),)))


async def test_the_configuration_is_read_again_before_each_pass(database: str) -> None:
    async with open_pool(database, size=2, part="test") as pool, open_littlewiki(PLAIN) as little:
        for day, namespaces, watched in [(100, [0], [1]), (107, [0, 1], [1, 2])]:
            read = partial(config_of, ("awiki", little.api_url), namespaces=namespaces)
            await feeding(pool, day).next_pass(read)
            assert await pages_of(pool) == watched


async def test_the_wiki_that_waits_longest_comes_first(database: str) -> None:
    async with open_pool(database, size=2, part="test") as pool, open_littlewiki(PLAIN) as little:
        config = config_of(("awiki", little.api_url), ("bwiki", little.api_url))
        for day, passed in [
            (100, {"awiki": 100, "bwiki": None}),
            (103, {"awiki": 100, "bwiki": 103}),
            (107, {"awiki": 107, "bwiki": 103}),
            (110, {"awiki": 107, "bwiki": 110}),
        ]:
            await feeding(pool, day).next_pass(lambda: config)
            assert await passed_by(pool) == passed


@pytest.mark.parametrize("path", ["/gone", ""], ids=["its server", "an error of our own"])
async def test_a_wiki_that_fails_is_shown_once_and_holds_up_no_other(
    database: str, path: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def opened(config: Config, wiki: WikiConfig) -> Any:
        assert path or wiki.name.dbname != "awiki", "a fault"
        return open_source(config, wiki)

    monkeypatch.setattr(passes, "open_source", opened)
    printed = Console(file=StringIO(), width=200)
    async with open_pool(database, size=2, part="test") as pool, open_littlewiki(PLAIN) as little:
        config = config_of(("awiki", f"{little.api_url}{path}"), ("bwiki", little.api_url))
        fed = feeding(pool, 100, printed)
        for _ in range(2):
            await fed.next_pass(lambda: config)
        assert await passed_by(pool) == {"awiki": None, "bwiki": 100}
        assert fed.failed == {WikiName("awiki", "wmflabs")}
        fed.failed.clear()
        await fed.next_pass(lambda: config)
        assert isinstance(printed.file, StringIO)
        shown = f"\n{printed.file.getvalue()}"
        assert (shown.count("\nawiki@wmflabs: "), "/gone" in caplog.text) == (1, False)


async def test_passes_and_re_reads_do_not_wait_for_a_wiki_that_takes_long_and_each_gets_one_request_at_a_time(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passes, "_LOOK_S", 0.05)
    under_way, most, one_try = Counter[str](), Counter[str](), ActionApi._try

    async def counted(api: ActionApi, *given: Any) -> Any:
        under_way[api.url] += 1
        most[api.url] = max(most[api.url], under_way[api.url])
        try:
            return await one_try(api, *given)
        finally:
            under_way[api.url] -= 1

    monkeypatch.setattr(ActionApi, "_try", counted)
    async with (
        open_pool(database, size=4, part="test") as pool,
        open_littlewiki(PLAIN) as little,
        serve(lambda asked: sleeping()) as silent,
    ):
        config = config_of(("awiki", silent.url("/w/api.php")), ("bwiki", little.api_url))
        running = asyncio.create_task(feeding(pool, 100).repeat(lambda: config))
        try:
            await until_true(lambda: passed_by(pool), {"awiki": None, "bwiki": 100})
            await hand_in(pool, "bwiki", 2)
            await until_true(lambda: pages_of(pool), [1, 2])
        finally:
            await cancel(running)
    assert under_way[silent.url("/w/api.php")] == 0
    assert set(most.values()) == {1}


async def sleeping() -> AsyncIterator[bytes]:
    await asyncio.sleep(3600)
    yield b""


async def hand_in(pool: Pool, name: str, page: int) -> None:
    (wiki,) = [each.wiki for each in await do(pool, list_wikis) if each.dbname == name]
    await do(pool, record_pending, wiki, [Pending(page, "", datetime.now(UTC) - timedelta(hours=1), True)])


async def until_true(given: Callable[[], Awaitable[object]], wanted: object) -> None:
    async with asyncio.timeout(30):
        while await given() != wanted:
            await asyncio.sleep(0.05)


async def pages_of(pool: Pool) -> list[int]:
    async with pool.connection() as conn:
        return [page async for (page,) in await conn.execute("SELECT page FROM page ORDER BY page")]


async def passed_by(pool: Pool) -> dict[str, int | None]:
    """The day of the last pass over each configured wiki."""
    known = {wiki.dbname: wiki.passed for wiki in await do(pool, list_wikis)}
    return {name: known.get(name) for name in ("awiki", "bwiki")}


TITLE = "User:Ann/Weboid.json"
PAGES_OF_WATCHED = [WikiPage(1, "A", (WikiLink("https://a.sample.de/"),)), WikiPage(2, "Talk:B", namespace=1)]


def page(**wikis: Any) -> Exchange:
    text = json.dumps({f"{name}@Little": criteria for name, criteria in wikis.items()})
    asked = {"titles": TITLE, "prop": "revisions", "rvprop": "content", "rvslots": "main"}
    printed = {"ns": 2, "title": TITLE, "revisions": [{"slots": {"main": {"content": text}}}]}
    return exchange(asked, {"batchcomplete": True, "query": {"pages": [printed]}})


def environment(lists: str, little: str = "https://wiki.example.org/w/api.php") -> dict[str, str]:
    """A configuration by variables alone: farms, and the page of one of them."""
    farms = {
        "Lists": {"code": 2, "api": lists, "domains": ["lists.example"]},
        "Little": {"code": 3, "api": little, "domains": ["little.example"]},
    }
    return {
        "TOOL_FARM": json.dumps(farms),
        "TOOL_FEED__WATCHED": f"meta@Lists:{TITLE}",
        "WEBOID_NET_PERMIT": "127.0.0.0/8",
    }


async def test_passes_go_over_the_wikis_of_the_page_by_variables_alone(database: str, tmp_path: Path) -> None:
    async with (
        open_littlewiki(PAGES_OF_WATCHED) as little,
        open_wiki_replay([page(demowiki={"namespaces": [0]})]) as lists,
    ):
        environ = environment(lists.url, little.api_url)
        place = Place(tmp_path, environ={**environ, "WEBOID_DATABASE": database})
        ran = await place.run("feed", "pass")
        assert ran.status == 0, ran.err
        assert "demowiki@Little: 1 matching page; 1 new" in ran.err
        del place.environ["TOOL_FEED__WATCHED"]
        ran = await place.run("feed", "pass")
        assert ran.status == 2
        assert "no wiki is named or configured: add " in ran.err
        assert "WEBOID_WIKI" in ran.err


async def until_ended(config: Config, database: str, stopped: asyncio.Event, *later: Config | None) -> list[str]:
    """The wikis that are watched first, after the event that they are others, or that all is to end.

    The configuration is one after the other of these, None = it cannot be read.
    """
    configs, last = iter([config, *later]), [config, *later][-1]

    def read() -> Config:
        if (now := next(configs, last)) is None:
            raise ConfigError("unknown key")
        return now

    async with (
        open_pool(database, size=2, part="test") as pool,
        watched.watching(read, local_feed_store(pool), stopped, lambda: 100) as (current, ended),
    ):
        await asyncio.wait_for(ended.wait(), 20)
    return [str(wiki.name) for wiki in current.wikis]


async def test_events_learn_that_the_page_names_other_wikis(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched, "READ_S", 0.02)
    monkeypatch.setattr(watch_list, "READ_S", 0.0)
    answers = [
        page(awiki={}),
        page(awiki={}),
        page(awiki={}, bwiki={}),
        page(awiki={}, bwiki={}),
        page(awiki={"namespaces": [0]}, bwiki={}),
    ]
    async with open_wiki_replay(answers) as lists:
        config = load_config(None, environment(lists.url))
        assert await until_ended(config, database, asyncio.Event()) == ["awiki@Little"]
        assert await until_ended(config, database, asyncio.Event()) == ["awiki@Little", "bwiki@Little"]
        stopped = asyncio.Event()
        stopped.set()
        assert await until_ended(config, database, stopped) == ["awiki@Little", "bwiki@Little"]


async def test_events_learn_that_other_wikis_or_criteria_are_configured(
    database: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(watched, "READ_S", 0.02)
    texts = ('{"awiki": {}}', '{"awiki": {}, "bwiki": {}}', '{"bwiki": {}}', '{"bwiki": {"namespaces": [1]}}')
    configs = [load_config(None, {"WEBOID_WIKI": text}) for text in texts]
    for number, (before, after) in enumerate(pairwise(configs)):
        watched_first = await until_ended(before, database, asyncio.Event(), before, None, None, after)
        assert watched_first == [["awiki@WMF"], ["awiki@WMF", "bwiki@WMF"], ["bwiki@WMF"]][number]
    assert [each.getMessage() for each in caplog.records].count("the configuration stays as it was: unknown key") == 3


async def test_a_wiki_that_is_configured_stays_as_it_is(database: str) -> None:
    async with open_wiki_replay([page(awiki={"namespaces": [4]}, bwiki={})]) as lists:
        environ = environment(lists.url) | {"TOOL_WIKI": '{"awiki@Little": {"namespaces": [0]}}'}
        async with open_pool(database, size=1, part="test") as pool:
            config = await watched.with_watched(load_config(None, environ), local_feed_store(pool), 100)
    assert [(str(wiki.name), wiki.matching) for wiki in config.wikis] == [
        ("awiki@Little", {"namespaces": [0]}),
        ("bwiki@Little", {}),
    ]
