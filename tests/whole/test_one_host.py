"""Every behaviour on one single host, asked for real: none of its URLs is judged by another's failure (C-5, U-7)."""

from collections.abc import Awaitable
from ipaddress import ip_network

import pytest
from support.stored import open_wiki

from weboid.checking.checker import Checker
from weboid.checking.turns import LocalTurns
from weboid.config import CrawlConfig, NetConfig
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Reason
from weboid.core.verdict.verdict import Verdict
from weboid.demo.littleweb import open_littleweb
from weboid.demo.world import Behaviour, Chain, Code, Host, Life, Loop, NoHead, Page, Spell, Trouble, World
from weboid.net.outbound import open_session

REVIVAL = 122
PATHS: dict[str, tuple[Life[Behaviour], Verdict, Reason]] = {
    "/ok": ((Spell(0, Page()),), Verdict.WORKING, Reason.OK),
    "/nohead": ((Spell(0, NoHead()),), Verdict.WORKING, Reason.OK),
    "/chain": ((Spell(0, Chain(hops=3)),), Verdict.WORKING, Reason.MOVED),
    "/revived": ((Spell(0, Code(404)), Spell(REVIVAL, Page())), Verdict.WORKING, Reason.OK),
    "/404": ((Spell(0, Code(404)),), Verdict.DEAD, Reason.NOT_FOUND),
    "/410": ((Spell(0, Code(410)),), Verdict.DEAD, Reason.GONE),
    "/500": ((Spell(0, Code(500)),), Verdict.DEAD, Reason.SERVER_ERROR),
    "/loop": ((Spell(0, Loop()),), Verdict.DEAD, Reason.REDIRECT_LOOP),
    "/silent": ((Spell(0, Trouble.SILENCE),), Verdict.DEAD, Reason.TIMEOUT),
    "/reset": ((Spell(0, Trouble.RESET),), Verdict.DEAD, Reason.RESET),
    "/403": ((Spell(0, Code(403)),), Verdict.DOUBTFUL, Reason.FORBIDDEN),
    "/401": ((Spell(0, Code(401)),), Verdict.DOUBTFUL, Reason.LOGIN),
    "/429": ((Spell(0, Code(429)),), Verdict.DOUBTFUL, Reason.RATE_LIMIT),
    "/503": ((Spell(0, Code(503, retry_after_s=60)),), Verdict.DOUBTFUL, Reason.RATE_LIMIT),
}
WORLD = World({"one.demo": Host(paths={path: life for path, (life, _, _) in PATHS.items()})})


@pytest.mark.long
async def test_each_url_of_a_host_is_judged_by_itself(database: str) -> None:
    today = 100
    async with open_littleweb(WORLD, day=lambda: today) as web:
        urls = {path: web.located(f"http://one.demo{path}") for path in PATHS}
        net = NetConfig(user_agent="test", permit=(ip_network("127.0.0.0/8"),), dns=(web.name_server,), answer_s=0.5)
        async with open_wiki(database, {1: urls.values()}) as wiki, open_session(net) as session:

            def ask(url: str, day: int) -> Awaitable[Observation]:
                return Checker(session, LocalTurns(0), CrawlConfig()).ask(CheckRequest(url))

            for today in range(100, 137):
                await wiki.round(today, ask)
        answer = {}
        async with open_wiki(database, {}) as wiki:
            for path, url in urls.items():
                finding = await wiki.finding(url)
                answer[path] = (finding.verdict, finding.reason)
    assert answer == {path: (verdict, reason) for path, (_, verdict, reason) in PATHS.items()}
