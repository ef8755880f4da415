"""A disk that is full in the middle of a round: what cannot be written waits until there is room."""

from collections import Counter
from pathlib import Path

import pytest
from support.away import URLS, WORLD, Running
from support.commands import open_place
from support.small_disk import small_disk


@pytest.mark.long
async def test_a_full_disk_in_mid_round_costs_no_check(server_folder: Path) -> None:
    with small_disk(server_folder / "disk-of-a-round", "200m") as disk:
        await _crawl_on_a_full_disk(disk)


async def _crawl_on_a_full_disk(disk: Path) -> None:
    async with open_place(disk, WORLD, {"All": URLS}) as place:
        assert place.web
        web = place.web
        place.environ |= {"WEBOID_CRAWL_DELAY": "0.2", "WEBOID_NET_CONNECTIONS": "10"}
        assert (await place.run("feed", "pass", "--day", "100")).status == 0
        crawl = Running(await place.start("crawl", "--once", "--day", "100"))
        await crawl.until(lambda: len(web.requests) >= 20)
        filler = disk / "filler"
        with pytest.raises(OSError, match="No space left"):
            _fill(filler)
        await crawl.until(lambda: crawl.count("No space left") > 0)
        filler.unlink()
        assert await crawl.ended() == 0, crawl.said
        known = await place.run("show", "--json", *map(web.located, URLS))
        assert [line["status"] for line in known.lines()] == [1] * len(URLS)
        asked = Counter(f"{each.host}{each.target}" for each in web.requests)
        missing = {url for url in URLS if url.removeprefix("http://") not in asked}
        assert not missing, (missing, crawl.said[-3000:])


def _fill(filler: Path) -> None:
    with filler.open("wb", buffering=0) as file:
        while True:
            file.write(b"\0" * 4096)
