"""Reverts in a real store: which are taken, what they freeze, who releases it, and what they go with (B-6)."""

from dataclasses import replace

from support.stored import WikiInStore, key

from weboid.core.verdict.link_report import Extent
from weboid.store.pages.linked import find_linked
from weboid.store.people.revert import ListedRevert, Revert, RevertState, StatedRevert, list_reverts, record_reviewed
from weboid.store.people.revert import record_revert as record
from weboid.store.upkeep.expiry import expire_urls
from weboid.store.urls.url import find_urls

ONE, OTHER = "http://one.demo/a", "http://one.demo/b"
TODAY = 120
HOSTILE = "'; DROP TABLE revert; --<b>\u202e"
IN_STORE = {1: [ONE, OTHER], 2: [ONE]}


def stated(wiki: WikiInStore, url: str = ONE, revision: int = 9, page: int = 1) -> StatedRevert:
    return StatedRevert(key(url), wiki.wiki.wiki, page, revision, "link-works", HOSTILE, "bot")


async def state(wiki: WikiInStore, said: StatedRevert, day: int = TODAY) -> tuple[Revert, bool] | None:
    return await wiki.do(record, said, day)


async def state_new(wiki: WikiInStore, said: StatedRevert, day: int = TODAY) -> Revert:
    found = await state(wiki, said, day)
    assert found is not None
    assert found[1]
    return found[0]


async def review(wiki: WikiInStore, revert: int, to: RevertState, reviewer: str = "Boss") -> ListedRevert | None:
    return await wiki.do(record_reviewed, revert, to, reviewer)


async def frozen(wiki: WikiInStore, of: WikiInStore | None = None) -> set[str]:
    """The links that are frozen on that wiki, as both statements say it."""
    number = (of or wiki).wiki.wiki
    async with wiki.pool.connection() as conn:
        known = await find_urls(conn, [key(ONE), key(OTHER)], number)
        linked = await find_linked(conn, [key(ONE), key(OTHER)], number, [1], Extent.ALL)
        nowhere = await find_urls(conn, [key(ONE), key(OTHER)])
    assert not any(url.is_frozen for url in nowhere.values())
    assert {at: url.is_frozen for at, url in known.items()} == {at: url.is_frozen for at, url in linked.urls.items()}
    return {url for url in (ONE, OTHER) if known[key(url)].is_frozen}


async def test_a_revert_freezes_its_link_on_its_wiki_until_it_is_released(wiki: WikiInStore) -> None:
    another = await wiki.another("otherwiki")
    await another.take_in({1: [ONE]}, 100)
    revert = await state_new(wiki, stated(wiki))
    assert (revert.stated, revert.day, revert.state, revert.reviewer) == (stated(wiki), TODAY, RevertState.OPEN, None)
    assert (await frozen(wiki), await frozen(wiki, another)) == ({ONE}, set())
    kept = await review(wiki, revert.revert, RevertState.KEPT)
    assert kept is not None
    assert (kept.revert.state, kept.revert.reviewer, str(kept.url)) == (RevertState.KEPT, "Boss", ONE)
    assert await frozen(wiki) == {ONE}
    released = await review(wiki, revert.revert, RevertState.RELEASED, "Other")
    assert released is not None
    assert (released.revert.state, released.revert.reviewer) == (RevertState.RELEASED, "Other")
    assert await frozen(wiki) == set()


async def test_the_same_statement_again_gives_the_first_one_and_freezes_nothing_anew(wiki: WikiInStore) -> None:
    first = await state_new(wiki, stated(wiki))
    await review(wiki, first.revert, RevertState.RELEASED)
    again = await state(wiki, replace(stated(wiki), why="style", reverter="Other", client="other", page=2), TODAY + 1)
    assert again == (replace(first, state=RevertState.RELEASED, reviewer="Boss"), False)
    assert await frozen(wiki) == set()
    await state_new(wiki, stated(wiki, revision=10))
    assert await frozen(wiki) == {ONE}


async def test_a_link_is_frozen_until_its_last_revert_is_released(wiki: WikiInStore) -> None:
    reverts = [await state_new(wiki, stated(wiki, revision=number, page=number)) for number in (1, 2)]
    await state_new(wiki, stated(wiki, OTHER, revision=1))
    await review(wiki, reverts[0].revert, RevertState.RELEASED)
    assert await frozen(wiki) == {ONE, OTHER}
    await review(wiki, reverts[1].revert, RevertState.RELEASED)
    assert await frozen(wiki) == {OTHER}


async def test_only_a_link_that_a_page_of_the_wiki_uses_is_frozen_though_a_known_revert_is_found(
    wiki: WikiInStore,
) -> None:
    assert await state(wiki, stated(await wiki.another("otherwiki"))) is None
    assert await state(wiki, stated(wiki, "http://unknown.demo/")) is None
    assert await wiki.rows("SELECT FROM revert") == []
    first = await state_new(wiki, stated(wiki))
    await wiki.take_in({1: [], 2: []}, 121, latest=2)
    assert await state(wiki, stated(wiki)) == (first, False)


async def test_reverts_are_listed_newest_first_by_state_or_link_with_page_and_wiki(wiki: WikiInStore) -> None:
    for number, url in enumerate((ONE, OTHER, ONE), start=1):
        await state_new(wiki, stated(wiki, url, revision=number, page=1 if number < 3 else 7))
    async with wiki.pool.connection() as conn:
        listed = await list_reverts(conn, RevertState.OPEN)
        assert [each.revert.stated.revision for each in listed] == [3, 2, 1]
        assert [each.page.title for each in listed] == [None, "Page 1", "Page 1"]
        assert {each.page.wiki for each in listed} == {"testwiki@wmflabs"}
        assert await list_reverts(conn, RevertState.OPEN, limit=1) == listed[:1]
        assert await list_reverts(conn, RevertState.OPEN, key=key(OTHER)) == [listed[1]]
        assert await list_reverts(conn, RevertState.KEPT) == []
    await review(wiki, listed[1].revert.revert, RevertState.KEPT)
    async with wiki.pool.connection() as conn:
        assert [each.revert.stated.revision for each in await list_reverts(conn, RevertState.KEPT)] == [2]
        assert [each.revert.stated.revision for each in await list_reverts(conn, RevertState.OPEN)] == [3, 1]


async def test_reverts_go_with_their_url(wiki: WikiInStore) -> None:
    await state_new(wiki, stated(wiki))
    await state_new(wiki, stated(wiki, OTHER))
    await wiki.take_in({1: [OTHER], 2: []}, 121, latest=2)
    assert (await wiki.do(expire_urls, [key(ONE), key(OTHER)], 121)).urls == 1
    assert await wiki.rows("SELECT url_key FROM revert") == [(key(OTHER).url_key,)]
