"""Changes of spam lists and the links that they concern (L-3, L-8, O-6)."""

import asyncio
import itertools
import random
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import aiohttp
import pytest
from support.intakes import record_pages, release_pages
from support.observations import LOST
from support.stored import WikiInStore, key, open_wiki
from support.wikireplay import exchange, open_wiki_replay, page_content

from weboid.core.url.farms import WMFLABS
from weboid.core.url.keys import UrlKey
from weboid.core.url.spam_lines import SpamFilter, parse_lines
from weboid.errors import SourceError
from weboid.feed.intake import Judge, SpamFilters, page_urls
from weboid.feed.spam import Refreshed, reclassify, refresh_farm_spam, refresh_spam
from weboid.remote.feed.calls import SpamLists, local_feed_store
from weboid.store.pages.spam import (
    FARM,
    UNAPPLIED,
    ListKind,
    Reclassified,
    are_in_force,
    list_spam_lists,
    record_spam_list,
    spam_list,
)
from weboid.wiki.action import ActionApi, ApiPatience
from weboid.wiki.source import PageLinks

BAD, WORSE, FINE = "https://bad.com/", "https://www.worse.net/a", "https://fine.org/"
QUICK = ApiPatience(tries=1, timeout_s=20)


@asynccontextmanager
async def open_lists(black: str | None, white: str | None = None, farm: str = "") -> AsyncIterator[ActionApi]:
    pages = [
        page_content("MediaWiki:Spam-blacklist", black),
        page_content("MediaWiki:Spam-whitelist", white),
        page_content("MediaWiki:BlockedExternalDomains.json", None),
        page_content("Spam blacklist", farm),
    ]
    async with open_wiki_replay(pages) as replay, aiohttp.ClientSession() as session:
        yield ActionApi(replay.url, session, "Weboid-test", QUICK)


async def refreshed(stored: WikiInStore, black: str | None, white: str | None = None, day: int = 101) -> Refreshed:
    async with open_lists(black, white) as api:
        return await refresh_spam(local_feed_store(stored.pool), api, stored.wiki, day=day)


async def farm_refreshed(stored: WikiInStore, text: str, day: int = 101) -> Refreshed:
    async with open_lists(None, farm=text) as api:
        return await refresh_farm_spam(local_feed_store(stored.pool), api, WMFLABS, day=day)


async def judge_of(stored: WikiInStore) -> Judge:
    return await SpamFilters(SpamLists(stored.pool)).judge(stored.wiki.farm, stored.wiki.dbname)


async def take_in(stored: WikiInStore, pages: Mapping[int, Iterable[str]], day: int) -> None:
    """Takes in pages by the lists in force, as an intake does: what is spam is no use."""
    lists, _ = await judge_of(stored)
    links = [PageLinks(page, 0, f"Page {page}", day, None, tuple(sorted(urls))) for page, urls in pages.items()]
    await stored.do(record_pages, stored.wiki.wiki, [page_urls(each, WMFLABS, lists) for each in links], day)


async def links_of(stored: WikiInStore) -> set[tuple[int, UrlKey]]:
    rows = await stored.rows(
        f"SELECT page, bucket, host_key, url_key FROM link WHERE wiki = {stored.wiki.wiki}"  # noqa: S608
    )
    return {(number, UrlKey(*of)) for number, *of in rows}  # type: ignore[misc, arg-type]


async def spam_of(stored: WikiInStore) -> set[tuple[int, str]]:
    rows = await stored.rows(f"SELECT page, url FROM spam_link WHERE wiki = {stored.wiki.wiki}")  # noqa: S608
    return {(number, url) for number, url in rows}  # type: ignore[misc]


async def orphans(stored: WikiInStore) -> set[UrlKey]:
    rows = await stored.rows("SELECT bucket, host_key, url_key FROM url WHERE orphaned IS NOT NULL")
    return {UrlKey(*of) for of in rows}  # type: ignore[arg-type]


