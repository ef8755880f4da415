"""Candidates for the seat of `weboid.net.engine`, side by side: ``python -m benchmarks.engines [--seconds N]``.

Each sends HEAD to a new host for every request, over the web and name server of `benchmarks.crawl`. pycurl and
pyreqwest take part where they are installed. ``--held N`` tells instead what N open TLS connections take.
One law: all are given the guard, as far as they can be; the table says which one goes without.
"""

import argparse
import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp
from yarl import URL

from benchmarks.crawl.authority import Authority, made_authority
from benchmarks.crawl.links import Single, urls_of
from benchmarks.crawl.machine import Cores, described, shared_out
from benchmarks.crawl.measure import Client, Figures, Sample, measured
from benchmarks.crawl.peers import Skipped
from benchmarks.crawl.server import Server, open_server_process
from benchmarks.crawl.table import say, show, tell, tell_figures
from weboid.cli.processes.process import raise_open_files, run_async
from weboid.config import NetConfig, load_config
from weboid.net.dial import open_connector, tls_context
from weboid.net.dns import Resolver
from weboid.net.exchange import Request
from weboid.net.guard import Guard, NotPublic
from weboid.net.outbound import open_session

Ask = Callable[[str], Awaitable[int]]
"""Sends HEAD to a URL; the code of the reply."""

_MOST_A_S: Final = 12_000
_AT_ONCE: Final = 100
_LIMIT_S: Final = 200.0
_HELD_MS: Final = 60_000


@asynccontextmanager
async def weboid(net: NetConfig, urls: list[str]) -> AsyncIterator[Ask]:
    """The engine in the seat."""
    async with open_session(net) as session:

        async def ask(url: str) -> int:
            return (await session.engine.send(Request("HEAD", url, _headers(net)), net.answer_s)).code

        yield ask


@asynccontextmanager
async def with_aiohttp(net: NetConfig, urls: list[str]) -> AsyncIterator[Ask]:
    """aiohttp with our resolver, and the guard in its socket factory."""
    guard, resolver = _guard_and_resolver(net)
    limits = aiohttp.ClientTimeout(total=net.answer_s, connect=net.connect_s)
    skipped = ("Accept", "Accept-Encoding", "User-Agent")
    async with (
        open_connector(guard, resolver, tls_context(net.ca)) as connector,
        aiohttp.ClientSession(
            connector=connector,
            connector_owner=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            skip_auto_headers=skipped,
            auto_decompress=False,
            timeout=limits,
        ) as client,
    ):

        async def ask(url: str) -> int:
            target = URL(url, encoded=True)
            async with client.head(target, headers=_headers(net), allow_redirects=False) as response:
                return response.status

        yield ask
    await resolver.close()


@asynccontextmanager
async def with_pycurl(net: NetConfig, urls: list[str]) -> AsyncIterator[Ask]:
    """libcurl with our resolver's addresses, and the guard in its open-socket callback."""
    pycurl = import_module("pycurl")
    guard, resolver = _guard_and_resolver(net)
    handles: list[Any] = []
    headers = [f"{name}: {value}" for name, value in _headers(net).items()]

    def opened(_: int, address: Any) -> socket.socket | int:
        family, kind, protocol, (ip, port, *_) = address
        try:
            guard.require(ip, port)
        except NotPublic:
            return int(pycurl.SOCKET_BAD)
        return socket.socket(family, kind, protocol)

    async with pycurl.AsyncCurlMulti() as multi:
        # Every host comes once: keeping connections would only cost.
        multi.setopt(pycurl.M_MAXCONNECTS, 1)

        async def ask(url: str) -> int:
            parts = urlsplit(url)
            addresses = ",".join(await resolver.addresses(str(parts.hostname)))
            curl = handles.pop() if handles else pycurl.Curl()
            curl.reset()
            head = bytearray()
            for option, value in (
                (pycurl.URL, url),
                (pycurl.NOBODY, True),
                (pycurl.HTTPHEADER, headers),
                (pycurl.RESOLVE, [f"{parts.hostname}:{parts.port}:{addresses}"]),
                (pycurl.OPENSOCKETFUNCTION, opened),
                (pycurl.HEADERFUNCTION, head.extend),
                (pycurl.PROXY, ""),
                (pycurl.NOSIGNAL, True),
                (pycurl.CONNECTTIMEOUT_MS, int(1e3 * net.connect_s)),
                (pycurl.TIMEOUT_MS, int(1e3 * net.answer_s)),
                *([(pycurl.CAINFO, str(net.ca))] if net.ca else []),
            ):
                curl.setopt(option, value)
            await multi.perform(curl)
            handles.append(curl)
            return int(curl.getinfo(pycurl.RESPONSE_CODE))

        yield ask
    await resolver.close()


@asynccontextmanager
async def with_pyreqwest(net: NetConfig, urls: list[str]) -> AsyncIterator[Ask]:
    """reqwest and rustls. No guard: it tells nobody whom it dials, and takes the addresses of names beforehand only."""
    builder = (
        import_module("pyreqwest.client").ClientBuilder().no_proxy().follow_redirects(False).pool_max_idle_per_host(0)
    )
    builder = builder.timeout(timedelta(seconds=net.answer_s)).connect_timeout(timedelta(seconds=net.connect_s))
    if net.ca:
        builder = builder.add_root_certificate_pem(net.ca.read_bytes())
    for number, url in enumerate(urls):
        parts = urlsplit(url)
        builder = builder.resolve(str(parts.hostname), f"127.1.0.{number % 64 + 1}", parts.port or 443)
    async with builder.build() as client:

        async def ask(url: str) -> int:
            response = await client.head(url).headers(_headers(net)).build().send()
            return int(response.status)

        yield ask


