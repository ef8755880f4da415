"""A hot standby: who reads starts on it and answers, who writes waits and says why, until it is promoted."""

import subprocess
import time
from pathlib import Path

import aiohttp
import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from support.away import URLS, WORLD, Running
from support.commands import open_place

from weboid.store.embedded import open_server


@pytest.mark.long
async def test_readers_answer_on_a_standby_and_writers_go_on_when_it_is_promoted(
    server_folder: Path, tmp_path: Path
) -> None:
    primary, standby = server_folder / "primary", server_folder / "standby"
    async with open_place(tmp_path, WORLD, {"All": URLS}) as place:
        with open_server(primary) as server:
            place.environ["WEBOID_DATABASE"] = server.dsn
            assert (await place.run("feed", "pass", "--day", "100")).status == 0
            assert (await place.run("crawl", "--once", "--day", "100")).status == 0
        _copied_as_standby(primary, standby)
        with open_server(standby) as server:
            place.environ["WEBOID_DATABASE"] = server.dsn
            shown = await place.run("show", "--json", "demowiki@wmflabs:All")
            assert (shown.status, len(shown.lines())) == (0, len(URLS)), shown.err
            checked = await place.run("check-store", "--day", "128")
            assert (checked.status, checked.out[:19]) == (0, "nothing is wrong in"), checked.err
            assert "the database is read-only: nothing is written there" in checked.err
            serve = Running(await place.start("serve", "--port=0"))
            await serve.until(lambda: serve.count("Weboid answers at ") > 0)
            url = serve.said.split("Weboid answers at ")[1].split()[0]
            async with aiohttp.ClientSession() as client:
                for path in (
                    "api/page?dbname=demowiki@wmflabs&pageid=1",
                    "lists/dead?dbname=demowiki@wmflabs",
                    "healthz",
                ):
                    async with client.get(url + path) as answer:
                        assert answer.status == 200, path
            crawl = Running(await place.start("crawl", "--day", "128"))
            await crawl.until(lambda: crawl.count("the database is away: cannot execute ") == 1)
            async with await psycopg.AsyncConnection.connect(
                make_conninfo(server.dsn, user="postgres"), autocommit=True
            ) as connection:
                await connection.execute("SELECT pg_promote()")
            await crawl.until(lambda: crawl.count(" checks in ") > 0)
            for part in (crawl, serve):
                begun = time.monotonic()
                await part.stop()
                assert time.monotonic() - begun < 14
                assert "Traceback" not in part.said, part.said[-3000:]


def _copied_as_standby(primary: Path, standby: Path) -> None:
    """A copy of a cluster that was shut down, which will start as a standby that has had all of its changes."""
    subprocess.run(["cp", "-a", primary, standby], check=True)
    signal = standby / "postgres" / "standby.signal"
    subprocess.run(["cp", "-a", standby / "postgres" / "PG_VERSION", signal], check=True)
