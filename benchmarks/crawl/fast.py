"""Scenarios plain, tls and slow: a new connection to a new host for every check, ours and the peers in turn.

One law: all clients ask the same server under the same names, each on the one core that is kept for it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from benchmarks.crawl.authority import made_authority
from benchmarks.crawl.links import Single, urls_of
from benchmarks.crawl.machine import Cores
from benchmarks.crawl.measure import Client, Figures, Sample, measured
from benchmarks.crawl.peers import Peers, Skipped
from benchmarks.crawl.program import FIRST_DAY, Program, open_program
from benchmarks.crawl.server import Server, open_server_process
from benchmarks.crawl.table import Target, say, show, tell, tell_figures, tell_targets

_LIMIT_S: Final = 600.0
_START_S: Final = 20.0
_FINE: Final = 1
"""The status byte of a URL that answered as it should."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How long each client is measured and how often; `urls` overrules the seconds."""

    cores: Cores
    seconds: float = 6.0
    rounds: int = 2
    urls: int | None = None
    install: bool = True
    """Whether peers may be installed."""
    database: str = ""
    """Of an empty database; empty = an embedded one of its own."""

    def share(self, guess: float) -> int:
        """How many URLs are enough for a client that asks about `guess` a second."""
        return self.urls or max(int(guess * self.seconds), 1)

    def clock(self) -> Callable[[Sample], bool]:
        """Ends a client after its seconds, which begin with its first answer; never where URLs were given."""
        begun: list[float] = []

        def is_over(sample: Sample) -> bool:
            if sample.counts.urls and not begun:
                begun.append(sample.at_s)
            return bool(begun) and self.urls is None and sample.at_s - begun[0] >= self.seconds

        return is_over


def plain(settings: Settings) -> list[Target]:
    """HTTP and DNS."""
    tell(f"plain: HTTP and DNS, HEAD, a new host for every check; {settings.cores}")
    with open_program(settings.database) as program, open_server_process() as server:
        tell(f"  server: {server.what}")
        run = ClientRun(settings, program, server, None)
        ours = run.prepared(settings.share(4_500))
        peers = run.peers
        others = run.interleaved(
            ours,
            [
                run.bare(settings.share(12_000)),
                peers.lychee(run.file(settings.share(9_000))),
                peers.c_client(run.file(settings.share(32_000))),
            ],
            [peers.linkchecker(run.file(settings.share(2_000))), peers.scrapy(run.file(settings.share(1_000)))],
        )
    targets = [
        *_at_least(others, "lychee", 1, ours=others[0]),
        *_at_least(others, "linkchecker", 5, ours=others[0]),
        *_at_least(others, "scrapy", 4, ours=others[0]),
    ]
    return _told(others, targets)


def tls(settings: Settings) -> list[Target]:
    """HTTPS and DNS, every handshake whole and verified."""
    tell(f"tls: HTTPS (ECDSA P-256, whole handshakes, verified) and DNS, a new host for every check; {settings.cores}")
    with open_program(settings.database) as program:
        authority = made_authority(program.folder)
        with open_server_process(certificates=authority.certificates) as server:
            tell(f"  server: {server.what}")
            run = ClientRun(settings, program, server, authority.ca)
            ours = run.prepared(settings.share(2_500))
            peers = run.peers
            others = run.interleaved(
                ours,
                [
                    run.bare(settings.share(3_000)),
                    peers.c_client(run.file(settings.share(4_000))),
                    peers.lychee(run.file(settings.share(4_000))),
                ],
                [peers.linkchecker(run.file(settings.share(800))), peers.scrapy(run.file(settings.share(500)))],
            )
    return _told(others, _at_least(others, "C and OpenSSL", 0.55, ours=others[0]))


def slow(settings: Settings, connections: int = 4_000) -> list[Target]:
    """Servers that answer after a second."""
    tell(f"slow: servers that answer after 1 s; weboid with {connections} connections, peers as they come: what")
    tell("  differs is how much each waits for at a time, not how fast it is")
    with open_program(settings.database) as program, open_server_process(delay_ms=(1_000, 1_000)) as server:
        run = ClientRun(settings, program, server, None, {"WEBOID_NET_CONNECTIONS": str(connections)})
        ours = run.prepared(settings.share(4_000))
        others = run.interleaved(
            ours,
            [],
            [
                run.peers.lychee(run.file(settings.share(200))),
                run.peers.linkchecker(run.file(settings.share(20))),
                run.peers.scrapy(run.file(settings.share(200))),
            ],
        )
    return _told(
        others,
        [*_at_least(others, "lychee", 10, ours=others[0]), *_at_least(others, "linkchecker", 100, ours=others[0])],
    )


