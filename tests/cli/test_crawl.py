"""``weboid crawl``: suggestions checked alongside the rounds delay nothing (A-4); a day may be refused (C-16)."""

import asyncio
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from io import StringIO
from ipaddress import ip_network

import click
import pytest
from rich.console import Console
from support.hostile_answers import script_of
from support.misbehaving import Act, Asked, head_only, name_server, reply, serve
from support.stored import WikiInStore, key, open_wiki
from support.waiting import until

from weboid.checking.checker import Checker, CheckResult
from weboid.cli.crawl import CrawlOptions, crawl
from weboid.config import Config, CrawlConfig, load_config
from weboid.core.observe.check_request import CheckRequest
from weboid.core.record.days import day_of
from weboid.core.record.moment import Moment
from weboid.crawl.own_faults import ALARMING
from weboid.crawl.worker_day import WorkerDay
from weboid.errors import DayRefused
from weboid.remote.crawl.calls import Days
from weboid.remote.http.rpc import OneTransaction
from weboid.store.people.replacement import find_replacements, record_replacement
from weboid.store.upkeep.alarm import list_alarms

URLS = [f"http://dead.demo/{number}" for number in range(3)]


def config_of() -> Config:
    config = load_config(None, {})
    net = replace(config.net, permit=(ip_network("127.0.0.0/8"),), connections=20, connect_s=1.0, answer_s=1.0)
    return replace(config, contact="tests@weboid.demo", net=net, crawl=CrawlConfig(delay=0.0))


async def suggest(wiki: WikiInStore, url: str, target: str) -> None:
    await wiki.do(record_replacement, key(url), archive=0, target=target, day=100, subject="7", name="Ann")


async def asked(wiki: WikiInStore, url: str) -> tuple[int | None, bool]:
    [found] = await wiki.do(find_replacements, key(url))
    return found.asked, found.works


async def test_one_call_checks_the_links_that_are_due_and_the_suggestions(database: str) -> None:
    def script(request: Asked) -> Act:
        return head_only(request, reply(200 if request.target in ("/link", "/new") else 404, body=b"<p>A mill."))

    async with serve(script) as site, open_wiki(database, {1: [site.url("/link")]}) as wiki:
        await wiki.take_in({2: URLS}, 1_000)
        await suggest(wiki, URLS[0], site.url("/new"))
        await suggest(wiki, URLS[1], site.url("/gone"))
        await crawl(config_of(), wiki.pool, lambda: Moment(100), CrawlOptions(True, Console(file=StringIO())))
        assert await asked(wiki, URLS[0]) == (100, True)
        assert await asked(wiki, URLS[1]) == (100, False)
        assert (await wiki.known(site.url("/link"))).record.checked == 100


@pytest.mark.parametrize(("lag_days", "is_confirmed"), [(0, True), (30, False)])
async def test_a_pause_of_five_days_is_confirmed_by_the_dates_of_other_hosts(
    database: str, lag_days: int, is_confirmed: bool
) -> None:
    date = format_datetime(datetime.now(UTC) - timedelta(days=lag_days), usegmt=True)

    def script(request: Asked) -> Act:
        return head_only(request, reply(200, f"Date: {date}", body=b"<p>A mill."))

    async with AsyncExitStack() as stack:
        sites = [await stack.enter_async_context(serve(script, ip=f"127.0.0.{number}")) for number in range(1, 5)]
        urls = [site.url("/link") for site in sites]
        wiki = await stack.enter_async_context(open_wiki(database, {1: urls}))
        today = day_of(datetime.now(UTC))
        console = Console(file=StringIO())
        await crawl(config_of(), wiki.pool, lambda: Moment(today - 5), CrawlOptions(True, console))
        await wiki.take_in({2: [sites[0].url("/new")]}, today)
        if is_confirmed:
            await crawl(config_of(), wiki.pool, None, CrawlOptions(True, console))
        else:
            with pytest.raises(DayRefused):
                await crawl(config_of(), wiki.pool, None, CrawlOptions(True, console))
        checked = (await wiki.known(sites[0].url("/new"))).record.checked
        assert checked in ((today, today + 1) if is_confirmed else (None,))


