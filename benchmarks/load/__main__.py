"""A reader next to a crowd at every route of the table: ``python -m benchmarks.load [ROUTE …]``.

For each load of `routes` (by default 50 clients of one range of addresses, over connections that stay open, and one
worker) it prints the p99 of a calm reader's page answers next to it and as a ratio to that alone, what the crowd got,
the processor time of the service for each of the crowd's requests, and its memory; and as a control the same for
clients of a handler that does nothing. It fails over max(3 × alone, 1.5 × control), or if the reader is refused.
`--all` does so for one and ten ranges, connections that stay open or not, and one and two workers; `--minutes 10` the
named loads in turn for so long in all, next to a crawl and a feed, and fails over max(5 × alone, 100 ms).
One law: the reader comes from other ranges, each time from another, and limits are as by default.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from itertools import product
from time import sleep
from typing import IO, Final, NamedTuple, cast

import uvloop

from benchmarks.harness import (
    ROOT,
    begin,
    module,
    open_migrated,
    open_process,
    tell,
    temporary_folder,
    temporary_store,
    used,
)
from benchmarks.load.crowd import Crowd, Outcome
from benchmarks.load.routes import CLIENTS, Load, loads
from benchmarks.load.service import LARGE, LINKS, SILENT, SMALL, SMALL_PAGES
from benchmarks.pages.load import Caller, plain_body, request_of
from benchmarks.pages.seed import TODAY, World, fill, prepare
from weboid.core.url.farms import WMFLABS, WikiName
from weboid.core.url.keys import key_of
from weboid.store.pages.page import PageChanges, PageUrls, record_intake
from weboid.store.pages.wiki import record_wiki
from weboid.web.health.worker_share import FOLDER_VARIABLE

_PAUSE_S: Final = 0.02
_TIMES: Final = 3.0
_TIMES_CONTROL: Final = 1.5
_SETTLE_S: Final = 0.2
_CORES: Final = sorted(os.sched_getaffinity(0))
"""One worker has the first, crowds have the last."""
_TOKEN: Final = re.compile(rb'name="token" value="([^"]+)"')
_READER: Final = [
    request_of(
        f"/api/page?dbname={SMALL}@wmflabs&pageid={page}&all=1&format=json", X_Forwarded_For=f"8.8.{page % 40}.8"
    )
    for page in range(1, SMALL_PAGES + 1)
]


class _Variant(NamedTuple):
    ranges: int = 1
    is_new: bool = False
    workers: int = 1
    lasting_s: float = 0.0


@dataclass(slots=True)
class _Bench:
    """A running service; the p99 of the reader in milliseconds alone."""

    url: str
    control: str
    pid: int
    variant: _Variant
    seconds: float
    dsn: str
    alone_ms: float = 0.0
    ranges: int = 0

    def run(self, wanted: list[Load]) -> int:
        """Runs these loads, and returns how many have failed."""
        for _ in range(2):  # the first time is for warming up
            self.alone_ms = self._outcomes()[0].p(0.99)
        tell(f"  {self.variant}: the reader alone {self.alone_ms:.1f} ms")
        control_ms = self._next_to("control", [request_of("/nothing").decode()], CLIENTS, self.control)
        bound, failed = max(_TIMES * self.alone_ms, _TIMES_CONTROL * control_ms), 0
        if lasting_s := self.variant.lasting_s:
            bound, self.seconds = max(5 * self.alone_ms, 100.0), lasting_s / len(wanted)
        with open_process(module("load.others", self.dsn)) if lasting_s else nullcontext():
            for load in wanted:
                failed += self._next_to(load.name, self._requests(load), load.clients, self.url) > bound
        tell(f"  {failed} of {len(wanted)} over {bound / self.alone_ms:.1f} × alone")
        return failed

    def _requests(self, load: Load) -> list[str]:
        first, self.ranges = self.ranges, self.ranges + self.variant.ranges
        senders = [f"9.{number // 250}.{number % 250}.9" for number in range(first, self.ranges)]
        page = Caller(self.url).ask(load.asked[0][0], X_Forwarded_For=senders[0]) if load.is_form else None
        if page is None or (token := _TOKEN.search(plain_body(page))) is None:
            return load.requests(senders)
        # The form's page gives everybody a token.
        return load.requests(senders, token[1].decode(), page.headers["set-cookie"].partition(";")[0])

    def _next_to(self, name: str, requests: list[str], clients: int, url: str) -> float:
        """Lets a crowd ask next to the reader, and prints what came of it; the reader's p99, endless if it failed."""
        before = used(self.pid)
        reader, crowd = self._outcomes(Crowd(url, requests, clients, self.seconds, is_new=self.variant.is_new))
        after = used(self.pid)
        count = sum(map(len, crowd.ms.values())) + crowd.broken
        got = ", ".join(f"{len(ms) / self.seconds:,.0f} × {code}" for code, ms in sorted(crowd.ms.items()))
        slow = max((crowd.p(1.0, code) for code in (429, 503) if crowd.count(code)), default=0.0)
        wrong = reader.broken + sum(len(ms) for code, ms in reader.ms.items() if code != "200")
        p99 = reader.p(0.99)
        cpu_ms = 1e3 * (after.cpu_s - before.cpu_s) / max(count, 1)
        tell(
            f"    {name:<26} {p99:8.1f} ms {p99 / self.alone_ms:6.2f} × | {got} a second; {crowd.broken} broken; "
            f"refused in {slow:,.0f} ms; {cpu_ms:.2f} ms CPU each; {after.rss_mib:.0f} MiB; reader: {wrong} wrong"
        )
        return float("inf") if wrong else p99

    def _outcomes(self, *crowds: Crowd) -> list[Outcome]:
        """What comes of the reader and of crowds that ask at the same time, each in a process of its own."""
        reader = Crowd(self.url, [each.decode() for each in _READER], seconds=self.seconds, pause_s=_PAUSE_S)
        running = []
        for crowd in (reader, *crowds):
            program = ["nice", "-n", "15" if crowd.clients > 1 else "0", *map(str, module("load.crowd"))]
            process = subprocess.Popen(program, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            os.sched_setaffinity(process.pid, {_CORES[-1]})
            running.append(process)
        sleep(_SETTLE_S)
        for process, crowd in zip(running, (reader, *crowds), strict=True):
            with cast(IO[bytes], process.stdin) as pipe:
                pipe.write(json.dumps(asdict(crowd)).encode())
            process.stdin = None
        return [Outcome(**json.loads(process.communicate()[0])) for process in running]


async def _link_pages(dsn: str, world: World) -> None:
    async with open_migrated(dsn, size=1) as pool, pool.connection() as conn:
        for dbname in (SMALL, SILENT):
            wiki = await record_wiki(conn, WMFLABS, WikiName(dbname, WMFLABS.name))
            pages = []
            for page in range(1, SMALL_PAGES + 1):
                urls = map(world.url, world.numbers_of(page, LINKS[SMALL]))
                pages.append(PageUrls(page, 0, f"Page {page}", 1, None, {key_of(url): url for url in urls}))
            await record_intake(conn, {wiki.wiki: PageChanges(read=pages)}, TODAY)


@contextmanager
def _open(dsn: str, urls: int, variant: _Variant, seconds: float) -> Iterator[_Bench]:
    with temporary_folder() as folder:
        if variant.workers > 1:
            os.environ[FOLDER_VARIABLE] = str(folder)
        with open_process(module("load.service", dsn, urls, variant.workers)) as (process, line):
            os.environ.pop(FOLDER_VARIABLE, None)
            if variant.workers == 1:
                os.sched_setaffinity(process.pid, {_CORES[0]})
            url, control = line.split()
            yield _Bench(url, control, process.pid, variant, seconds, dsn)


def bench(urls: int, seconds: float, variants: list[_Variant], wanted: list[str]) -> int:
    """Runs the loads of these names, all of them if there is none, in each variant; how many have failed."""
    world, failed = World(urls), 0
    chosen = [load for load in loads(world) if not wanted or load.name in wanted]
    with temporary_store() as dsn:
        uvloop.run(prepare(dsn, SMALL, LARGE, SILENT))
        fill(dsn, world)
        uvloop.run(_link_pages(dsn, world))
        for variant in variants:
            with _open(dsn, urls, variant, seconds) as ran:
                failed += ran.run(chosen)
    return failed


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    options.add_argument("load", nargs="*", help="names of loads, as they are printed; default: all of them")
    options.add_argument("--all", action="store_true", help="in all variants, half an hour")
    options.add_argument("--urls", type=int, default=100_000)
    options.add_argument("--seconds", type=float, default=3.0, help="of each load")
    options.add_argument("--minutes", type=float, default=0.0, help="of all loads, next to a crawl and a feed")
    asked = options.parse_args()
    begin("load")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    variants = (
        [_Variant(*each) for each in product((1, 10), (False, True), (1, 2))]
        if asked.all
        else [_Variant(lasting_s=60 * asked.minutes)]
    )
    sys.exit(min(bench(asked.urls, asked.seconds, variants, asked.load), 1))


if __name__ == "__main__":
    main()
