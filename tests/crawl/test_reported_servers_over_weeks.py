"""No page of a reported server that lives is dead after five weeks of rounds."""

from contextlib import AsyncExitStack
from dataclasses import replace
from ipaddress import ip_network

import pytest
from support.misbehaving import Zone, name_server, serve
from support.reported_forwards import BEHIND_IS_DEAD, LEADING_ON
from support.reported_oddities import CODINGS, ROBOTS
from support.reported_servers import COOKIES, LIMITS, PATH, REDIRECTS
from support.stored import open_wiki

from weboid.checking.checker import Checker
from weboid.checking.turns import LocalTurns
from weboid.config import CrawlConfig, NetConfig
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Outcome
from weboid.core.verdict.verdict import Verdict
from weboid.net.outbound import open_session

NET = NetConfig(user_agent="test", permit=(ip_network("127.0.0.0/8"),), connect_s=60.0, answer_s=60.0)
LIVING = [*LIMITS, *COOKIES, *REDIRECTS, *LEADING_ON, *CODINGS, *ROBOTS]
DAYS = range(100, 137)


@pytest.mark.long
async def test_no_living_page_is_dead_after_five_weeks_and_what_is_dead_is(database: str) -> None:
    zone: Zone = {"": ["@ns.demo"]}
    urls: dict[str, str] = {}
    async with AsyncExitStack() as stack:
        rows = [*LIVING, *BEHIND_IS_DEAD]
        for number, row in enumerate(rows):
            site = await stack.enter_async_context(serve(row.script))
            zone[f"mill{number}.demo"] = [site.ip]
            urls[row.slug] = site.url(PATH, host=f"mill{number}.demo")
        names = await stack.enter_async_context(name_server(zone))
        session = await stack.enter_async_context(open_session(replace(NET, dns=(names.address,))))
        wiki = await stack.enter_async_context(open_wiki(database, {1: urls.values()}))
        checker = Checker(session, LocalTurns(0.0), CrawlConfig())

        async def ask(url: str, day: int) -> Observation:
            return await checker.ask(wiki.questions[-1])

        await wiki.rounds(ask, DAYS)
        verdicts = {slug: (await wiki.finding(url)).verdict for slug, url in urls.items()}
    unlike = {}
    for row in rows:
        lives = Outcome.FAILING not in row.outcomes
        if (verdicts[row.slug] is Verdict.DEAD) == lives:
            unlike[row.slug] = verdicts[row.slug].value
    assert unlike == {}