async def test_a_new_line_turns_uses_into_spam_and_its_end_turns_them_back(database: str) -> None:
    async with open_wiki(database, {1: [BAD, FINE], 2: [BAD], 3: [WORSE]}) as stored:
        first = await refreshed(stored, "\\bbad\\.com\\b # since today\n(?=x)")
        assert first == Refreshed(changed=True, lines=1, unusable=1, links=Reclassified(spam_new=2))
        assert await spam_of(stored) == {(1, BAD), (2, BAD)}
        assert await links_of(stored) == {(1, key(FINE)), (3, key(WORSE))}
        assert await orphans(stored) == {key(BAD)}
        again = await refreshed(stored, "# another comment\n\\bbad\\.com\\b", day=102)
        assert again == Refreshed(changed=False, lines=1)
        last = await refreshed(stored, "worse", "worse\\.net/a", day=103)
        assert last.links == Reclassified(spam_gone=2)
        assert await spam_of(stored) == set()
        assert await links_of(stored) == {(1, key(BAD)), (1, key(FINE)), (2, key(BAD)), (3, key(WORSE))}
        assert await orphans(stored) == set()


async def test_a_dead_url_that_is_spam_is_no_dead_link_until_it_is_spam_no_more(database: str) -> None:
    async with open_wiki(database, {1: [BAD], 2: [BAD, FINE]}) as stored:
        for day in (100, 103, 107, 110, 114, 115, 116):
            await stored.round(day, lambda url, day: LOST)
        assert await stored.dead() == {(1, key(BAD)), (2, key(BAD)), (2, key(FINE))}
        await refreshed(stored, "bad\\.com", day=130)
        assert await stored.dead() == {(2, key(FINE))}
        await refreshed(stored, None, day=131)
        assert await stored.dead() == {(1, key(BAD)), (2, key(BAD)), (2, key(FINE))}


async def test_a_url_that_is_spam_everywhere_is_asked_no_more(database: str) -> None:
    async with open_wiki(database, {1: [BAD], 2: [BAD, FINE]}) as stored:
        await refreshed(stored, "bad\\.com", day=100)
        await stored.round(100, lambda url, day: LOST)
        assert [url for _, url in stored.asked] == [FINE]


async def test_the_list_of_a_farm_holds_for_all_its_wikis_and_a_local_one_for_its_own(database: str) -> None:
    async with open_wiki(database, {1: [BAD, WORSE]}) as stored:
        other = await stored.another("otherwiki")
        await other.take_in({1: [BAD, WORSE]}, 100)
        await refreshed(stored, "worse\\.net")
        assert await spam_of(other) == set()
        assert (await farm_refreshed(stored, "bad\\.com")).links == Reclassified(spam_new=2)
        assert await spam_of(stored) == {(1, BAD), (1, WORSE)}
        assert await spam_of(other) == {(1, BAD)}
        assert await links_of(other) == {(1, key(WORSE))}
        assert await orphans(stored) == {key(BAD)}
        await refreshed(stored, "worse\\.net", "bad\\.com")
        assert await spam_of(stored) == {(1, WORSE)}
        assert await spam_of(other) == {(1, BAD)}


async def test_a_wiki_that_cannot_be_read_keeps_its_lists(database: str) -> None:
    async with open_wiki(database, {1: [BAD]}) as stored:
        await refreshed(stored, "bad\\.com")
        asked = page_content("MediaWiki:Spam-blacklist", None).request
        async with open_wiki_replay([exchange(asked, {})]) as replay, aiohttp.ClientSession() as session:
            api = ActionApi(replay.url, session, "Weboid-test", QUICK)
            with pytest.raises(SourceError):
                await refresh_spam(local_feed_store(stored.pool), api, stored.wiki, day=102)
        assert await spam_of(stored) == {(1, BAD)}


