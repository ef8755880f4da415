"""Where a world is played for the crawler: on sockets of this machine, or simulated without any.

One law: both are asked and answer alike; only what is measured of sockets is the sockets' own.
"""

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from ipaddress import ip_network
from pathlib import Path
from typing import Final

from benchmarks.verdicts.authority import Authority
from benchmarks.verdicts.simulated import Answered, SimulatedWeb
from benchmarks.verdicts.wayout import SimulatedTurns, open_simulated
from benchmarks.worlds.sight import PATIENCE_S
from benchmarks.worlds.worldfile import WorldFile
from weboid.checking.slots import Slots
from weboid.checking.turns import LocalTurns, SharedTurns
from weboid.config import Config, NetConfig, WikiConfig, load_config
from weboid.core.record.moment import planned_hour
from weboid.core.url.farms import WikiName
from weboid.core.url.keys import host_key
from weboid.demo.littleweb import LittleWeb, open_littleweb
from weboid.demo.world import Host, Page, Spell, World
from weboid.net.outbound import Outbound, open_session

FIRST_DAY: Final = 3_000
"""The day of the store on which the world's day 0 is."""
ANSWER_S: Final = 0.4
"""How long a server is waited for on sockets, instead of a minute: the world's seconds are as much shorter."""
PORTS: Final = (28_080, 28_443)
"""Of http and https, if they are free. They are part of the URLs, by which some of what a crawler does is spread over
its days: with the same ports a year is the same again."""
_CONNECTIONS: Final = 40
"""Few: the little web lives in the same process, and what waits for its turn there looks slow."""
_CONNECTIONS_SIMULATED: Final = 400
WIKI: Final = WikiName("yearwiki", "wmflabs")
"""The wiki whose links are watched."""
_WIKI: Final = "yearwiki.weboid.wiki"
_SITEINFO: Final = '{"batchcomplete":true,"query":{"general":{"generator":"MediaWiki 1.43.0"}}}'
_OPENING: Final = 2.0
"""Times the limit of an answer: that of opening a connection. Here servers share our processor, so that nothing but
the answer has a limit; a name server that is silent is therefore a timeout, not an error of names as in life."""


@dataclass(slots=True)
class Stage:
    """A world at play: the day that it is, and how a crawler gets there.

    `requests` and `questions` are those of the whole play; `gap_s` is the shortest time between two requests to one
    host, None if it was not measured. `heard` is called at each request, if the play can do so.
    """

    file: WorldFile
    config: Config
    located: Callable[[str], str]
    open_outbound: Callable[[NetConfig], AbstractAsyncContextManager[Outbound]] = open_session
    open_turns: Callable[[Slots, float], LocalTurns] = SharedTurns
    day: int = 0
    requests: int = 0
    questions: int = 0
    gap_s: float | None = None
    web: LittleWeb | None = None
    simulated: SimulatedWeb | None = None
    _last: dict[str, float] = field(default_factory=dict)

    def asked(self) -> int:
        """How many requests servers got today so far."""
        return self.simulated.requests if self.simulated else len(self.web.requests) if self.web else 0

    def count(self) -> None:
        """Counts what was asked since the last time."""
        if self.simulated:
            self.requests += self.simulated.requests
            self.questions += self.simulated.questions
            self.simulated.requests = self.simulated.questions = 0
        if self.web:
            self._measure(self.web)
            self.requests += len(self.web.requests)
            self.questions += len(self.web.questions)
            self.web.requests.clear()
            self.web.questions.clear()

    def _measure(self, web: LittleWeb) -> None:
        for request in web.requests:
            if request.method == "TLS":
                continue
            if (before := self._last.get(request.host)) is not None:
                gap_s = request.at_s - before
                self.gap_s = gap_s if self.gap_s is None else min(self.gap_s, gap_s)
            self._last[request.host] = request.at_s


def hours_in(file: WorldFile) -> Callable[[str, int], int]:
    """At which hour of a day of the world a host is asked: when a crawler that runs all the time visits it."""

    @cache
    def key(host: str) -> int | None:
        return host_key(host) if host in file.world.hosts else None

    def hour(host: str, day: int) -> int:
        known = key(host)
        return 0 if known is None else planned_hour(known, FIRST_DAY + day)

    return hour


@asynccontextmanager
async def open_simulated_stage(
    file: WorldFile, folder: Path, ports: tuple[int, int] = PORTS, answered: Answered | None = None
) -> AsyncIterator[Stage]:
    """A stage without sockets, in the seconds of life; `answered` hears of every reply."""
    config = _config(folder, file, PATIENCE_S, _CONNECTIONS_SIMULATED, ports)
    hour = hours_in(file)
    web = SimulatedWeb(_with_wiki(file), ports, lambda: stage.day, lambda host: hour(host, stage.day))
    web.answered = answered or web.answered
    stage = Stage(
        file,
        _watching(replace(config, crawl=replace(config.crawl, delay=0.0)), file, web.located),
        web.located,
        lambda settings: open_simulated(web, settings),
        lambda pool, delay: SimulatedTurns(),
        simulated=web,
    )
    yield stage


@asynccontextmanager
async def open_socket_stage(
    file: WorldFile, folder: Path, answer_s: float = ANSWER_S, ports: tuple[int, int] = PORTS
) -> AsyncIterator[Stage]:
    """A stage on loopback, with certificates in `folder`."""
    stage: Stage | None = None

    def today() -> int:
        return stage.day if stage else 0

    hours = hours_in(file)

    def hour(host: str) -> int:
        return hours(host, today())

    authority = Authority(folder)
    tls = authority.server_context(file.world, today, hour)
    http, https = ports if all(map(_is_free, ports)) else (0, 0)
    async with open_littleweb(
        _with_wiki(file), day=today, hour=hour, tls=tls, http_port=http, https_port=https, pace=answer_s / PATIENCE_S
    ) as web:
        config = _config(folder, file, answer_s, _CONNECTIONS, (web.http_port, web.https_port))
        net = replace(config.net, dns=(web.name_server,), ca=authority.ca_file)
        stage = Stage(file, _watching(replace(config, net=net), file, web.located), web.located, web=web)
        yield stage


def _with_wiki(file: WorldFile) -> World:
    """The world of a file and the API of the wiki that is watched in it."""
    if not file.has_wiki:
        return file.world
    api = Host(paths={"/w/api.php": (Spell(0, Page("application/json", text=_SITEINFO)),)})
    return replace(file.world, hosts={**file.world.hosts, _WIKI: api})


def _watching(config: Config, file: WorldFile, located: Callable[[str], str]) -> Config:
    """The configuration of a crawler that watches the world's wiki."""
    wiki = WikiConfig(WIKI, api=located(f"http://{_WIKI}/w/api.php"))
    return replace(config, wikis=(wiki,) if file.has_wiki else ())


def _config(folder: Path, file: WorldFile, answer_s: float, connections: int, ports: tuple[int, int]) -> Config:
    config = load_config(None, {}, data=folder)
    net = replace(
        config.net,
        permit=(ip_network("127.0.0.0/8"),),
        web_ports=ports,
        answer_s=answer_s,
        connect_s=_OPENING * answer_s,
        connections=connections,
    )
    crawl_config = replace(config.crawl, delay=file.troubles.delay_s)
    return replace(config, contact="nobody@example.org", net=net, crawl=crawl_config)


def _is_free(port: int) -> bool:
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError:
        return False
    return True
