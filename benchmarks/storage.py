"""How many bytes a URL and its use take after some rounds: ``python -m benchmarks.storage [--urls N] [--rounds N]``.

One law: everything is written by the program's own functions; what is printed is what PostgreSQL says of its files.
"""

import asyncio
import random
from functools import partial
from time import perf_counter
from typing import Final, NoReturn
from zlib import crc32

from msgspec.structs import replace

from benchmarks.harness import open_migrated, run_on_store, take_in, vacuum
from weboid.checking.connectivity import Ask
from weboid.checking.online import Online
from weboid.config import CrawlConfig
from weboid.core.document.face import NO_FACE, Face, Kind, Look, Role
from weboid.core.document.portrait import TITLE_WORDS, Portrait
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.record.moment import Moment
from weboid.core.record.policy import DEFAULT
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.status import Status
from weboid.core.url.made_up import MadeUp, near_place, probes_of
from weboid.core.url.urls import parse
from weboid.crawl.round import Round
from weboid.net.dns import NameAnswer
from weboid.remote.crawl.work import Work
from weboid.store.db.pool import Pool

_URLS_A_HOST = 2.5  # of the 7,332 links on 2,800 hosts of a real wiki
_SIZES = """SELECT pg_total_relation_size('url'),
    pg_total_relation_size('host'), pg_total_relation_size('face') + pg_total_relation_size('special'),
    pg_total_relation_size('link'), pg_total_relation_size('change'), pg_current_wal_lsn() - '0/0'"""
_TEMPLATES = 10  # one host in so many has a page for what is missing; a guess, rather too many
_SEEN = (
    (0.85, Observation(Status.FINE, Reason.OK, http=200)),
    (0.93, Observation(Status.MOVED_PERMANENTLY, Reason.MOVED, "https://www.example-host.demo/another/path", http=200)),
    (0.97, Observation(Status.NOT_FOUND, Reason.NOT_FOUND, http=404)),
    (1.00, Observation(Status.NO_ACCESS, Reason.FORBIDDEN, http=403)),
)


async def _not_asked(url: str) -> NoReturn:
    raise OSError("there is no network here")


async def _no_answer(name: str) -> NameAnswer:
    return NameAnswer.NOTHING


UNPACED: Final = CrawlConfig(delay=0.0)


async def run_round(work: Work, ask: Ask, day: int) -> float:
    """Results a second of a round on a day, whose checks are answered by `ask` at once; nobody else is asked."""
    online, begun = Online(_not_asked, _no_answer), perf_counter()
    run = Round(work, ask, online, now=partial(Moment, day), config=UNPACED, connections=1_000, policy=DEFAULT)
    return (await run.run()).written / (perf_counter() - begun)


async def main(urls: int, rounds: int, dsn: str) -> None:
    """Takes in the URLs, runs the rounds, prints the sizes."""
    chance = random.Random(1)

    async def ask(question: CheckRequest) -> Observation:
        throw = chance.random()
        seen = next(seen for share, seen in _SEEN if throw <= share)
        if seen.outcome is not Outcome.WORKING:
            return seen
        seen = replace(seen, portrait=_portrait(chance)) if question.portrays else seen
        return replace(seen, face=_face(question, chance)) if question.looks and question.faces else seen

    hosts = int(urls / _URLS_A_HOST)
    async with open_migrated(dsn) as pool:
        await take_in(pool, [f"http://www.host-{n % hosts}.demo/a/path/of/usual/length-{n}.html" for n in range(urls)])
        await _print_sizes(pool, "fresh", urls)
        for number in range(1, rounds + 1):
            rate = await run_round(Work(pool, "benchmark", UNPACED, DEFAULT), ask, 100 + 30 * number)
            await asyncio.to_thread(vacuum, dsn)
            await _print_sizes(pool, f"after round {number}, {rate:,.0f} checks/s without network", urls)


def _portrait(chance: random.Random) -> Portrait:
    """A portrait of the usual size: of a title with three to all of the words that are kept."""
    title = tuple(chance.randrange(1 << 12) for _ in range(chance.randint(3, TITLE_WORDS)))
    return Portrait(title, chance.randrange(256), chance.getrandbits(64), 1)


def _face(question: CheckRequest, chance: random.Random) -> Face:
    """What a look learns of a host: that it is honest, or what its answers for three URLs look like."""
    url = parse(question.url)
    face = question.face or NO_FACE
    if crc32(url.host.encode()) % _TEMPLATES:
        # A look makes up URLs; here it costs more than all that is measured, so only their place is computed.
        place = near_place(url)
        assert place is not None
        return face.with_answer(MadeUp(url, place), Role.NEAR, Look(Kind.HONEST), question.day)
    probes = probes_of(url)
    assert probes is not None
    for asked, role in ((probes.near, Role.NEAR), (probes.root, Role.REAL), (probes.far, Role.FAR)):
        if asked is not None:
            look = Look(Kind.PAGE, 0, chance.getrandbits(24), 800, chance.getrandbits(64))
            face = face.with_answer(asked, role, look, question.day)
    return face


async def _print_sizes(pool: Pool, when: str, urls: int) -> None:
    async with pool.connection() as conn:
        row = await (await conn.execute(_SIZES)).fetchone()
    url, host, learned, link, change, wal = (number / urls for number in row or ())
    print(
        f"{when}: {url:.0f} + {host:.0f} + {learned:.0f} + {change:.0f} bytes a URL (url, its share of host, of face "
        f"and special, of change), {link:.0f} a link; {wal:,.0f} of the log of writes so far"
    )


if __name__ == "__main__":
    run_on_store(__doc__, main, urls=100_000, rounds=5)
