from pathlib import Path

from support.commands import Place
from support.stored import WikiInStore, key, open_wiki

from weboid.core.url.keys import UrlKey, key_of
from weboid.core.url.urls import Url
from weboid.store.db.key_scheme import KeyScheme
from weboid.store.pages.page_pass import record_end, record_start
from weboid.store.upkeep.rekey import rekey

ONE, TWO = "https://one.demo/", "https://two.demo/"


def place(folder: Path, dsn: str) -> Place:
    return Place(folder, environ={"WEBOID_DATABASE": dsn})


async def urls(stored: WikiInStore) -> int:
    return len(await stored.rows("SELECT FROM url"))


async def test_maintain_waits_for_a_pass_stops_at_too_many_or_is_allowed_more(database: str, tmp_path: Path) -> None:
    here = place(tmp_path, database)
    async with open_wiki(database, {1: [f"{ONE}{number}" for number in range(101)], 2: [TWO]}) as stored:
        await stored.take_in({1: []}, 100, latest=2)
        waits = await here.run("maintain", "--day", "200")
        assert (waits.status, waits.out) == (0, "")
        assert "101 URLs without use for 100 days wait for a pass over testwiki@wmflabs (never)" in waits.err
        assert "2017-07-20: 0 URLs and 0 hosts deleted, 0 specials" in waits.err
        assert "alarm round-slow, since 2017-05-10: links that were due on 2017-04-11" in waits.err
        async with stored.pool.connection() as conn:
            await record_start(conn, stored.wiki.wiki, "", 200)
            await record_end(conn, stored.wiki.wiki, 200, 200)
        tried = await here.run("maintain", "--day", "201", "--dry-run")
        assert tried.status == 0
        assert "0 URLs would be deleted\n" in tried.err
        stopped = await here.run("maintain", "--day", "201")
        assert stopped.status == 1
        assert "--allow-many" in stopped.err
        assert "alarm expiry-stopped" in stopped.err
        assert await urls(stored) == 102
        allowed = await here.run("maintain", "--day", "202", "--allow-many")
        assert allowed.status == 0
        assert "2017-07-22: 101 URLs and 1 host deleted" in allowed.err
        assert "expiry-stopped" not in allowed.err
        assert await urls(stored) == 1


def _neighbour(url: Url) -> UrlKey:
    bucket, *rest = key_of(url)
    return UrlKey(bucket ^ 1, *rest)


async def test_with_keys_of_another_program_only_rekey_runs(database: str, tmp_path: Path) -> None:
    here = place(tmp_path, database)
    async with open_wiki(database, {1: [ONE], 2: [ONE, TWO]}) as stored:
        await rekey(stored.pool, 100, KeyScheme(suffix_version="another", key=_neighbour))
        for words in (["crawl", "--once", "--day", "50"], ["feed", "pass", "testwiki@wmflabs"], ["maintain"]):
            refused = await here.run(*words)
            assert refused.status == 2
            assert "run `weboid rekey`" in refused.err
        tried = await here.run("rekey", "--dry-run")
        assert (tried.status, "2 URLs would move" in tried.err) == (0, True)
        moved = await here.run("rekey")
        assert (moved.status, "2 URLs moved" in moved.err) == (0, True)
        assert (await stored.known(ONE)).key == key(ONE)
        again = await here.run("rekey")
        assert (again.status, "nothing to do" in again.err) == (0, True)
        assert (await here.run("crawl", "--once", "--day", "50")).status == 0
