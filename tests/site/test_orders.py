"""Each order of a task has its effect over real HTTP, and the source's example comes out row by row (R-1, R-11)."""

import asyncio
from math import inf
from pathlib import Path
from time import time
from types import SimpleNamespace

import pytest
from support.commands import Place
from support.misbehaving import Act, Asked, Silence, head_only, reply, serve
from support.sites import EXAMPLE, ROWS, Pages, linked, script_of, walked

from weboid.robot import plugins
from weboid.robot.orders import Orders
from weboid.robot.plugins import RobotLink, RobotPage
from weboid.site.place import Place as LinkPlace
from weboid.store.db.pool import Pool

DOCUMENTS: Pages = {f"/{n}.htm": linked(*(f"{m}.htm" for m in links)) + str(n) for n, links in EXAMPLE.items()}
LOADED = [f"/{n}.htm" for n in (1, 2, 3, 4, 5, 8, 9, 10, 11, 15)]
CHAIN: Pages = {"/": linked("/a"), "/a": linked("/b"), "/b": linked("/c"), "/c": linked()}


async def test_the_example_of_the_source_by_the_command(tmp_path: Path, database: str) -> None:
    place = Place(tmp_path, environ={"WEBOID_DATABASE": database})
    async with serve(script_of(DOCUMENTS)) as site:
        call = ("--keep", "example", "--external", "ignore", "--format", "jsonl")
        await place.run("site", site.url("/6.htm"), "--depth", "1", *call)
        assert [each.target for each in site.asked[1:]] == ["/6.htm", "/12.htm", "/13.htm", "/14.htm"]
        site.asked.clear()
        more = ("--depth", "3", "--exclude", "*/7.htm", "--reload-after", "60")
        ran = await place.run("site", site.url("/1.htm"), *more, *call)
        assert sorted(each.target for each in site.asked[1:]) == sorted(LOADED)
    numbers = ran.lines()[-1]["summary"]["statistics"]
    assert tuple(numbers[name] for name in ("checked", "queued", "filtered", "downloaded", "hits")) == ROWS[-1]
    await place.end()


@pytest.mark.parametrize(
    ("orders", "asked"),
    [
        (Orders(inf), []),
        (Orders(inf, reloads_before=time() - 600), []),
        (Orders(inf, uses_cache=False), ["/", "/a", "/b", "/c"]),
        (Orders(inf, reloads_before=time() + 600), ["/", "/a", "/b", "/c"]),
        (Orders(inf, needs_source=True), ["/", "/a", "/b", "/c"]),
    ],
)
async def test_what_an_earlier_run_has_loaded_is_asked_again_as_the_orders_want(
    pool: Pool, orders: Orders, asked: list[str]
) -> None:
    def script(request: Asked) -> Act:
        if "If-None-Match" in request.headers:
            return reply(304)
        return reply(200, 'ETag: "1"', body=str(CHAIN[request.target]).encode())

    await walked(script, pool=pool)
    ran = await walked(script, pool=pool, orders=orders)
    assert (ran.asked, ran.states) == (asked, {"/a": "ok", "/b": "ok", "/c": "ok"})
    numbers = ran.summary.statistics
    assert numbers["not_modified"] == (0 if orders.needs_source else len(asked))
    assert numbers["hits"] == len(CHAIN) - len(asked)


async def test_a_task_that_needs_sources_loads_again_what_it_had_loaded_before_it_was_killed(pool: Pool) -> None:
    def stop(place: LinkPlace) -> None:
        if place.url.endswith("/b"):
            task = asyncio.current_task()
            assert task
            main.cancel()

    orders = Orders(inf, needs_source=True)
    main = asyncio.create_task(walked(CHAIN, pool=pool, orders=orders, emit=stop, loaders=1))
    assert (await main).summary.is_interrupted
    assert (await walked(CHAIN, pool=pool, orders=orders)).asked == ["/", "/a", "/b", "/c"]


