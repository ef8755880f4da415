"""What everybody gets alike is rendered once a second for all who ask."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Generator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from aiohttp import web
from aiohttp.typedefs import Handler
from support.webservice import Site, open_service

from weboid.mechanism.fair_slots import Capacity
from weboid.web.formats import html
from weboid.web.health.metrics import Metrics
from weboid.web.http import rendered, source_archive
from weboid.web.http.lanes import CAPACITIES
from weboid.web.http.respond import SharedBody
from weboid.web.request.route import Lane, address_of


async def test_what_everybody_gets_alike_is_rendered_once_for_all(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Counter[str]()
    render, text = html.render, Metrics.text

    def rendering(name: str, *rest: Any, **more: Any) -> str:
        made[name] += 1
        return render(name, *rest, **more)

    def measured(metrics: Metrics, status: Any) -> bytes:
        made["metrics"] += 1
        return text(metrics, status)

    monkeypatch.setattr(rendered, "KEPT_S", 60.0)
    monkeypatch.setattr(html, "render", rendering)
    monkeypatch.setattr(Metrics, "text", measured)
    for path in ("/", "/wikis", "/status", "/help", "/metrics"):
        answers = {(await site.fetch(path))[:2] for _ in range(5)}
        assert [status for status, _ in answers] == [200], path
    assert made == dict.fromkeys(("start.html", "wikis.html", "status.html", "help.html", "metrics"), 1)
    assert (await site.fetch("/help?lang=de"))[1] != (await site.fetch("/help"))[1]


async def test_a_refusal_is_rendered_once_for_all_and_comes_within_a_quarter_of_a_second(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    render = html.render

    def rendering(name: str, *rest: Any, **more: Any) -> str:
        made.append(name)
        return render(name, *rest, **more)

    monkeypatch.setattr(rendered, "KEPT_S", 60.0)
    monkeypatch.setattr(html, "render", rendering)
    monkeypatch.setitem(CAPACITIES, Lane.PAGES, Capacity(slots=0, places=0, wait_s=0))
    path = "/externalLinkInfo?dbname=testwiki@wmflabs&pageid=1"
    async with open_service(database, tmp_path) as site:
        took_s = []
        for _ in range(5):
            begun_s = monotonic()
            assert (await site.fetch(path))[0] == 503
            took_s.append(monotonic() - begun_s)
        assert min(took_s[1:]) < 0.25
        assert made == ["problem.html"]
        assert (await site.fetch(f"{path}&lang=de"))[1] != (await site.fetch(path))[1]


async def test_a_service_compiles_its_templates_before_anybody_asks(site: Site) -> None:
    folder = Path(html.__file__).parents[1] / "templates"
    assert len(html._environment().cache or ()) >= len(list(folder.glob("*.html")))


async def test_the_source_is_packed_once_for_all_who_ask(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    packed, pack = [], source_archive.packed

    async def counted() -> SharedBody:
        packed.append(1)
        return await pack()

    monkeypatch.setattr(source_archive, "packed", counted)
    path = address_of("source", name=source_archive.NAME)
    answers = await asyncio.gather(*(site.fetch(path, method="HEAD") for _ in range(8)))
    assert len({(status, response.headers["ETag"]) for status, _, response in answers}) == 1
    assert len(packed) == 1


async def test_an_answer_about_a_page_waits_for_others_three_times_at_most(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each time it would wait for all that is ready by then: its wiki, the store, and its turn."""
    waits: list[int] = []

    @web.middleware
    async def counted(request: web.Request, handler: Handler) -> web.StreamResponse:
        waits.append(0)
        return await _Counted(handler(request), waits)

    monkeypatch.setattr(Metrics, "middleware", property(lambda _: counted))
    monkeypatch.setattr("weboid.mechanism.slices.SLICE_S", 60.0)  # on a slow machine it would let others run, too
    async with open_service(database, tmp_path) as site:
        for path in ("/api/page", "/externalLinkInfo"):
            waits.clear()
            for _ in range(6):
                assert (await site.fetch(f"{path}?dbname=testwiki@wmflabs&pageid=1&all=1"))[0] == 200
            assert 1 <= min(waits) <= 3, path


class _Counted:
    def __init__(self, work: Awaitable[web.StreamResponse], waits: list[int]) -> None:
        self._work = work
        self._waits = waits

    def __await__(self) -> Generator[Any, None, web.StreamResponse]:
        steps = self._work.__await__()
        while True:
            try:
                waiting = next(steps)
            except StopIteration as end:
                return end.value  # type: ignore[no-any-return]
            self._waits[-1] += 1
            yield waiting
