"""``weboid site --keep`` over a real server and a real PostgreSQL: what is asked, what is said, and a kill between."""

import asyncio
import json
import signal
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from support.commands import Place, Ran
from support.waiting import until

_PAGES = 60


@dataclass
class _Site:
    """A site whose pages lead to each other; it answers conditional requests, and notes all."""

    pages: dict[str, str]
    address: str = ""
    pause_s: float = 0.0
    asked: list[tuple[str, int]] = field(default_factory=list)
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    open: asyncio.Event = field(default_factory=asyncio.Event)
    """Until it is set, one page gets no answer."""
    ends_after: int = 10**9

    async def answer(self, request: web.BaseRequest) -> web.Response:
        text = self.pages.get(request.path)
        etag = "" if text is None else f'"{blake2b(text.encode(), digest_size=8).hexdigest()}"'
        code = 404 if text is None else 304 if request.headers.get("If-None-Match") == etag else 200
        if request.path == "/moved":
            code, etag = 301, ""
        self.asked.append((request.path, code))
        if len(self.asked) >= self.ends_after:
            self.ended.set()
        await asyncio.sleep(self.pause_s)
        if request.path == "/p30":
            await self.open.wait()
        headers = {"Location": "/p1"} if code == 301 else {"ETag": etag} if etag else {}
        return web.Response(status=code, text=text if code == 200 else "", content_type="text/html", headers=headers)

    def asked_since(self, start: int) -> Counter[int]:
        """How often it gave each code for a page since it had given so many answers."""
        return Counter(code for path, code in self.asked[start:] if path != "/robots.txt")


