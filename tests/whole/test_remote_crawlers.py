"""Crawlers without a database next to one with it (O-1): nothing lost or doubled, hosts spared, whatever happens."""

import asyncio
import os
import signal
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import psycopg
import pytest
from support.commands import Place, open_place
from support.remote import CRAWLERS, TOKEN, open_bad_network
from support.waiting import until

from weboid.demo.world import Behaviour, Host, HostState, Life, Page, Redirect, Spell, World

HOSTS, PATHS = 400, 2
"""Of more domains than a crawler leases at once, so that there is work for several."""
DELAY_S = 0.2
MOVED = 30
"""So many hosts have a page that redirects to one host, which all crawlers so ask."""
MUTE = 2
"""For so many hosts the name server does not answer, which is recorded of their URLs without a request."""
FINE: Life[Behaviour] = (Spell(0, Page()),)
AWAY: Life[Behaviour] = (Spell(0, Redirect("http://target.demo/there")),)
WORLD = World(
    {
        **{f"h{host}.demo": Host(paths={"/0": FINE, "/1": AWAY if host < MOVED else FINE}) for host in range(HOSTS)},
        **{f"mute{host}.demo": Host((Spell(0, HostState.DNS_SILENT),)) for host in range(MUTE)},
        "target.demo": Host(paths={"/there": FINE}),
    }
)
NAMES = [name for name in WORLD.hosts if name != "target.demo"]
URLS = [f"http://{name}/{path}" for name in NAMES for path in range(PATHS)]
FEW = URLS[:400]


@dataclass
class Scene:
    """A place with its database and a web process, and another one without."""

    near: Place
    far: Place
    core: str
    web: asyncio.subprocess.Process

    async def serve_again(self) -> None:
        """Kills the web process, and starts another one at the same address."""
        os.kill(self.web.pid, signal.SIGKILL)
        await self.web.wait()
        self.web, _ = await self.near.serve("--day", "100", port=self.core.rpartition(":")[2])

    async def asked(self, count: int) -> None:
        """Returns when the little web has got so many requests."""
        web = self.near.web
        assert web
        await until(lambda: len(web.requests) >= count)

    def times(self) -> Counter[str]:
        assert self.near.web
        web = self.near.web
        heads = (asked for asked in web.requests if asked.method == "HEAD" and asked.host != "target.demo")
        return Counter(web.located(f"http://{asked.host}{asked.target}") for asked in heads)

    def is_polite(self) -> bool:
        """Whether servers saw the pause between requests to one host, as exactly as a busy machine lets them."""
        assert self.near.web
        moments = defaultdict[str, list[float]](list)
        for asked in self.near.web.requests:
            moments[asked.host].append(asked.at_s)
        gaps = [(host, after - before) for host, seen in moments.items() for before, after in pairwise(sorted(seen))]
        short = Counter(host for host, gap in gaps if gap < DELAY_S / 2)
        return short["target.demo"] <= 1 and short.total() <= len(gaps) / 100

    async def known(self) -> dict[str, str]:
        """The URLs whose record has exactly one check, with the reason that it gives."""
        lines = (await self.near.run("show", "--json", "demowiki@wmflabs:All")).lines()
        assert all(len(line["history"]) <= 1 for line in lines)
        return {line["normal"]: line["reason"] for line in lines if line["history"]}

    async def check_records(self, urls: Collection[str], again: Collection[str] = ()) -> None:
        """Fails unless all of these URLs have a record, and each one says whether its server got a request.

        One, that is, or none if the name has no answer; those of `again` may have got another one. Where a page
        redirects, the name without an answer may be that of the other host.
        """
        reasons, times = await self.known(), self.times()
        assert self.near.web
        assert reasons.keys() == set(map(self.near.web.located, urls))
        assert times.keys() <= reasons.keys()
        moved = {self.near.web.located(f"http://h{host}.demo/1") for host in range(MOVED)}
        for url, reason in reasons.items():
            expected = {reason != "dns-error"} | ({1} if url in moved else set()) | ({2} if url in again else set())
            assert times[url] in expected, (url, reason)
            assert reason == "dns-error" or "//mute" not in url


