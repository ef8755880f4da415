import pytest
from support.webservice import TODAY, Site

from weboid.core.url.farms import WMFLABS, WikiName
from weboid.errors import NotFound
from weboid.store.pages.wiki import find_wiki, record_pass, record_wiki
from weboid.web.answer.notify_feeder import FeederNotifier
from weboid.web.answer.wiki_names import Wikis
from weboid.wiki.source import PageLinks

WIKI = WikiName("testwiki", "wmflabs")


def page(number: int, revision: int = 7) -> PageLinks:
    return PageLinks(number, 0, f"Page {number}", revision, None, ())


async def handed_in(site: Site, notifier: FeederNotifier) -> list[object]:
    """The pages that were handed in since the last call."""
    await notifier.close()
    return [number for (number,) in await site.wiki.rows("DELETE FROM pending RETURNING page")]


async def test_a_page_is_handed_in_again_on_another_day_or_in_another_revision_only(site: Site) -> None:
    notifier, wiki = FeederNotifier(site.wiki.pool), site.wiki.wiki.wiki
    notifier.notify(wiki, [page(55), page(77)], TODAY)
    assert await handed_in(site, notifier) == [55, 77]
    notifier.notify(wiki, [page(77)], TODAY)
    assert await handed_in(site, notifier) == []
    notifier.notify(wiki, [page(55), page(77, revision=8)], TODAY)
    assert await handed_in(site, notifier) == [77]
    notifier.notify(wiki, map(page, range(55, 255)), TODAY + 1)
    assert await handed_in(site, notifier) == list(range(55, 255))


async def test_pages_of_a_moment_are_handed_in_by_one_transaction(site: Site) -> None:
    notifier, wiki = FeederNotifier(site.wiki.pool), site.wiki.wiki.wiki
    for number in (55, 77):
        notifier.notify(wiki, [page(number)], TODAY)
        await site.wiki.rows("SELECT pg_sleep(0.05)")
    await notifier.close()
    assert await site.wiki.rows("SELECT count(*), count(DISTINCT xmin::text) FROM pending") == [(2, 1)]


async def test_what_a_full_database_could_not_take_is_handed_in_later(site: Site) -> None:
    notifier, wiki = FeederNotifier(site.wiki.pool), site.wiki.wiki.wiki
    await site.wiki.execute(
        "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql"
        " AS $$ BEGIN RAISE SQLSTATE '53100' USING MESSAGE = 'the disk is full'; END $$"
    )
    await site.wiki.execute("CREATE TRIGGER full_disk BEFORE INSERT ON pending EXECUTE FUNCTION full_disk()")
    notifier.notify(wiki, [page(77)], TODAY)
    assert await handed_in(site, notifier) == []
    await site.wiki.execute("DROP FUNCTION full_disk CASCADE")
    notifier.notify(wiki, (), TODAY)
    assert await handed_in(site, notifier) == [77]


async def test_others_are_handed_in_whatever_is_raised_for_a_page(site: Site) -> None:
    notifier, wiki = FeederNotifier(site.wiki.pool), site.wiki.wiki.wiki
    for pages, day, found in (([page(1 << 70)], TODAY, []), ([page(77)], TODAY + 1, []), ([], TODAY + 1, [77])):
        notifier.notify(wiki, pages, day)
        assert await handed_in(site, notifier) == found


async def test_a_wiki_is_as_it_was_some_seconds_ago_and_a_new_one_is_found_at_once(site: Site) -> None:
    wikis = Wikis(site.wiki.pool, [WMFLABS])
    found, farm = await wikis.find(WIKI)
    assert (found.wiki, farm) == (site.wiki.wiki.wiki, WMFLABS)
    async with site.wiki.pool.connection() as conn:
        await record_pass(conn, found.wiki, TODAY + 1)
        new = await record_wiki(conn, WMFLABS, WikiName("newwiki", "wmflabs"))
        stored = await find_wiki(conn, WMFLABS, WIKI)
    assert stored is not None
    assert stored.passed == TODAY + 1
    assert (await wikis.find(WIKI))[0] == found
    assert (await wikis.find(WikiName("newwiki", "wmflabs")))[0] == new
    for unknown in (WikiName("nowiki", "wmflabs"), WikiName("testwiki", "nofarm")):
        with pytest.raises(NotFound):
            await wikis.find(unknown)
