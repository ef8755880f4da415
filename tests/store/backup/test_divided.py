"""A store whose big tables are divided is checked, rekeyed, migrated, backed up and restored as one in one piece."""

import shutil
from pathlib import Path

from psycopg import AsyncConnection
from support.databases import all_rows
from support.observations import FINE, LOST
from support.stored import key, open_wiki

from weboid.assets import asset
from weboid.core.observe.observation import Observation
from weboid.core.record.policy import DEFAULT
from weboid.core.url import keys
from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.maintain.consistency import check_store
from weboid.store.backup.client_programs import Runner
from weboid.store.backup.make import make_backup
from weboid.store.backup.restore import restore_backup
from weboid.store.backup.tables import VOLATILE
from weboid.store.db.key_scheme import KeyScheme
from weboid.store.db.migrate import migrate
from weboid.store.db.pool import Pool, open_pool
from weboid.store.upkeep.partition import partition
from weboid.store.upkeep.rekey import rekey

URLS = [f"http://h{n % 17}.demo/{n}" for n in range(60)]
GONE = [url for url in URLS if url.endswith("7")]


def _answer(url: str, day: int) -> Observation:
    return LOST if url in GONE else FINE


def _moved(url: Url) -> UrlKey:
    return UrlKey((keys.bucket(url.host) + 2048) % keys.BUCKETS, keys.host_key(url.host), keys.url_key(str(url)))


def _silent(doing: str, done: int, total: int) -> None:
    """Shows nothing."""


async def _breaches(pool: Pool) -> object:
    return (await check_store(pool, 200, policy=DEFAULT, repairs=False)).found


async def test_a_store_is_divided_rekeyed_migrated_backed_up_and_restored(
    whole_database: str, second_database: str, runner: Runner, tmp_path: Path
) -> None:
    async with open_wiki(whole_database, {1: URLS[:40], 2: URLS[20:]}, 90) as stored:
        await stored.rounds(_answer, (90, 100, 110, 120, 130))
        dead = await stored.dead()
        assert len(dead) == len([url for page in (URLS[:40], URLS[20:]) for url in page if url in GONE])
        assert (await partition(stored.pool, 32)).keys() == {"link", "url"}
        assert await stored.dead() == dead
        await stored.rounds(_answer, (140,))
        assert not await _breaches(stored.pool)
        moved = await rekey(stored.pool, 150, KeyScheme(suffix_version="another", key=_moved))
        assert moved.moved == len(URLS)
        assert not await _breaches(stored.pool)
        assert len(await stored.dead() - dead) == len(dead)
        await rekey(stored.pool, 151)
        assert await stored.dead() == dead
        assert (await stored.known(GONE[0])).key == key(GONE[0])

    file = tmp_path / "weboid.dump"
    made = await make_backup(whole_database, file, runner, day=151, show=_silent)
    assert f" {len(URLS)} URLs, 17 hosts," in made.summary
    async with open_pool(second_database, size=1, part="restore") as pool:
        await restore_backup(pool, file, runner, day=151, interval=7, show=_silent)
        assert not await _breaches(pool)
        assert await partition(pool, 32) == {}
    without = VOLATILE | {"lease"}
    assert await all_rows(second_database, without=without) == await all_rows(whole_database, without=without)

    folder = Path(shutil.copytree(asset("sql") / "migrations", tmp_path / "migrations"))
    number = len(list(folder.iterdir())) + 1
    (folder / f"{number:04}_more.sql").write_text(
        "ALTER TABLE url ADD more smallint; CREATE INDEX url_more ON url (more); UPDATE url SET more = 1"
    )
    async with await AsyncConnection.connect(second_database) as connection:
        assert await migrate(connection, folder) == [f"{number:04}_more"]
        rows = await connection.execute("SELECT count(*) FROM url WHERE more = 1")
        assert await rows.fetchone() == (len(URLS),)
