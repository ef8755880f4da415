"""Fetching robots.txt from real servers: the rules, and how often it is requested (C-15)."""

import asyncio
import gzip
from collections.abc import Sequence
from dataclasses import replace
from ipaddress import ip_network

import pytest
from support.misbehaving import Act, Asked, HangUp, Script, Silence, at_once, reply, serve

from weboid.config import NetConfig
from weboid.core.observe.robots import EVERYTHING, NOTHING, UNREACHED, Robots
from weboid.net import robots as memory
from weboid.net.guard import NotPublic
from weboid.net.outbound import open_session
from weboid.net.robots import RobotsCache, fetch_robots

RULES = b"User-agent: *\nDisallow: /private/\nCrawl-delay: 3\n"


async def fetched(settings: NetConfig, script: Script) -> tuple[Robots, list[str]]:
    async with serve(script) as site, open_session(settings) as session:
        return await fetch_robots(session, site.url("/a/b?c=d#e"), turn=at_once), site.lines()


def serving(body: bytes, *lines: str) -> Script:
    return lambda _: reply(200, *lines, body=body, kind="text/plain")


async def test_the_rules_of_an_origin_are_asked_for_once_by_get(settings: NetConfig) -> None:
    robots, asked = await fetched(settings, serving(RULES))
    assert asked == ["GET /robots.txt"]
    assert robots.delay_s == 3
    assert not robots.allows("http://any.demo/private/x")
    assert robots.allows("http://any.demo/x")


async def test_a_small_file_that_unpacks_to_a_huge_one_is_read_within_bounds(settings: NetConfig) -> None:
    bomb = gzip.compress(RULES + b"Disallow: /x\n" * 2_000_000, compresslevel=1)
    assert len(bomb) < 200_000
    robots, _ = await fetched(settings, serving(bomb, "Content-Encoding: gzip"))
    assert not robots.allows("http://any.demo/private/x")
    assert robots.chars < 2 * settings.body_bytes


@pytest.mark.parametrize(
    ("act", "robots"),
    [
        (reply(404, body=RULES), EVERYTHING),
        (reply(401), EVERYTHING),
        (reply(503), NOTHING),
        (HangUp(), UNREACHED),
        (HangUp(reset=True), UNREACHED),
        (Silence(), UNREACHED),
        (b"nonsense\r\n\r\n", UNREACHED),
    ],
)
async def test_what_no_rules_mean(settings: NetConfig, hasty: NetConfig, act: Act, robots: Robots) -> None:
    assert (await fetched(hasty if isinstance(act, Silence) else settings, lambda _: act))[0] == robots


async def test_five_redirects_of_all_kinds_are_followed(settings: NetConfig) -> None:
    codes = (301, 302, 303, 307, 308)

    def script(asked: Asked) -> Act:
        return serving(RULES)(asked) if asked.count > 5 else reply(codes[asked.count - 1], f"Location: /{asked.count}")

    robots, asked = await fetched(settings, script)
    assert robots.delay_s == 3
    assert asked == ["GET /robots.txt", "GET /1", "GET /2", "GET /3", "GET /4", "GET /5"]


async def test_redirects_without_an_end_end(settings: NetConfig) -> None:
    robots, asked = await fetched(settings, lambda asked: reply(302, f"Location: /{asked.count}"))
    assert robots == EVERYTHING
    assert len(asked) <= settings.redirects + 1


async def test_of_a_long_file_the_beginning_is_read_and_no_half_line(settings: NetConfig) -> None:
    body = RULES + b"#" * 200 + b"\nDisallow: /half\n"
    robots, _ = await fetched(replace(settings, body_bytes=body.index(b"half")), serving(body))
    assert robots.allows("http://any.demo/x")
    assert not robots.allows("http://any.demo/private/x")


async def test_every_request_has_its_turn_and_can_be_refused_one(settings: NetConfig) -> None:
    turns = []

    async def turn(host: str) -> None:
        turns.append(host)
        if host == "localhost.test":
            raise NotPublic

    to_another_host = reply(302, "Location: http://localhost.test/robots.txt")
    async with serve(lambda _: to_another_host) as site, open_session(settings) as session:
        assert await fetch_robots(session, site.url(), turn=turn) == UNREACHED
    assert turns == ["127.0.0.1", "localhost.test"]


async def test_the_guard_stands_before_robots_txt_too(settings: NetConfig) -> None:
    closed = replace(settings, permit=(ip_network("192.0.2.0/24"),))
    async with serve(serving(RULES)) as site, open_session(closed) as session:
        assert await fetch_robots(session, site.url(), turn=at_once) == UNREACHED
        assert site.connections == 0


async def test_many_who_ask_at_once_cost_one_request_and_so_do_those_of_the_same_day(settings: NetConfig) -> None:
    async with serve(serving(RULES)) as site, open_session(settings) as session:
        cache = RobotsCache(session, at_once)
        found = await asyncio.gather(*(cache.robots_of(site.url(f"/{number}")) for number in range(50)))
        assert {robots.delay_s for robots in found} == {3}
        assert (await cache.robots_of(site.url("/later"))).delay_s == 3
        assert site.lines() == ["GET /robots.txt"]


async def test_each_port_has_rules_of_its_own(settings: NetConfig) -> None:
    async with serve(serving(RULES)) as one, serve(lambda _: reply(404)) as other, open_session(settings) as session:
        cache = RobotsCache(session, at_once)
        assert (await cache.robots_of(one.url())).delay_s == 3
        assert await cache.robots_of(other.url()) == EVERYTHING


@pytest.mark.parametrize(
    ("acts", "past_s", "asked"),
    [
        ([reply(200, body=RULES)], 86_000.0, 1),
        ([reply(200, body=RULES)], 87_000.0, 2),
        ([reply(404)], 86_000.0, 1),
        ([reply(503), reply(200, body=RULES)], 3_000.0, 1),
        ([reply(503), reply(200, body=RULES)], 4_000.0, 2),
        ([HangUp(), reply(200, body=RULES)], 4_000.0, 2),
    ],
)
async def test_rules_are_known_for_a_day_and_silence_for_an_hour(
    settings: NetConfig, monkeypatch: pytest.MonkeyPatch, acts: Sequence[Act], past_s: float, asked: int
) -> None:
    now = 1_000.0
    monkeypatch.setattr(memory, "monotonic", lambda: now)
    monkeypatch.setattr(memory, "CHARS", 60)  # enough for these rules once
    async with serve(lambda asked: acts[min(asked.count, len(acts)) - 1]) as site, open_session(settings) as session:
        cache = RobotsCache(session, at_once)
        await cache.robots_of(site.url())
        now += past_s
        robots = await cache.robots_of(site.url())
        assert len(site.asked) == asked
        assert len(cache) == 1
        assert asked == 1 or robots.delay_s == 3


@pytest.mark.parametrize(("bound", "limit"), [("ORIGINS", 2), ("CHARS", 90)])
async def test_what_is_remembered_has_a_bound(
    settings: NetConfig, monkeypatch: pytest.MonkeyPatch, bound: str, limit: int
) -> None:
    monkeypatch.setattr(memory, bound, limit)
    rules = b"User-agent: *\nDisallow: /a\n"
    async with serve(serving(rules)) as one, serve(serving(rules)) as two, serve(serving(rules)) as three:
        sites = [one, two, three]
        async with open_session(settings) as session:
            cache = RobotsCache(session, at_once)
            for site in [one, two, one, three, one]:
                await cache.robots_of(site.url())
            assert len(cache) == 2
            await cache.robots_of(two.url())
    # The one used last was kept.
    assert [len(site.asked) for site in sites] == [1, 2, 1]
