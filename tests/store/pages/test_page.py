from support.intakes import record_pages
from support.stored import open_wiki

from weboid.store.pages.page import PageUrls

URLS = [f"http://h{number % 7}.demo/{number}" for number in range(150)]


async def test_a_use_that_is_there_without_its_page_does_not_stop_an_intake_of_many(database: str) -> None:
    async with open_wiki(database, {1: URLS[:1]}) as wiki:
        await wiki.execute(
            "INSERT INTO link (wiki, page, bucket, host_key, url_key)"
            " SELECT wiki, 2, bucket, host_key, url_key FROM link"
        )
        intake = await wiki.take_in({1: URLS[:1], 2: URLS}, 101)
        assert (intake.links_new, intake.urls_new) == (150, 149)
        assert await wiki.rows("SELECT page, count(*)::int FROM link GROUP BY page") == [(1, 1), (2, 150)]
        assert await wiki.rows("SELECT count(*)::int FROM url") == [(150,)]


async def test_the_title_of_a_new_page_is_stored_as_it_is(database: str) -> None:
    title = "a\\b\\N\tc\nd\\"
    async with open_wiki(database, {}) as wiki:
        await wiki.do(record_pages, wiki.wiki.wiki, [PageUrls(7, -1, title, 5, None, {})], 101)
        assert await wiki.rows("SELECT page, namespace, title, latest, mark, urls, touched FROM page") == [
            (7, -1, title, 5, None, b"", 101)
        ]
