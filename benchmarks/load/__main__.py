"""Readers next to loads that must not hold them up: ``python -m benchmarks.load [SCENARIO …]``.

Each scenario tells the p99 of a calm reader's page answers alone and next to the load, and what the load itself got:
`links` (one request for fifty pages of 20,000 links), `searches` (110 at once), `silent` (a wiki that never answers,
with 100 readers), `crowd` (200 and 1,000 clients from one range of addresses), `cards` (50 clients that open link
cards, and as a control 50 that read pages).
One law: the calm reader comes from another range of addresses, and runs in a process of its own.
"""

import argparse
import json
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter, sleep
from typing import Final
from urllib.parse import quote

import uvloop

from benchmarks.harness import (
    ROOT,
    Target,
    begin,
    module,
    open_migrated,
    open_process,
    say,
    tell,
    tell_targets,
    temporary_store,
)
from benchmarks.load.crowd import Crowd, Outcome
from benchmarks.load.service import LARGE, LINKS, PAGES, SILENT, SMALL, SMALL_PAGES
from benchmarks.pages.load import Caller, plain_body, request_of
from benchmarks.pages.seed import TODAY, World, fill, prepare
from weboid.core.url.farms import WMFLABS, WikiName
from weboid.core.url.keys import key_of
from weboid.store.pages.page import PageChanges, PageUrls, record_intake
from weboid.store.pages.wiki import record_wiki

_READER: Final = "8.8.8.8"
_CROWD: Final = "9.9.9.9"
_PAUSE_S: Final = 0.02
_MOST_MIB: Final = 256
_HEALTH_MS: Final = 100.0
_TIMES: Final = 3.0
_PROMPT_MS: Final = 2_500.0
_SEARCHES: Final = 110
_CARDS: Final = 50
_CARD_S: Final = 0.2
_PARTS: Final = 20
_LARGEST_HOST: Final = 0
"""A URL of the host that has the most."""
_TOKEN: Final = re.compile(rb'name="token" value="([^"]+)"')


def _page(dbname: str, pages: str, *, sender: str = _READER) -> str:
    path = f"/api/page?dbname={dbname}@wmflabs&pageid={pages}&all=1&format=json"
    return request_of(path, X_Forwarded_For=sender).decode()


def _pages(dbname: str, count: int, *, sender: str = _READER) -> list[str]:
    return [_page(dbname, str(page), sender=sender) for page in range(1, count + 1)]


_HEALTH: Final = [request_of("/healthz").decode()]