async def test_a_refresh_that_is_broken_off_is_gone_on_with(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {number: [BAD, f"https://fine.org/{number}"] for number in range(1, 8)}
    async with open_wiki(database, pages) as stored:
        done = SpamLists.reclassify
        calls = itertools.count()

        async def stopping(lists: SpamLists, *changes: Any) -> Reclassified:
            if next(calls):
                raise RuntimeError("stopped")
            return await done(lists, *changes)

        async with open_lists("bad\\.com") as api:
            with monkeypatch.context() as patched:
                patched.setattr(SpamLists, "reclassify", stopping)
                patched.setattr("weboid.feed.spam.reclassify", partial(reclassify, batch=2))
                with pytest.raises(RuntimeError, match="stopped"):
                    await refresh_spam(local_feed_store(stored.pool), api, stored.wiki, day=101)
        assert 0 < len(await spam_of(stored)) < 7
        lists = await stored.do(list_spam_lists, stored.wiki.farm, stored.wiki.dbname)
        assert {each.day for each in lists} == {UNAPPLIED}
        assert (await refreshed(stored, "bad\\.com", day=102)).changed
        assert len(await spam_of(stored)) == 7
        lists = await stored.do(list_spam_lists, stored.wiki.farm, stored.wiki.dbname)
        assert {each.day for each in lists} == {102}


async def test_stretches_of_any_size_come_to_the_same(database: str) -> None:
    pages = {number: [BAD, WORSE, FINE][number % 3 :] for number in range(1, 30)}
    async with open_wiki(database, pages) as stored:
        total = await reclassify(local_feed_store(stored.pool), stored.wiki, SpamFilter(["bad"]), day=101, batch=4)
        assert total == Reclassified(spam_new=9)
        total = await reclassify(local_feed_store(stored.pool), stored.wiki, SpamFilter(), day=101, batch=100)
        assert total == Reclassified(spam_gone=9)
        assert len(await links_of(stored)) == sum(len(set(urls)) for urls in pages.values())


async def test_a_form_that_only_a_page_knows_keeps_its_link_spam(database: str) -> None:
    given = "https://fine.org/#//bad.com/"
    async with open_wiki(database, {}) as stored:
        await refreshed(stored, "bad\\.com")
        await take_in(stored, {1: [given, WORSE]}, 101)
        assert await spam_of(stored) == {(1, given)}
        assert (await refreshed(stored, "bad\\.com\nworse", day=102)).links == Reclassified(spam_new=1)
        assert (await refreshed(stored, "worse", day=103)).links == Reclassified(spam_gone=1)
        assert await links_of(stored) == {(1, key(FINE))}


HOSTS = ("bad.com", "www.bad.com", "worse.net", "good.bad.com", "fine.org", "пример.рф", "a-b.info")
LINES = (
    "\\bbad\\.com\\b",
    "worse",
    "пример\\.рф",
    "xn--e1afmkfd",
    "\\.info\\b",
    "fine\\.org/2",
    "com/1$",
    "/(?:a|2)$",
    "(?=no)",
    ".*",
    "good\\.bad",
)


def some_links(chance: random.Random) -> list[str]:
    links = []
    for _ in range(chance.randint(0, 6)):
        host = chance.choice(HOSTS)
        scheme = chance.choice(("http://", "https://", "//", "HTTP://", "ftp://"))
        links.append(f"{scheme}{chance.choice((host, host.upper()))}{chance.choice(('', '/', '/1', '/2', '/a'))}")
    return links


def some_lines(chance: random.Random) -> str:
    return "\n".join(chance.sample(LINES, chance.randint(0, 4)))


@pytest.mark.parametrize("seed", range(5))
async def test_after_any_changes_the_store_is_as_after_a_fresh_intake(database: str, seed: int) -> None:
    chance = random.Random(seed)
    async with open_wiki(database, {}) as stored:
        pages: dict[int, list[str]] = {}
        local, black, white = "", "", ""
        for day in range(101, 115):
            match chance.choice(("farm", "local", "intake", "intake", "release")):
                case "farm":
                    black = some_lines(chance)
                    await farm_refreshed(stored, black, day)
                case "local":
                    local, white = some_lines(chance), some_lines(chance)
                    await refreshed(stored, local, white, day)
                case "intake":
                    given = {chance.randint(1, 8): some_links(chance) for _ in range(3)}
                    pages |= given
                    await take_in(stored, given, day)
                case _ if pages:
                    gone = chance.choice(sorted(pages))
                    del pages[gone]
                    await stored.do(release_pages, stored.wiki.wiki, [gone], day)
        fresh = await stored.another("freshwiki")
        async with stored.pool.connection() as conn:
            for kind, text in ((ListKind.BLACK, local), (ListKind.WHITE, white)):
                await record_spam_list(conn, spam_list(WMFLABS.code, "freshwiki", kind, 120, parse_lines(text)))
            lists = await list_spam_lists(conn, WMFLABS.code, FARM)
        assert set(parse_lines(black).usable) == {line for each in lists for line in each.lines}
        used = {of for _, of in await links_of(stored)}
        known = {UrlKey(*of) for of in await stored.rows("SELECT bucket, host_key, url_key FROM url")}  # type: ignore[arg-type]
        assert await orphans(stored) == known - used
        await take_in(fresh, pages, 120)
        assert await links_of(stored) == await links_of(fresh)
        assert {(n, key(url)) for n, url in await spam_of(stored)} == {(n, key(url)) for n, url in await spam_of(fresh)}
        assert await packed(stored) == await packed(fresh)


async def packed(stored: WikiInStore) -> list[tuple[object, ...]]:
    return await stored.rows(f"SELECT page, urls FROM page WHERE wiki = {stored.wiki.wiki}")  # noqa: S608


async def test_a_filter_is_built_again_only_when_a_list_of_its_wiki_has_changed(database: str) -> None:
    async with open_wiki(database, {}) as stored:
        filters = SpamFilters(SpamLists(stored.pool), wikis=3)

        async def current(dbname: str) -> SpamFilter:
            return (await filters.renew(WMFLABS.code, dbname)).spam

        nothing = await current("testwiki")
        assert not nothing
        assert await current("otherwiki") is nothing
        await farm_refreshed(stored, "bad\\.com")
        farms = await current("otherwiki")
        assert farms.is_spam(BAD)
        assert await current("testwiki") is farms
        await refreshed(stored, "worse", "bad\\.com/x")
        own = await current("testwiki")
        assert own.is_spam(BAD)
        assert own.is_spam(WORSE)
        assert not own.is_spam(f"{BAD}x")
        assert await current("otherwiki") is farms
        await refreshed(stored, "# the same\nworse", "bad\\.com/x", day=102)
        assert await current("testwiki") is own
        for number in range(5):
            assert await current(f"w{number}wiki") is farms
        assert len(filters._filters) == 3


async def test_a_list_waits_for_an_intake_by_the_one_before_and_then_judges_what_it_took_in(database: str) -> None:
    async with open_wiki(database, {1: [FINE]}) as stored:
        await refreshed(stored, None)
        async with stored.pool.connection() as conn:
            lists, stamp = await judge_of(stored)
            assert await are_in_force(conn, {stored.wiki.wiki: stamp})
            refresh = asyncio.create_task(refreshed(stored, "bad\\.com", day=102))
            await stored.until_locked_out()
            assert not refresh.done()
            links = PageLinks(1, 0, "Page 1", 2, None, (BAD, FINE))
            await record_pages(conn, stored.wiki.wiki, [page_urls(links, WMFLABS, lists)], 102)
        assert (await refresh).links == Reclassified(spam_new=1)
        assert await spam_of(stored) == {(1, BAD)}
        assert await links_of(stored) == {(1, key(FINE))}
