"""W-10: links as they are now, shared reads, a time limit, and the last pass if the wiki does not answer."""

import asyncio
from typing import Any

from support.listed import answer_to
from support.waiting import until
from support.webservice import DEAD, TODAY, WALLED, Site

from weboid.wiki.source import PageLinks

API = "/api/page?dbname=testwiki@wmflabs"


async def page_of(site: Site, query: str) -> Any:
    return (await answer_to(site, f"{API}&{query}"))["pages"][0]


async def test_a_link_is_shown_as_soon_as_the_page_has_it_and_no_longer(site: Site) -> None:
    site.source.found[2] = PageLinks(2, 0, "Page 2", 8, None, (DEAD, "http://new.demo/"))
    page = await page_of(site, "pageid=2&all=1")
    assert (page["live"], page["revision"]) == (True, 8)
    assert [link["verdict"] for link in page["links"]] == ["dead", "unknown"]
    site.source.found[2] = PageLinks(2, 0, "Page 2", 9, None, ())
    assert (await page_of(site, "pageid=2&all=1"))["links"] == []


async def test_a_deleted_page_is_gone_although_it_is_stored(site: Site) -> None:
    del site.source.found[1]
    assert (await site.fetch(f"{API}&pageid=1"))[0] == 404


async def test_a_wiki_that_does_not_answer_gives_the_links_of_the_last_pass_with_their_day(site: Site) -> None:
    site.source.silent = True
    for query in ("pageid=1&all=1", "title=Page_1&all=1"):
        page = await page_of(site, query)
        assert (page["live"], page["read"], page["revision"]) == (False, "2017-04-11", 1)
        assert len({link["normal"] for link in page["links"]} - {DEAD, WALLED}) == len(page["links"]) - 2 == 3
    body = await site.text("/externalLinkInfo?dbname=testwiki@wmflabs&pageid=1&lang=en")
    assert "The wiki does not answer at the moment" in body
    assert '<time datetime="2017-04-11"' in body
    # Of what no pass has read nobody knows then whether it exists.
    for query in ("pageid=3", "title=Nowhere", "pageid=3|4"):
        status, body, _ = await site.fetch(f"{API}&{query}")
        assert (status, "weboid-error-wiki-silent" in body) == (503, True), query
    link = "/api/url?dbname=testwiki@wmflabs&url=http%3A%2F%2F"
    for query, expected in (("b.demo/wall&pageid=1", 200), ("new.demo/&pageid=1", 503), ("b.demo/wall&pageid=3", 503)):
        assert (await site.fetch(f"{link}{query}"))[0] == expected, query


async def test_a_wiki_that_is_slow_is_given_up_after_the_budget(site: Site) -> None:
    site.source.pause_s = 5.0
    assert (await page_of(site, "pageid=1"))["live"] is False


async def test_pages_that_somebody_asks_about_are_noted_or_handed_to_the_feeder_and_no_answer_waits(site: Site) -> None:
    async with asyncio.timeout(9), site.wiki.pool.connection() as conn:
        await conn.execute("LOCK TABLE pending")
        for _ in range(2):
            assert (await site.fetch(f"{API}&pageid=1|3|4"))[0] == 200
    await until(lambda: site.wiki.rows("SELECT FROM pending"))
    rows = await site.wiki.rows("SELECT page, touched, asked FROM page")
    assert rows == [(1, 100, TODAY), (2, 100, None)]
    assert await site.wiki.rows("SELECT page, matched FROM pending") == [(3, False)]


async def test_simultaneous_callers_share_one_read(site: Site) -> None:
    site.source.pause_s = 0.25
    pages = await asyncio.gather(*(page_of(site, "pageid=1") for _ in range(20)))
    assert all(page["live"] for page in pages)
    assert site.source.asked == 1
    await page_of(site, "pageid=1")
    assert site.source.asked == 2
