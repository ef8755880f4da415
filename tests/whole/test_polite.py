"""Two real workers at once, and redirects into one host from everywhere: asked once, and never too fast (C-3, C-17)."""

import asyncio
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest
from support.commands import open_place

from weboid.demo.world import Behaviour, Host, Life, Page, Redirect, Spell, World

DELAY_S = 0.3
HOSTS, PATHS = 8, 3


@pytest.mark.long
@pytest.mark.alone
async def test_two_workers_share_a_round_and_no_host_is_asked_too_fast(database: str, tmp_path: Path) -> None:
    moved: Life[Behaviour] = (Spell(0, Redirect("http://target.demo/there")),)
    fine: Life[Behaviour] = (Spell(0, Page()),)
    hosts = {f"h{host}.site{host}.demo": Host(paths={"/0": fine, "/1": fine, "/moved": moved}) for host in range(HOSTS)}
    world = World({**hosts, "target.demo": Host(paths={"/there": fine})})
    urls = [f"http://{host}{path}" for host in hosts for path in ("/0", "/1", "/moved")]
    async with open_place(tmp_path, world, {"All": urls}) as place:
        assert place.web
        place.environ |= {
            "WEBOID_DATABASE": database,
            "WEBOID_CRAWL_DELAY": str(DELAY_S),
            "WEBOID_CRAWL_LEASE_S": "30",
            "WEBOID_NET_ANSWER_S": "5",  # a second try, on a machine with much to do, would be a second question
        }
        assert (await place.run("feed", "pass", "--day", "100")).status == 0
        workers = [place.run("crawl", "--once", "--day", "100") for _ in range(2)]
        assert [ran.status for ran in await asyncio.gather(*workers)] == [0, 0]
        times: dict[str, list[float]] = defaultdict(list)
        asked: dict[str, int] = defaultdict(int)
        for request in place.web.requests:
            times[request.host].append(request.at_s)
            if request.method == "HEAD" and request.host != "target.demo":
                asked[f"{request.host}{request.target}"] += 1
    assert set(asked.values()) == {1}
    assert len(asked) == HOSTS * PATHS
    assert len(times["target.demo"]) >= HOSTS
    # The server writes a request down when it reads it: a loaded machine may do so a little later than it came.
    early = {
        host: gap for host, moments in times.items() for one, next_ in pairwise(moments) if (gap := next_ - one) < 0.2
    }
    assert not early
