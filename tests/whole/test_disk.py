"""A disk that is full in the middle of a round: what cannot be written waits until there is room."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from support.commands import open_place
from support.small_disk import small_disk

from weboid.demo.world import Host, Page, Spell, World

HOSTS, PATHS = 60, 4
WORLD = World(
    {
        f"h{host}.demo": Host(paths={f"/{path}": (Spell(0, Page(title=f"{path}")),) for path in range(PATHS)})
        for host in range(HOSTS)
    }
)
URLS = [f"http://h{host}.demo/{path}" for host in range(HOSTS) for path in range(PATHS)]


@pytest.mark.alone
@pytest.mark.long
async def test_a_full_disk_in_mid_round_costs_no_check(server_folder: Path) -> None:
    with small_disk(server_folder / "disk-of-a-round", "200m") as disk:
        await _crawl_on_a_full_disk(disk)


async def _crawl_on_a_full_disk(disk: Path) -> None:
    async with open_place(disk, WORLD, {"All": URLS}) as place:
        assert place.web
        place.environ |= {"WEBOID_CRAWL_DELAY": "0.2", "WEBOID_NET_CONNECTIONS": "10"}
        assert (await place.run("feed", "pass", "--day", "100")).status == 0
        process = await place.start("crawl", "--once", "--day", "100")
        async with asyncio.timeout(30):
            while len(place.web.requests) < 40:
                await asyncio.sleep(0.01)
        filler = disk / "filler"
        with pytest.raises(OSError, match="No space left"):
            _fill(filler)
        await asyncio.sleep(4)
        filler.unlink()
        _, err = await asyncio.wait_for(process.communicate(), 60)
        assert process.returncode == 0, err.decode()
        known = await place.run("show", "--json", *map(place.web.located, URLS))
        assert [line["status"] for line in known.lines()] == [1] * len(URLS)
        asked = Counter(f"{each.host}{each.target}" for each in place.web.requests)
        missing = {url for url in URLS if url.removeprefix("http://") not in asked}
        assert not missing, (missing, err.decode()[-3000:])


def _fill(filler: Path) -> None:
    with filler.open("wb", buffering=0) as file:
        while True:
            file.write(b"\0" * 4096)
