import json
from pathlib import Path

import aiohttp
import pytest
from support.commands import Place
from support.stored import do
from support.wikireplay import open_wiki_replay, page_content

from weboid.assets import asset
from weboid.core.url.farms import WMF, WMFLABS, Farm, WikiName
from weboid.core.wikitext.settings import NOTHING_SAID
from weboid.errors import SourceError
from weboid.maintain.settings_pages import is_settings_fresh, refresh_settings
from weboid.store.archives.wiki_settings import StoredSettings, find_settings, forget_configured, record_configured
from weboid.store.db.pool import Pool, open_pool
from weboid.store.pages.wiki import StoredWiki, find_wiki, record_wiki
from weboid.wiki.action import ActionApi, ApiPatience

_TITLE = "MediaWiki:Weboid.json"
_QUICK = ApiPatience(tries=1, timeout_s=5, answer_mib=1)
_GERMAN = (asset("wikis") / "dewiki.json").read_text(encoding="utf-8")


def own(**changes: object) -> str:
    return json.dumps(json.loads(_GERMAN) | changes)


async def wiki_of(pool: Pool, dbname: str, farm: Farm = WMF) -> StoredWiki:
    return await do(pool, record_wiki, farm, WikiName(dbname, farm.name))


async def read(pool: Pool, wiki: StoredWiki, text: str | None, day: int = 7, farm: Farm = WMF) -> StoredSettings:
    async with open_wiki_replay([page_content(_TITLE, text)]) as replay, aiohttp.ClientSession() as session:
        api = ActionApi(replay.url, session, "Weboid-test", _QUICK)
        return await refresh_settings(pool, api, wiki, name=f"{wiki.dbname}@{farm.name}", title=_TITLE, day=day)


async def language(pool: Pool, wiki: StoredWiki) -> str | None:
    settings = await do(pool, find_settings, wiki.wiki)
    return None if settings.writes is None else settings.writes.lang


async def test_each_list_and_threshold_that_a_page_names_holds_before_the_configured_one(pool: Pool) -> None:
    configured = {"links": {"permalive": ["a.demo"], "permadead": ["b.demo"]}, "dead_after": {"strikes": 5}}
    for wiki in (await wiki_of(pool, "dewiki"), await wiki_of(pool, "eowiki")):
        number, writes = wiki.wiki, await language(pool, wiki)
        await do(pool, record_configured, number, json.dumps(configured))
        assert not await is_settings_fresh(pool, wiki, 7), "the page was not read"
        for page, alive, dead, strikes, days in (
            (None, ("a.demo",), ("b.demo",), 5, None),
            ({"links": {"permadead": []}, "dead_after": {"missing": 28}}, ("a.demo",), (), 5, 28),
            ({"links": {"permalive": ["b.demo"]}}, ("b.demo",), (), None, None),
        ):
            await read(pool, wiki, None if page is None else json.dumps(page))
            said = await do(pool, find_settings, number)
            assert (said.links.permalive, said.links.permadead) == (alive, dead)
            assert (said.dead_after.strikes, said.dead_after.missing) == (strikes, days)
            assert await language(pool, wiki) == writes
        await read(pool, wiki, None)
        await do(pool, forget_configured, [number])
        assert (await do(pool, find_settings, number)).dead_after.strikes == 5
        await do(pool, forget_configured, [])
        assert (await do(pool, find_settings, number)).dead_after.strikes is None


async def test_a_wikis_own_page_holds_before_the_shipped_one_and_that_before_nothing(pool: Pool) -> None:
    german, unknown = await wiki_of(pool, "dewiki"), await wiki_of(pool, "eowiki")
    namesake = await wiki_of(pool, "dewiki", WMFLABS)
    assert [await language(pool, wiki) for wiki in (german, unknown, namesake)] == ["de", None, None]
    assert await read(pool, german, own(lang="gsw")) == StoredSettings(german.wiki, 7, own(lang="gsw"))
    await read(pool, namesake, own(lang="nds", dbname="dewiki@wmflabs"), farm=WMFLABS)
    assert [await language(pool, wiki) for wiki in (german, unknown, namesake)] == ["gsw", None, "nds"]
    await read(pool, german, None, day=8)
    assert await language(pool, german) == "de"
    assert await do(pool, find_settings, 999) == NOTHING_SAID


