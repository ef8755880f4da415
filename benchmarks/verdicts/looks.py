"""Looks at a world from outside of the crawler: what any program finds at a URL at a moment.

One law: nobody is asked and nothing is waited for; a look is computed from the world.
"""

from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urljoin

from benchmarks.verdicts.simulated import SimulatedEngine, SimulatedWeb
from benchmarks.worlds.worldfile import WorldFile
from weboid.config import NetConfig
from weboid.core.record.reasons import Reason
from weboid.net.exchange import Reply, Request
from weboid.net.faults import fault_of

_PORTS: Final = (80, 443)
_FOLLOWED: Final = frozenset({301, 302, 303, 307, 308})
PROGRAM: Final = "a-program/1.0"
BROWSER: Final = "Mozilla/5.0"


@dataclass(frozen=True, slots=True)
class Look:
    """What was found: a code at the end of redirects, or why there was none; and where that was.

    `rests` = the server asked for a pause.
    """

    code: int = 0
    fault: Reason | None = None
    end: str = ""
    rests: bool = False

    @property
    def fails(self) -> bool:
        """Whether there was no answer, or a code that is an error."""
        return not self.code or self.code >= 400

    @property
    def says_missing(self) -> bool:
        """Whether a host that answers says that the page is missing."""
        return self.code in (404, 410)

    @property
    def is_bare_503(self) -> bool:
        """Whether nothing is said but that the service is unavailable."""
        return self.code == 503 and not self.rests


@dataclass(frozen=True, slots=True)
class Visitor:
    """How a program asks: its User-Agent, its patience, whether it goes by certificates, how many redirects it
    follows."""

    agent: str = PROGRAM
    answer_s: float = 60.0
    verifies: bool = True
    redirects: int = 20


class Looks:
    """Looks at one world."""

    def __init__(self, file: WorldFile) -> None:
        self._day = self._hour = 0
        web = SimulatedWeb(file.world, _PORTS, lambda: self._day, lambda host: self._hour)
        self._engine = SimulatedEngine(web, replace(NetConfig(), web_ports=_PORTS))
        calm = SimulatedWeb(replace(file.world, outages=()), _PORTS, lambda: self._day, lambda host: self._hour)
        self._calm = SimulatedEngine(calm, self._engine.settings)

    def look(self, url: str, day: int, hour: int, visitor: Visitor, method: str = "GET", *, lost: bool = True) -> Look:
        """What a visitor finds; without `lost` as if no outage of our own network were in her way."""
        self._day, self._hour = day, hour
        engine = self._engine if lost else self._calm
        headers = {"User-Agent": visitor.agent}
        for _ in range(visitor.redirects + 1):
            request = Request(method, url.partition("#")[0], headers, trusting=not visitor.verifies)
            try:
                end = engine.ended(request, visitor.answer_s).end
            except ValueError:
                return Look(fault=Reason.REDIRECT_BROKEN, end=url)
            if not isinstance(end, Reply):
                fault = fault_of(end)
                return Look(fault=fault.reason if fault else Reason.DNS_ERROR, end=url)
            if end.code not in _FOLLOWED or not end.location:
                return Look(end.code, end=url, rests="retry-after" in end.headers)
            url = urljoin(url, end.location)
        return Look(fault=Reason.TOO_MANY_REDIRECTS, end=url)
