"""Passes for good: whose turn it is, and by which configuration (P-4, P-7)."""

from dataclasses import replace
from functools import partial
from io import StringIO
from ipaddress import ip_network

from rich.console import Console

from weboid.central.feed.feed_on_store import store_feed
from weboid.cli import passes
from weboid.config import Config, WikiConfig, load_config
from weboid.core.url.farms import WikiName
from weboid.demo.littlewiki import open_littlewiki
from weboid.demo.wikipages import WikiPage
from weboid.store.db.pool import Pool, open_pool
from weboid.store.pages.wiki import list_wikis

PAGES = [WikiPage(1, "A"), WikiPage(2, "Talk:B", namespace=1)]


def config_of(*wikis: tuple[str, str], **matching: object) -> Config:
    """A configuration of wikis on loopback, by name and address."""
    config = load_config(None, {})
    known = tuple(WikiConfig(WikiName(name, "wmflabs"), api=api, matching=matching) for name, api in wikis)
    return replace(config, wikis=known, net=replace(config.net, permit=(ip_network("127.0.0.0/8"),)))


async def test_the_configuration_is_read_again_before_each_pass(database: str) -> None:
    told = Console(file=StringIO())
    async with open_pool(database, size=2, part="test") as pool, open_littlewiki(PAGES) as little:
        for day, namespaces, watched in [(100, [0], [1]), (107, [0, 1], [1, 2])]:
            read = partial(config_of, ("awiki", little.api_url), namespaces=namespaces)
            await passes.next_pass(read, store_feed(pool), (), day, told, set())
            async with pool.connection() as conn:
                rows = await (await conn.execute("SELECT page FROM page ORDER BY page")).fetchall()
            assert [page for (page,) in rows] == watched


async def test_the_wiki_that_waits_longest_comes_first(database: str) -> None:
    async with open_pool(database, size=2, part="test") as pool, open_littlewiki(PAGES) as little:
        config = config_of(("awiki", little.api_url), ("bwiki", little.api_url))
        for day, passed in [
            (100, {"awiki": 100, "bwiki": None}),
            (103, {"awiki": 100, "bwiki": 103}),
            (107, {"awiki": 107, "bwiki": 103}),
            (110, {"awiki": 107, "bwiki": 110}),
        ]:
            await passes.next_pass(lambda: config, store_feed(pool), (), day, Console(file=StringIO()), set())
            assert await passed_by(pool) == passed


async def test_a_wiki_that_fails_is_told_and_holds_up_no_other(database: str) -> None:
    told = Console(file=StringIO(), width=200)
    async with open_pool(database, size=2, part="test") as pool, open_littlewiki(PAGES) as little:
        config = config_of(("awiki", f"{little.api_url}/gone"), ("bwiki", little.api_url))
        failed: set[WikiName] = set()
        for _ in range(2):
            await passes.next_pass(lambda: config, store_feed(pool), (), 100, told, failed)
        assert await passed_by(pool) == {"awiki": None, "bwiki": 100}
        assert failed == {WikiName("awiki", "wmflabs")}
        assert isinstance(told.file, StringIO)
        assert "awiki@wmflabs: " in told.file.getvalue()


async def passed_by(pool: Pool) -> dict[str, int | None]:
    """The day of the last pass over each configured wiki."""
    async with pool.connection() as conn:
        known = {wiki.dbname: wiki.passed for wiki in await list_wikis(conn)}
    return {name: known.get(name) for name in ("awiki", "bwiki")}