async def test_of_each_document_no_more_is_loaded_than_ordered_and_one_that_was_cut_is_loaded_again(pool: Pool) -> None:
    pages: Pages = {"/": linked("/a") + "x" * 10_000 + linked("/far"), "/a": linked(), "/far": linked()}
    cut = await walked(pages, pool=pool, orders=Orders(inf, most_bytes=10_000))
    assert (cut.asked, cut.summary.filtered_by) == (["/", "/a"], {"page-cut": 1})
    assert (await walked(pages, pool=pool)).asked == ["/", "/far"]


@pytest.mark.parametrize(
    ("orders", "asked"),
    [
        (Orders(2), ["GET /", "GET /a", "GET /b"]),
        (Orders(inf, head_only=True), ["HEAD /"]),
        (Orders(inf, most_downloads=2), ["GET /", "GET /a"]),
        (Orders(inf, expires=0), []),
        (Orders(inf, obeys_robots=True), ["GET /", "GET /a", "GET /b", "GET /c"]),
        (Orders(inf, obeys_robots=False), ["GET /", "GET /a", "GET /b", "GET /c", "GET /no"]),
    ],
)
async def test_only_what_is_ordered_is_asked_for(orders: Orders, asked: list[str]) -> None:
    pages: Pages = {**CHAIN, "/c": linked("/no"), "/robots.txt": "User-agent: *\nDisallow: /no\n"}
    ran = await walked(lambda request: head_only(request, bytes(script_of(pages)(request))), orders=orders)  # type: ignore[arg-type]
    assert [line for line in ran.site.lines() if line != "GET /robots.txt"] == asked


async def test_a_document_that_takes_longer_than_ordered_has_failed() -> None:
    def script(request: Asked) -> Act:
        return Silence() if request.target == "/a" else script_of(CHAIN)(request)

    ran = await walked(script, orders=Orders(inf, most_seconds=0.3))
    assert (ran.states, ran.summary.statistics["failed"]) == ({"/a": "doubtful"}, 1)


@pytest.mark.parametrize(("tests_content", "checked"), [(True, 5), (False, 6)])
async def test_links_of_the_same_content_are_looked_at_if_ordered(*, tests_content: bool, checked: int) -> None:
    pages: Pages = {**CHAIN, "/": linked("/x", "/a"), "/x": linked("/b")}
    ran = await walked(pages, orders=Orders(inf, tests_content=tests_content))
    assert (ran.summary.statistics["same_content"], ran.summary.statistics["checked"]) == (1, checked)


async def test_classifiers_judge_and_filters_decide_in_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def classify_page(page: RobotPage) -> None:
        calls.append(f"page {page.source[-1:]}")
        page.attributes["last"] = page.source[-1:]

    def classify_link(link: RobotLink) -> None:
        calls.append(f"link {link.text}")
        link.attributes["shy"] = link.page.attributes["last"]

    mine = {
        "judge-page": classify_page,
        "judge-link": classify_link,
        "no-end": lambda page: page.attributes["last"] != "!",
        "no-shy": lambda link: (link.attributes["shy"], link.text) != ("?", "to /c"),
    }

    def entry_points(group: str, name: str) -> list[SimpleNamespace]:
        return [SimpleNamespace(load=lambda: lambda _argument: mine[name])] if group == "weboid.robot" else []

    monkeypatch.setattr(plugins, "entry_points", entry_points)
    pages: Pages = {"/": linked("/a", "/c") + "?", "/a": linked("/b") + "!", "/b": linked()}
    orders = Orders(
        inf,
        needs_source=True,
        page_classifiers=("judge-page",),
        page_filters=("no-end",),
        link_classifiers=("judge-link",),
        link_filters=("no-shy",),
    )
    ran = await walked(pages, orders=orders)
    assert calls == ["page ?", "link to /a", "link to /c", "page !", "link to /b"]
    assert (ran.asked, ran.summary.filtered_by) == (["/", "/a"], {"no-shy": 1, "no-end": 1})
    assert ran.states == {"/a": "ok", "/b": "excluded", "/c": "excluded"}
