"""Weeks in the life of a scripted host without sockets: the real checker and visits, on the crawler's own days.

The records are folded in memory as the store would keep them; the scripts are those of `support.misbehaving`.
"""

from collections.abc import Sequence
from ipaddress import ip_network
from typing import Final, cast
from urllib.parse import urlsplit

from msgspec.structs import replace
from support.misbehaving import Asked, HangUp, Script, Silence

from benchmarks.verdicts.wayout import SimulatedTurns
from weboid.checking.checker import Checker
from weboid.checking.turns import NotAsked
from weboid.config import CrawlConfig, NetConfig
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.record.moment import Moment
from weboid.core.record.policy import DEFAULT
from weboid.core.record.record import UNKNOWN_HOST, UNTRIED
from weboid.core.record.specials import Sight
from weboid.core.url.keys import key_of
from weboid.core.url.urls import parse
from weboid.core.verdict.verdict import Finding, Verdict, finding_of
from weboid.crawl.visit import Visit
from weboid.net.dial import Dialer, NotConnected
from weboid.net.dns import Resolver
from weboid.net.engine import parser_of, reply_from
from weboid.net.exchange import Reply, Request
from weboid.net.guard import Guard
from weboid.net.outbound import Outbound, Seats
from weboid.store.db.rows import HostKey, StoredHost, StoredUrl
from weboid.store.results.record import Checked

NET: Final = NetConfig(user_agent="test", permit=(ip_network("127.0.0.0/8"),))
FIRST_DAY: Final = 100


class ScriptedEngine:
    """An engine (the protocol of ``net/exchange``) that asks one script, whatever host is meant."""

    def __init__(self, script: Script, settings: NetConfig) -> None:
        self.script = script
        self.asked: list[Asked] = []
        self._settings = settings
        self._guard = Guard(settings.deny, settings.permit)

    async def send(self, request: Request, timeout_s: float) -> Reply:
        parts = urlsplit(request.url)
        host = parts.hostname or ""
        if host.replace(".", "").isdigit():
            try:
                self._guard.require(host, parts.port or 80)
            except OSError as refused:
                raise NotConnected((refused,)) from None
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        asked = Asked(request.method, target, {"Host": parts.netloc, **request.headers}, len(self.asked) + 1)
        self.asked.append(asked)
        match self.script(asked):
            case bytes() as data:
                parser = parser_of(request.method, self._settings)
                if not parser.take(data):
                    parser.take(b"")
                return reply_from(parser)
            case HangUp():
                raise ConnectionResetError
            case Silence():
                raise TimeoutError
        raise NotImplementedError("a script without sockets answers at once")


class ScriptedHost:
    """One host with watched URLs, and all that is known of them."""

    def __init__(self, urls: Sequence[str], script: Script) -> None:
        self.engine = ScriptedEngine(script, NET)
        normals = [parse(url) for url in urls]
        keys = [key_of(url) for url in normals]
        self.host = StoredHost(HostKey(keys[0].bucket, keys[0].host_key), normals[0].host, UNKNOWN_HOST)
        self.urls = {key: StoredUrl(key, url, UNTRIED) for key, url in zip(keys, normals, strict=True)}
        self.due = dict.fromkeys(keys, 0)
        self.seen: dict[str, list[Observation]] = {url.path: [] for url in normals}
        self.dead: dict[str, int] = {}
        """The days on which its URLs were first dead, by path as `seen`."""

    @property
    def findings(self) -> dict[str, Finding]:
        return {url.url.path: finding_of(url.record, self.host.record) for url in self.urls.values()}

    async def live(self, days: range) -> None:
        """Visits the host on each day on which a URL is due."""
        for day in days:
            if due := [self.urls[key] for key, next_day in self.due.items() if next_day <= day]:
                await self._visit(self.checker(day), due, day)
            for path, finding in self.findings.items():
                if finding.verdict is Verdict.DEAD:
                    self.dead.setdefault(path, day)

    async def _visit(self, checker: Checker, due: Sequence[StoredUrl], day: int) -> None:
        async def check(request: CheckRequest) -> Observation | None:
            try:
                return await checker.ask(request)
            except NotAsked:
                return None

        visit = Visit(
            self.host,
            due,
            check=check,
            second_opinion=None,
            report=self._record,
            now=lambda: Moment(day),
            policy=DEFAULT,
            stopping=lambda: False,
        )
        await visit.run()

    async def _record(self, checked: Checked) -> None:
        key, seen = checked.url.key, checked.seen
        self.due[key] = checked.due
        if seen is None:
            return
        self.seen[checked.url.url.path].append(seen)
        self.urls[key] = replace(
            self.urls[key], record=checked.record, portrait=seen.portrait or self.urls[key].portrait
        )
        sights = {kind: sight for kind, sight in self.host.sights.items() if kind not in checked.disproved}
        for need in seen.needs:
            sights[need] = Sight(sights[need].since if need in sights else checked.day, checked.day)
        face = self.host.face if seen.face is None else seen.face
        self.host = replace(self.host, record=checked.host_after, sights=sights, face=face)

    def checker(self, day: int) -> Checker:
        """A checker as a process has it that is started on that day."""
        names = cast(Resolver, None)  # only the engine looks names up
        dialer = cast(Dialer, None)
        session = Outbound(NET, self.engine, Seats(10), names, dialer, now=lambda: 86_400.0 * day)
        return Checker(session, SimulatedTurns(), CrawlConfig())
