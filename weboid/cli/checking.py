"""Checking given URLs without a store: for ``weboid check`` and ``weboid page``.

One law: results come in the order of the URLs, and only a limited number of checks runs at a time.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

import click

from weboid.checking.checker import Checker
from weboid.checking.connectivity import Connectivity
from weboid.checking.face_memory import FaceMemory
from weboid.checking.turns import LocalTurns, NotAsked
from weboid.cli.arguments import online_of
from weboid.cli.runtime import raise_open_files
from weboid.config import Config
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.content import signals_of
from weboid.core.observe.observation import Observation, RawResponse
from weboid.core.url.classify import Classified, UrlClass, classify
from weboid.core.url.display import unicode_host
from weboid.core.url.farms import Farm
from weboid.net.outbound import open_session

NO_NETWORK: Final = "no-network"
"""The reason of a line where nothing can be said, since our own connection is down (C-16)."""
EXIT_NO_NETWORK: Final = 3
"""The exit status where that is so."""

quick_option = click.option("--quick", is_flag=True, help="Headers only: soft 404s, parked pages and the like pass.")


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One URL with its class and, if it was checked, the result; `signals` spoke against its working."""

    link: Classified
    answer: RawResponse | None = None
    seen: Observation | None = None
    error: str | None = None
    signals: tuple[str, ...] = ()
    no_network: str | None = None
    """Why nothing can be said of any link: our own connection is down (C-16)."""

    def as_json(self) -> dict[str, Any]:
        """The line of ``weboid check --json``; all values of an answer are null if the URL was not checked."""
        answer, seen = self.answer, self.seen
        reason = seen.reason.word if seen else NO_NETWORK if self.no_network else self.link.reason
        line: dict[str, Any] = {
            "url": self.link.given.encode(errors="replace").decode(),
            "normal": str(self.link.url) if self.link.url else None,
            "host_unicode": unicode_host(self.link.url.host) if self.link.url else None,
            "class": self.link.kind,
            "status": int(seen.status) if seen else 128 if self.link.kind is UrlClass.INVALID else None,
            "http": seen.http or None if seen else None,
            "outcome": seen.outcome if seen else None,
            "reason": reason,
            "signals": list(self.signals) if seen else None,
            "final": answer.final if answer else None,
            "hops": len(answer.hops) if answer else None,
            "mime": seen.mime if seen else None,
            "size_kib": seen.size_kib if seen else None,
            "seconds": round(answer.seconds, 3) if answer else None,
        }
        return line if self.error is None else {**line, "error": self.error}


async def checked(
    urls: Iterable[str], config: Config, farm: Farm, *, quick: bool = False
) -> AsyncGenerator[CheckLine, None]:
    """Checks URLs in parallel, at most the configured number at a time, one host's URLs the configured delay apart.

    The documents themselves are examined (C-11); `quick`: only headers, where HEAD is believed (C-1). Where no link
    answers, others must prove that we are online (C-16); otherwise all lines are `no_network`.
    """
    connections = raise_open_files(config.net.connections)
    async with open_session(replace(config.net, connections=connections)) as session:
        checker = Checker(session, LocalTurns(config.crawl.delay), config.crawl, faces=FaceMemory())
        # Whatever is open may still answer: nothing is decided before all of it has failed.
        connectivity = Connectivity(checker.ask, online_of(config, checker, session), suspects=connections + 1)
        await connectivity.look()
        open_checks: deque[asyncio.Task[CheckLine]] = deque()
        try:
            for url in urls:
                open_checks.append(asyncio.create_task(_line(checker, connectivity, classify(url, farm), quick=quick)))
                while len(open_checks) >= connections or (open_checks and open_checks[0].done()):
                    yield await open_checks.popleft()
                await asyncio.sleep(0)
            while open_checks:
                yield await open_checks.popleft()
        finally:
            for task in open_checks:
                task.cancel()
            await asyncio.gather(*open_checks, return_exceptions=True)
            await connectivity.close()


async def _line(checker: Checker, connectivity: Connectivity, link: Classified, *, quick: bool) -> CheckLine:
    if link.kind is not UrlClass.WATCHED or link.url is None:
        return CheckLine(link)
    if connectivity.is_down:
        return CheckLine(link, no_network=connectivity.told)
    line = CheckLine(link)

    async def ask(question: CheckRequest) -> Observation:
        nonlocal line
        try:
            found = await checker.check(question)
        except NotAsked:
            why = "not checked: its host must not be contacted now, or has too many checks waiting"
            line = CheckLine(link, error=why)
            raise
        except Exception as error:
            # A fault of ours: it is reported, and nothing is concluded about the link.
            line = CheckLine(link, error=f"could not be checked: {type(error).__name__}")
            raise
        signals = found.signals or (signals_of(found.answer, found.seen.reason) if found.answer else ())
        line = CheckLine(link, found.answer, found.seen, signals=signals)
        return found.seen

    seen = await connectivity.check(CheckRequest(str(link.url), thorough=True, looks=not quick), ask)
    if seen is None and connectivity.is_down:
        return CheckLine(link, no_network=connectivity.told)
    return line
