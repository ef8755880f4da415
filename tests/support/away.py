"""A place whose database can be taken away from the real commands and given back at any moment, and what these say."""

import asyncio
import os
import re
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from support.commands import Place, open_place
from support.database_proxy import DatabaseProxy, open_database_proxy
from support.databases import set_read_only

from weboid.demo.world import Host, Page, Spell, World

AWAY: Final = "the database is away: "
_LIMIT_S: Final = 60.0
HOSTS, PATHS = 20, 5
WORLD = World(
    {
        f"h{host}.demo": Host(paths={f"/{path}": (Spell(0, Page(title=f"{path}")),) for path in range(PATHS)})
        for host in range(HOSTS)
    }
)
URLS = [f"http://h{host}.demo/{path}" for host in range(HOSTS) for path in range(PATHS)]
PAGES: Final = {"All": URLS} | {f"Page {number}": URLS[number:][:5] for number in range(2, 14)}


@dataclass
class Away:
    """A database that can be taken away from the programs of a place, and given back."""

    database: str
    proxy: DatabaseProxy

    async def begin(self, trouble: str) -> None:
        """Takes it away: "cut", "stall" or "swallow" (`DatabaseProxy`), or "read-only", as a fail-over does."""
        if trouble == "read-only":
            await set_read_only(self.database, is_on=True)
        else:
            getattr(self.proxy, trouble)()

    async def end(self) -> None:
        await set_read_only(self.database, is_on=False)
        self.proxy.heal()


@dataclass
class Running:
    """A command that runs, and the lines that it has said to the log so far."""

    process: asyncio.subprocess.Process
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._reading = [asyncio.create_task(self._read()), asyncio.create_task(self._drain())]

    async def _read(self) -> None:
        assert self.process.stderr
        async for line in self.process.stderr:
            self.lines.append(line.decode())

    async def _drain(self) -> None:
        assert self.process.stdout
        await self.process.stdout.read()

    @property
    def said(self) -> str:
        return "".join(self.lines)

    def count(self, words: str) -> int:
        return sum(words in line for line in self.lines)

    async def until(self, holds: Callable[[], bool | Awaitable[bool]]) -> None:
        """Returns when something holds; fails if the command ends before."""
        limit, is_over = time.monotonic() + _LIMIT_S, False
        while not (held if isinstance(held := holds(), bool) else await held):
            assert not is_over, self.said[-3000:]
            assert time.monotonic() < limit, self.said[-3000:]
            is_over = self.process.returncode is not None
            await asyncio.sleep(0.005)

    async def url(self, verb: str = "answers") -> str:
        """The address at which a webservice answers or only listens, once it has said so."""
        await self.until(lambda: self.count(f"Weboid {verb} at ") > 0)
        found = re.search(r"http://\S+/", self.said)
        assert found
        return found[0]

    async def until_away(self) -> None:
        await self.until(lambda: self.count(AWAY) > 0)

    async def ended(self, within_s: float = _LIMIT_S) -> int:
        async with asyncio.timeout(within_s):
            status = await self.process.wait()
        await asyncio.gather(*self._reading)
        assert "Traceback" not in self.said, self.said
        assert "never retrieved" not in self.said, self.said
        return status

    async def stop(self) -> float:
        """Sends SIGTERM; returns how many seconds it took to end in order."""
        begun = time.monotonic()
        os.kill(self.process.pid, signal.SIGTERM)
        assert await self.ended() == 0, self.said[-3000:]
        return time.monotonic() - begun


@asynccontextmanager
async def fed_place(folder: Path, database: str) -> AsyncIterator[tuple[Place, Away]]:
    """A place whose links are all due on day 100, and whose database can be taken away."""
    with open_database_proxy(database) as proxy:
        async with open_place(folder, WORLD, PAGES) as place:
            place.environ |= {
                "WEBOID_DATABASE": proxy.dsn,
                "WEBOID_DATABASE_SILENCE_S": "1",
                "WEBOID_CRAWL_DELAY": "0.1",
                "WEBOID_NET_CONNECTIONS": "10",
                # All of them answer: a machine that is busy is none of their faults.
                "WEBOID_NET_ANSWER_S": "10",
                "WEBOID_NET_CONNECT_S": "10",
            }
            assert (await place.run("feed", "pass", "--day", "100")).status == 0
            yield place, Away(database, proxy)
