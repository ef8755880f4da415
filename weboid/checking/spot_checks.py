"""Checks given URLs once, without a store: for ``weboid check``, ``weboid page`` and the bot scripts.

In which order URLs are checked, and how many at a time, is the caller's matter; pauses are kept here.
"""

import logging
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Final

from weboid.checking.checker import Checker
from weboid.checking.connectivity import Connectivity
from weboid.checking.online import Online
from weboid.checking.turns import LocalTurns, NotAsked, Queue
from weboid.config import CrawlConfig, NetConfig, load_config
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.content import signals_of
from weboid.core.observe.observation import Observation, RawResponse
from weboid.core.record.reasons import Outcome
from weboid.core.url.classify import Classified, UrlClass, classify
from weboid.core.url.farms import Farm
from weboid.core.url.hosts import registrable_domain
from weboid.core.url.probably_meant import probably_meant
from weboid.core.url.urls import Url
from weboid.net.outbound import Outbound, open_session

log = logging.getLogger(__name__)

NO_NETWORK: Final = "no-network"
"""The reason where nothing can be said, since our own connection is down (C-16)."""


@dataclass(frozen=True, slots=True)
class SpotCheck:
    """One URL with its class and, if it was checked, the result; `signals` spoke against its working."""

    link: Classified
    answer: RawResponse | None = None
    seen: Observation | None = None
    error: str | None = None
    signals: tuple[str, ...] = ()
    is_own_fault: bool = False
    """The error is one of this program."""
    no_network: str | None = None
    """Why nothing can be said of any link: our own connection is down (C-16)."""
    meant: Url | None = None
    """The URL that was probably meant, if it works and this one does not (L-9)."""

    @property
    def reason(self) -> str | None:
        """The word of the reason of its outcome, or why the URL has none; None where nothing is to be said."""
        if self.seen:
            return self.seen.reason.word
        return NO_NETWORK if self.no_network else self.link.reason


class SpotChecks:
    """Makes checks; failures are believed only while somebody answers (C-16)."""

    def __init__(self, checker: Checker, connectivity: Connectivity) -> None:
        self._checker = checker
        self._connectivity = connectivity

    async def check(self, link: Classified, *, quick: bool = False) -> SpotCheck:
        """The check of a link; only watched ones are requested. `quick`: only headers, where HEAD is believed (C-1)."""
        if link.kind is not UrlClass.WATCHED or link.url is None:
            return SpotCheck(link)
        if self._connectivity.is_down:
            return SpotCheck(link, no_network=self._connectivity.explanation)
        made = SpotCheck(link)

        async def ask(request: CheckRequest) -> Observation:
            nonlocal made
            try:
                found = await self._checker.check(request)
            except NotAsked:
                why = "not checked: its host must not be contacted now, or has too many checks waiting"
                made = SpotCheck(link, error=why)
                raise
            except Exception as error:
                # Ours: it is reported, and nothing is concluded about the link.
                made = SpotCheck(link, error=f"could not be checked: {type(error).__name__}")
                raise
            signals = found.signals or (signals_of(found.answer, found.seen.reason) if found.answer else ())
            made = SpotCheck(link, found.answer, found.seen, signals=signals)
            return found.seen

        request = CheckRequest(str(link.url), thorough=True, looks=not quick)
        try:
            seen = await self._connectivity.check(request, ask, raises=True)
        except Exception as error:
            log.error("an error of our own at %r", request.url, exc_info=error)
            return SpotCheck(link, error=f"could not be checked: {type(error).__name__}", is_own_fault=True)
        if seen is None and self._connectivity.is_down:
            return SpotCheck(link, no_network=self._connectivity.explanation)
        if seen is None and made.seen:
            return SpotCheck(link, no_network=self._connectivity.why_names_are_doubted)
        return made

    async def check_with_meant(self, link: Classified, farm: Farm, *, quick: bool = False) -> SpotCheck:
        """The check of a link, and one look at the URL that was probably meant by one that fails or is no URL (L-9)."""
        made = await self.check(link, quick=quick)
        is_failing = link.kind is UrlClass.INVALID or (made.seen and made.seen.outcome is Outcome.FAILING)
        if not is_failing or (meant := probably_meant(link.given)) is None:
            return made
        there = await self.check(classify(str(meant.url), farm), quick=quick)
        is_working = there.seen is not None and there.seen.outcome is Outcome.WORKING
        return replace(made, meant=meant.url) if is_working else made


class DomainTurns(LocalTurns):
    """Turns at registrable domains: the pause is kept between two requests to any of a domain's hosts (B-3)."""

    def slow(self, host: str, delay_s: float) -> None:
        super().slow(registrable_domain(host), delay_s)

    def delay_of(self, host: str) -> float:
        return super().delay_of(registrable_domain(host))

    def queue_of(self, host: str) -> Queue:
        return super().queue_of(registrable_domain(host))


@asynccontextmanager
async def open_spot_checks(
    net: NetConfig,
    crawl: CrawlConfig,
    turns: LocalTurns,
    online: Callable[[Checker, Outbound], Online],
    own_farms: Collection[Farm],
) -> AsyncIterator[SpotChecks]:
    """Checks over a session of their own; `online` makes the witnesses of our own connection."""
    async with open_session(net) as session:
        checker = Checker(session, turns, crawl, keeps_faces=True, own_farms=own_farms)
        # Whatever is open may still answer: nothing is decided before all of it has failed.
        connectivity = Connectivity(checker.ask, online(checker, session), suspects=net.connections + 1)
        await connectivity.look()
        try:
            yield SpotChecks(checker, connectivity)
        finally:
            await connectivity.close()


@asynccontextmanager
async def open_domain_checks(*, connections: int, contact: str, apis: Sequence[str]) -> AsyncIterator[SpotChecks]:
    """Checks with a pause between two requests to one registrable domain (B-3), for programs without a configuration.

    Pauses, permitted networks, name servers and the like are those of the environment (``WEBOID_NET_…``,
    ``WEBOID_CRAWL_…``) or the defaults; of `connections` and the configured ones the fewer. `contact` goes into the
    User-Agent unless the environment has one. `apis` are those of the wikis whose links are checked, as witnesses that
    we are online. Raises ConfigError.
    """
    config = load_config(None, contact=contact)
    net = replace(config.net, connections=min(connections, config.net.connections))

    def online(checker: Checker, session: Outbound) -> Online:
        return Online(
            checker.fetch,
            session.resolver.look_up,
            canaries=config.crawl.canaries,
            apis=apis,
            http_port=config.net.web_ports[0],
        )

    turns = DomainTurns(config.crawl.delay)
    async with open_spot_checks(net, config.crawl, turns, online, config.own_farms) as checks:
        yield checks
