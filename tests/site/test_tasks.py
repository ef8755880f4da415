"""Tasks that administrators order, on a real store and a real server: run, stopped, killed, gone on with (R-7)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from support.misbehaving import Act, Asked, Script, reply, serve
from support.sites import FAR, NET, linked, script_of

from weboid.checking.spot_checks import SpotChecks
from weboid.checking.turns import LocalTurns
from weboid.config import CrawlConfig, NetConfig, RobotConfig
from weboid.core.record.moment import Moment
from weboid.mechanism.tasks import in_background
from weboid.net.outbound import open_session
from weboid.site.place import Place
from weboid.site.places import KeptPlaces
from weboid.site.tasks import RobotTasks
from weboid.store.db.pool import Pool
from weboid.store.site import ordered

_PAGES = {
    "/": linked("/a", "/b", "/gone", "/deep/x.html", "/deep/y.html"),
    "/a": linked("/", "/gone", "http://other.invalid/"),
    "/b": linked("/a#no"),
    "/deep/x.html": "x",
    "/deep/y.html": linked("/deep/missing.html?a=1"),
}


@asynccontextmanager
async def _no_checks() -> AsyncIterator[SpotChecks]:
    raise AssertionError("no external link is checked")
    yield


@asynccontextmanager
async def _robot(pool: Pool, *, net: NetConfig = FAR, delay: float = 0.0, **config: Any) -> AsyncIterator[RobotTasks]:
    """The robot of the store, at work; its end is that of a process that is stopped."""
    crawl = CrawlConfig(delay=delay, stop=("stopped.test",))
    async with open_session(net) as session:
        robot = RobotTasks(
            pool, session, LocalTurns(delay), RobotConfig(**config), crawl, _no_checks, lambda: Moment(100), lambda: 1e9
        )
        async with in_background(robot.run(asyncio.Event())):
            yield robot


async def _order(pool: Pool, start: str, **wanted: Any) -> int:
    async with pool.connection() as conn:
        task = await ordered.record_order(conn, [start], {"checks_external": False, **wanted}, 100)
    assert task
    return task


async def _until(pool: Pool, task: int, is_so: Callable[[ordered.OrderedTask], bool]) -> ordered.OrderedTask:
    async with asyncio.timeout(30):
        while True:
            async with pool.connection() as conn:
                found = await ordered.find_ordered(conn, task)
            assert found
            if is_so(found):
                return found
            await asyncio.sleep(0.05)


async def _ended(pool: Pool, task: int) -> ordered.OrderedTask:
    return await _until(pool, task, lambda found: not found.is_active)


async def test_an_ordered_task_runs_to_its_end_and_its_results_are_kept(pool: Pool) -> None:
    async with serve(script_of(_PAGES)) as site, _robot(pool):
        ended = await _ended(pool, task := await _order(pool, site.url("/"), checks_fragments=True))
        assert (ended.state, ended.progress["pages"], ended.progress["open"]) == ("finished", 5, [])
        _verify(ended)
        async with pool.connection() as conn:
            faults = await ordered.list_faults(conn, task, limit=10)
            host = site.url("").removeprefix("http://")
            assert [(each.reason, each.state, each.size) for each in faults] == [
                ("not-found", "broken", 3),
                ("fragment", "fragment", 1),
            ]
            group = (host, "not-found", "broken")
            places = [each for _, row in await ordered.list_places(conn, task, 0, limit=9, group=group) for each in row]
            assert {(each[0].removeprefix(site.url("")), each[2].removeprefix(site.url(""))) for each in places} == {
                ("/gone", "/"),
                ("/gone", "/a"),
                ("/deep/missing.html?a=1", "/deep/y.html"),
            }
            every = [each for _, row in await ordered.list_places(conn, task, 0, limit=9) for each in row]
            assert len(every) == sum(ended.progress["places"].values()) == 11
            branches = await ordered.list_branches(conn, task, "/", "", limit=10)
            assert [tuple(each) for each in branches] == [
                ("", 1, 0, 200),
                ("a", 1, 0, 200),
                ("b", 1, 0, 200),
                ("deep/", 3, 1, 200),
                ("gone", 1, 1, 404),
            ]
            deep = await ordered.list_branches(conn, task, "/deep/", "missing.html", limit=1)
            assert [tuple(each) for each in deep] == [("x.html", 1, 0, 200)]


async def test_a_task_runs_once_at_a_time_and_the_fourth_waits(pool: Pool) -> None:
    gate = asyncio.Event()

    def script(asked: Asked) -> Act:
        whole = reply(200, body=b"x")
        return whole if asked.target == "/robots.txt" else _after(gate.wait(), whole)

    async with serve(script) as site, _robot(pool):
        tasks = [await _order(pool, site.url(f"/{number}"), depth=0) for number in range(3)]
        for each in tasks:
            await _until(pool, each, lambda found: found.state == "running")
        fourth = await _order(pool, site.url("/3"), depth=0)
        first = await _order(pool, site.url("/4"), depth=0, priority=1)
        async with pool.connection() as conn:
            assert await ordered.record_order(conn, [site.url("/0")], {}, 100) is None
            assert [each.task for each in await ordered.list_ordered(conn, is_active=True)][3:] == [first, fourth]
        await asyncio.sleep(1.5)
        assert (await _until(pool, fourth, lambda _: True)).state == "waiting"
        gate.set()
        assert (await _ended(pool, fourth)).state == "finished"


async def test_a_stop_is_heeded_within_two_seconds_and_once(pool: Pool) -> None:
    async with serve(_endless(0.05)) as site, _robot(pool):
        task = await _order(pool, site.url("/1"), depth=-1, link_filters=[])
        await _until(pool, task, lambda found: found.progress.get("pages", 0) > 5)
        waiting = await _order(pool, site.url("/w"))
        async with pool.connection() as conn:
            assert await ordered.record_stop(conn, task) == site.url("/1")
            assert await ordered.record_stop(conn, task) is None
        begun = asyncio.get_running_loop().time()
        stopped = await _ended(pool, task)
        assert asyncio.get_running_loop().time() - begun < 2
        asked = len(site.asked)
        assert (stopped.state, stopped.progress["open"]) == ("stopped", [])
        _verify(stopped)
        async with pool.connection() as conn:
            await ordered.record_stop(conn, waiting)
            assert await ordered.record_stop(conn, task) is None
        assert (await _ended(pool, waiting)).state in ("stopped", "finished")
        assert not [each for each in site.asked[asked:] if each.target[1:].isdigit()]


async def test_a_task_goes_on_after_its_process_was_stopped_and_loads_nothing_twice(pool: Pool) -> None:
    pages = {"/": linked(*(f"/{number}" for number in range(80)))} | {f"/{number}": "x" for number in range(80)}
    async with serve(script_of(pages)) as site:
        task = await _order(pool, site.url("/"))
        async with _robot(pool, delay=0.03, queue="depth"):
            await _until(pool, task, lambda found: found.progress.get("pages", 0) > 20)
        assert (await _until(pool, task, lambda _: True)).state == "running"
        before = len(site.asked)
        async with _robot(pool):
            ended = await _ended(pool, task)
        assert (ended.state, ended.progress["pages"]) == ("finished", 81)
        targets = [each.target for each in site.asked if each.target != "/robots.txt"]
        assert targets[:2] == ["/", "/79"], "the last link first, as configured"
        assert before < len(site.asked)
        assert len(targets) - len(set(targets)) <= 10, "what was in flight"
        async with pool.connection() as conn:
            every = [each for _, row in await ordered.list_places(conn, task, 0, limit=9) for each in row]
        assert len(every) == len({each[0] for each in every}) == 81


async def test_what_is_not_public_or_on_the_stop_list_is_not_asked(pool: Pool) -> None:
    async with serve(script_of(_PAGES)) as site, _robot(pool, net=NET):
        for start in (site.url("/"), "http://stopped.test/"):
            ended = await _ended(pool, await _order(pool, start))
            assert (ended.state, ended.progress["pages"]) == ("finished", 0)
            assert ended.progress["places"] == {"doubtful": 1}
        assert site.asked == []


async def test_bounds_and_faults_of_orders_are_those_of_the_task(pool: Pool) -> None:
    async with serve(script_of(_PAGES)) as site, _robot(pool, pages=2):
        ended = await _ended(pool, await _order(pool, site.url("/")))
        assert ended.progress["statistics"]["downloaded"] == 2
        ended = await _ended(pool, await _order(pool, site.url("/"), link_filters=["no-such"]))
        assert (ended.state, "no-such" in ended.progress["fault"]) == ("failed", True)
        ended = await _ended(pool, await _order(pool, site.url("/"), pages=1))
        assert (ended.state, "fault" in ended.progress) == ("finished", False)


async def test_places_expire_after_the_end_of_their_run(pool: Pool) -> None:
    async with serve(script_of(_PAGES)) as site, _robot(pool):
        task = await _order(pool, site.url("/"))
        await _ended(pool, task)
        async with pool.connection() as conn:
            assert await ordered.expire_places(conn, limit=9) == 0
            await conn.execute("UPDATE robot_task SET ended = now() - interval '31 days'")
            assert await ordered.expire_places(conn, limit=1) == 1
            assert await ordered.list_places(conn, task, 0, limit=9) != []
            await ordered.delete_places(conn, task)
            assert await ordered.list_places(conn, task, 0, limit=9) == []


def _verify(ended: ordered.OrderedTask) -> None:
    """The invariants of a run that has ended (R-4)."""
    numbers = ended.progress["statistics"]
    assert numbers["checked"] == numbers["queued"] + numbers["filtered"] + numbers["seen"]
    assert numbers["queued"] == numbers["downloaded"] + numbers["hits"] + numbers["failed"] + numbers["dropped"]


def _endless(pause_s: float) -> Script:
    def script(asked: Asked) -> Act:
        name = asked.target[1:]
        body = linked(f"/{int(name) + 1}", f"/{int(name) * 2}").encode() if name.isdigit() else b"x"
        return _after(asyncio.sleep(pause_s), reply(200, body=body))

    return script


async def _after(waiting: Awaitable[object], whole: bytes) -> AsyncIterator[bytes]:
    await waiting
    yield whole


def test_places_that_come_while_others_are_written_are_written_next() -> None:
    places = KeptPlaces()
    broken = [Place(f"http://site.test/{number}", "", "", "a", "broken", 404, "not-found") for number in range(3)]
    places.add(broken[0])
    rows, taken = places.take()
    places.add(broken[1])
    places.give_back(taken)
    places.add(broken[2]._replace(state="ok", reason=""))
    assert ([each.size for each in rows], taken) == ([1], broken[:1])
    assert places.take()[1] == broken[:2]
    assert [each.size for each in places.take(all_of_them=True)[0]] == [1]
