"""The wikis that a page of a wiki adds to the configured ones, as passes and events go by it."""

import asyncio
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.commands import Place
from support.wikireplay import Exchange, exchange, open_wiki_replay

from weboid.cli import watched
from weboid.config import Config, load_config
from weboid.demo.littlewiki import open_littlewiki
from weboid.demo.wikipages import WikiLink, WikiPage
from weboid.errors import ConfigError
from weboid.feed import watch_list
from weboid.remote.feed.calls import local_feed_store
from weboid.store.db.pool import open_pool

TITLE = "User:Ann/Weboid.json"
PAGES = [WikiPage(1, "A", (WikiLink("https://a.sample.de/"),)), WikiPage(2, "Talk:B", namespace=1)]


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
    async with open_littlewiki(PAGES) as little, open_wiki_replay([page(demowiki={"namespaces": [0]})]) as lists:
        environ = environment(lists.url, little.api_url)
        place = Place(tmp_path, environ={**environ, "WEBOID_DATABASE": database})
        ran = await place.run("feed", "pass")
        assert ran.status == 0, ran.err
        assert "demowiki@Little: 1 pages match; 1 new" in ran.err
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
