"""Edits, moves, deletions, restores and changes of categories by chance on a real MediaWiki, brought in by events.

The events are made of the hooks of which EventStreams makes them, and its jobs run step by step, in any order. What the
events leave is what a pass over the wiki, as it is then, finds. ``WEBOID_TEST_ACTS`` = how many changes (40).
"""

import json
import os
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from ipaddress import ip_network
from pathlib import Path
from typing import Final

import pytest
from rich.console import Console
from rich.progress import Progress
from support.mediawiki import Interwiki, MediaWiki, make_mediawiki
from support.sseserver import Turn, open_event_server

from weboid.cli.events import follow_events
from weboid.cli.passes import Feeding
from weboid.config import Config, WikiConfig, load_config
from weboid.core.record.days import day_of
from weboid.core.url.farms import WikiName
from weboid.remote.feed.calls import local_feed_store
from weboid.store.db.pool import Pool, open_pool

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600)]

_SUPPORT: Final = Path(__file__).resolve().parents[1] / "support"
_ACTS: Final = int(os.environ.get("WEBOID_TEST_ACTS", "40"))
_PAGES: Final = [*(f"Quay {number}" for number in range(16)), *(f"User:Ann/List {number}" for number in range(8))]
_CATEGORIES: Final = ("Harbour", "Ships", "Boats", "Rafts")
_JOBS: Final = ("htmlCacheUpdate", "refreshLinks", "categoryMembershipChange")
_URLS: Final = [f"https://site{number}.org/a?b=1+2&c=ü#{number}" for number in range(12)]
_DAY: Final = day_of(datetime.now(UTC))
_ROWS: Final = {
    "page": "SELECT page, namespace, title, latest, encode(urls, 'hex') FROM page",
    "link": "SELECT page, bucket, host_key, url_key FROM link",
    "url": "SELECT bucket, host_key, url_key, scheme, port, path FROM url WHERE orphaned IS NULL",
    "category": "SELECT title FROM category",
}


@pytest.fixture
def wiki() -> Iterator[MediaWiki]:
    with make_mediawiki(settings=(_SUPPORT / "mediawiki_events.php").read_text(encoding="utf-8")) as made:
        made.add_interwikis([Interwiki("books", "https://books.org/$1")])
        made.start()
        yield made


def _text(chance: random.Random, title: str) -> str:
    categories = [f"[[Category:{name}]]" for name in chance.sample(_CATEGORIES, chance.choice([0, 0, 1, 2]))]
    if title.startswith("Category:"):
        return " ".join(["", *categories])
    if chance.random() < 0.2:
        return f"#REDIRECT [[{chance.choice(_PAGES)}]]"
    links = [*chance.sample(_URLS, chance.randint(0, 3)), *categories]
    more = [f"[[books:Vol {number}|x]]" for number in chance.sample(range(4), chance.randint(0, 2))]
    return " ".join([*links, *more, *["{{Source}}"] * chance.randint(0, 1)])


def _acts(chance: random.Random, count: int, template: list[str]) -> Iterator[tuple[str, str, str]]:
    for _ in range(count):
        title = chance.choice(_PAGES)
        match chance.choice(
            ["edit"] * 9 + ["category", "template", "delete", "undelete"] * 2 + ["move", "move-alone"] * 4
        ):
            case "category":
                title = f"Category:{chance.choice(_CATEGORIES)}"
                yield "edit", title, _text(chance, title)
            case "template":
                # What a template no longer brings is for the next pass.
                template.append(f"https://template.org/{len(template)}")
                yield "edit", "Template:Source", " ".join(template)
            case "edit":
                yield "edit", title, _text(chance, title)
            case kind:
                yield kind, title, chance.choice(_PAGES)


def _config(wiki: MediaWiki) -> Config:
    config = load_config(None, {})
    matching = {"namespaces": [0], "categories": ["Harbour"]}
    watched = WikiConfig(WikiName("testwiki", "wmflabs"), api=wiki.api, matching=matching)
    return replace(config, wikis=(watched,), net=replace(config.net, permit=(ip_network("127.0.0.0/8"),)))


async def _pass(config: Config, pool: Pool) -> None:
    feeding = Feeding(local_feed_store(pool), (), lambda: _DAY, Console(file=StringIO()), Progress(disable=True))
    await feeding.once(config)


async def _rows(pool: Pool) -> dict[str, set[tuple[object, ...]]]:
    async with pool.connection() as conn:
        return {name: set(await (await conn.execute(query.encode())).fetchall()) for name, query in _ROWS.items()}


@pytest.mark.parametrize("seed", [1, 2])
async def test_changes_that_come_by_events_end_as_a_fresh_pass_ends(
    wiki: MediaWiki, database: str, second_database: str, seed: int
) -> None:
    chance, template = random.Random(seed), ["https://template.org/"]
    events, config = wiki.folder / "events.jsonl", _config(wiki)

    def act(*acts: tuple[str, str, str]) -> str:
        return wiki.run(str(_SUPPORT / "mediawiki_acts.php"), text="".join(f"{json.dumps(each)}\n" for each in acts))

    act(("edit", "Template:Source", template[0]), *(("edit", title, _text(chance, title)) for title in _PAGES[::2]))
    wiki.run("runJobs")
    async with open_pool(database, size=4, part="test") as pool, open_event_server([], Turn()) as server:
        await _pass(config, pool)
        skipped, done = len(events.read_text(encoding="utf-8").splitlines()), ""
        for begin in range(0, _ACTS, 10):
            done += act(*_acts(chance, min(10, _ACTS - begin), template))
            for kind in chance.sample(_JOBS, chance.randint(0, 3)):
                wiki.run("runJobs", f"--type={kind}")
            if begin + 10 >= _ACTS:
                wiki.run("runJobs")
            server.events[:] = events.read_text(encoding="utf-8").splitlines()[skipped:]
            await follow_events(
                config,
                local_feed_store(pool),
                config.wikis,
                lambda: _DAY,
                Console(file=StringIO()),
                server.url,
                now=lambda: datetime.now(UTC) + timedelta(hours=1),
                once=True,
            )
        came = await _rows(pool)
    async with open_pool(second_database, size=4, part="test") as pool:
        await _pass(config, pool)
        fresh = await _rows(pool)
    # Pages that match no longer stay for a while (P-9), but not those that are deleted.
    with closing(sqlite3.connect(wiki.database)) as connection:
        there = {page for (page,) in connection.execute("SELECT page_id FROM page")}
    matching = {row[0] for row in fresh["page"]}
    assert {row[0] for row in came["page"]} - there == set()
    for name in ("page", "link"):
        assert {row for row in came[name] if row[0] in matching} == fresh[name], name
    assert fresh["url"] <= came["url"]
    assert fresh["category"] <= came["category"]
    kinds = ("edit", "move", "move-alone", "delete", "undelete")
    print(len(server.events), "events of", {kind: done.count(f"{kind} done\n") for kind in kinds})
