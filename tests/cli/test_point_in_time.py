"""``weboid backup --wal``, ``restore --wal`` and ``upgrade`` as operators call them, on an embedded server."""

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
from support.commands import Place, open_place
from support.processes import programs_of

from weboid.demo.world import World
from weboid.pgfolder.postmaster import server_pid
from weboid.pgfolder.server import stop_server
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


async def test_what_does_not_go_is_said(place: Place) -> None:
    (place.folder / "own.toml").write_text('database = "host=127.0.0.1 dbname=nothing"\n')
    place.environ.pop("WEBOID_EMBEDDED_WAL")
    for words, *call in (
        ("--wal goes with nothing else", "backup", "x", "--wal", "y"),
        ("give either FILE", "restore"),
        ("give either FILE", "restore", "x", "--until", "2026-11-24"),
        ("is no moment: give it as", "restore", "--wal", "x", "--until", "soon"),
        ("pgBackRest, Barman", "--config", "own.toml", "restore", "--wal", "x"),
        ("upgrade your own PostgreSQL by its own means", "--config", "own.toml", "upgrade"),
    ):
        done = await place.run(*call)
        assert (done.status, words in done.err) == (2, True), (call, done.err)


async def test_a_database_of_an_older_version_is_reported_with_the_commands_of_an_upgrade(place: Place) -> None:
    cluster = Path(place.environ["WEBOID_DATA"]) / "postgres"
    cluster.mkdir(parents=True)
    (cluster / "PG_VERSION").write_text("9\n")
    for command in ("migrate", "upgrade"):
        refused = await place.run(command)
        assert refused.status == 2
        assert "was made by PostgreSQL 9, and here is 1" in refused.err
        assert "nothing was changed" in refused.err
        assert (
            "`weboid backup FILE`; then install the new one again and run `weboid upgrade --from FILE`" in refused.err
        )
    assert {path.name for path in cluster.iterdir()} == {"PG_VERSION"}


@pytest.mark.long
async def test_a_base_backup_that_is_stopped_leaves_no_program_and_no_server(place: Place) -> None:
    wal = Path(place.environ["WEBOID_EMBEDDED_WAL"])
    process = await place.start("backup", "--wal", str(wal))
    try:
        async with asyncio.timeout(30):
            while len(programs := programs_of("pg_basebackup", wal)) < 2:  # it has a child for the log
                await asyncio.sleep(0.001)
        for pid in programs:
            os.kill(pid, signal.SIGSTOP)
        process.terminate()
        process.send_signal(signal.SIGINT)
        _, err = await asyncio.wait_for(process.communicate(), 15)
        assert process.returncode in {128 + signal.SIGTERM, 128 + signal.SIGINT}
        assert err == b"weboid: stopped; no base backup was made\n"
        assert programs_of("pg_basebackup", wal) == []
    finally:
        for pid in programs_of("pg_basebackup", wal):
            os.kill(pid, signal.SIGKILL)
    assert list(wal.glob("cluster-*/base-*")) == []
    assert server_pid(embedded_folder(Path(place.environ["WEBOID_DATA"]))) is None
    assert (await place.run("backup", "--wal", str(wal))).status == 0