async def test_a_page_that_does_not_fit_is_reported_and_the_one_before_stays_in_force(pool: Pool) -> None:
    german, english = await wiki_of(pool, "dewiki"), await wiki_of(pool, "enwiki")
    await read(pool, german, own(lang="gsw"))
    broken = await read(pool, german, own(lang=3), day=8)
    assert (broken.day, broken.text) == (8, own(lang="gsw"))
    assert broken.fault == "the wiki's settings do not fit: lang: must be a text: a language, such as 'de'"
    assert await language(pool, german) == "gsw"
    # A wiki that never had one that fits gets no wikitext at all: the shipped settings are not its own.
    await read(pool, english, _GERMAN)
    assert await language(pool, english) is None
    async with pool.connection() as conn:
        faulty = await conn.execute("SELECT wiki FROM wiki_settings WHERE fault <> '' ORDER BY wiki")
        assert await faulty.fetchall() == [(german.wiki,), (english.wiki,)]
    assert not (await read(pool, german, own(), day=9)).fault


@pytest.mark.parametrize("text", ["[" * 100_000, "\0", '{"_": "\ud800"}', "x" * 300_000])
async def test_a_hostile_page_is_stored_as_a_fault_only(pool: Pool, text: str) -> None:
    stored = await read(pool, await wiki_of(pool, "dewiki"), text)
    assert stored.text is None
    assert stored.fault


async def test_a_page_is_fresh_on_the_day_on_which_it_was_read_and_silence_changes_nothing(pool: Pool) -> None:
    wiki = await wiki_of(pool, "dewiki")
    assert not await is_settings_fresh(pool, wiki, 7)
    await read(pool, wiki, own(lang="gsw"))
    assert await is_settings_fresh(pool, wiki, 7)
    async with open_wiki_replay([]) as replay, aiohttp.ClientSession() as session:
        api = ActionApi(replay.url, session, "Weboid-test", _QUICK)
        with pytest.raises(SourceError):
            await refresh_settings(pool, api, wiki, name="dewiki@WMF", title=_TITLE, day=8)
    assert not await is_settings_fresh(pool, wiki, 8)
    assert await language(pool, wiki) == "gsw"


async def test_maintain_reads_the_pages_of_all_wikis_once_a_day(database: str, tmp_path: Path) -> None:
    async with open_wiki_replay([page_content(_TITLE, own())]) as replay:
        (tmp_path / "weboid.toml").write_text(
            f'[wiki.dewiki]\napi = "{replay.url}"\n[wiki.frwiki]\napi = "{replay.url}"\n'
            f'[wiki.enwiki]\napi = "{replay.url}"\nsettings = ""\n',
            encoding="utf-8",
        )
        place = Place(tmp_path, environ={"WEBOID_DATABASE": database, "WEBOID_NET_PERMIT": "127.0.0.0/8"})
        first = await place.run("maintain", "--day", "100")
        assert "settings of frwiki@WMF: MediaWiki:Weboid.json: the wiki's settings do not fit: dbname: is" in first.err
        assert len(replay.asked) == 2
        await place.run("maintain", "--day", "100")
        assert len(replay.asked) == 2
        await place.run("maintain", "--day", "101")
        assert len(replay.asked) == 4
    async with open_pool(database, size=1, part="test") as pool, pool.connection() as conn:
        known = {name: await find_wiki(conn, WMF, WikiName(name, "WMF")) for name in ("dewiki", "frwiki", "enwiki")}
        assert known["enwiki"] is None
        assert known["dewiki"] is not None
        assert (await find_settings(conn, known["dewiki"].wiki)) is not None
