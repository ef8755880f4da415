"""For tests that run the program as its users do: real processes over a little web and wiki, in their own folder.

One law: only processes started here are ended here.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from support.forked import run_forked, start_forked

from weboid.demo.littleweb import LittleWeb, open_littleweb
from weboid.demo.littlewiki import LittleWiki, open_littlewiki
from weboid.demo.wikipages import WikiLink, WikiPage
from weboid.demo.world import World

LIMIT_S = 60.0
_CONFIGURES: Final = ("WEBOID_", "TOOL_", "PORT", "XDG_", "STATE_DIRECTORY")


@dataclass
class Ran:
    status: int
    out: str
    err: str

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass
class Place:
    """A machine with a little web and wiki, and Weboid's data folder on it. `day` is what the servers think it is."""

    folder: Path
    web: LittleWeb | None = None
    wiki: LittleWiki | None = None
    day: int = 100
    environ: dict[str, str] = field(default_factory=dict)
    started: list[asyncio.subprocess.Process] = field(default_factory=list)

    async def start(self, *call: str, stdin: int = subprocess.PIPE) -> asyncio.subprocess.Process:
        """Starts ``weboid`` with these words, in a group of its own and a process that need not load it first.

        Its output and errors are pipes, its input, too, or another file.
        """
        self.started.append(await start_forked(call, self._environ(), self.folder, stdin))
        return self.started[-1]

    async def start_anew(
        self, *call: str, before: Sequence[str] = (), terminal: int = subprocess.PIPE
    ) -> asyncio.subprocess.Process:
        """Starts ``python -m weboid`` likewise, but at pipes or a terminal; `before`: by another program, like
        timeout."""
        process = await asyncio.create_subprocess_exec(
            *(*before, sys.executable),
            *("-m", "weboid", *call),
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
            env=self._environ(),
            cwd=self.folder,
            process_group=0,
        )
        self.started.append(process)
        return process

    async def serve(self, *words: str, port: str = "0") -> tuple[asyncio.subprocess.Process, str]:
        """Starts the webservice; returns its process and its address without a slash at the end, once it answers."""
        process = await self.start("serve", "--port", port, *words)
        return process, await address_of(process)

    async def end(self) -> None:
        for process in self.started:
            if process.returncode is None:
                process.kill()
                await process.wait()

    async def run(self, *call: str, stdin: str = "") -> Ran:
        """Runs ``weboid`` to its end, in a process that need not load it first."""
        return Ran(*await run_forked(call, self._environ(), self.folder, stdin, LIMIT_S))

    def _environ(self) -> dict[str, str]:
        environ = {name: value for name, value in os.environ.items() if not name.startswith(_CONFIGURES)}
        own = {"WEBOID_DATA": str(self.folder / "data"), "XDG_STATE_HOME": str(self.folder / "state")}
        return {**environ, **own, **self.environ}

    def watch(self, wiki: str, api: str) -> None:
        """Tells Weboid of a wiki, as ``dbname@farm``, and its api.php."""
        (self.folder / "weboid.toml").write_text(f'[wiki."{wiki}"]\napi = "{api}"\n', encoding="utf-8")


async def address_of(process: asyncio.subprocess.Process) -> str:
    """The address of a webservice without a slash at the end, once it answers."""
    assert process.stderr
    async with asyncio.timeout(LIMIT_S):
        while not (found := re.search(rb"Weboid answers at (\S+)/", line := await process.stderr.readline())):
            assert line, "it has ended"
    return found[1].decode()


@asynccontextmanager
async def open_place(folder: Path, world: World, pages: Mapping[str, Sequence[str]]) -> AsyncIterator[Place]:
    """A place whose wiki has these pages, title -> URLs of the world without port; Weboid is configured for it."""
    async with open_web_place(folder, world) as place:
        assert place.web
        articles = [
            WikiPage(number, title, tuple(WikiLink(place.web.located(url)) for url in urls))
            for number, (title, urls) in enumerate(pages.items(), start=1)
        ]
        async with open_littlewiki(articles) as wiki:
            place.wiki = wiki
            place.watch("demowiki@wmflabs", wiki.api_url)
            try:
                yield place
            finally:
                await place.end()  # Before the wiki that it may be reading.


@asynccontextmanager
async def open_web_place(folder: Path, world: World) -> AsyncIterator[Place]:
    """A place without a wiki: Weboid is configured for its little web."""
    place = Place(folder)
    async with open_littleweb(world, day=lambda: place.day) as web:
        place.web = web
        place.environ = {
            "WEBOID_NET_DNS": web.name_server,
            "WEBOID_NET_PERMIT": "127.0.0.0/8",
            "WEBOID_NET_ANSWER_S": "0.5",
            "WEBOID_NET_CONNECT_S": "0.5",
            "WEBOID_NET_CONNECTIONS": "50",
            "WEBOID_CRAWL_DELAY": "0",
            "WEBOID_CRAWL_LEASE_S": "2",
            "WEBOID_CONTACT": "tests@weboid.example",
        }
        try:
            yield place
        finally:
            await place.end()
