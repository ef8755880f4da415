"""``weboid upgrade --from``: a store of an older PostgreSQL is backed up, and restored into one of the wheel's."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from support.databases import all_rows
from support.observations import LOST
from support.older_postgresql import OLDER, needs_older, older_only
from support.stored import open_wiki

from weboid.pgfolder.server import stop_server
from weboid.store.backup.tables import VOLATILE
from weboid.store.db.migrate import migrate
from weboid.store.embedded import embedded_folder, open_server

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