@dataclass(slots=True)
class _Bench:
    """A running service, and the calm reader's p99 alone in milliseconds."""

    url: str
    pid: int
    urls: int
    seconds: float
    alone_ms: float = 0.0

    def reader(self, seconds: float) -> Crowd:
        return Crowd(self.url, _pages(SMALL, SMALL_PAGES), seconds=seconds, pause_s=_PAUSE_S)

    def next_to(self, name: str, *crowds: Crowd) -> tuple[list[Outcome], list[Target]]:
        """Lets the calm reader ask next to these crowds; what came of the crowds, and the target."""
        reader, *others = _outcomes(self.reader(max(crowd.seconds for crowd in crowds)), *crowds)
        ratio = reader.p(0.99) / self.alone_ms
        tell(f"    the calm reader: {reader}; p99 {reader.p(0.99):,.1f} ms, alone {self.alone_ms:,.1f}: {ratio:.2f} ×")
        wrong = sum(len(times) for status, times in reader.ms.items() if status != "200") + reader.broken
        return others, [
            Target(f"{name}: p99 of a calm reader's page answers ≤ {_TIMES:g} × alone", ratio, _TIMES, True),
            Target(f"{name}: answers to the calm reader that are not 200", wrong, 0, True),
        ]

    def memory_mib(self, name: str = "VmRSS") -> float:
        found = re.search(rf"{name}:\s+(\d+) kB", Path(f"/proc/{self.pid}/status").read_text())
        assert found
        return int(found[1]) / 1024

    # -- scenarios

    def links(self) -> list[Target]:
        """One request for fifty pages of 20,000 links, then those that go on where it ends."""
        idle = self.memory_mib()
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")  # VmHWM begins anew
        ids = "|".join(map(str, range(1, PAGES + 1)))
        health = Crowd(self.url, _HEALTH, seconds=self.seconds, pause_s=0.005)
        (first, fit), targets = self.next_to(
            "links",
            Crowd(self.url, [_page(LARGE, ids.replace("|", "%7C"), sender=_CROWD)], once=True, seconds=self.seconds),
            health,
        )
        tell(f"    the request: {first}, {first.bytes / 1e6:,.2f} MB; /healthz: {fit}")
        begun, parts = perf_counter(), self._followed(ids)
        grown = self.memory_mib("VmHWM") - idle
        tell(f"    {parts} parts in {perf_counter() - begun:.1f} s; memory {idle:,.0f} MiB idle, {grown:,.0f} more")
        return [
            *targets,
            Target("links: memory above idle ≤ 256 MiB", grown, _MOST_MIB, True),
            Target("links: slowest /healthz ≤ 100 ms", fit.p(1.0), _HEALTH_MS, True),
        ]

    def _followed(self, ids: str) -> int:
        caller = Caller(self.url)
        going_on, parts = "", 0
        while parts < _PARTS:
            path = f"/api/page?dbname={LARGE}@wmflabs&pageid={ids.replace('|', '%7C')}&all=1&format=json"
            reply = caller.ask(path + (f"&continue={going_on}" if going_on else ""))
            parts += 1
            if not (going_on := json.loads(plain_body(reply)).get("continue") or ""):
                break
        caller.close()
        return parts

    def searches(self) -> list[Target]:
        """110 searches that look at much, at once."""
        caller = Caller(self.url)
        form = caller.ask("/search", X_Forwarded_For=_CROWD)
        token = _TOKEN.search(plain_body(form))
        assert token, "the form of the search has no token"
        domain = World(self.urls).url(_LARGEST_HOST).host.partition(".")[2]
        body = f"token={token[1].decode()}&pattern=*.{domain}/*no*where*&verdict=doubtful".encode()
        asked = request_of(
            "/search",
            "POST",
            body,
            Cookie=form.headers["set-cookie"].partition(";")[0],
            Sec_Fetch_Site="same-origin",
            Content_Type="application/x-www-form-urlencoded",
            X_Forwarded_For=_CROWD,
        )
        (found,), targets = self.next_to(
            "searches", Crowd(self.url, [asked.decode()], clients=_SEARCHES, once=True, seconds=self.seconds)
        )
        tell(f"    {_SEARCHES} searches: {found}")
        return [*targets, *_orderly("searches", found)]

    def silent(self) -> list[Target]:
        """A hundred readers of a wiki that accepts and never answers."""
        asked = _pages(SILENT, SMALL_PAGES, sender=_CROWD)
        (silent,), targets = self.next_to("silent", Crowd(self.url, asked, 100, self.seconds, pause_s=0.05))
        tell(f"    its readers: {silent}")
        return targets

    def crowd(self) -> list[Target]:
        """Clients from one range of addresses that ask again at once, whatever they got."""
        asked = _pages(SMALL, SMALL_PAGES, sender=_CROWD)
        targets = []
        for clients, is_new in ((200, False), (1_000, False), (1_000, True)):
            name = f"{clients:,} clients{', each time anew' if is_new else ''}"
            (crowd,), found = self.next_to(name, Crowd(self.url, asked, clients, self.seconds, is_new=is_new))
            rate = crowd.count(200) / crowd.seconds
            tell(f"    {name}: {rate:,.0f} answers/s, p99 {crowd.p(0.99):,.0f} ms; {crowd}")
            targets += [*found, *_orderly(name, crowd)]
        return targets

    def cards(self) -> list[Target]:
        """Fifty clients that open link cards, each of which takes a look of half a second when it is opened first."""
        world, asked = World(self.urls), []
        for page in range(1, SMALL_PAGES + 1):
            for number in world.numbers_of(page, LINKS[SMALL]):
                url = quote(str(world.url(number)), safe="")
                path = f"/api/card?dbname={SMALL}@wmflabs&pageid={page}&url={url}"
                asked.append(request_of(path, X_Forwarded_For=_CROWD).decode())
        pages = _pages(SMALL, SMALL_PAGES, sender=_CROWD)
        control, _ = _outcomes(self.reader(self.seconds), Crowd(self.url, pages, _CARDS, self.seconds, pause_s=_CARD_S))
        (cards,), targets = self.next_to("cards", Crowd(self.url, asked, _CARDS, self.seconds, pause_s=_CARD_S))
        tell(f"    cards: {cards}")
        tell(f"    control, the calm reader next to {_CARDS} readers: p99 {control.p(0.99):,.1f} ms")
        ratio = targets[0].value * self.alone_ms / max(_TIMES * self.alone_ms, 1.5 * control.p(0.99))
        limit = "cards: p99 of a calm reader / max(3 × alone, 1.5 × control)"
        return [Target(limit, ratio, 1.0, True), targets[1], *_orderly("cards", cards)]