async def test_a_crawler_that_runs_for_good_waits_for_the_day_to_be_right(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weboid.cli.crawler._CUT_OFF_S", 0.05)
    async with serve(lambda _: reply(200)) as site, open_wiki(database, {1: [site.url("/link")]}) as wiki:
        await WorkerDay(Days(wiki.pool), lambda: Moment(50)).require()
        text = StringIO()
        running = asyncio.create_task(
            crawl(config_of(), wiki.pool, lambda: Moment(100), CrawlOptions(False, Console(file=text, soft_wrap=True)))
        )
        try:
            await until(lambda: "weboid crawl --once --confirm-day" in text.getvalue())
            await asyncio.sleep(0.3)
            assert (site.asked, text.getvalue().count("--confirm-day")) == ([], 1)
            async with wiki.pool.connection() as conn:
                await Days(OneTransaction(conn)).confirm(100)
            await until(lambda: site.asked)
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


class Faulty(Checker):
    """A checker with a planted error, at hosts whose names begin with "bad"."""

    async def check(self, question: CheckRequest) -> CheckResult:
        if "//bad" in question.url:
            raise RecursionError(question.url)
        return await super().check(question)


async def test_an_error_in_the_checker_ends_no_round_but_is_an_alarm_and_the_exit_status(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weboid.cli.crawl.Checker", Faulty)
    bad = [f"http://bad{number}.demo/" for number in range(ALARMING)]
    console = Console(file=StringIO())
    async with (
        serve(lambda asked: head_only(asked, reply(200))) as site,
        name_server({"": ["@ns.demo"]}) as names,
        open_wiki(database, {1: bad}) as wiki,
    ):
        # Not the machine's own name servers: if these deny all names, the second round would be given up.
        config = config_of()
        config = replace(config, net=replace(config.net, dns=(names.address,)))
        good = [site.url(f"/{number}") for number in range(5)]
        await wiki.take_in({2: good}, 100)
        with pytest.raises(click.ClickException) as ended:
            await crawl(config, wiki.pool, lambda: Moment(100), CrawlOptions(True, console))
        assert ended.value.exit_code == 1
        assert f" {ALARMING} visits" in ended.value.format_message()
        assert {(await wiki.known(url)).record.checked for url in good} == {100}
        assert {(await wiki.known(url)).due for url in bad} == {101}
        (alarm,) = await wiki.do(list_alarms)
        assert (alarm.kind, alarm.since) == ("own-fault", 100)
        assert "RecursionError in weboid.checking.checker:" in alarm.detail
        monkeypatch.setattr("weboid.cli.crawl.Checker", Checker)
        await crawl(config, wiki.pool, lambda: Moment(101), CrawlOptions(True, console))
        assert await wiki.do(list_alarms) == []


async def test_no_answer_ends_a_round_or_keeps_another_url_from_being_recorded(database: str) -> None:
    """Days are further apart than any interval and any pause that a server may demand: all URLs are due on each."""
    days, console = [0], Console(file=StringIO())
    hosts = {f"{kind}{number}.demo": ["127.0.0.1"] for kind in ("hostile", "good") for number in range(30)}
    async with (
        serve(script_of(lambda: days[-1])) as site,
        serve(lambda request: head_only(request, reply(200, body=b"<p>A mill."))) as fine,
        name_server({**hosts}) as names,
        open_wiki(database, {}) as wiki,
    ):
        config = config_of()
        net = replace(config.net, dns=(names.address,), web_ports=(site.port, fine.port), connections=100)
        urls = {
            kind: [at.url("/link", host=host) for host in hosts if host.startswith(kind)]
            for kind, at in (("hostile", site), ("good", fine))
        }
        urls["hostile"][1] = urls["hostile"][1].replace("http:", "https:")
        await wiki.take_in({1: [*urls["hostile"], *urls["good"]]}, 100)
        reasons, put_off = set[str](), 0
        for day in (100, 129):
            days.append(day)
            await crawl(
                replace(config, net=net),
                wiki.pool,
                lambda: Moment(days[-1]),
                CrawlOptions(True, console, confirmed=True),
            )
            assert {(await wiki.known(url)).record.checked for url in urls["good"]} == {day}
            hostile = [await wiki.known(url) for url in urls["hostile"]]
            assert min(known.due for known in hostile) > day
            done = [known.record for known in hostile if known.record.checked == day]
            reasons |= {record.reason.word for record in done if record.reason}
            put_off += len(hostile) - len(done)
        assert len(site.asked) >= 60
        assert len(reasons) > 8, reasons
        assert put_off < 6


async def test_name_servers_that_deny_the_name_of_a_canary_are_an_alarm_though_others_answer(database: str) -> None:
    async with (
        serve(lambda request: head_only(request, reply(200, body=b"<p>A mill."))) as site,
        name_server({"": ["@ns.demo"]}) as names,
        open_wiki(database, {1: [site.url("/link"), "http://mill.demo/"]}) as wiki,
    ):
        config = config_of()
        canaries = replace(config.crawl, canaries=("http://canary.demo/",))
        config = replace(config, net=replace(config.net, dns=(names.address,)), crawl=canaries)
        await crawl(config, wiki.pool, lambda: Moment(100), CrawlOptions(True, Console(file=StringIO())))
        [alarm] = await wiki.do(list_alarms)
        assert (alarm.kind, "canary.demo" in alarm.detail, "WEBOID_NET_DNS" in alarm.detail) == ("offline", True, True)
        assert (await wiki.known("http://mill.demo/")).record.checked is None
        assert (await wiki.known(site.url("/link"))).record.checked == 100
