"""Look-ups of copies: ``python -m benchmarks.lookups [--queued N] [--seconds N]``.

A queue of dead URLs is looked up at a made-up archive on loopback, a process of its own in the dialect of the Wayback
Machine, without limits: look-ups a second, requests for each URL by what was found, memory by the length of the queue.
One law: what is printed of requests is what the archive was asked; the queue is worked off by the program's own round.
"""

import argparse
import asyncio
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from email.utils import format_datetime
from ipaddress import ip_network
from time import monotonic, process_time
from typing import Final, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit
from urllib.request import urlopen

import psycopg

from benchmarks.harness import (
    Target,
    module,
    open_migrated,
    open_process,
    reply,
    serve_answers,
    tell_targets,
    temporary_store,
    used,
)  # fmt: skip
from weboid.archive.lookups.queue_round import QueueRound, QueueTally
from weboid.archive.service.client import open_archive_client
from weboid.archive.service.shared_limits import SharedLimiter
from weboid.cli.processes.process import run_async
from weboid.config import NetConfig
from weboid.core.archive.addresses import taken_of
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.archive.services import SERVICES, ArchiveService
from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status
from weboid.core.url.keys import key_of
from weboid.core.url.urls import parse
from weboid.store.archives.cited_copy import CitedCopy, page_key, record_cited
from weboid.store.db.pool import Pool

DAY: Final = 1_000
_STAMPS: Final = (20180301120000, 20190301120000, 20190315120000)
_NAMES: Final = ["timestamp", "original", "statuscode", "mimetype", "digest", "length"]
_KINDS: Final = ("copy",) * 13 + ("wall", "moved", "none", "none", "gone", "excluded", "broken")
"""What the archive has of a URL, by its number: of twenty thirteen have good copies, one a login wall as the nearest,
one only a redirect, two nothing, one only copies of error pages, one is excluded, of one a copy is listed that does
not play."""
_TEXT: Final = b"<html lang=en><title>The tide tables of the old harbour</title><p>" + b" ".join(
    b"On day %d the water stood at %d feet above the sill of the lock." % (day, day * 7 % 13) for day in range(80)
)
_LOGIN: Final = (
    b"<html><title>Log in</title><form action=/login method=post><input name=user><input type=password name=pass>"
    b"<button>Log in</button></form>"
)
_TARGET: Final = 200.0
_WITH_COPY, _CITED = 3.0, 1.5
_FLAT: Final = 1.15
_SHORT: Final = 5_000
_CITED_URLS: Final = 2_000

_HOSTS: Final = """
INSERT INTO host (bucket, host_key, host, reversed, next_day)
SELECT (number & 4095)::smallint, hashint8extended(number, 0),
    'www' || number || '.demo', 'demo.www' || number || '.', %(day)s + 90
FROM generate_series(%(first)s::bigint, %(last)s) AS number
"""
_URLS: Final = """
INSERT INTO url (bucket, host_key, url_key, scheme, port, path, due, status, since, asked, reason, http)
SELECT (number & 4095)::smallint, hashint8extended(number, 0), hashint8extended(number, 1), 0, 0,
    '/' || (%(kinds)s::text[])[1 + number %% 20] || '/page-' || number || '.html', %(day)s + 90,
    %(status)s, %(day)s - 100, %(day)s - 1, %(reason)s, 404
FROM generate_series(%(first)s::bigint, %(last)s) AS number
"""
_QUEUE: Final = """
INSERT INTO copy_queue (bucket, host_key, url_key, rank, day, due)
SELECT (number & 4095)::smallint, hashint8extended(number, 0), hashint8extended(number, 1), 0,
    %(day)s - number %% 100, %(day)s
FROM generate_series(%(first)s::bigint, %(last)s) AS number
"""
_QUEUE_CITED: Final = """
INSERT INTO copy_queue (bucket, host_key, url_key, rank, day, due)
SELECT bucket, host_key, url_key, 0, %s, %s FROM url WHERE path = '/copy/page.html'
"""
_OWN_HOST: Final = "INSERT INTO host (bucket, host_key, host, reversed) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING"
_OWN_URL: Final = """
INSERT INTO url (bucket, host_key, url_key, scheme, port, path, due, status, since, asked, reason, http)
VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)
"""


# The archive