def _orderly(name: str, crowd: Outcome) -> list[Target]:
    """Every answer is a 200 or a prompt 503, and none is broken."""
    others = sum(len(times) for status, times in crowd.ms.items() if status not in ("200", "503"))
    return [
        Target(f"{name}: broken", crowd.broken, 0, True),
        Target(f"{name}: answers that are neither 200 nor 503", others, 0, True),
        Target(f"{name}: slowest 503, ms", crowd.p(1.0, 503) if crowd.count(503) else 0.0, _PROMPT_MS, True),
    ]


def _outcomes(*crowds: Crowd) -> list[Outcome]:
    """What comes of crowds that ask at the same time.

    Crowds come from other addresses, so that those of many clients get what the service and single clients leave of the
    processor.
    """
    running = []
    for crowd in crowds:
        process = subprocess.Popen(
            ["nice", "-n", "15" if crowd.clients > 1 else "0", sys.executable, "-m", "benchmarks.load.crowd"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert process.stdin
        process.stdin.write(json.dumps(asdict(crowd)).encode())
        process.stdin.close()
        running.append(process)
    found = []
    for process in running:
        assert process.stdout
        found.append(Outcome(**json.load(process.stdout)))
        process.wait()
    return found


async def _link_pages(dsn: str, world: World) -> None:
    async with open_migrated(dsn, size=1) as pool, pool.connection() as conn:
        wiki = await record_wiki(conn, WMFLABS, WikiName(SILENT, WMFLABS.name))
        pages = []
        for page in range(1, SMALL_PAGES + 1):
            urls = map(world.url, world.numbers_of(page, LINKS[SMALL]))
            pages.append(PageUrls(page, 0, f"Page {page}", 1, None, {key_of(url): url for url in urls}))
        await record_intake(conn, {wiki.wiki: PageChanges(read=pages)}, TODAY)


def bench(urls: int, seconds: float, wanted: list[str]) -> None:
    """The scenarios of these names, each with a service of its own."""
    world, targets = World(urls), []
    with temporary_store() as dsn:
        uvloop.run(prepare(dsn, SMALL, LARGE, SILENT))
        fill(dsn, world)
        uvloop.run(_link_pages(dsn, world))
        for name in wanted:
            with open_process(module("load.service", dsn, urls)) as (process, url):
                ran = _Bench(url, process.pid, urls, seconds)
                for _ in range(2):  # the first time is for warming up
                    ran.alone_ms = _outcomes(ran.reader(seconds))[0].p(0.99)
                tell(f"  {name}")
                say(name)
                scenario: Callable[[], list[Target]] = getattr(ran, name)
                targets += scenario()
            sleep(1)
    tell_targets(targets)


_SCENARIOS: Final = ("links", "searches", "silent", "crowd", "cards")


def main() -> None:
    options = argparse.ArgumentParser(prog="python -m benchmarks.load", description=__doc__)
    options.add_argument("scenario", nargs="*", choices=[[], *_SCENARIOS], help="default: all of them")
    options.add_argument("--urls", type=int, default=200_000)
    options.add_argument("--seconds", type=float, default=8.0, help="of each load")
    asked = options.parse_args()
    begin("load")
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    bench(asked.urls, asked.seconds, asked.scenario or list(_SCENARIOS))


if __name__ == "__main__":
    main()
