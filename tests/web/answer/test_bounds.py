"""W-8: an answer is bounded by links; a client that goes on with `continue` gets each link of each page once."""

import asyncio
import gc
import json
import random
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any
from unittest.mock import Mock
from urllib.parse import quote, urlencode
from urllib.request import urlopen

import pytest
from aiohttp import web
from jinja2.runtime import Context
from lxml import etree
from support.listed import answer_to
from support.webservice import FixedSource, Site, open_service

from weboid.core.verdict.link_report import LinkReport
from weboid.errors import SourceError, TooManyLinks
from weboid.mechanism.fair_slots import Capacity
from weboid.mechanism.slices import in_slices
from weboid.web.answer import live_cache
from weboid.web.answer import query as query_stage
from weboid.web.http.lanes import CAPACITIES
from weboid.web.request.route import Lane
from weboid.wiki.source import PageLinks

WIKI = "dbname=testwiki@wmflabs"
API = f"/api/page?{WIKI}"
BULK = f"/api/pages?{WIKI}&all=1"
FEW = 7
READ = 30
LARGE = 20_000


@pytest.fixture
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query_stage, "MOST_LINKS", FEW)
    monkeypatch.setattr(live_cache, "MOST_READ", READ)


def page(number: int, links: int, revision: int = 1) -> PageLinks:
    """A page with so many links; two of each host have one normal form, which are far apart in the wiki's order."""
    hosts = [f"h{revision}x{link}.demo" for link in range((links + 1) // 2)]
    forms = [form for host in hosts for form in (f"http://{host}/", f"HTTP://{host}/")]
    return PageLinks(number, 0, f"Page {number}", revision, None, tuple(sorted(forms[:links])))


async def ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


class Follower:
    """A client that follows `continue` by the documented rule."""

    def __init__(self) -> None:
        self.pages: dict[int, tuple[int, list[str]]] = {}
        self.missing: list[str] = []
        self.parts = 0

    async def follow(self, site: Site, query: str, between: Callable[[], None] = lambda: None) -> None:
        after: str | None = ""
        while after is not None:
            document = await answer_to(site, f"{API}&all=1&{query}" + (f"&continue={after}" if after else ""))
            self.take(document)
            after = document["continue"]
            self.parts += 1
            assert self.parts < 500
            between()

    def take(self, document: dict[str, Any]) -> None:
        pages, missing = document["pages"], document["missing"]
        self.missing += missing
        assert sum(len(link["given"]) for page in pages for link in page["links"]) <= FEW
        for page in pages:
            given = [form for link in page["links"] for form in link["given"]]
            if page["part"] is None or page["part"]["from"] == 0:
                self.pages[page["id"]] = page["revision"], []
            revision, links = self.pages[page["id"]]
            assert revision == page["revision"]
            assert page["part"] is None or page["part"]["from"] == len(links)
            links += given


@pytest.mark.usefixtures("_few")
async def test_an_answer_has_no_more_links_than_its_bound_and_says_where_it_goes_on(site: Site) -> None:
    site.source.found |= {10: page(10, 4), 11: page(11, 12), 12: page(12, 1)}
    first = await answer_to(site, f"{API}&pageid=10|11|12&all=1")
    assert [(page["id"], page["part"]) for page in first["pages"]] == [(10, None), (11, {"from": 0, "to": 3, "of": 12})]
    assert sum(first["pages"][1]["counts"].values()) <= 3
    second = await answer_to(site, f"{API}&pageid=10|11|12&all=1&continue={first['continue']}")
    assert [(page["id"], page["part"]) for page in second["pages"]] == [(11, {"from": 3, "to": 10, "of": 12})]
    last = await answer_to(site, f"{API}&pageid=10|11|12&all=1&continue={second['continue']}")
    assert [(page["id"], page["part"]) for page in last["pages"]] == [
        (11, {"from": 10, "to": 12, "of": 12}),
        (12, None),
    ]
    assert last["continue"] is None


@pytest.mark.usefixtures("_few")
async def test_the_example_of_the_documentation_collects_all_parts(site: Site) -> None:
    site.source.found |= {10: page(10, 12), 11: page(11, 20)}
    text = (Path(__file__).parents[3] / "docs" / "api.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"^```python\n(def links_of.*?)^```", text, re.DOTALL | re.MULTILINE)
    space: dict[str, Any] = {}
    exec(compile(example, "docs/api.md", "exec"), space)

    def ask(parameters: dict[str, str]) -> Any:
        with urlopen(f"{site.url}/api/page?{urlencode(parameters)}") as answer:
            return json.load(answer)

    query = {"dbname": "testwiki@wmflabs", "pageid": "10|11", "all": "1"}
    pages = await asyncio.to_thread(space["links_of"], ask, query)
    given = {number: sorted(form for link in links for form in link["given"]) for number, links in pages.items()}
    assert given == {number: list(site.source.found[number].urls) for number in (10, 11)}


@pytest.mark.usefixtures("_few")
@pytest.mark.parametrize("seed", range(4))
async def test_each_link_of_each_page_comes_once_whatever_changes_in_between(
    site: Site, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    dice = random.Random(seed)
    if dice.random() < 0.5:
        monkeypatch.setattr(live_cache, "_KEPT_S", -1.0)
    asked = dice.sample(range(10, 30), 12)
    site.source.found |= {number: page(number, dice.choice((0, 1, 3, 6, 7, 8, 15, 31))) for number in asked[:10]}
    was = {number: {found.latest: found} for number, found in site.source.found.items()}

    def change() -> None:
        number = dice.choice(asked[:10])
        if number in site.source.found and dice.random() < 0.2:
            new = page(number, dice.choice((0, 2, 9, 14)), site.source.found[number].latest + 1)
            site.source.found[number] = was[number][new.latest] = new

    by_title = dice.random() < 0.5
    query = (
        f"title={quote('|'.join(f'Page {one}' for one in asked))}"
        if by_title
        else f"pageid={'|'.join(map(str, asked))}"
    )
    follower = Follower()
    await follower.follow(site, query, change)
    # Some had more links than are read of any when it was their turn, and are not stored.
    large = {number for number, each in was.items() if any(len(found.urls) > READ for found in each.values())}
    found = {number for number in asked[:10] if number not in large}
    assert found <= follower.pages.keys()
    for number, (revision, given) in follower.pages.items():
        assert sorted(given) == list(was[number][revision].urls)
    names = {f"Page {one}" if by_title else str(one) for one in asked if one not in follower.pages}
    assert set(follower.missing) == names
    assert len(follower.missing) == len(names)


@pytest.mark.usefixtures("_few")
@pytest.mark.parametrize("states", [(True,), (False, True), (True, False), (True, False, True), (False, True, False)])
async def test_stored_pages_go_on_too_and_a_wiki_that_falls_silent_or_answers_again_loses_nothing(
    site: Site, states: tuple[bool, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_cache, "_KEPT_S", -1.0)
    pages = {number: page(number, links) for number, links in ((41, 4), (42, 24), (43, 40))}
    await site.wiki.take_in({number: one.urls for number, one in pages.items()}, 100)
    normal = {number: {url.lower() for url in one.urls} for number, one in pages.items()}
    site.source.found |= pages
    follower = Follower()
    flips = iter((*states, *([states[-1]] * 100)))

    def flip() -> None:
        site.source.silent = next(flips)

    flip()
    await follower.follow(site, "pageid=41|42|43", flip)
    assert {number: {url.lower() for url in links} for number, (_, links) in follower.pages.items()} == normal
    if states == (True,):
        assert {number: len(links) for number, (_, links) in follower.pages.items()} == {41: 2, 42: 12, 43: 20}


@pytest.mark.usefixtures("_few")
async def test_pages_with_too_many_links_together_are_read_alone_and_one_with_too_many_is_served_as_stored(
    site: Site,
) -> None:
    pages = {41: page(41, 20), 42: page(42, 20), 43: page(43, READ + 2)}
    await site.wiki.take_in({43: pages[43].urls}, 100)
    site.source.found |= pages
    follower = Follower()
    await follower.follow(site, "pageid=41|42|43")
    assert [len(follower.pages[number][1]) for number in (41, 42, 43)] == [20, 20, READ // 2 + 1]
    # All together; each of them alone, one of which has too many.
    assert site.source.asked == 4
    assert (await answer_to(site, f"{API}&pageid=43"))["pages"][0]["live"] is False


@pytest.mark.usefixtures("_few")
async def test_every_format_goes_on(site: Site) -> None:
    site.source.found[10] = page(10, 12)
    after = str((await answer_to(site, f"{API}&pageid=10&all=1"))["continue"])
    tree = etree.fromstring((await site.text(f"{API}&pageid=10&all=1&format=xml")).encode())
    part = tree.find("page/part")
    assert part is not None
    assert [tree.get("continue"), *map(part.get, ("from", "to", "of"))] == [after, "0", "7", "12"]
    assert f'"continue":"{after}"' in await site.text(f"/externalLinkProblem?{WIKI}&pageid=10")
    body = await site.text(f"/externalLinkInfo?{WIKI}&pageid=10&all=1&lang=en")
    assert "Links 1 to 7 of 12 of this page." in body
    assert f"continue={after}" in body
    body = await site.text(f"/externalLinkInfo?{WIKI}&pageid=10&all=1&lang=en&continue={after}")
    assert "Links 8 to 12 of 12 of this page." in body
    assert body.count('<tr class="link ') == 5
    assert f"continue={after}" not in body.replace(f"continue={after}&amp;lang=", "")  # but in other languages


async def test_a_caller_that_has_the_answer_gets_a_304_that_is_not_rendered(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (f"{API}&pageid=1&all=1", f"{API}&pageid=1&format=xml", f"/externalLinkInfo?{WIKI}&pageid=1"):
        _, _, response = await site.fetch(path)
        with monkeypatch.context() as patched:
            patched.setattr("weboid.web.answer.answers.Answers.report", None)
            status, _, again = await site.fetch(path, If_None_Match=response.headers["ETag"])
        assert (status, again.headers["ETag"]) == (304, response.headers["ETag"])
        site.source.found[1] = PageLinks(1, 0, "Page 1", 8, None, site.source.found[1].urls[:-1])
        assert (await site.fetch(path, If_None_Match=response.headers["ETag"]))[0] == 200
        site.source.found[1] = PageLinks(1, 0, "Page 1", 7, None, (*site.source.found[1].urls, path))


@pytest.mark.parametrize("scope", ["namespace=0", "category=Some"])
async def test_parts_of_namespaces_and_categories_are_bounded_too(
    trusting: Site, scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weboid.web.api.bulk.MOST_LINKS", FEW)
    monkeypatch.setattr(query_stage, "MOST_LINKS", FEW)
    sizes: dict[int, int] = {41: 2, 42: 10, 43: 44, 44: 0, 45: 14}
    pages = {number: page(number, links, number).urls for number, links in sizes.items()}
    await trusting.wiki.take_in(pages, 100)
    trusting.source.members["Some"] = tuple(sizes)
    found: dict[int, list[str]] = {}
    after: str | None = ""
    while after is not None:
        path = f"{BULK}&{scope}" + (f"&after={quote(after)}" if after else "")
        document = await answer_to(trusting, path, Authorization="Bearer known")
        listed = document["pages"]
        assert sum(len(each["links"]) for each in listed) <= FEW
        for each in listed:
            links = found.setdefault(each["id"], [])
            assert each["part"] is None or each["part"]["from"] == len(links)
            links += [link["normal"] for link in each["links"]]
        after = document["next"]
    for number, urls in pages.items():
        assert sorted(found[number]) == sorted({url.lower() for url in urls})


class LargeWiki(FixedSource):
    """A wiki of fifty pages with 20,000 links each, which are made when they are read."""

    async def find_pages(
        self, *, ids: Sequence[int] = (), titles: Sequence[str] = (), most_links: int | None = None
    ) -> list[PageLinks]:
        self.asked += 1
        if self.silent:
            raise SourceError("it does not answer")
        if most_links is not None and LARGE * len(ids) > most_links:
            raise TooManyLinks("these are too many")
        return [page(number, LARGE) for number in ids]


def memory_mib() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


@pytest.mark.parametrize("silent", [False, True])
async def test_one_request_for_fifty_pages_of_20_000_links_neither_holds_the_process_nor_takes_its_memory(
    database: str, tmp_path: Path, silent: bool
) -> None:
    """Before: 64 s without an answer to anybody else, 5.5 GB of memory."""
    ids = "|".join(map(str, range(101, 151)))
    async with open_service(database, tmp_path, source=LargeWiki()) as site:
        if silent:
            await site.wiki.take_in({101: page(101, LARGE).urls}, 100)
            site.source.silent = True
        idle_mib, most_mib, late_s = memory_mib(), 0.0, 0.0

        async def look() -> None:
            nonlocal most_mib, late_s
            while True:
                begun_s = monotonic()
                assert (await site.fetch("/healthz"))[0] == 200
                late_s, most_mib = max(late_s, monotonic() - begun_s), max(most_mib, memory_mib())
                await asyncio.sleep(0.01)

        looking, after = asyncio.create_task(look()), ""
        for part in range(3):
            document = await answer_to(site, f"{API}&pageid={ids}&all=1{after}")
            pages, total = document["pages"], LARGE // 2 if silent else LARGE
            assert [one["part"] for one in pages] == [{"from": 2_000 * part, "to": 2_000 * (part + 1), "of": total}]
            after = f"&continue={document['continue']}"
        await ended(looking)
    assert most_mib - idle_mib < 256
    assert late_s < 2.0


async def test_large_answers_have_a_lane_of_their_own_and_small_ones_never_wait_in_it(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(CAPACITIES, Lane.LARGE, Capacity(slots=0, places=0, wait_s=0))
    many, sliced = query_stage.MANY_LINKS, Mock(wraps=in_slices)
    monkeypatch.setattr(query_stage, "in_slices", sliced)
    wiki = FixedSource({number: page(number, links) for number, links in ((10, many), (11, many + 1))})
    async with open_service(database, tmp_path, source=wiki) as site:
        statuses = [(await site.fetch(f"{API}&pageid={number}"))[0] for number in (10, 11, 11, 10)]
    assert (statuses, wiki.asked) == ([200, 503, 503, 200], 3), "one that is known as large is not even read"
    assert sliced.call_count == 2, "nor are its links looked through before"


@pytest.mark.usefixtures("_few")
async def test_a_bookmark_that_nobody_gave_makes_us_read_no_more_than_one_answer_needs(site: Site) -> None:
    site.source.found |= {number: page(number, READ - 1) for number in range(10, 20)}
    ids = "|".join(map(str, range(10, 20)))
    asked = site.source.asked
    document = await answer_to(site, f"{API}&pageid={ids}&all=1&continue=0.9999999.1.0")
    assert [page["part"]["from"] for page in document["pages"]] == [0]
    assert site.source.asked - asked == 2


async def test_answers_leave_nothing_that_only_a_garbage_collection_takes_away(site: Site) -> None:
    def kept() -> int:
        return sum(isinstance(each, LinkReport | Context | web.Request) for each in gc.get_objects())

    for address in (f"/externalLinkInfo?{WIKI}&pageid=1&all=1", f"{API}&pageid=1", "/url?url=http://a.org", "/nowhere"):
        await site.fetch(address)
        gc.collect()
        gc.disable()
        before = kept()
        await site.fetch(address)
        gc.enable()
        assert kept() == before, address
