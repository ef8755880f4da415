"""Replacements in the store: one a kind, leased by one worker, changed by checks of the same target only (A-4)."""

import asyncio

from support.observations import FINE, LOST
from support.stored import WikiInStore, key

from weboid.store.people.audit import delete_claims
from weboid.store.people.replacement import (
    Replacement,
    delete_replacement,
    find_replacements,
    lease_replacements,
    record_checked,
    record_replacement,
)
from weboid.store.people.report import delete_with_urls

URL = "http://dead.demo/a"
WAYBACK = 1
IN_STORE = {1: [URL, *(f"http://dead.demo/{number}" for number in range(30))]}


async def suggest(
    wiki: WikiInStore, target: str, *, url: str = URL, archive: int = 0, day: int = 100, subject: str = "7"
) -> bool:
    return await wiki.do(
        record_replacement, key(url), archive=archive, target=target, day=day, subject=subject, name="Ann"
    )


async def found(wiki: WikiInStore, url: str = URL) -> list[Replacement]:
    return await wiki.do(find_replacements, key(url))


async def leased(wiki: WikiInStore, day: int, limit: int = 100) -> list[Replacement]:
    return await wiki.do(lease_replacements, day, limit=limit)


async def test_a_suggestion_waits_for_its_check_the_same_again_changes_nothing(wiki: WikiInStore) -> None:
    assert await suggest(wiki, "http://new.demo/")
    assert not await suggest(wiki, "http://new.demo/", day=105, subject="8")
    assert await found(wiki) == [
        Replacement(key(URL), 0, "http://new.demo/", 100, None, 100, 0, works=False, subject="7", name="Ann")
    ]
    assert not await suggest(wiki, "http://new.demo/", url="http://nowhere.demo/"), "nor for what is not watched"
    assert await wiki.rows("SELECT count(*) FROM replacement") == [(1,)]
    assert await wiki.rows("SELECT count(*) FROM url WHERE path = '/'") == [(0,)]


async def test_there_is_exactly_one_of_each_kind_and_the_newest_counts(wiki: WikiInStore) -> None:
    await suggest(wiki, "http://web.archive.org/web/2011/http://dead.demo/a", archive=WAYBACK)
    await suggest(wiki, "http://old.demo/")
    [old] = await leased(wiki, 100, 1)
    assert await wiki.do(record_checked, old, asked=100, due=128, strikes=0, works=True)
    assert await suggest(wiki, "http://new.demo/", day=101, subject="8")
    assert await suggest(wiki, "http://arquivo.pt/wayback/2011/http://dead.demo/a", archive=6)
    shown = {each.archive: each for each in await found(wiki)}
    assert list(shown) == [0, WAYBACK, 6]
    plain = shown[0]
    assert (plain.target, plain.day, plain.asked, plain.due) == ("http://new.demo/", 101, None, 101)
    assert (plain.strikes, plain.works, plain.subject) == (0, False, "8")


async def test_workers_at_the_same_moment_never_take_the_same_one(wiki: WikiInStore) -> None:
    for number in range(30):
        await suggest(wiki, "http://new.demo/", url=f"http://dead.demo/{number}")
    both = asyncio.Barrier(2)

    async def take() -> list[Replacement]:
        async with wiki.pool.connection() as conn:
            taken = await lease_replacements(conn, 100, limit=10)
            # Neither transaction ends before both have taken theirs.
            await both.wait()
            return taken

    async with asyncio.timeout(60):
        one, other = await asyncio.gather(take(), take())
    keys = [each.key for each in (*one, *other)]
    assert (len(one), len(other), len(set(keys))) == (10, 10, 20)
    assert len(await leased(wiki, 100)) == 10


async def test_a_check_of_what_was_replaced_meanwhile_is_not_written(wiki: WikiInStore) -> None:
    await suggest(wiki, "http://old.demo/")
    [taken] = await leased(wiki, 100)
    await suggest(wiki, "http://new.demo/")
    async with wiki.pool.connection() as conn:
        assert not await record_checked(conn, taken, asked=100, due=128, strikes=0, works=True)
        assert not await delete_replacement(conn, key(URL), archive=0, target="http://old.demo/")
    [shown] = await found(wiki)
    assert (shown.target, shown.works) == ("http://new.demo/", False)


async def test_all_of_one_person_can_be_undone_and_a_url_goes_with_its_suggestions(wiki: WikiInStore) -> None:
    await suggest(wiki, "http://new.demo/", subject="7")
    await suggest(wiki, "http://new.demo/", url="http://dead.demo/1", subject="8")
    assert (await wiki.do(delete_claims, "7", 100)).replacements == 1
    assert await found(wiki) == []
    assert len(await found(wiki, "http://dead.demo/1")) == 1
    await wiki.do(delete_with_urls, [key("http://dead.demo/1")])
    assert await found(wiki, "http://dead.demo/1") == []


async def test_only_working_suggestions_are_shown_and_only_with_failing_urls(wiki: WikiInStore) -> None:
    snapshot = "http://web.archive.org/web/2011/http://dead.demo/a"
    await suggest(wiki, "http://new.demo/")
    await suggest(wiki, snapshot, archive=WAYBACK)
    await wiki.round(100, lambda url, day: LOST)
    claims = (await wiki.known(URL)).claims
    assert (claims.replacement, claims.archives) == (None, ())
    for taken in await leased(wiki, 100):
        await wiki.do(record_checked, taken, asked=100, due=128, strikes=0, works=True)
    claims = (await wiki.known(URL)).claims
    assert (claims.replacement, claims.archives) == ("http://new.demo/", (snapshot,))
    await wiki.round(103, lambda url, day: FINE)
    assert (await wiki.known(URL)).claims.replacement is None
