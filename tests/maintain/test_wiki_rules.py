"""Two wikis with other rules on the same URLs: what is dead for each, in lists, feeds and data set (U-11)."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest
from support.observations import FINE, LOST
from support.stored import WikiInStore, key

from weboid.core.observe.observation import Observation
from weboid.core.record.policy import DEFAULT
from weboid.core.verdict.verdict import Verdict
from weboid.core.verdict.wiki_rules import WikiRules, rules_of
from weboid.maintain import wiki_rules
from weboid.maintain.consistency import Consistency, check_store
from weboid.maintain.wiki_rules import apply_rules
from weboid.store.archives.wiki_settings import StoredSettings, find_settings, record_settings
from weboid.store.db.pool import Pool
from weboid.store.lists.changes import list_news
from weboid.store.lists.dataset import PARTS, list_statuses
from weboid.store.lists.links import list_dead_links, list_first_pages

GONE, KEPT, PAID, WORKS, OTHER = (
    "https://gone.demo/a",
    "https://kept.demo/a",
    "https://paid.demo/a",
    "https://works.demo/a",
    "https://other.demo/",
)
PAGES = {1: [GONE, KEPT, PAID, WORKS], 2: [GONE, OTHER]}
LISTS = {"links": {"permalive": ["kept.demo"], "permadead": ["https://works.demo/a"], "subscription": ["paid.demo"]}}
GERMAN = {"dead_after": {"strikes": 3, "missing": 28}}
HASTY = {"dead_after": {"missing": 9}}


def answers(url: str, day: int) -> Observation:
    return FINE if url in (WORKS, OTHER) else LOST


IN_STORE = PAGES


async def says(wiki: WikiInStore, page: Mapping[str, object] | None, day: int = 100) -> None:
    """The wiki has this settings page from the day on, whose parts are each optional; no page = None."""
    text = None if page is None else json.dumps(page)
    await wiki.do(record_settings, StoredSettings(wiki.wiki.wiki, day, text))
    await apply_rules(wiki.pool, day)


async def with_rules(stored: WikiInStore, page: Mapping[str, object]) -> WikiInStore:
    """Another wiki with the same pages, and these settings."""
    other = await stored.another("otherwiki")
    await other.take_in(PAGES, 100)
    await says(other, page)
    return other


async def rules(wiki: WikiInStore) -> WikiRules:
    return rules_of(await wiki.do(find_settings, wiki.wiki.wiki), DEFAULT)


async def listed(wiki: WikiInStore) -> set[str]:
    found = await wiki.do(list_dead_links, wiki.wiki.wiki, rules=await rules(wiki))
    return {str(link.known.url) for link in found.links}


async def stored_as_dead(wiki: WikiInStore) -> dict[str, int]:
    """The hosts of the dead links in the data set, which SQL alone counts, with their uses on the first pages."""
    found = {}
    for part in range(PARTS):
        for row in await wiki.do(list_statuses, part):
            if row.dbname == wiki.wiki.dbname and row.dead:
                found[row.host] = row.dead
    return found


async def news(wiki: WikiInStore) -> list[tuple[int, str, str]]:
    found = await wiki.do(list_news, wiki.wiki.wiki, since=0, until=10**9)
    return [(item.day, str(item.known.url), item.after.word) for item in found.items]


async def looked(stored: WikiInStore, *, repairs: bool = False) -> Consistency:
    return await check_store(stored.pool, 200, repairs=repairs)


async def test_lists_of_a_wiki_hold_in_its_lists_feeds_counts_and_data_set_and_nowhere_else(
    stored: WikiInStore,
) -> None:
    own = await with_rules(stored, LISTS)
    await stored.rounds(answers, range(100, 130))
    for wiki, dead in ((stored, {GONE, KEPT, PAID}), (own, {GONE, WORKS})):
        assert await listed(wiki) == dead
        assert await stored_as_dead(wiki) == {url.split("/")[2]: 1 for url in dead}
        assert {url for _, url, _ in await news(wiki)} == dead
        first = await wiki.do(list_first_pages, [wiki.wiki.wiki], limit=1)
        assert first[wiki.wiki.wiki][0].dead == len(dead)
    assert not (await looked(stored, repairs=True)).found

    # The wiki takes its list back: everything is as for the others, and its log goes on.
    await says(own, None, 130)
    assert await listed(own) == await listed(stored)
    assert await stored_as_dead(own) == await stored_as_dead(stored)
    assert not (await looked(stored, repairs=True)).found
    assert await stored.rows("SELECT wiki FROM wiki_rule") == []


@pytest.mark.parametrize(("page", "later"), [(GERMAN, True), (HASTY, False)])
async def test_a_wiki_s_thresholds_are_met_on_a_day_of_its_own(
    stored: WikiInStore, page: Mapping[str, object], later: bool
) -> None:
    own = await with_rules(stored, page)
    died: dict[str, int] = {}
    for day in range(100, 145):
        await stored.rounds(answers, [day])
        await apply_rules(stored.pool, day)
        for name, wiki in (("all", stored), ("own", own)):
            if GONE in await listed(wiki):
                if name not in died:
                    assert "gone.demo" in await stored_as_dead(wiki)
                died.setdefault(name, day)
        if day % 10 == 0:
            assert not (await looked(stored)).found
        known = await stored.known(GONE)
        if "own" not in died or "all" not in died:
            assert known.due - day <= 3, "while it is dead for one of them alone, it is checked like a failing one"
    assert (died["own"] - died["all"] > 10) is later
    assert (died["own"] < died["all"]) is not later
    assert died["all"] - 100 == pytest.approx(14, abs=1)
    assert died["own"] - 100 == pytest.approx(28 if later else 9, abs=2)
    dead_on = {url: day for day, url, after in await news(own) if after == Verdict.DEAD.word}
    assert dead_on[GONE] == died["own"]
    assert {day for day, url, _ in await news(stored) if url == GONE} == {died["all"]}

    await stored.round(150, lambda url, day: FINE) if known.due <= 150 else None
    await stored.rounds(lambda url, day: FINE, range(145, 185, 8))
    assert await listed(own) == await listed(stored) == set()
    assert [after for _, url, after in await news(own) if url == GONE] == ["dead", "working"]
    assert not (await looked(stored)).found


async def test_what_a_wiki_alone_calls_dead_is_listed_when_a_page_begins_to_use_it_and_is_marked_as_repaired(
    stored: WikiInStore,
) -> None:
    own = await with_rules(stored, {**LISTS, **HASTY})
    await stored.rounds(answers, range(100, 111))
    assert await listed(stored) == set(), "nothing is dead yet for the others"
    assert await listed(own) == {GONE, WORKS}
    found = await own.rows("SELECT count(*) FROM dead WHERE rule = 2 AND repaired IS NULL")
    assert found == [(0,)], "what a check killed for a wiki alone is derived at once"

    copy, fresh = f"https://web.archive.org/web/20160503120000/{GONE}", f"{WORKS}bc"
    await own.take_in({3: [GONE, copy], 4: [WORKS, fresh, KEPT]}, 111)
    dead = "SELECT page, url_key, repaired FROM dead WHERE page > 2 AND rule = 2"
    expected = {(3, key(GONE).url_key, True), (4, key(WORKS).url_key, False), (4, key(fresh).url_key, False)}
    assert {*await own.rows(dead)} == expected
    assert not (await looked(stored)).found

    # The copy is dead by the wiki's own rule alone: the link is no longer repaired, until the wiki takes that back.
    for page, is_repaired in (({"links": {"permadead": [copy]}, **HASTY}, False), (HASTY, True)):
        await says(own, page, 111)
        assert (3, key(GONE).url_key, is_repaired) in await own.rows(dead)
        assert not (await looked(stored)).found


async def test_what_contradicts_a_wiki_s_rules_is_found_said_and_repaired(stored: WikiInStore) -> None:
    own = await with_rules(stored, LISTS)
    await stored.rounds(answers, range(100, 130))
    number = own.wiki.wiki
    for breaks in (
        "UPDATE dead SET rule = 0 WHERE wiki = %(wiki)s AND url_key = %(kept)s",
        "DELETE FROM dead WHERE wiki = %(wiki)s AND rule = 2",
        "DELETE FROM change WHERE wiki = %(wiki)s",
        "INSERT INTO change (bucket, host_key, url_key, day, before, after, wiki) "
        "SELECT bucket, host_key, url_key, 130, 1, 3, %(wiki)s FROM url WHERE url_key = %(other)s",
    ):
        await stored.execute(breaks, {"wiki": number, "kept": key(KEPT).url_key, "other": key(OTHER).url_key})
        found = await looked(stored)
        assert found.found["wiki-rules"], breaks
        assert f"on wiki {number}: by the wiki's rules" in found.described[0]
        assert (await looked(stored, repairs=True)).wrong == 0
        assert not (await looked(stored)).found, breaks
        assert set(await stored_as_dead(own)) == {"gone.demo", "works.demo"}


async def test_rules_that_another_version_recorded_stop_no_check_and_are_recorded_anew(stored: WikiInStore) -> None:
    own = await with_rules(stored, LISTS)
    await stored.execute('UPDATE wiki_rule SET rules = \'{"policy": {"unknown": 1}, "lists": {}}\'', {})
    await stored.rounds(answers, range(100, 130))
    assert await listed(stored) == {GONE, KEPT, PAID}
    await apply_rules(stored.pool, 130)
    assert await stored_as_dead(own) == {"gone.demo": 1, "works.demo": 1}


async def test_a_wiki_whose_rules_raise_anything_leaves_the_others_theirs(
    stored: WikiInStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = await with_rules(stored, LISTS)
    good = await stored.another("goodwiki")
    await good.take_in(PAGES, 100)
    judge = wiki_rules.judge_wiki

    async def judged(pool: Pool, wiki: int, *given: Any, **more: Any) -> Any:
        return await (asyncio.sleep(0, 1 / 0) if wiki == bad.wiki.wiki else judge(pool, wiki, *given, **more))

    monkeypatch.setattr(wiki_rules, "judge_wiki", judged)
    await says(good, LISTS)
    assert await stored_as_dead(good) == {"works.demo": 1}
