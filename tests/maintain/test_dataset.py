"""The public data set: what is in it, that it is made once a week, and that a killed run goes on."""

import csv
import gzip
import io

from support.observations import FINE, LOST
from support.stored import WikiInStore, open_wiki

from weboid.core.observe.observation import Observation
from weboid.maintain import dataset
from weboid.maintain.dataset import COLUMNS, KEPT_DAYS, PERIOD_DAYS, publish
from weboid.store.lists.dataset import PARTS, find_part, find_progress, list_sets, record_part

LINKS = {1: ["http://a.demo/1", "http://a.demo/2", "http://b.demo/"], 2: ["http://a.demo/1", "http://a.demo/lost"]}


def answer(url: str, day: int) -> Observation:
    return LOST if "lost" in url else FINE


async def lines(wiki: WikiInStore, day: int) -> list[list[str]]:
    """The whole file of a day, as a reader downloads it."""
    async with wiki.pool.connection() as conn:
        parts = [await find_part(conn, day, "wmflabs", part) for part in range(PARTS)]
    text = gzip.decompress(b"".join(part for part in parts if part is not None)).decode()
    return list(csv.reader(io.StringIO(text)))


async def test_the_file_counts_urls_uses_and_dead_ones_by_wiki_host_and_status_once_a_week(database: str) -> None:
    async with open_wiki(database, LINKS) as wiki:
        for day in (100, 103, 107, 110, 114, 115, 116):
            await wiki.round(day, answer)
        assert await publish(wiki.pool, 121)
        head, *rows = await lines(wiki, 121)
        assert tuple(head) == COLUMNS
        assert sorted(rows) == [
            ["testwiki", "a.demo", "1", "fine", "2", "3", "0"],
            ["testwiki", "a.demo", "18", "not-found", "1", "1", "1"],
            ["testwiki", "b.demo", "1", "fine", "1", "1", "0"],
        ]
        (listed,) = await wiki.do(list_sets)
        assert (listed.day, listed.farm, listed.lines) == (121, "wmflabs", 3)
        # It is made once a week, and old ones go.
        assert not await publish(wiki.pool, 121 + PERIOD_DAYS - 1)
        assert await publish(wiki.pool, 121 + PERIOD_DAYS)
        assert await publish(wiki.pool, 122 + KEPT_DAYS)
        assert [each.day for each in await wiki.do(list_sets)] == [122 + KEPT_DAYS, 121 + PERIOD_DAYS]


async def test_a_killed_run_goes_on_where_it_was_and_is_reported_only_when_whole(database: str) -> None:
    async with open_wiki(database, LINKS) as wiki:
        async with wiki.pool.connection() as conn:
            await record_part(conn, 100, 0, 0, lines=0, body=dataset._member([], has_head=True))
            assert await list_sets(conn) == []
            assert await find_progress(conn) == (100, 1)
        done: list[int] = []
        assert await publish(wiki.pool, 103, show=done.append)
        assert (done[0], done[-1]) == (2, PARTS)
        head, *_ = await lines(wiki, 100)
        assert tuple(head) == COLUMNS
