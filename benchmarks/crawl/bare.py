"""The engine alone: ``python -m benchmarks.crawl.bare < URLs`` sends HEAD for each and forgets the reply.

With ``HOSTILE_URL COUNT`` so many requests to a hostile server are under way as well, begun anew whenever one ends.
It is configured by the same WEBOID_* variables as the crawler. No redirects, no judgement, no store.
"""

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

from weboid.cli.processes.process import raise_open_files, run_async
from weboid.config import load_config
from weboid.net.exchange import Request
from weboid.net.outbound import Outbound, open_session


async def main() -> None:
    """Keeps as many requests under way as there are connections configured; prints what came of them."""
    config = load_config(None)
    urls = (line.strip() for line in sys.stdin)
    done: Counter[str] = Counter()
    async with open_session(config.net) as session:
        url, count = sys.argv[1:] or ("", "0")
        hostile = [asyncio.create_task(_beset(session, url)) for _ in range(int(count))]
        workers = range(raise_open_files(config.net.connections))
        await asyncio.gather(*(_work(session, urls, done) for _ in workers))
        for task in hostile:
            task.cancel()
        await asyncio.gather(*hostile, return_exceptions=True)
    print(json.dumps(done))


async def _work(session: Outbound, urls: Iterator[str], done: Counter[str]) -> None:
    for url in urls:
        try:
            done[str(await _sent(session, url))] += 1
        except Exception as error:
            done[repr(error)] += 1


async def _beset(session: Outbound, url: str) -> None:
    """Asks a server again and again that never answers to an end, until cancelled."""
    while True:
        with suppress(OSError):
            await _sent(session, url)


async def _sent(session: Outbound, url: str) -> int:
    headers = {
        "User-Agent": session.settings.user_agent,
        "Accept": "*/*",
        "Accept-Language": "*",
        "Accept-Encoding": "gzip, deflate",
        "Connection": "keep-alive",
        "Cache-Control": "max-age=0",
    }
    return (await session.engine.send(Request("HEAD", url, headers), session.settings.answer_s)).code


if __name__ == "__main__":
    run_async(main())
