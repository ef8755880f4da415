"""One polite request to the service of a web archive: its limit, its pauses, its failures, a bounded reply (A-2).

What replies mean is read in ``core/archive``; when a request may be sent is a `Limiter`'s business
(``archive/limits``, ``archive/shared_limits``), shared by all kinds of requests and, with a store, by all workers.
One law: no redirect is followed out of a service's own host, and no reply takes more memory than its bound.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from enum import IntEnum
from typing import Final, Protocol
from urllib.parse import urljoin, urlsplit

import aiohttp
from yarl import URL

from weboid.config import NetConfig
from weboid.core.archive.captures import ServiceReply
from weboid.core.archive.services import Service
from weboid.core.observe.retry_after import retry_after_s
from weboid.core.record.reasons import Reason
from weboid.net.content_coding import Decoder
from weboid.net.faults import fault_of
from weboid.net.outbound import open_client

REPLAY_BYTES: Final = 65_536
"""Bytes of a copy that are read at most, decompressed."""
INDEX_BYTES: Final = 1 << 20
"""Bytes of a listing that are read at most, decompressed; a longer one is cut, and so an error."""

_WINDOW: Final = 10
_FAILURES: Final = 5
"""A service of whose last ten requests of a kind so many failed is paused."""
_HOPS: Final = 2
_SLACK: Final = 4
"""A reply of more than so many times its bound as sent is cut: it is compressed, and stands for nothing."""
_WORDS: Final = {
    Reason.CONNECTION_REFUSED: "refused",
    Reason.TIMEOUT: "timeout",
    Reason.DNS_GONE: "dns",
    Reason.DNS_ERROR: "dns",
    Reason.NOT_PUBLIC: "not-public",
    Reason.BAD_PORT: "not-public",
    Reason.TLS: "tls",
    Reason.CERTIFICATE_EXPIRED: "tls",
    Reason.CERTIFICATE_SELF_SIGNED: "tls",
    Reason.CERTIFICATE_UNKNOWN_ISSUER: "tls",
    Reason.CERTIFICATE_WRONG_HOST: "tls",
}


class RequestKind(IntEnum):
    """What a service limits by itself; stored numbers. All kinds rest if it throttles us or refuses connections."""

    INDEX = 0
    """CDX, TimeMap, TimeGate, availability and the like: they share one limit."""
    REPLAY = 1
    SAVE = 2


class Resting(Exception):
    """Nothing was sent: the service rests for `seconds` more, for the reason `why` (a stable word)."""

    def __init__(self, service: Service, seconds: float, why: str) -> None:
        super().__init__(f"{service.archive.name} rests for {seconds:.0f} s more ({why})")
        self.service = service
        self.seconds = seconds
        self.why = why


class Limiter(Protocol):
    """Decides when a request may be sent to a service."""

    async def turn(self, service: Service, kind: RequestKind) -> None:
        """Returns when a request may be sent; raises Resting where the service rests for too long to wait."""
        ...

    async def rest(self, service: Service, kinds: tuple[RequestKind, ...], why: str, wanted_s: float | None) -> None:
        """Pauses these kinds: for as long as the service wants (None = it did not say), longer each time in a row."""
        ...

    async def answered(self, service: Service, kind: RequestKind) -> None:
        """The service has answered such a request as it should: the next pause is a short one again."""
        ...


class ArchiveClient:
    """Requests to all services; raises `Resting` instead of sending while one rests. Other failures are replies."""

    def __init__(
        self, session: aiohttp.ClientSession, limiter: Limiter, *, user_agent: str, answer_s: float = 60.0
    ) -> None:
        self.limiter = limiter
        self.sent = 0
        """How many requests were sent so far."""
        self.answers = 0
        """How many of them were answered, with whatever status."""
        self._session = session
        self._headers = {"User-Agent": user_agent, "Accept-Encoding": "gzip, deflate"}
        self._timeout = aiohttp.ClientTimeout(total=answer_s)
        self._last: dict[tuple[int, RequestKind], deque[bool]] = {}

    async def index(self, service: Service, address: str) -> ServiceReply:
        """The reply to a question for a listing; redirects within the service's own host are followed."""
        for _ in range(_HOPS):
            reply = await self.send(service, RequestKind.INDEX, address, most=INDEX_BYTES)
            target = _own_redirect(address, reply)
            if target is None:
                return reply
            address = target
        return await self.send(service, RequestKind.INDEX, address, most=INDEX_BYTES)

    async def replay(self, service: Service, address: str) -> ServiceReply:
        """The reply to a request for a copy; no redirect is followed (``core/archive`` judges each)."""
        return await self.send(service, RequestKind.REPLAY, address, most=REPLAY_BYTES)

    async def send(
        self,
        service: Service,
        kind: RequestKind,
        address: str,
        *,
        most: int = INDEX_BYTES,
        headers: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
    ) -> ServiceReply:
        """One request, GET or with `form` POST, in its turn; the service rests if the reply says so."""
        await self.limiter.turn(service, kind)
        self.sent += 1
        reply = await self._exchange(address, most, {**self._headers, **(headers or {})}, form)
        self.answers += reply.code is not None
        await self._heed(service, kind, reply)
        return reply

    async def failed(self, service: Service, kind: RequestKind, why: str) -> None:
        """What looked like an answer was none (HTML in place of a listing, for example): it counts as a failure."""
        await self._count(service, kind, why)