CANDIDATES: Final = {
    "weboid": weboid,
    "aiohttp": with_aiohttp,
    "pycurl": with_pycurl,
    "pyreqwest": with_pyreqwest,
}
"""By the package that it takes."""
_NOTES: Final = {"pyreqwest": "no guard, no look-ups"}


def _headers(net: NetConfig) -> Mapping[str, str]:
    return {
        "User-Agent": net.user_agent,
        "Accept": "*/*",
        "Accept-Language": "*",
        "Accept-Encoding": "gzip, deflate",
        "Connection": "keep-alive",
        "Cache-Control": "max-age=0",
    }


def _guard_and_resolver(net: NetConfig) -> tuple[Guard, Resolver]:
    guard = Guard(net.deny, net.permit)
    return guard, Resolver(guard, net.dns, net.connect_s / 2)


async def _ask_all(name: str, at_once: int) -> None:
    """The candidate's own process: URLs come on stdin."""
    urls = sys.stdin.read().split()
    left = iter(urls)
    wrong: list[str] = []

    async def work(ask: Ask) -> None:
        for url in left:
            try:
                if (code := await ask(url)) != 200:
                    wrong.append(f"{url}: {code}")
            except Exception as error:
                wrong.append(f"{url}: {error!r}")

    net = load_config(None).net
    raise_open_files(at_once)
    async with CANDIDATES[name](net, urls) as ask:
        await asyncio.gather(*(work(ask) for _ in range(at_once)))
    print(f"{len(wrong)} failed {wrong[:1]}" if wrong else "all fine")


def _client(name: str, urls: Path, server: Server, ca: Path | None, at_once: int) -> Client | Skipped:
    if find_spec(name) is None:
        return Skipped(name, f"not installed (pip install {name})")
    environ = dict(os.environ) | {
        "WEBOID_NET_DNS": server.name_server,
        "WEBOID_NET_PERMIT": "127.0.0.0/8",
        "WEBOID_NET_CONNECTIONS": str(at_once),
        "WEBOID_NET_ANSWER_S": str(4 * _HELD_MS / 1e3),
        "WEBOID_NET_CONNECT_S": "60",
    }
    if ca:
        environ["WEBOID_NET_CA"] = str(ca)
    command = [sys.executable, "-m", "benchmarks.engines", "--alone", name, "--at-once", str(at_once)]
    return Client(name, command, environ, urls, note=_NOTES.get(name, ""))


def _measured(client: Client | Skipped, server: Server, cores: Cores, seconds: float) -> Figures | Skipped:
    if isinstance(client, Skipped):
        return client
    begun: list[float] = []

    def is_over(sample: Sample) -> bool:
        if sample.counts.urls and not begun:
            begun.append(sample.at_s)
        return bool(begun) and sample.at_s - begun[0] >= seconds

    say(f"{client.name} …")
    return measured(client, server, cores, limit_s=_LIMIT_S, show=show, stop=is_over)


def _compare(cores: Cores, folder: Path, seconds: float, authority: Authority | None) -> None:
    scheme = "https" if authority else "http"
    tell(f"{scheme}, DNS, HEAD, a new host for every request, {_AT_ONCE} at once; {cores}")
    certificates = authority.certificates if authority else None
    with open_server_process(certificates=certificates) as server:
        urls = folder / "urls"
        urls.write_text("\n".join(urls_of(Single(), scheme, server.port, range(int(_MOST_A_S * seconds)))))
        ca = authority.ca if authority else None
        figures = [_measured(_client(name, urls, server, ca, _AT_ONCE), server, cores, seconds) for name in CANDIDATES]
    ours, *others = figures
    assert isinstance(ours, Figures)
    tell_figures(ours, others)


def _hold(cores: Cores, folder: Path, connections: int, authority: Authority) -> None:
    """What so many open TLS connections take that all wait for an answer."""
    tell(f"{connections:,} TLS connections open at once, each waiting {_HELD_MS / 1e3:.0f} s for its answer; {cores}")
    delay_ms = (_HELD_MS, _HELD_MS)
    with open_server_process(certificates=authority.certificates, delay_ms=delay_ms) as server:
        urls = folder / "urls"
        urls.write_text("\n".join(urls_of(Single(), "https", server.port, range(connections))))
        for name in CANDIDATES:
            client = _client(name, urls, server, authority.ca, connections)
            if isinstance(client, Skipped):
                tell(f"  {name}: skipped: {client.reason}")
                continue
            say(f"{name} …")
            found = measured(client, server, cores, limit_s=_LIMIT_S, show=show)
            most = max(sample.counts.waiting for sample in found.samples)
            last = (found.output.strip().splitlines() or ["no output"])[-1]
            tell(f"  {name}: {most:,} open, {found.peak_mib:,.0f} MiB, {found.urls:,} answered; {last[:160]}")


def main() -> None:
    """Compares the candidates, or is one of them."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.engines", description=__doc__)
    options.add_argument("--seconds", type=float, default=5.0, help="so long for each candidate")
    options.add_argument("--held", type=int, metavar="N", help="memory with N open connections instead")
    options.add_argument("--alone", choices=CANDIDATES, help=argparse.SUPPRESS)
    options.add_argument("--at-once", type=int, default=_AT_ONCE, help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.alone:
        run_async(_ask_all(asked.alone, asked.at_once))
        return
    if sys.platform != "linux":
        sys.exit("benchmarks.engines needs Linux: it reads /proc and gives each candidate a core of its own")
    tell(described())
    cores = shared_out()
    with TemporaryDirectory() as name:
        folder = Path(name)
        authority = made_authority(folder)
        if asked.held:
            _hold(cores, folder, asked.held, authority)
            return
        _compare(cores, folder, asked.seconds, None)
        _compare(cores, folder, asked.seconds, authority)


if __name__ == "__main__":
    main()