@dataclass
class Log:
    """What the archive was asked since that was last read."""

    count: int = 0

    def answer(self, target: str) -> bytes:
        parts = urlsplit(target)
        if parts.path == "/log":
            count, self.count = self.count, 0
            return reply(200, str(count).encode())
        self.count += 1
        if parts.path == "/wayback/available":
            return reply(200, b'{"url": "x", "archived_snapshots": {}}')
        if parts.path == "/cdx/search/cdx":
            return _listed(parse_qs(parts.query)["url"][0])
        _, _, stamp, url = target.split("/", 3)
        return _played(int(stamp.removesuffix("id_")), unquote(url))


def _listed(url: str) -> bytes:
    kind = url.split("/")[3]
    if kind == "excluded":
        why = "X-Archive-Wayback-Runtime-Error: AdministrativeAccessControlException: Blocked Site Error"
        return reply(403, b"", why)
    codes = {"none": [], "gone": [404] * 3, "moved": [301] * 3}.get(kind, [200] * 3)
    rows = [
        [str(stamp), url, str(code), "text/html", f"D{stamp}{code}", "2400"]
        for stamp, code in zip(_STAMPS, codes, strict=False)
    ]
    return reply(200, json.dumps([_NAMES, *rows] if rows else []).encode())


def _played(stamp: int, url: str) -> bytes:
    kind = url.split("/")[3]
    if kind in ("broken", "none"):
        return reply(404, b"The Wayback Machine has not archived that URL.", kind="text/html")
    moment = f"Memento-Datetime: {format_datetime(taken_of(stamp), usegmt=True)}"
    if kind == "moved":
        target = url.replace("/moved/", "/copy/")
        return reply(301, b"", moment, f"Location: /web/{stamp}id_/{target}", kind="text/html")
    body = _LOGIN if kind == "wall" and stamp != _STAMPS[0] else _TEXT
    return reply(200, body, moment, kind="text/html")


@dataclass(frozen=True)
class MadeUp:
    """The archive as seen from here."""

    base: str

    def service(self) -> ArchiveService:
        """The Wayback Machine, asked here without limits."""
        usual = SERVICES["wayback"]
        return replace(usual, base=self.base, public=self.base, per_minute=0, replay_per_minute=0)

    async def asked(self) -> int:
        """How often it was asked since that was last read."""

        def read() -> int:
            with urlopen(f"{self.base}/log") as response:
                return int(response.read())

        return await asyncio.to_thread(read)


@contextmanager
def open_made_up() -> Iterator[MadeUp]:
    """Starts the archive; it ends with the block."""
    with open_process(module("lookups", "--serve")) as (_, port):
        yield MadeUp(f"http://127.0.0.1:{port}")


# The store


def fill(dsn: str, first: int, last: int) -> None:
    """Dead URLs of these numbers, all waiting."""
    row = {
        "first": first,
        "last": last,
        "day": DAY,
        "kinds": list(_KINDS),
        "status": int(Status.NOT_FOUND),
        "reason": Reason.NOT_FOUND.number,
    }
    with psycopg.connect(dsn, autocommit=True) as connection:
        for statement in (_HOSTS, _URLS, _QUEUE):
            connection.execute(statement.encode(), row)
        connection.execute("ANALYZE")


async def fill_cited(pool: Pool, count: int) -> None:
    """Dead URLs whose copies pages cite, before all others in the queue."""
    originals = [parse(f"http://cited{number}.demo/copy/page.html") for number in range(count)]
    copies = [parse(f"https://web.archive.org/web/{_STAMPS[1]}/{url}") for url in originals]
    async with pool.connection() as conn:
        for url in (*originals, *copies):
            key = key_of(url)
            await conn.execute(_OWN_HOST, (key.bucket, key.host_key, url.host, url.host))
            record = (DAY + 90, int(Status.NOT_FOUND), DAY - 100, DAY - 1, Reason.NOT_FOUND.number, 404)
            schemes = {"http": 0, "https": 1}
            await conn.execute(_OWN_URL, (*key, schemes[url.scheme], url.port, url.path, *record))
        cited = [
            CitedCopy(key_of(copy), SERVICES["wayback"].archive.number, page_key(url), _STAMPS[1], DAY + 90)
            for url, copy in zip(originals, copies, strict=True)
        ]
        await record_cited(conn, cited)
        await conn.execute("TRUNCATE copy_queue")
        await conn.execute(_QUEUE_CITED, (DAY, DAY))


# The measurements


