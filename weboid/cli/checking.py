"""Checking given URLs without a store: for ``weboid check`` and ``weboid page``."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Any, Final

import click

from weboid.checking.spot_checks import SpotCheck, open_spot_checks
from weboid.checking.turns import LocalTurns
from weboid.cli.processes.process import raise_open_files
from weboid.cli.processes.sources import online_of
from weboid.cli.terminal.in_order import in_order
from weboid.config import Config
from weboid.core.url.classify import UrlClass, classify
from weboid.core.url.display import unicode_host
from weboid.core.url.farms import Farm

EXIT_OWN_FAULT: Final = 1
"""The exit status where an error of this program has kept it from checking something; of ``--fail``."""
EXIT_NO_NETWORK: Final = 3
"""The exit status where our own connection is down, so that nothing can be concluded (C-16)."""

fail_option = click.option("--fail", "fails", is_flag=True, help="The exit status is 1 if a link is dead or invalid.")
quick_option = click.option("--quick", is_flag=True, help="Headers only: soft 404s, parked pages and the like pass.")


def json_line(check: SpotCheck) -> dict[str, Any]:
    """The line of ``weboid check --json``; all values of an answer are null if the URL was not checked."""
    answer, seen = check.answer, check.seen
    line: dict[str, Any] = {
        "url": check.link.given.encode(errors="replace").decode(),
        "normal": str(check.link.url) if check.link.url else None,
        "host_unicode": unicode_host(check.link.url.host) if check.link.url else None,
        "class": check.link.kind,
        "status": int(seen.status) if seen else 128 if check.link.kind is UrlClass.INVALID else None,
        "http": seen.http or None if seen else None,
        "outcome": seen.outcome if seen else None,
        "reason": check.reason,
        "signals": list(check.signals) if seen else None,
        "final": answer.final if answer else None,
        "hops": len(answer.hops) if answer else None,
        "mime": seen.mime if seen else None,
        "size_kib": seen.size_kib if seen else None,
        "seconds": round(answer.seconds, 3) if answer else None,
        "probably_meant": str(check.meant) if check.meant else None,
    }
    return line if check.error is None else {**line, "error": check.error}


async def checked(
    urls: AsyncGenerator[str, None], config: Config, farm: Farm, *, quick: bool = False
) -> AsyncGenerator[SpotCheck, None]:
    """Checks URLs in parallel, at most the configured number at a time, one host's URLs the configured delay apart.

    The documents themselves are examined (C-11); `quick`: only headers, where HEAD is believed (C-1). Where no link
    answers, others must prove that we are online (C-16); otherwise all results are `no_network`.
    """
    net = replace(config.net, connections=raise_open_files(config.net.connections))
    online = partial(online_of, config)
    turns = LocalTurns(config.crawl.delay)
    async with open_spot_checks(net, config.crawl, turns, online, (farm,)) as checks:

        def check(url: str) -> asyncio.Task[SpotCheck]:
            return asyncio.create_task(checks.check_with_meant(classify(url, farm), farm, quick=quick))

        async with aclosing(in_order(urls, check, net.connections)) as lines:
            async for line in lines:
                yield line
