"""What reading pages costs: requests that are not for a page itself, bytes, and the time of the analysis alone.

One law: it is counted where the servers stand, not where the crawler says so.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from time import process_time
from typing import Final
from urllib.parse import unquote, urlsplit

from benchmarks.content.manifest import Specimen
from benchmarks.verdicts.simulated import SimulatedEngine, SimulatedWeb
from weboid.config import NetConfig
from weboid.core.observe.observation import RawResponse
from weboid.core.observe.observe import observation_of
from weboid.demo.replies import ReceivedRequest
from weboid.demo.world import World
from weboid.net.exchange import Reply, Request

_PORTS: Final = (80, 443)
_PATIENCE_S: Final = 60.0


@dataclass(slots=True)
class Costs:
    """Counts the replies of a play; `pages` are the addresses (host, path with query) of the pages themselves."""

    pages: frozenset[tuple[str, str]]
    requests: int = 0
    robots: int = 0
    probes: Counter[str] = field(default_factory=Counter)
    """By host: requests for other addresses than its pages and robots.txt."""
    looks: int = 0
    look_bytes: int = 0

    def hear(self, request: ReceivedRequest, reply: Reply) -> None:
        """Takes one reply into account."""
        self.requests += 1
        if request.target == "/robots.txt":
            self.robots += 1
        elif (request.host.partition(":")[0], unquote(request.target)) not in self.pages:
            self.probes[request.host.partition(":")[0]] += 1
        if request.method == "GET" and reply.body and request.target != "/robots.txt":
            self.looks += 1
            self.look_bytes += len(reply.body)


def new_costs(urls: Iterable[str]) -> Costs:
    parts = [urlsplit(url) for url in urls]
    return Costs(
        frozenset(
            (each.hostname or "", unquote(f"{each.path or '/'}{'?' if each.query else ''}{each.query}"))
            for each in parts
        )
    )


def analysis_ms(world: World, played: Mapping[str, Specimen], day: int) -> list[float]:
    """The milliseconds of processor time that the analysis of each page takes, read as the crawler reads it; sorted."""
    engine = SimulatedEngine(SimulatedWeb(world, _PORTS, lambda: day, lambda host: 0), NetConfig(web_ports=_PORTS))
    times = []
    for url in played:
        reply = engine.ended(Request("GET", url, {}), _PATIENCE_S).end
        if isinstance(reply, Reply):
            answer = RawResponse(url, url, "GET", reply.code, headers=reply.headers, body=reply.body)
            begun = process_time()
            observation_of(answer)
            times.append(1000 * (process_time() - begun))
    return sorted(times)
