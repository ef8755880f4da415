"""Lanes: a crowd of one kind, or from one place, does not hold up the others, and nobody's connection breaks (O-8)."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from unittest.mock import AsyncMock, patch

import aiohttp
import pytest
from aiohttp import web
from aiohttp.typedefs import Handler
from support.waiting import until
from support.webservice import Site, open_service

from weboid.mechanism.fair_slots import Capacity, FairSlots
from weboid.web.errors import Errors
from weboid.web.http import lanes
from weboid.web.http.lanes import CAPACITIES, CONNECTIONS, LANES, Lanes, lanes_of
from weboid.web.http.server import open_site
from weboid.web.request.fields import Bodies, fields_of
from weboid.web.request.route import ROUTES, Lane

PAGE = "/api/page?dbname=testwiki@wmflabs&pageid=1"
TOKEN = "correct horse battery staple"
FORMATS = {
    PAGE: "application/json",
    f"{PAGE}&format=xml": "application/xml",
    f"{PAGE}&format=html": "text/html",
    "/externalLinkInfo?dbname=testwiki@wmflabs&pageid=1": "text/html",
    "/externalLinkProblem?dbname=testwiki@wmflabs&pageid=1": "text/javascript",
}


@dataclass
class Busy:
    """A service whose searches end when they are released, and whose pages are there at once."""

    url: str = ""
    lanes: Lanes = field(default_factory=Lanes)
    begun: int = 0
    released: asyncio.Event = field(default_factory=asyncio.Event)

    async def search(self, _: web.Request) -> web.Response:
        self.begun += 1
        await self.released.wait()
        return web.Response(text="found")

    async def page(self, request: web.Request) -> web.Response:
        async with lanes_of(request).turn(request, Lane.PAGES):
            return web.Response(text="links")

    async def form(self, _: web.Request) -> web.Response:
        return web.Response(text="form")


@asynccontextmanager
async def busy(form: Handler | None = None) -> AsyncIterator[Busy]:
    @web.middleware
    async def admitted(request: web.Request, handler: Handler) -> web.StreamResponse:
        service.lanes.admit(request)
        return await handler(request)

    service = Busy()
    app = web.Application(
        middlewares=[Errors(AsyncMock(return_value="")).middleware, admitted, service.lanes.middleware]
    )
    app[LANES] = service.lanes
    app.router.add_post("/search", service.search)
    app.router.add_get("/search", service.form)
    app.router.add_get("/api/page", service.page)
    app.router.add_post("/api/page", form or service.form)
    async with open_site(app, "127.0.0.1", 0) as service.url:
        try:
            yield service
        finally:
            service.released.set()


async def status_of(client: aiohttp.ClientSession, method: str, url: str) -> tuple[int, int]:
    async with client.request(method, url) as response:
        await response.read()
        return response.status, int(response.headers.get("Retry-After", 0))


async def begun(
    url: str, path: str, length: int, body: bytes = b""
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A form of that length, of which so much has been sent."""
    host, port = url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    writer.write(f"{head}Content-Length: {length}\r\n\r\n".encode() + body)
    return reader, writer


async def test_110_searches_at_once_hold_up_nothing_but_searches() -> None:
    unlimited = aiohttp.TCPConnector(limit=0)
    async with busy() as service, aiohttp.ClientSession(connector=unlimited) as client:
        searches = [asyncio.create_task(status_of(client, "POST", f"{service.url}/search")) for _ in range(110)]
        fit = (capacity := CAPACITIES[Lane.SEARCH]).slots + capacity.places
        async with asyncio.timeout(30):
            while sum(task.done() for task in searches) < 110 - fit:
                for method, path in (("GET", "/api/page"), ("HEAD", "/search"), ("GET", "/search")):
                    assert await status_of(client, method, service.url + path) == (200, 0)
                await asyncio.sleep(0.01)
        refused = [task.result() for task in searches if task.done()]
        assert {status for status, _ in refused} == {503}
        assert {retry_s for _, retry_s in refused} <= set(range(1, 5))
        assert service.begun == capacity.slots
        service.released.set()
        assert Counter(status for status, _ in await asyncio.gather(*searches)) == {200: fit, 503: 110 - fit}


async def test_who_goes_away_while_it_waits_leaves_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(CAPACITIES, Lane.SEARCH, Capacity(slots=1, places=2, wait_s=60))
    async with busy() as service:
        waiting = service.lanes.slots[Lane.SEARCH]
        writers = []
        for _ in range(3):
            writers.append((await begun(service.url, "/search", 0))[1])
            await until(lambda: waiting.working + waiting.waiting >= len(writers))
        for writer in writers[1:]:
            writer.transport.abort()
        await asyncio.sleep(0.2)
        async with aiohttp.ClientSession() as client:
            later = [asyncio.create_task(status_of(client, "POST", f"{service.url}/search")) for _ in range(2)]
            await until(lambda: service.begun + waiting.waiting >= 3)
            service.released.set()
            assert await asyncio.gather(*later) == [(200, 0)] * 2
        assert service.begun == 3
        writers[0].close()


