"""Scans links now, by Weboid's own checker: a request a second at each domain, the domains in parallel (B-3).

A link is not scanned again within seven days, or three after its first and its second failure. What scans found is kept
in ``scan_memory``. Where nothing can be concluded (no network, a host that must not be contacted), nothing is noted.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime

from weboid.checking.spot_checks import SpotChecks, open_domain_checks
from weboid.core.url.classify import Classified
from weboid.core.url.hosts import registrable_domain
from weboid.errors import NoNetwork
from weboid_scripts.weblinks.links_found import FoundLink
from weboid_scripts.weblinks.scan_memory import Scan, ScanMemory, scan_after


class Scanner:
    """Scans links over one session; `now` gives the moment in UTC, `connections` is how many domains at a time."""

    def __init__(
        self, checks: SpotChecks, memory: ScanMemory, *, connections: int, now: Callable[[], datetime]
    ) -> None:
        self._checks = checks
        self._memory = memory
        self._now = now
        self._seats = asyncio.Semaphore(connections)

    async def scan(self, links: Iterable[FoundLink]) -> dict[str, Scan]:
        """The results of these links when all that are due have been scanned, by normal form.

        What the wiki itself decides is not scanned (permalive, permadead, subscription). Raises NoNetwork.
        """
        undecided = {link.normal: link for link in links if not link.is_decided}
        known = self._memory.scans(undecided)
        now = self._now()
        by_domain: dict[str, list[FoundLink]] = {}
        for link in undecided.values():
            before = known.get(link.normal)
            if link.link.url is not None and (before is None or before.is_due(now)):
                by_domain.setdefault(registrable_domain(link.link.url.host), []).append(link)
        domains = [asyncio.create_task(self._scan_domain(of_domain, known)) for of_domain in by_domain.values()]
        try:
            await asyncio.gather(*domains)
        finally:
            for task in domains:
                task.cancel()
            await asyncio.gather(*domains, return_exceptions=True)
        return known

    async def _scan_domain(self, links: Sequence[FoundLink], known: dict[str, Scan]) -> None:
        """Scans links of one domain, one after the other; what each scan found is noted at once."""
        for link in links:
            async with self._seats:
                scan = await self._scanned(link.link, known.get(link.normal))
            if scan is not None:
                known[link.normal] = scan
                self._memory.note([scan])

    async def _scanned(self, link: Classified, before: Scan | None) -> Scan | None:
        check = await self._checks.check(link, quick=True)
        if check.no_network is not None:
            raise NoNetwork(f"Nobody answers, so nothing can be said of links: {check.no_network}.")
        seen = check.seen
        if seen is None or check.error is not None:
            return None
        return scan_after(before, str(link.url), self._now(), seen.outcome, seen.reason.word, seen.http or None)


@asynccontextmanager
async def open_scanner(
    memory: ScanMemory, *, connections: int, contact: str, apis: Sequence[str], now: Callable[[], datetime]
) -> AsyncIterator[Scanner]:
    """A scanner with a session of its own; `contact` goes into the User-Agent. Raises ConfigError.

    `apis` are those of the wikis, as witnesses that we are online.
    """
    async with open_domain_checks(connections=connections, contact=contact, apis=apis) as checks:
        yield Scanner(checks, memory, connections=connections, now=now)