@asynccontextmanager
async def open_scene(database: str, folder: Path, urls: list[str]) -> AsyncIterator[Scene]:
    async with AsyncExitStack() as stack:
        (folder / "near").mkdir()
        (folder / "far").mkdir()
        near = await stack.enter_async_context(open_place(folder / "near", WORLD, {"All": urls}))
        far = Place(folder / "far")
        stack.push_async_callback(far.end)
        near.environ |= {"WEBOID_CRAWL_DELAY": str(DELAY_S), "WEBOID_NET_CONNECTIONS": "20"}
        # The name server and all servers are this process, which is late where the machine is busy.
        near.environ |= {"WEBOID_NET_CONNECT_S": "10", "WEBOID_NET_ANSWER_S": "60"}
        far.environ = {**near.environ, "WEBOID_CRAWL_TOKEN": TOKEN}
        near.environ |= {"WEBOID_DATABASE": database, "WEBOID_WEB_CRAWLERS": CRAWLERS}
        assert (await near.run("feed", "pass", "--day", "100")).status == 0
        web, core = await near.serve("--day", "100")
        yield Scene(near, far, core, web)


async def _in_order(process: asyncio.subprocess.Process) -> str:
    async with asyncio.timeout(90):
        out, err = await process.communicate()
    assert process.returncode == 0, err.decode()
    return (out + err).decode()


def _written(out: str) -> int:
    """How many checks a round says that it has written."""
    return int(out.rpartition(" checks in ")[0].rpartition(": ")[2])


@pytest.mark.long
async def test_two_remote_and_one_local_share_a_round_over_a_bad_network(database: str, tmp_path: Path) -> None:
    async with (
        open_scene(database, tmp_path, URLS) as scene,
        open_bad_network(scene.core, 5, 0.2) as (address, network),
    ):
        call = ("crawl", "--once", "--day", "100")
        crawlers = [
            await scene.far.start(*call, "--core", address),
            await scene.far.start(*call, "--core", scene.core),
            await scene.near.start(*call),
        ]
        written = [_written(await _in_order(each)) for each in crawlers]
        assert sum(written) == len(URLS)
        assert sum(count > 0 for count in written) >= 2
        assert min(network.did[what] for what in ("drop-answer", "repeat", "repeat-late", "delay")) > 0
        await scene.check_records(URLS)
        assert scene.is_polite()
        assert (await scene.near.run("check-store", "--day", "100")).status == 0


@pytest.mark.long
async def test_the_web_process_and_a_remote_crawler_are_killed_in_a_round(database: str, tmp_path: Path) -> None:
    async with open_scene(database, tmp_path, FEW) as scene:
        call = ("crawl", "--once", "--day", "100", "--core", scene.core)
        victim = await scene.far.start(*call)
        await scene.asked(100)
        os.kill(victim.pid, signal.SIGKILL)
        await victim.wait()
        written = await scene.known()
        # What the killed crawler had sent is still being recorded.
        while (later := await scene.known()) != written:
            written = later
        async with await psycopg.AsyncConnection.connect(database, autocommit=True) as connection:
            # The minute is over for which a request on its way keeps its host from others.
            await connection.execute("UPDATE slot SET free = free - interval '1 minute' WHERE held")
        in_vain = scene.times().keys() - written.keys()
        # One check of each visit that was under way, of 31.
        assert len(in_vain) <= 31
        other = await scene.far.start(*call)
        await scene.asked(len(scene.times()) + 60)
        await scene.serve_again()
        out = await _in_order(other)
        assert _written(out) == len(FEW) - len(written)
        await scene.check_records(FEW, in_vain)
        assert scene.is_polite()
        assert (await scene.near.run("check-store", "--day", "100")).status == 0


async def test_a_remote_crawler_without_a_token_or_a_server_says_what_to_do(tmp_path: Path) -> None:
    place = Place(tmp_path)
    ran = await place.run("crawl", "--once", "--core", "https://core.demo")
    assert (ran.status, "WEBOID_CRAWL_TOKEN" in ran.err) == (2, True)
    place.environ["WEBOID_CRAWL_TOKEN"] = "hush"
    ran = await place.run("crawl", "--once", "--core", "http://127.0.0.1:1")
    assert (ran.status, "the server cannot be reached" in ran.err) == (2, True)
    assert "hush" not in ran.err + ran.out
