"""``weboid backup --wal``, ``restore --wal`` and ``upgrade`` as operators call them, on an embedded server."""

import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
from support.commands import Place, open_place
from support.databases import all_rows
from support.observations import LOST
from support.older_postgresql import OLDER, needs_older, older_only
from support.stored import open_wiki

from weboid.demo.world import World
from weboid.pgfolder.server import stop_server
from weboid.store.backup.tables import VOLATILE
from weboid.store.db.migrate import migrate
from weboid.store.embedded import embedded_folder, open_server


@pytest.fixture
async def place(server_folder: Path, tmp_path: Path) -> AsyncIterator[Place]:
    data = server_folder / "cli"
    data.mkdir(mode=0o711)
    (data / "wal").mkdir()
    async with open_place(tmp_path, World({}), {}) as place:
        place.environ |= {"WEBOID_DATA": str(data / "data"), "WEBOID_EMBEDDED_WAL": str(data / "wal")}
        yield place
    assert stop_server(embedded_folder(data / "data"))
    shutil.rmtree(data)


@pytest.mark.long
async def test_base_backup_loss_and_restore(place: Place) -> None:
    data, wal = Path(place.environ["WEBOID_DATA"]), place.environ["WEBOID_EMBEDDED_WAL"]
    made = await place.run("backup", "--wal", wal)
    assert (made.status, made.err) == (0, "")
    assert "can be restored" in made.out
    assert (await place.run("migrate")).status == 0
    shutil.rmtree(data)
    early = await place.run("restore", "--wal", wal, "--until", "2020-01-01T00:00Z")
    assert early.status == 2
    assert "give a later moment" in early.err
    restored = await place.run("restore", "--wal", wal)
    assert restored.status == 0, restored.err
    assert "restored from the base backup of" in restored.out
    assert (await place.run("check-store")).status == 0
    assert "into an empty folder" in (await place.run("restore", "--wal", wal)).err
    newest = await place.run("upgrade")
    assert (newest.status, newest.out) == (0, "the database is of the newest version that is here\n")


@pytest.mark.long
async def test_a_moment_that_cannot_be_set_right_leaves_the_folder_empty(place: Place) -> None:
    data, wal = Path(place.environ["WEBOID_DATA"]), place.environ["WEBOID_EMBEDDED_WAL"]
    assert (await place.run("migrate")).status == 0
    with open_server(data) as server:
        async with await psycopg.AsyncConnection.connect(server.dsn) as connection:
            await connection.execute(
                "INSERT INTO migration (number, name, checksum) VALUES (9999, 'of a later version', '')"
            )
    assert (await place.run("backup", "--wal", wal)).status == 0
    shutil.rmtree(data)
    for _ in range(2):
        refused = await place.run("restore", "--wal", wal)
        assert refused.status == 2
        assert "made by a newer weboid" in refused.err
        assert not {"postgres", "making"} & {path.name for path in data.iterdir()}


_REPOSITORY = Path(__file__).resolve().parents[2]
_CHANGED = VOLATILE | {"lease", "key_form"}
"""Tables that are not backed up, or that a restore and the start of a program change."""


async def _fill(dsn: str) -> dict[str, list[str]]:
    async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        await migrate(connection)
    async with open_wiki(dsn, {1: ["https://one.demo/a", "https://two.demo/"]}) as wiki:
        for day in (100, 103, 107, 110, 114, 115, 116):
            await wiki.round(day, lambda url, day: LOST)
        assert await wiki.dead()
    return await all_rows(dsn, without=_CHANGED)


@needs_older
@pytest.mark.long
async def test_a_store_of_an_older_postgresql_is_upgraded_by_backup_and_restore(
    server_folder: Path, tmp_path: Path
) -> None:
    assert OLDER is not None
    data, backup = server_folder / "older store", str(tmp_path / "weboid.dump")

    def weboid(*call: str, path: str = os.defpath) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "weboid", "--data", str(data), *call]
        environ = {"PATH": path, "PYTHONPATH": str(_REPOSITORY)}
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environ)

    with older_only(), open_server(data) as server:
        before = await _fill(server.dsn)
    version = (data / "postgres/PG_VERSION").read_text().strip()
    refused = weboid("upgrade")
    assert refused.returncode == 2
    assert f"was made by PostgreSQL {version}, and here is 1" in refused.stderr
    assert "`weboid upgrade --from FILE`" in refused.stderr
    done = weboid("backup", backup, "--day", "116", path=f"{OLDER}:{os.defpath}")
    assert done.returncode == 0, done.stderr
    done = weboid("upgrade", "--from", backup, "--day", "116")
    assert done.returncode == 0, done.stderr
    assert f"that of {version} is kept in {data}/postgres.old-{version}" in done.stdout
    assert (data / "postgres/PG_VERSION").read_text().strip() != version
    with open_server(data) as server:
        assert await all_rows(server.dsn, without=_CHANGED) == before
    assert weboid("upgrade", "--remove-old").stdout == "the database is of the newest version that is here\n"
    assert not list(data.glob("postgres.old-*"))
    assert stop_server(embedded_folder(data))
    shutil.rmtree(data)
