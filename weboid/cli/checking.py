"""Checking given URLs without a store: for ``weboid check`` and ``weboid page``.

One law: results come in the order of the URLs, and only a limited number of checks runs at a time.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass, replace
from typing import Any

import click

from weboid.checking.checker import Checker
from weboid.checking.face_memory import FaceMemory
from weboid.checking.turns import LocalTurns, NotAsked
from weboid.cli.runtime import raise_open_files
from weboid.config import Config
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.content import signals_of
from weboid.core.observe.observation import Observation, RawResponse
from weboid.core.url.classify import Classified, UrlClass, classify
from weboid.core.url.display import unicode_host
from weboid.core.url.farms import Farm
from weboid.net.outbound import open_session

log = logging.getLogger(__name__)

quick_option = click.option("--quick", is_flag=True, help="Headers only: soft 404s, parked pages and the like pass.")


@dataclass(frozen=True, slots=True)
class CheckLine:
    """One URL with its class and, if it was checked, the result; `signals` spoke against its working."""

    link: Classified
    answer: RawResponse | None = None
    seen: Observation | None = None
    error: str | None = None
    signals: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The line of ``weboid check --json``; all values of an answer are null if the URL was not checked."""
        answer, seen = self.answer, self.seen
        reason = seen.reason.word if seen else self.link.reason
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

    The documents themselves are examined (C-11); `quick`: only headers, where HEAD is believed (C-1).
    """
    connections = raise_open_files(config.net.connections)
    async with open_session(replace(config.net, connections=connections)) as session:
        checker = Checker(session, LocalTurns(config.crawl.delay), config.crawl, faces=FaceMemory())
        open_checks: deque[asyncio.Task[CheckLine]] = deque()
        try:
            for url in urls:
                open_checks.append(asyncio.create_task(_line(checker, classify(url, farm), quick=quick)))
                while len(open_checks) >= connections or (open_checks and open_checks[0].done()):
                    yield await open_checks.popleft()
                await asyncio.sleep(0)
            while open_checks:
                yield await open_checks.popleft()
        finally:
            for task in open_checks:
                task.cancel()
            await asyncio.gather(*open_checks, return_exceptions=True)


async def _line(checker: Checker, link: Classified, *, quick: bool) -> CheckLine:
    if link.kind is not UrlClass.WATCHED or link.url is None:
        return CheckLine(link)
    try:
        found = await checker.check(CheckRequest(str(link.url), thorough=True, looks=not quick))
    except NotAsked:
        return CheckLine(link, error="not checked: its host must not be contacted now, or has too many checks waiting")
    except Exception as error:
        # A fault of ours: it is reported, and nothing is concluded about the link.
        log.exception("could not check %r", str(link.url))
        return CheckLine(link, error=f"could not be checked: {type(error).__name__}")
    signals = found.signals or (signals_of(found.answer, found.seen.reason) if found.answer else ())
    return CheckLine(link, found.answer, found.seen, signals=signals)
