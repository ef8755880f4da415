"""Rounds by the program's own command over servers that answer to break it: none is lost, all others are recorded."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest
from support.commands import Place
from support.hostile_answers import script_of
from support.misbehaving import Site, Zone, head_only, name_server, reply, serve
from support.repeats import IS_THOROUGH

from weboid.core.url.keys import key_of
from weboid.core.url.urls import parse
from weboid.demo.littlewiki import open_littlewiki
from weboid.demo.wikipages import WikiLink, WikiPage
from weboid.store.db.pool import Pool, open_pool
from weboid.store.db.rows import KnownUrl
from weboid.store.urls.url import find_urls

FIRST_DAY: Final = 100
STEP_DAYS: Final = 29
"""Longer than any interval, and than any pause that a server may demand: all URLs are due in each round."""
SEED: Final = "weboid"
HOSTILE, GOOD = 30, 10


@dataclass
class Scene:
    """A machine with its little web; what the servers answer depends on the day."""

    place: Place
    pool: Pool
    hostile: list[str]
    good: list[str]
    site: Site
    days: list[int]
    """The day alone, as the servers know it, too."""

    async def known(self, urls: list[str]) -> list[KnownUrl]:
        keys = [key_of(parse(url)) for url in urls]
        async with self.pool.connection() as conn:
            found = await find_urls(conn, keys)
        return [found[key] for key in keys]


@pytest.fixture
async def scene(database: str, tmp_path: Path) -> AsyncIterator[Scene]:
    hosts = [f"hostile{number}.demo" for number in range(HOSTILE)]
    days = [FIRST_DAY]
    async with AsyncExitStack() as stack:
        hostile = script_of(SEED, lambda: days[0], lambda host: f"http://{host}")
        site = await stack.enter_async_context(serve(hostile))
        fine = await stack.enter_async_context(serve(lambda asked: head_only(asked, reply(200, body=b"<p>A mill."))))
        good = [fine.url("/link", host=f"good{number}.demo") for number in range(GOOD)]
        urls = [site.url("/link", host=host) for host in hosts]
        urls[1] = urls[1].replace("http:", "https:")
        zone: Zone = {parse(url).host: ["127.0.0.1"] for url in (*urls, *good)}
        names = await stack.enter_async_context(name_server(zone))
        pages = [WikiPage(1, "Harbour", tuple(map(WikiLink, (*urls, *good))))]
        wiki = await stack.enter_async_context(open_littlewiki(pages))
        place = Place(
            tmp_path,
            environ={
                "WEBOID_DATABASE": database,
                "WEBOID_NET_DNS": names.address,
                "WEBOID_NET_PERMIT": "127.0.0.0/8",
                "WEBOID_NET_WEB_PORTS": f"{site.port},{fine.port}",
                "WEBOID_NET_ANSWER_S": "1",
                "WEBOID_NET_CONNECT_S": "1",
                "WEBOID_NET_CONNECTIONS": "100",
                "WEBOID_CRAWL_DELAY": "0",
                "WEBOID_CONTACT": "tests@weboid.example",
            },
        )
        place.watch("demowiki@wmflabs", wiki.api_url)
        assert (await place.run("feed", "pass", "--day", str(FIRST_DAY))).status == 0
        pool = await stack.enter_async_context(open_pool(database, size=1))
        yield Scene(place, pool, urls, good, site, days)


@pytest.mark.parametrize(
    "rounds",
    [2, *(pytest.param(200, marks=[pytest.mark.long, pytest.mark.timeout(3_600)]) for _ in range(IS_THOROUGH))],
)
async def test_no_answer_ends_a_round_or_keeps_another_url_from_being_recorded(scene: Scene, rounds: int) -> None:
    reasons: Counter[str] = Counter()
    postponed = late = 0
    for number in range(rounds):
        day = FIRST_DAY + number * STEP_DAYS
        scene.days[:] = [day]
        ran = await scene.place.run("crawl", "--once", "--day", str(day))
        assert ran.status == 0, f"day {day}: {ran.err}"
        good = await scene.known(scene.good)
        assert {known.record.checked for known in good} == {day}
        late += sum(known.record.http != 200 for known in good)
        hostile = await scene.known(scene.hostile)
        assert min(known.due for known in hostile) > day
        done = [known.record for known in hostile if known.record.checked == day]
        postponed += HOSTILE - len(done)
        reasons.update(record.reason.word for record in done if record.reason)
    answers = len(scene.site.asked)
    summary = f"{rounds} rounds, {answers} hostile answers, {postponed} put off, {late} late; {reasons}"
    print(summary)
    assert answers >= rounds * HOSTILE, summary
    assert len(reasons) > 4 + 2 * min(rounds, 3), summary
    # On a busy machine even the servers of this test may be too late.
    assert late <= rounds * GOOD / 10, summary
    assert reasons.total() > 10 * postponed, summary