class ClientRun:
    """One scenario's server, store and clients."""

    def __init__(
        self,
        settings: Settings,
        program: Program,
        server: Server,
        ca: Path | None,
        others: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._settings = settings
        self._program = program
        self._server = server
        self._scheme = "https" if ca else "http"
        program.look_at(server, ca, **others)
        self.peers = Peers(program.folder, server, ca, settings.install)

    def prepared(self, urls: int) -> Callable[[], Client]:
        """Takes URLs in; each call then gives the crawler for another round over them."""
        say(f"taking in {urls:,} URLs")
        self._program.take_in(Single(), self._scheme, self._server.port, range(urls))

        def ours() -> Client:
            self._program.rest()
            self._program.next_round()
            return Client(
                "weboid crawl, with store",
                self._program.crawl(),
                self._program.environ(),
                database=self._program.database_pid(),
            )

        return ours

    def file(self, urls: int) -> Path:
        """So many URLs in a file."""
        path = self._program.folder / f"urls-{urls}.txt"
        if not path.exists():
            urls_in_lines = (f"{url}\n" for url in urls_of(Single(), self._scheme, self._server.port, range(urls)))
            with path.open("w") as file:
                file.writelines(urls_in_lines)
        return path

    def bare(self, urls: int) -> Client:
        """The engine alone."""
        command = [*self._program.command()[:1], "-m", "benchmarks.crawl.bare"]
        return Client("bare loop of our engine", command, self._program.environ(), self.file(urls))

    def best_of(self, clients: Sequence[Client]) -> list[Figures]:
        """Some rounds over these clients in turn, the best of each."""
        best: dict[str, Figures] = {}
        for number in range(self._settings.rounds):
            for client in clients:
                self._measure(client, number, best)
        return list(best.values())

    def interleaved(
        self, ours: Callable[[], Client], fast: Sequence[Client | Skipped], once: Sequence[Client | Skipped]
    ) -> list[Figures | Skipped]:
        """Ours first in the list: the best of some rounds over ours and the fast ones; the others once in the first."""
        best: dict[str, Figures] = {}
        skipped = [each for each in (*fast, *once) if isinstance(each, Skipped)]
        for number in range(self._settings.rounds):
            clients = [ours(), *fast, *(once if number == 0 else ())]
            for client in clients:
                if isinstance(client, Skipped):
                    continue
                self._measure(client, number, best)
                if client.database and (wrong := _wrong(self._program)):
                    tell(f"  {wrong}")
        return [*best.values(), *skipped]

    def _measure(self, client: Client, number: int, best: dict[str, Figures]) -> None:
        """Measures a client once more, and keeps its best figures."""
        say(f"{client.name}, round {number + 1} of {self._settings.rounds}")
        figures = measured(
            client,
            self._server,
            self._settings.cores,
            limit_s=_LIMIT_S if self._settings.urls else self._settings.seconds + _START_S,
            show=show,
            stop=self._settings.clock(),
        )
        if client.name not in best or figures.rate > best[client.name].rate:
            best[client.name] = figures


def _wrong(program: Program) -> str:
    """What a round over servers that always answer must not find."""
    found = program.statuses()
    others = {status: count for status, count in found.items() if status != _FINE}
    return f"day {program.day - FIRST_DAY}: found other than fine: {others}" if others else ""


def _at_least(rows: Sequence[Figures | Skipped], name: str, bound: float, *, ours: Figures | Skipped) -> list[Target]:
    """The demand to be so many times as fast as a peer, if both were measured."""
    peer = next((row for row in rows if isinstance(row, Figures) and row.name == name and row.urls), None)
    if peer is None or isinstance(ours, Skipped):
        return []
    return [Target(f"weboid ≥ {bound:g} × {name}", ours.rate / max(peer.rate, 1e-9), bound)]


def _told(rows: Sequence[Figures | Skipped], targets: list[Target]) -> list[Target]:
    ours = rows[0]
    assert isinstance(ours, Figures)
    tell_figures(ours, rows[1:])
    tell_targets(targets)
    tell()
    return targets
