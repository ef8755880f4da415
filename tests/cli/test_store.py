"""``weboid store partition`` says what it would do, does it once, and says that there is nothing to do."""

import asyncio
from pathlib import Path
from shutil import disk_usage

import psycopg
from psycopg.conninfo import make_conninfo
from support.commands import Place
from support.partitioned import fill
from support.small_disk import small_disk

from weboid.store.db.migrate import migrate
from weboid.store.embedded import open_server

_COUNTED = "SELECT relname, last_analyze FROM pg_stat_user_tables WHERE relname IN ('link', 'url') ORDER BY 1"


async def test_the_big_tables_are_divided_once_and_only_when_that_is_confirmed(
    whole_database: str, tmp_path: Path
) -> None:
    await asyncio.to_thread(fill, whole_database)
    place = Place(tmp_path, environ={"WEBOID_DATABASE": whole_database})
    for _ in range(2):
        ran = await place.run("store", "partition", "--partitions", "8")
        assert (ran.status, ran.out) == (0, "")
        assert "link (0.0 GB), url (0.0 GB) would be divided into 8 partitions each" in ran.err
        assert "GB of disk more, most of it for the log of writes" in ran.err
        assert "stop them before. Nothing was written: --confirm does it" in ran.err
    ran = await place.run("store", "partition", "--partitions", "8", "--confirm")
    assert (ran.status, "url (0.0 GB): divided into 8 partitions each" in ran.err) == (0, True)
    for words in ([], ["--confirm"]):
        ran = await place.run("store", "partition", *words)
        assert (ran.status, ran.err) == (0, "the big tables are divided: there is nothing to do\n")
    ran = await place.run("store", "partition", "--partitions", "1")
    assert ran.status == 2
    counted = []
    async with await psycopg.AsyncConnection.connect(
        make_conninfo(whole_database, user="postgres"), autocommit=True
    ) as connection:
        await connection.execute("SELECT pg_stat_reset()")
        for _ in range(2):
            assert (await place.run("maintain", "--day", "100")).status == 0
            counted.append(await (await connection.execute(_COUNTED)).fetchall())
    assert counted[0] == counted[1]
    assert [name for name, when in counted[0] if when] == ["link", "url"]


async def test_where_the_disk_has_too_little_room_nothing_is_begun(server_folder: Path, tmp_path: Path) -> None:
    with small_disk(server_folder / "small", "180m") as disk, open_server(disk / "data") as server:
        async with await psycopg.AsyncConnection.connect(server.dsn) as connection:
            await migrate(connection)
        await asyncio.to_thread(fill, server.dsn)
        place = Place(tmp_path, environ={"WEBOID_DATA": str(disk / "data")})
        (disk / "junk").write_bytes(bytes(disk_usage(disk).free - (3 << 20)))
        ran = await place.run("store", "partition", "--confirm")
        assert (ran.status, "too little room in" in ran.err, "of the disk first" in ran.err) == (2, True, True)
        (disk / "junk").unlink()
        assert (await place.run("store", "partition", "--confirm")).status == 0