@pytest.fixture
def no_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    for lane in CAPACITIES.keys() - {Lane.FILES, Lane.HEALTH}:
        monkeypatch.setitem(CAPACITIES, lane, Capacity(slots=0, places=0, wait_s=0))


@pytest.mark.usefixtures("no_turns")
async def test_a_refusal_is_in_the_format_of_the_address_and_costs_nothing(database: str, tmp_path: Path) -> None:
    environ = {
        "WEBOID_WEB_RATE": "1",
        "WEBOID_WEB_BURST": "3",
        "WEBOID_WEB_TOKENS": f"bot:{sha256(TOKEN.encode()).hexdigest()}",
    }
    async with open_service(database, tmp_path, environ=environ) as site:
        for path, kind in FORMATS.items():
            for method in ("GET", "HEAD"):
                for headers in ({}, {"Authorization": f"Bearer {TOKEN}"}):
                    status, _, response = await site.fetch(path, method=method, **headers)
                    assert (status, response.content_type) == (503, kind), path
                    assert 1 <= int(response.headers["Retry-After"]) <= 4
                    assert response.headers["Cache-Control"] == "no-store"
        assert json.loads((await site.fetch(PAGE))[1])["error"]["key"] == "weboid-error-busy"
        assert "zu viele" in (await site.fetch(f"{PAGE}&format=html&lang=de"))[1]
        for path in ("/healthz", "/status", "/help", "/robots.txt"):
            assert (await site.fetch(path))[0] == 200
        assert 'weboid_web_shed_total{lane="pages"}' in (await site.fetch("/metrics"))[1]


async def test_who_is_refused_is_so_before_a_form_is_received_and_no_more_once_there_is_room() -> None:
    async with busy() as service, aiohttp.ClientSession() as client:
        service.lanes.slots[Lane.PAGES] = FairSlots(Capacity(slots=0, places=0, wait_s=0))
        reader, writer = await begun(service.url, "/api/page", 1000, b"urls=")
        assert (await reader.readline()).split()[1] == b"503"
        writer.close()
        assert (await status_of(client, "GET", f"{service.url}/api/page"))[0] == 503
        service.lanes.slots[Lane.PAGES] = FairSlots(CAPACITIES[Lane.PAGES])
        assert await status_of(client, "GET", f"{service.url}/api/page") == (200, 0)


async def test_an_answer_from_the_cache_needs_no_turn_of_pages(database: str, tmp_path: Path) -> None:
    async with open_service(database, tmp_path) as site:
        revision = f"{PAGE}&revid=7"
        assert (await site.fetch(revision))[0] == 200
        with patch.object(Lanes, "enter", autospec=True, side_effect=Lanes.enter) as enter:
            assert (await site.fetch(revision))[0] == 200
        assert [call.args[2] for call in enter.call_args_list] == [Lane.FILES]


def test_all_slots_together_leave_connections_over() -> None:
    assert sum(each.slots + each.spared for each in CAPACITIES.values()) + 5 < CONNECTIONS <= 32
    assert {lane for route in ROUTES for lane in (route.lane, route.form_lane)} == set(Lane) - {Lane.LARGE}
    assert set(CAPACITIES) == set(Lane)


def test_what_is_rendered_once_for_all_has_a_lane_of_its_own_and_so_have_monitors() -> None:
    lanes_ = {route.name: route.lane for route in ROUTES}
    assert {lanes_[name] for name in ("status", "metrics", "static", "robots", "openapi", "help")} == {Lane.FILES}
    assert [name for name, lane in lanes_.items() if lane is Lane.HEALTH] == ["health", "alarms"]


async def test_who_sends_a_form_slowly_takes_nobodys_place(site: Site) -> None:
    capacity = CAPACITIES[Lane.LISTS]
    connections = capacity.slots + capacity.aside + capacity.places
    writers = [(await begun(site.url, "/api/normal", 1000, b"urls="))[1] for _ in range(connections)]
    await asyncio.sleep(0.2)
    assert (await site.fetch("/api/normal?url=http://a.demo/"))[0] == 200
    for writer in writers:
        writer.transport.abort()


async def test_long_forms_that_come_at_the_same_time_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text=str(len((await fields_of(request))[0][1])))

    monkeypatch.setattr(lanes, "Bodies", lambda: Bodies(60_000))
    async with busy(answer) as service, aiohttp.ClientSession() as client:
        _, writer = await begun(service.url, "/api/page", 60_000, b"a" * 40_000)

        async def has(size: int, status: int) -> bool:
            async with client.post(f"{service.url}/api/page", data={"urls": "a" * size}) as response:
                return response.status == status

        assert [await has(10_000, 200), await has(50_000, 503)] == [True, True]
        writer.transport.abort()
        await until(lambda: has(50_000, 200))
