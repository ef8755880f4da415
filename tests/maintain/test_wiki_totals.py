"""The daily counts of a wiki's links, and where its dead ones are."""

import pytest
from support.observations import FINE, LOST, WALL
from support.stored import open_wiki

from weboid.core.observe.observation import Observation
from weboid.maintain import wiki_totals
from weboid.maintain.wiki_totals import count_wikis
from weboid.store.db.pool import Connection
from weboid.store.lists.wiki_totals import (
    KEPT_DAYS,
    DeadPlace,
    PlaceKind,
    WikiTotal,
    find_pages,
    list_places,
    list_totals,
)

PAGES = {
    page: [f"https://{host}.gone.demo/{page}" for host in ("a", "b")] + ["https://wall.demo/"] for page in range(1, 6)
} | {6: ["https://other.demo/", "https://web.archive.org/web/20160102030405/https://other.demo/"]}


def answers(url: str, day: int) -> Observation:
    return WALL if "wall" in url else LOST if "gone" in url or url == "https://other.demo/" else FINE


@pytest.mark.parametrize("size", [1, 10_000])
async def test_a_day_has_what_died_on_it_and_the_stock_at_its_end(
    database: str, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    monkeypatch.setattr(wiki_totals, "STRETCH", size)
    monkeypatch.setattr(wiki_totals, "LINES", size)
    async with open_wiki(database, PAGES) as stored:
        wiki = stored.wiki.wiki
        await stored.rounds(answers, range(100, 140))
        [(died, _)] = await stored.rows("SELECT day, count(*) FROM change WHERE after = 3 GROUP BY day")
        assert isinstance(died, int)
        for day in (died + 1, died + 1, died + 2):
            assert await count_wikis(stored.pool, day) == 1
        stock = WikiTotal(died, 6, 17, 11, 1, 5, 11, 0, False)
        later = await stored.do(list_totals, wiki, died + 2)
        assert later == [stock, stock._replace(day=died + 1, died=0)]
        assert await stored.do(list_places, wiki) == [
            DeadPlace(PlaceKind.DOMAIN, "gone.demo", 10, 0),
            DeadPlace(PlaceKind.DOMAIN, "other.demo", 1, 1),
            DeadPlace(PlaceKind.NAMESPACE, "0", 11, 1),
        ]
        await stored.rounds(lambda url, day: FINE, range(141, 180))
        for (back,) in await stored.rows("SELECT DISTINCT day FROM change WHERE before = 3"):
            assert isinstance(back, int)
            await count_wikis(stored.pool, back + 1)
        totals = await stored.do(list_totals, wiki, 180)
        assert totals[-1][:6] == (totals[-1].day, 6, 17, 0, 0, 0)
        assert sum(total.back for total in totals) == 11
        await count_wikis(stored.pool, died + 2 + KEPT_DAYS)
        assert await stored.do(list_places, wiki) == []
        assert (await stored.do(list_totals, wiki, died + 1))[0].day == died + 1


async def test_doubtful_links_of_many_pages_are_estimated(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wiki_totals, "SAMPLES", 4)
    monkeypatch.setattr(wiki_totals, "SAMPLED", 5)
    pages = {3 * page: ["https://fine.demo/"] + ["https://wall.demo/"] * (page % 2) for page in range(1, 101)}
    async with open_wiki(database, pages) as stored:
        await stored.rounds(answers, range(100, 140))
        await count_wikis(stored.pool, 140)
        [total] = await stored.do(list_totals, stored.wiki.wiki, 140)
        assert (total.pages, total.dead, total.sampled) == (100, 0, True)
        assert 125 <= total.links <= 175
        assert 30 <= total.doubtful <= 70


async def test_a_fault_of_ours_over_one_wiki_leaves_the_others(
    database: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_wiki(database, PAGES) as stored:
        other = await stored.another("otherwiki")
        counted = find_pages

        async def failing(conn: Connection, wiki: int) -> tuple[int, int, int]:
            if wiki == stored.wiki.wiki:
                raise ZeroDivisionError
            return await counted(conn, wiki)

        monkeypatch.setattr("weboid.store.lists.wiki_totals.find_pages", failing)
        assert await count_wikis(stored.pool, 140) == 1
        assert len(await stored.do(list_totals, other.wiki.wiki, 140)) == 1
        assert "not counted today" in caplog.text
