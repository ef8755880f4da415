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


async def pending(site: Site) -> list[tuple[object, ...]]:
    return await site.wiki.rows("SELECT page FROM pending")


async def forget(site: Site) -> None:
    await site.wiki.execute("DELETE FROM pending")


async def test_a_page_is_handed_in_again_on_another_day_or_in_another_revision_only(site: Site) -> None:
    notifier, wiki = FeederNotifier(site.wiki.pool), site.wiki.wiki.wiki
    await notifier.notify(wiki, [page(55), page(77)], TODAY)
    assert await pending(site) == [(55,), (77,)]
    await forget(site)
    await notifier.notify(wiki, [page(77)], TODAY)
    assert await pending(site) == []
    await notifier.notify(wiki, [page(55), page(77, revision=8)], TODAY)
    assert await pending(site) == [(77,)]
    await forget(site)
    await notifier.notify(wiki, [page(55)], TODAY + 1)
    assert await pending(site) == [(55,)]


async def test_what_a_full_database_could_not_take_is_handed_in_later(site: Site) -> None:
    notifier, wiki = FeederNotifier(site.wiki.pool), site.wiki.wiki.wiki
    async with site.wiki.pool.connection() as conn:
        await conn.execute(
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql"
            " AS $$ BEGIN RAISE SQLSTATE '53100' USING MESSAGE = 'the disk is full'; END $$"
        )
        await conn.execute("CREATE TRIGGER full_disk BEFORE INSERT ON pending EXECUTE FUNCTION full_disk()")
    await notifier.notify(wiki, [page(77)], TODAY)
    async with site.wiki.pool.connection() as conn:
        await conn.execute("DROP TRIGGER full_disk ON pending")
        await conn.execute("DROP FUNCTION full_disk")
    assert await pending(site) == []
    await notifier.notify(wiki, [page(77)], TODAY)
    assert await pending(site) == [(77,)]


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