@pytest.fixture
async def site() -> AsyncIterator[_Site]:
    """A site of pages in a row, each with a link back, one to a page that is missing, and one that is no page's."""
    pages = {
        f"/p{number}": f"<a href=p{number + 1}>on</a> <a href=p{number // 2}#no>back</a> <a href=gone{number % 3}>x</a>"
        for number in range(_PAGES - 1)
    }
    every = "".join(f"<a href=p{number}>{number}</a>" for number in range(0, _PAGES, 6))
    served = _Site({**pages, "/": f"<h1 id=a>All</h1>{every}<a href=moved>m</a>", f"/p{_PAGES - 1}": "the last"})
    runner = web.ServerRunner(web.Server(served.answer), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    served.address = f"http://127.0.0.1:{runner.addresses[0][1]}/"
    served.open.set()
    yield served
    await runner.cleanup()


@pytest.fixture
async def place(tmp_path: Path, database: str) -> AsyncIterator[Place]:
    """A folder to run the program in, with a store."""
    made = Place(tmp_path, environ={"WEBOID_DATABASE": database})
    yield made
    await made.end()


def _call(site: _Site, *more: str, name: str = "docs") -> tuple[str, ...]:
    return ("site", site.address, "--external", "ignore", "--format", "jsonl", "--keep", name, *more)


def _broken(ran: Ran) -> dict[str, dict[str, Any]]:
    """Of each URL at fault, with its fragment, a line."""
    lines = [line for line in ran.lines() if "summary" not in line]
    return {f"{x['url']}#{x['fragment']}": x for x in lines if x["state"] in ("broken", "fragment")}


async def test_the_next_run_asks_only_for_what_has_changed(site: _Site, place: Place) -> None:
    first = await place.run(*_call(site, "--fragments"))
    assert (first.status, site.asked_since(0)) == (1, {200: _PAGES + 1, 404: 3, 301: 1})
    start = len(site.asked)
    site.pages["/p7"] = "<a href=new>new</a>"
    second = await place.run(*_call(site, "--fragments"))
    assert site.asked_since(start) == {304: _PAGES, 200: 1, 404: 4, 301: 1}
    assert second.lines()[-1]["summary"]["statistics"]["not_modified"] == _PAGES
    assert [path for path, code in site.asked[start:] if code == 200] == ["/p7"]
    assert _broken(second).keys() - _broken(first).keys() == {f"{site.address}new#"}
    assert _broken(first).keys() - _broken(second).keys() <= {f"{site.address}p3#no"}


async def test_a_run_that_was_killed_asks_for_nothing_twice_but_what_was_open(site: _Site, place: Place) -> None:
    whole = await place.run(*_call(site, name="whole"))
    for ends_after in (10, 35):
        start = len(site.asked)
        site.ended.clear()
        site.pause_s, site.ends_after = 0.01, start + ends_after
        process = await place.start(*_call(site, name=f"killed {ends_after}"))
        async with asyncio.timeout(30):
            await site.ended.wait()
        process.send_signal(signal.SIGKILL)
        await process.wait()
        site.ends_after = 10**9
        killed = len(site.asked)
        ran = await place.run(*_call(site, name=f"killed {ends_after}"))
        asked = Counter(path for path, code in site.asked[start:] if path != "/robots.txt" and code != 404)
        assert sum(asked.values()) - len(asked) <= 10
        assert len(asked) == _PAGES + 2
        assert "going on with the run that was interrupted" in ran.err
        assert {_line(line) for line in ran.out.splitlines()[:-1]} == {
            _line(line) for line in whole.out.splitlines()[:-1]
        }
        numbers = ran.lines()[-1]["summary"]["statistics"]
        kept = {path for path, code in site.asked[start:killed] if code == 200} - {x for x, _ in site.asked[killed:]}
        assert len(kept) <= numbers["hits"] < killed - start
        assert numbers["queued"] == numbers["downloaded"] + numbers["hits"] + numbers["failed"]


def _line(text: str) -> str:
    """A line without what depends on the order in which pages came."""
    return json.dumps({key: value for key, value in json.loads(text).items() if key not in ("depth", "dead_since")})


async def test_of_two_tasks_on_a_host_one_is_stopped_and_goes_on_with_other_orders(site: _Site, place: Place) -> None:
    site.open.clear()
    site.ends_after = 10
    stopped = await place.start(*_call(site))
    async with asyncio.timeout(30):
        await site.ended.wait()
    again = await place.run(*_call(site))
    assert again.status not in (0, 1)
    assert "another run of 'docs' is under way" in again.err
    other = await place.run(*_call(site, "--depth", "1", "--exclude", "p30", name="other"))
    assert other.lines()[-1]["summary"]["pages"] == _PAGES // 6 + 1
    # Of all but what only the open page leads to.
    await until(lambda: len({path for path, _ in site.asked}) >= _PAGES - 10)
    stopped.send_signal(signal.SIGINT)
    async with asyncio.timeout(30):
        out, _ = await stopped.communicate()
    assert json.loads(out.splitlines()[-1])["summary"]["interrupted"]
    site.open.set()
    start = len(site.asked)
    went_on = await place.run(*_call(site, "--exclude", "gone"))
    summary = went_on.lines()[-1]["summary"]
    assert (went_on.status, summary["pages"]) == (0, _PAGES + 1)
    assert summary["statistics"]["hits"] >= _PAGES // 2
    assert {path for path, _ in site.asked[start:]} >= {"/p30"}
    assert len(site.asked) - start == 1 + summary["statistics"]["downloaded"], "robots.txt and what was open"
    assert "going on" not in (await place.run(*_call(site))).err


async def test_without_keep_nothing_is_stored(site: _Site, tmp_path: Path) -> None:
    place = Place(tmp_path, environ={"WEBOID_DATABASE": "postgresql://127.0.0.1:1/none"})
    ran = await place.run("site", site.address, "--external", "ignore", "--format", "jsonl")
    assert (ran.status, len(_broken(ran))) == (1, 3)
    refused = await place.run("site", site.address, "--new")
    assert (refused.status, "takes --keep NAME" in refused.err) == (2, True)
