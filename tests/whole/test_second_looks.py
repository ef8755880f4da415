"""A remote crawler as the second vantage point of a local one, as real processes (C-14)."""

import asyncio
from pathlib import Path

import psycopg
import pytest
from support.commands import Place, open_place
from support.remote import CRAWLERS, TOKEN

from weboid.demo.world import Behaviour, BotWall, Code, Host, Life, Page, Spell, World

GONE: Life[Behaviour] = (Spell(0, Code(404)),)
REFUSED: Life[Behaviour] = (Spell(0, BotWall(404, inside=Page())),)
"""Refused to those whose User-Agent names no browser: here, all but the other place."""
FINE: Life[Behaviour] = (Spell(0, Page()),)
WORLD = World(
    {
        "gone.demo": Host(paths={"/": GONE}),
        "refused.demo": Host(paths={"/": REFUSED}),
        "fine.demo": Host(paths={"/": FINE}),
    }
)
DAYS = (100, 103, 104, 105, 106, 107, 108, 109)


async def _verdicts(near: Place) -> dict[str, str]:
    lines = (await near.run("show", "--json", "demowiki@wmflabs:All")).lines()
    return {line["normal"].split("//")[1].split(".")[0]: f"{line['verdict']} {line['reason']}" for line in lines}


async def _lived(dsn: str) -> None:
    """Returns when a crawler works on its day."""
    async with asyncio.timeout(60), await psycopg.AsyncConnection.connect(dsn, autocommit=True) as connection:
        while await (await connection.execute("SELECT FROM lived")).fetchone() is None:
            await asyncio.sleep(0.05)


@pytest.mark.long
async def test_what_is_refused_to_one_address_alone_is_not_called_dead(database: str, tmp_path: Path) -> None:
    (tmp_path / "near").mkdir()
    (tmp_path / "far").mkdir()
    urls = [f"http://{host}/" for host in WORLD.hosts]
    async with open_place(tmp_path / "near", WORLD, {"All": urls}) as near:
        assert near.web
        far = Place(tmp_path / "far")
        far.environ = {**near.environ, "WEBOID_CRAWL_TOKEN": TOKEN, "WEBOID_NET_USER_AGENT": "Mozilla/5.0 (remote)"}
        near.environ |= {
            "WEBOID_DATABASE": database,
            "WEBOID_WEB_CRAWLERS": CRAWLERS,
            "WEBOID_CRAWL_VANTAGE": "crawlers",
            "WEBOID_POLICY_MISSING_SPAN": "9",
        }
        try:
            assert (await near.run("feed", "pass", "--day", "100")).status == 0
            _, core = await near.serve("--day", "100")
            # On that day nothing is due, so that it has no rounds of its own.
            await far.start("crawl", "--day", "99", "--core", core)
            await _lived(database)
            for day in DAYS:
                ran = await near.run("crawl", "--once", "--day", str(day))
                assert (ran.status, "second vantage point" in ran.err) == (0, False)
            assert await _verdicts(near) == {
                "gone": "dead not-found",
                "refused": "doubtful disputed",
                "fine": "working ok",
            }
            by_far = {asked.host for asked in near.web.requests if "remote" in asked.headers.get("user-agent", "")}
            assert by_far >= {"gone.demo", "refused.demo"}
            assert (await near.run("check-store", "--day", "109")).status == 0
        finally:
            await far.end()
