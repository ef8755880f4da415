"""The little web's name server (UDP, dnslib): a host of the world has a loopback address, or fails as its life says."""

import asyncio
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Final, NamedTuple, cast

from dnslib import NS, QTYPE, RCODE, RR, A, DNSError, DNSRecord

from weboid.demo.world import HostState, Lost, World, address_of, host_state, lost_on

QUESTIONS_KEPT: Final = 200_000


class DnsQuestion(NamedTuple):
    """One DNS query: when (monotonic seconds and day), the type (``A``) and the name."""

    at_s: float
    day: int
    kind: str
    name: str


class LittleDns(asyncio.DatagramProtocol):
    """Answers with TTL 0, so that a correct resolver does not cache today's answer until tomorrow."""

    def __init__(self, world: World, day: Callable[[], int], hour: Callable[[str], int]) -> None:
        self.questions: deque[DnsQuestion] = deque(maxlen=QUESTIONS_KEPT)
        self._world = world
        self._day = day
        self._hour = hour

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keeps the transport for the answers."""
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answers one DNS query; a datagram that is none is dropped."""
        try:
            query = DNSRecord.parse(data)
            name, kind = str(query.q.qname).rstrip(".").lower(), str(QTYPE.get(query.q.qtype))
        except (DNSError, UnicodeError, IndexError):
            return
        day = self._day()
        self.questions.append(DnsQuestion(monotonic(), day, kind, name))
        lost = lost_on(self._world, name, day)
        if lost in (Lost.ALL, Lost.NAMES):
            return
        answer, ip = query.reply(), ""
        if lost is Lost.CAPTIVE:
            ip = address_of(self._world, "")
        elif lost is Lost.NAMES_FAIL:
            answer.header.rcode = RCODE.SERVFAIL
        elif not name:
            answer.add_answer(RR(query.q.qname, QTYPE.NS, rdata=NS("ns.weboid.demo"), ttl=0))
        else:
            match host_state(self._world, name, day, self._hour(name)):
                case HostState.DNS_SILENT:
                    return
                case None | HostState.DNS_GONE:
                    answer.header.rcode = RCODE.NXDOMAIN
                case HostState.DNS_SERVFAIL:
                    answer.header.rcode = RCODE.SERVFAIL
                case HostState.DNS_EMPTY:
                    pass
                case HostState.UP | HostState.TLS_BROKEN | HostState.NO_HTTP | HostState.REFUSED as state:
                    ip = address_of(self._world, name, refusing=state is HostState.REFUSED)
        if ip and kind == "A":
            answer.add_answer(RR(query.q.qname, QTYPE.A, rdata=A(ip), ttl=0))
        self._transport.sendto(answer.pack(), addr)
