"""Faces in a crawl over weeks, with a real store, the real checker and a real server: what is found, asked and kept."""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import ip_network

from support.misbehaving import Act, Asked, Site, head_only, name_server, reply, serve
from support.pages import page as made_page
from support.pages import prose
from support.stored import WikiInStore, open_wiki

from weboid.checking.checker import Checker
from weboid.checking.turns import LocalTurns
from weboid.config import CrawlConfig, NetConfig
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Reason
from weboid.core.verdict.verdict import Verdict
from weboid.net.outbound import open_session

NET = NetConfig(user_agent="test", permit=(ip_network("127.0.0.0/8"),), connect_s=30.0, answer_s=30.0)
HOST = "site.demo"
DAYS = range(100, 157)


def page(title: str, start: int) -> Act:
    return reply(200, body=made_page(title, body=f"<p>{prose(80, start)}</p>"))


FRONT, TEMPLATE = page("Welcome", 9_000), page("Our site", 5_000)
MISSING = reply(404, body=b"no")
IDS = range(101, 107)


def article(path: str) -> Act | None:
    number = next((number for number in IDS if str(number) in re.findall("[0-9]+", path)), None)
    return None if number is None else page(f"Article {'abcdefgh'[number - 101] * 5}", 100 * number)


@asynccontextmanager
async def crawled(
    database: str, answer: Callable[[str], Act], paths: list[str]
) -> AsyncIterator[tuple[WikiInStore, Site, dict[str, list[Reason]]]]:
    """A wiki whose links at one host were checked for weeks: what each check found, by path."""

    def script(asked: Asked) -> Act:
        path = asked.target
        act = MISSING if path == "/robots.txt" else FRONT if path == "/" else answer(path)
        return head_only(asked, act) if isinstance(act, bytes) else act

    found: dict[str, list[Reason]] = {path: [] for path in paths}
    async with serve(script) as site, name_server({HOST: ["127.0.0.1"]}) as names:
        urls = {f"http://{HOST}:{site.port}{path}": path for path in paths}
        async with open_session(replace(NET, dns=(names.address,))) as session, open_wiki(database, {1: urls}) as wiki:
            checker = Checker(session, LocalTurns(0), CrawlConfig())

            async def ask(url: str, day: int) -> Observation:
                seen = await checker.ask(wiki.questions[-1])
                if url in urls:
                    found[urls[url]].append(seen.reason)
                return seen

            for today in DAYS:
                await wiki.rounds(ask, [today])
            yield wiki, site, found


def besides(site: Site, paths: list[str]) -> list[str]:
    asked = [line.partition(" ")[2] for line in site.lines()]
    return [path for path in asked if path not in (*paths, "/robots.txt")]


async def test_a_template_is_found_at_the_first_look_and_costs_three_requests_in_four_weeks(database: str) -> None:
    paths = [f"/news/{number}.html" for number in (*IDS, *range(201, 207))]
    async with crawled(database, lambda path: article(path) or TEMPLATE, paths) as (wiki, site, found):
        for path, reasons in found.items():
            is_there = article(path) is not None
            assert reasons[0] is Reason.OK  # by its headers alone
            assert set(reasons[1:]) == {Reason.OK if is_there else Reason.SOFT_404}
            verdict = (await wiki.finding(f"http://{HOST}:{site.port}{path}")).verdict
            assert verdict is (Verdict.WORKING if is_there else Verdict.DOUBTFUL)
        assert len(besides(site, paths)) <= 3 * 3
        assert len(await wiki.rows("SELECT FROM face")) == 1
