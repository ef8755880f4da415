"""Asks other hosts which day it is, by the `Date` of their answers (C-16).

Hosts of one registrable domain are one witness, and a host that does not answer says nothing.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from email.utils import parsedate_to_datetime
from typing import Final

from weboid.checking.checker import CheckResult
from weboid.core.observe.check_request import CheckRequest
from weboid.core.record.days import day_of
from weboid.core.url.hosts import registrable_domain
from weboid.core.url.urls import parse

log = logging.getLogger(__name__)

WITNESSES: Final = 3
"""So many domains must name the day, and more of them than name another one."""
ASKED: Final = 8
TOLERANCE_DAYS: Final = 1

CheckAll = Callable[[CheckRequest], Awaitable[CheckResult]]
"""Makes one check; raises NotAsked, and errors of our own."""


async def is_witnessed(check: CheckAll, urls: Iterable[str], day: int) -> bool:
    """Asks some of the hosts of these URLs, at once; returns whether enough of them say that it is about this day."""
    asked: dict[str, str] = {}
    for url in urls:
        asked.setdefault(registrable_domain(parse(url).host), url)
    named = await asyncio.gather(*(_day_at(check, url) for url in list(asked.values())[:ASKED]))
    # A redirect may have led several to the same host.
    days = dict(each for each in named if each)
    agreeing = sum(1 for said in days.values() if abs(said - day) <= TOLERANCE_DAYS)
    return agreeing >= WITNESSES and agreeing > len(days) - agreeing


async def _day_at(check: CheckAll, url: str) -> tuple[str, int] | None:
    try:
        answer = (await check(CheckRequest(url))).answer
    except Exception as error:
        log.debug("could not ask %r for the day: %r", url, error)
        return None
    if answer is None or answer.code is None:
        return None
    try:
        return registrable_domain(parse(answer.final).host), day_of(
            parsedate_to_datetime(answer.headers.get("date", ""))
        )
    except ValueError:
        return None
