"""A disk that is full in the middle of a round: what cannot be written waits until there is room."""

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.commands import open_place

from weboid.demo.world import Host, Page, Spell, World

HOSTS, PATHS = 60, 4
WORLD = World(
    {
        f"h{host}.demo": Host(paths={f"/{path}": (Spell(0, Page(title=f"{path}")),) for path in range(PATHS)})
        for host in range(HOSTS)
    }
)
URLS = [f"http://h{host}.demo/{path}" for host in range(HOSTS) for path in range(PATHS)]


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of its own, too small for carelessness."""
    folder = Path(tempfile.mkdtemp(prefix="weboid-disk-"))
    mounted = os.geteuid() == 0 and shutil.which("mount") is not None
    call = ["mount", "-t", "tmpfs", "-o", "size=200m,mode=0711", "weboid-test", str(folder)]
    if not mounted or subprocess.run(call, capture_output=True, check=False).returncode:
        folder.rmdir()
        pytest.skip("a disk of its own can only be mounted by root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
        folder.rmdir()


@pytest.mark.alone
@pytest.mark.long
async def test_a_full_disk_in_mid_round_costs_no_check(small_disk: Path) -> None:
    async with open_place(small_disk, WORLD, {"All": URLS}) as place:
        assert place.web
        place.environ |= {"WEBOID_CRAWL_DELAY": "0.2", "WEBOID_NET_CONNECTIONS": "10"}
        assert (await place.run("feed", "pass", "--day", "100")).status == 0
        process = await place.start("crawl", "--once", "--day", "100")
        async with asyncio.timeout(30):
            while len(place.web.requests) < 40:
                await asyncio.sleep(0.01)
        filler = small_disk / "filler"
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
