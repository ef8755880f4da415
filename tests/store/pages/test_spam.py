"""Spam lists and spam links in the store (L-3, L-8)."""

from support.stored import WikiInStore, key, open_wiki

from weboid.core.url.farms import WMF, WMFLABS
from weboid.core.url.keys import UrlKey
from weboid.core.url.spam_lines import parse_lines
from weboid.core.url.urls import parse
from weboid.store.pages.spam import (
    FARM,
    ListKind,
    Reclassified,
    SpamPage,
    list_spam_links,
    list_spam_lists,
    list_spam_pages,
    record_reclassified,
    record_spam_added,
    record_spam_links,
    record_spam_links_gone,
    record_spam_list,
    record_spam_pages_gone,
    spam_list,
)
from weboid.store.pages.wiki import record_farms

BAD, WORSE, FINE = "https://bad.com/", "https://worse.net/a", "https://fine.org/"


def spam_of(*urls: str) -> dict[UrlKey, str]:
    return {key(url): url for url in urls}


async def test_a_wiki_is_reported_its_own_lists_and_its_farms_but_never_anothers(stored: WikiInStore) -> None:
    async with stored.pool.connection() as conn:
        await record_farms(conn, [WMF])
        for farm, dbname, line in [
            (WMFLABS.code, FARM, "farm"),
            (WMFLABS.code, "testwiki", "own"),
            (WMFLABS.code, "otherwiki", "other"),
            (WMF.code, FARM, "otherfarm"),
            (WMF.code, "testwiki", "namesake"),
        ]:
            await record_spam_list(conn, spam_list(farm, dbname, ListKind.BLACK, 5, parse_lines(line)))
        white = spam_list(WMFLABS.code, "testwiki", ListKind.WHITE, 6, parse_lines("a\nb\n(\n.*"))
        await record_spam_list(conn, white)
        lists = await list_spam_lists(conn, WMFLABS.code, "testwiki")
        assert [each.lines for each in lists] == [("farm",), ("own",), ("a", "b")]
        assert lists[2] == white
        assert white.unusable == ("(: RE2: missing ): (", ".*: matches nearly every URL")
        assert [each.lines for each in await list_spam_lists(conn, WMFLABS.code, FARM)] == [("farm",)]
        assert [each.lines for each in await list_spam_lists(conn, WMFLABS.code, "thirdwiki")] == [("farm",)]


async def test_spam_links_of_a_page_are_replaced_by_differences(database: str) -> None:
    async with open_wiki(database, {1: [FINE], 2: [FINE]}) as stored, stored.pool.connection() as conn:
        wiki = stored.wiki.wiki
        first = {1: spam_of(BAD, WORSE), 2: spam_of(BAD)}
        assert await record_spam_links(conn, wiki, first) == Reclassified(spam_new=3)
        assert await list_spam_links(conn, wiki, [1, 2, 3]) == first
        assert await record_spam_links(conn, wiki, first) == Reclassified()
        assert await record_spam_links(conn, wiki, {1: spam_of(WORSE)}) == Reclassified(spam_gone=1)
        assert await list_spam_links(conn, wiki, [1, 2]) == {1: spam_of(WORSE), 2: spam_of(BAD)}
        assert await record_spam_links(conn, wiki, {2: {key(BAD): "HTTPS://BAD.com"}, 1: {}}) == Reclassified(0, 1)
        assert await list_spam_links(conn, wiki, [1, 2]) == {2: {key(BAD): "HTTPS://BAD.com"}}


async def test_spam_links_come_and_go_one_by_one_and_with_their_page(database: str) -> None:
    async with open_wiki(database, {1: [FINE], 2: [FINE]}) as stored, stored.pool.connection() as conn:
        wiki = stored.wiki.wiki
        await record_spam_added(conn, wiki, {1: spam_of(BAD)})
        await record_spam_added(conn, wiki, {1: spam_of(WORSE), 2: spam_of(BAD)})
        gone = [(1, key(BAD)), (1, key(FINE)), (9, key(BAD))]
        assert await record_spam_links_gone(conn, wiki, gone) == [(1, key(BAD))]
        assert await list_spam_links(conn, wiki, [1, 2]) == {1: spam_of(WORSE), 2: spam_of(BAD)}
        assert await list_spam_links(conn, wiki + 1, [1, 2]) == {}
        await record_spam_pages_gone(conn, wiki, [2, 9])
        assert await list_spam_links(conn, wiki, [1, 2]) == {1: spam_of(WORSE)}


async def test_the_pages_of_a_wiki_with_spam_are_listed_by_id(database: str) -> None:
    pages = {number: [FINE] for number in range(1, 6)}
    async with open_wiki(database, pages) as stored, stored.pool.connection() as conn:
        wiki = stored.wiki.wiki
        await record_spam_added(conn, wiki, {2: spam_of(BAD), 4: spam_of(BAD, WORSE), 5: spam_of(WORSE)})
        first, after = await list_spam_pages(conn, wiki, limit=2)
        assert first == [SpamPage(2, 0, "Page 2", 1), SpamPage(4, 0, "Page 4", 2)]
        assert after is not None
        rest, after = await list_spam_pages(conn, wiki, after=after)
        assert ([page.page for page in rest], after) == ([5], None)


async def test_what_changed_since_it_was_judged_is_left_alone(database: str) -> None:
    async with open_wiki(database, {1: [BAD], 2: [FINE]}) as stored, stored.pool.connection() as conn:
        wiki = stored.wiki.wiki
        await record_spam_added(conn, wiki, {2: spam_of(WORSE)})
        # Page 2 holds BAD no longer, page 1 never held WORSE, and there is no page 3.
        now_spam = {1: spam_of(BAD), 2: spam_of(BAD), 3: spam_of(BAD)}
        no_spam = {page: {key(WORSE): parse(WORSE)} for page in (1, 2, 3)}
        assert await record_reclassified(conn, wiki, now_spam, no_spam, 101) == Reclassified(1, 1)
        assert await list_spam_links(conn, wiki, [1, 2, 3]) == {1: spam_of(BAD)}
        rows = await (await conn.execute("SELECT page, bucket, host_key, url_key FROM link")).fetchall()
        assert {(page, UrlKey(*of)) for page, *of in rows} == {(2, key(FINE)), (2, key(WORSE))}


async def test_a_link_that_is_no_text_is_kept_as_one_of_the_same_url(database: str) -> None:
    async with open_wiki(database, {1: [FINE]}) as stored, stored.pool.connection() as conn:
        for start in ("", "\0 ", "\n"):
            for end in ("\0", "a\0b", "\ud800x", "?\udfff", "#\ud800\0", " \n", "ä�"):
                given = f"{start}{BAD}{end}"
                assert await record_spam_links(conn, stored.wiki.wiki, {1: {key(given): given}}) != Reclassified()
                assert await record_spam_links(conn, stored.wiki.wiki, {1: {key(given): given}}) == Reclassified()
                [(of, url)] = (await list_spam_links(conn, stored.wiki.wiki, [1]))[1].items()
                assert of == key(given) == key(url)
                await record_spam_pages_gone(conn, stored.wiki.wiki, [1])