class Run(NamedTuple):
    """One run of a worker: its tally, how long it took, its CPU time, memory in MiB after each tenth of the time."""

    tally: QueueTally
    seconds: float
    cpu_s: float
    mib: list[float]

    @property
    def rate(self) -> float:
        return self.tally.done / self.seconds

    @property
    def cpu_ms(self) -> float:
        """Milliseconds of this process for one look-up; the archive and the database are others."""
        return 1_000 * self.cpu_s / max(self.tally.done, 1)


async def worked(pool: Pool, service: ArchiveService, seconds: float) -> Run:
    """Works off the queue, for so long at most."""
    stopped = asyncio.Event()
    net = NetConfig(permit=(ip_network("127.0.0.1/32"),), user_agent="weboid-benchmark")
    mib: list[float] = []

    async def watch() -> None:
        for _ in range(10):
            await asyncio.sleep(seconds / 10)
            mib.append(used(os.getpid()).rss_mib)
        stopped.set()

    async with open_archive_client(net, SharedLimiter(pool, lambda: DAY)) as client:
        queue = QueueRound(pool, client, [service], today=lambda: DAY, stopped=stopped)
        watching = asyncio.create_task(watch())
        begun, cpu = monotonic(), process_time()
        tally = await queue.sweep()
        took, cpu = monotonic() - begun, process_time() - cpu
        watching.cancel()
    return Run(tally, took, cpu, mib or [used(os.getpid()).rss_mib])


async def lookups(dsn: str, queued: int, seconds: float) -> dict[str, float]:
    """Measures and prints; returns the figures by name."""
    figures: dict[str, float] = {}
    with open_made_up() as archive:
        async with open_migrated(dsn) as pool:
            await asyncio.to_thread(fill, dsn, 1, min(_SHORT, queued))
            short = await worked(pool, archive.service(), seconds)
            _tell_run(f"{min(_SHORT, queued):,} URLs queued", short, await archive.asked())
            await asyncio.to_thread(fill, dsn, _SHORT + 1, max(queued, 2 * _SHORT))
            long = await worked(pool, archive.service(), seconds)
            _tell_run(f"{queued:,} URLs queued", long, await archive.asked())
            figures |= {"rate": long.rate, "cpu": 1_000 / long.cpu_ms, "grown": max(long.mib) / max(short.mib)}
            both = short.tally.requests_of + long.tally.requests_of
            counts = short.tally.outcomes + long.tally.outcomes
            for outcome in LookupOutcome:
                if counts[outcome]:
                    figures[outcome.word] = both[outcome] / counts[outcome]
                    print(
                        f"  {outcome.word:>11}: {figures[outcome.word]:.2f} requests a URL, of {counts[outcome]:,} URLs"
                    )
            await fill_cited(pool, min(_CITED_URLS, queued))
            cited = await worked(pool, archive.service(), 600)
            figures["cited"] = cited.tally.requests / max(cited.tally.done, 1)
            _tell_run("URLs of which a page cites a copy", cited, await archive.asked())
    tell_targets(_targets(figures))
    return figures


def _tell_run(what: str, run: Run, asked: int) -> None:
    course = " ".join(f"{each:.0f}" for each in run.mib)
    print(f"{what}: {run.tally.done:,} looked up in {run.seconds:.1f} s, {run.rate:,.0f}/s, ", end="")
    print(f"{run.cpu_ms:.2f} ms CPU each; memory {course} MiB")
    print(f"  the archive was asked {asked:,} times, {run.tally.requests:,} were counted here")


def _targets(figures: dict[str, float]) -> list[Target]:
    return [
        Target("look-ups a second", figures["rate"], _TARGET),
        Target("the same by CPU", figures["cpu"], _TARGET),
        Target("requests where there is a copy", figures.get("found", 0), _WITH_COPY, at_most=True),
        Target("requests where a page cites one", figures["cited"], _CITED, at_most=True),
        Target("memory with a long queue by that with a short one", figures["grown"], _FLAT, at_most=True),
    ]


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.lookups", description=__doc__)
    options.add_argument("--queued", type=int, default=1_000_000)
    options.add_argument("--seconds", type=float, default=20.0)
    options.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.serve:
        run_async(serve_answers(Log().answer))
        return
    with temporary_store() as store:
        run_async(lookups(store, asked.queued, asked.seconds))


if __name__ == "__main__":
    main()
