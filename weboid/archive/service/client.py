"""One polite request to the service of a web archive: its limit, its pauses, its failures, a bounded reply (A-2).

The meaning of replies is read in ``core/archive``; the moment at which a request may be sent is decided by a `Limiter`
(``limits``, ``shared_limits``), shared by all kinds of requests and, with a store, by all workers. No redirect is
followed out of a service's own host, and no reply takes more memory than its bound.
"""

import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from math import inf
from time import monotonic
from typing import Final, Protocol
from urllib.parse import urljoin, urlsplit

import aiohttp
from yarl import URL

from weboid.config import NetConfig
from weboid.core.archive.captures import ServiceReply
from weboid.core.archive.services import ArchiveService
from weboid.core.observe.retry_after import retry_after_s
from weboid.core.record.reasons import Reason
from weboid.net.content_coding import Decoder
from weboid.net.faults import fault_of
from weboid.net.outbound import open_client
from weboid.store.archives.service_limit import RequestKind

REPLAY_BYTES: Final = 65_536
"""Bytes of a copy that are read at most, decompressed."""
INDEX_BYTES: Final = 1 << 20
"""Bytes of a listing that are read at most, decompressed; a longer one is cut, and so an error."""
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})

_WINDOW: Final = 10
_FAILURES: Final = 5
"""A service of whose last ten requests of a kind so many failed is paused, and one with so many failures in a row."""
_HOPS: Final = 2
_SLACK: Final = 4
"""A reply of more than so many times its bound as sent is cut: it is compressed, and stands for nothing."""
_ENDED: Final = (aiohttp.ClientPayloadError, aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)
_GZIP: Final = frozenset({"gzip", "x-gzip"})
_GZIP_BEGIN: Final = b"\x1f\x8b"
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


class Resting(Exception):
    """Nothing was sent: the service rests for `seconds` more, for the reason `why` (a stable word)."""

    def __init__(self, service: ArchiveService, seconds: float, why: str) -> None:
        super().__init__(f"{service.name} rests for {seconds:.0f} s more ({why})")
        self.service = service
        self.seconds = seconds
        self.why = why


class Limiter(Protocol):
    """Decides when a request may be sent to a service."""

    async def turn(self, service: ArchiveService, kind: RequestKind) -> None:
        """Returns when a request may be sent; raises Resting where the service rests for too long to wait."""

    async def rest(self, service: ArchiveService, why: str, wanted_s: float | None) -> float:
        """Pauses the service: for as long as it wants (None = it did not say), longer each time in a row.

        Returns for how many seconds.
        """

    async def failed(self, service: ArchiveService) -> int:
        """A request failed; returns how many in a row have, of all who share the limits; 0 = they are not counted."""
        return 0

    async def answered(self, service: ArchiveService, took_s: float) -> None:
        """A request that was sent so many seconds ago was answered as it should: the next pause is a short one."""


class ArchiveClient:
    """Requests to all services; raises `Resting` instead of sending while one rests. Other failures are replies."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        limiter: Limiter,
        *,
        user_agent: str,
        answer_s: float = 60.0,
        now: Callable[[], float] = monotonic,
    ) -> None:
        self.limiter = limiter
        self.sent = 0
        """Requests sent so far."""
        self.met = 0
        """Those of them that reached a server, with any answer."""
        self.hosts: set[str] = set()
        """The hosts that they were sent to."""
        self._session = session
        self._now = now
        self._headers = {"User-Agent": user_agent, "Accept-Encoding": "gzip, deflate"}
        self._timeout = aiohttp.ClientTimeout(total=answer_s)
        self._rests: dict[int, float] = {}
        self._last: dict[tuple[int, RequestKind], deque[bool]] = {}

    async def index(self, service: ArchiveService, address: str) -> ServiceReply:
        """The reply to a question for a listing; redirects within the service's own host are followed."""
        for _ in range(_HOPS):
            reply = await self.send(service, RequestKind.INDEX, address, most=INDEX_BYTES)
            target = _own_redirect(address, reply)
            if target is None:
                return reply
            address = target
        return await self.send(service, RequestKind.INDEX, address, most=INDEX_BYTES)

    async def replay(self, service: ArchiveService, address: str, *, may_lack: bool = False) -> ServiceReply:
        """The reply to a request for a copy; no redirect is followed (``core/archive`` judges each).

        `may_lack`: the service may not have its content, and says so by 503, which is then no failure.
        """
        return await self.send(service, RequestKind.REPLAY, address, most=REPLAY_BYTES, may_lack=may_lack)

    async def send(
        self,
        service: ArchiveService,
        kind: RequestKind,
        address: str,
        *,
        most: int = INDEX_BYTES,
        headers: Mapping[str, str] | None = None,
        form: Mapping[str, str] | None = None,
        may_lack: bool = False,
    ) -> ServiceReply:
        """One request, GET or with `form` POST, in its turn; the service rests if the reply says so."""
        await self.limiter.turn(service, kind)
        self.sent += 1
        self.hosts.add(urlsplit(address).hostname or "")
        begun = self._now()
        reply = await self._exchange(address, most, {**self._headers, **(headers or {})}, form)
        self.met += reply.code is not None or reply.fault in ("refused", "tls")
        if not may_lack or reply.code != 503 or "retry-after" in reply.headers:
            await self._heed(service, kind, reply, self._now() - begun)
        return reply

    def rest_s(self, service: ArchiveService) -> float | None:
        """The seconds for which the service rests because of this client's requests; None if it does not."""
        left_s = self._rests.get(service.archive.number, -inf) - self._now()
        return left_s if left_s > 0 else None

    async def failed(self, service: ArchiveService, kind: RequestKind, why: str) -> None:
        """Counts as a failure what looked like an answer, such as HTML in place of a listing."""
        await self._count(service, kind, why, 0.0)

    async def _exchange(
        self, address: str, most: int, headers: dict[str, str], form: Mapping[str, str] | None
    ) -> ServiceReply:
        try:
            # The address is as it should be sent: what is escaped in it is escaped once.
            async with self._session.request(
                "GET" if form is None else "POST",
                URL(address, encoded=True),
                data=form,
                headers=headers,
                timeout=self._timeout,
                allow_redirects=False,
                auto_decompress=False,
                max_line_size=INDEX_BYTES,
                max_field_size=INDEX_BYTES,
            ) as response:
                return await _bounded(response, most)
        except TimeoutError:
            return ServiceReply(None, fault="timeout")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            # A connection that ends too early was one.
            self.met += isinstance(error, _ENDED) and not isinstance(error, aiohttp.ClientConnectorError)
            return ServiceReply(None, fault=_fault_of(error))

    async def _heed(self, service: ArchiveService, kind: RequestKind, reply: ServiceReply, took_s: float) -> None:
        """Lets the service rest if it throttles us or fails too often; a copy's stored status says nothing of it."""
        wanted_s = retry_after_s(reply.headers)
        if reply.fault == "refused":
            await self._rest(service, "refused", None)
        elif reply.code == 429 and not _is_copy(reply):
            await self._rest(service, "rate-limited", wanted_s)
        elif reply.code == 503 and wanted_s is not None and not _is_copy(reply):
            await self._rest(service, "http-503", wanted_s)
        elif (reply.code is None or reply.code >= 500) and not _is_copy(reply):
            await self._count(service, kind, reply.fault or f"http-{reply.code}", took_s)
        else:
            await self._count(service, kind, "", took_s)

    async def _count(self, service: ArchiveService, kind: RequestKind, failure: str, took_s: float) -> None:
        """Remembers whether a request failed (empty = it did not); too many failures pause the service."""
        last = self._last.setdefault((service.archive.number, kind), deque(maxlen=_WINDOW))
        last.append(not failure)
        if not failure:
            await self.limiter.answered(service, took_s)
        elif max(await self.limiter.failed(service), last.count(False)) >= _FAILURES:
            # After the pause one more failure is enough for the next one, until there are answers again.
            last.clear()
            last.extend([False] * (_FAILURES - 1))
            await self._rest(service, failure, None)

    async def _rest(self, service: ArchiveService, why: str, wanted_s: float | None) -> None:
        seconds = await self.limiter.rest(service, why, wanted_s)
        self._rests[service.archive.number] = self._now() + seconds


@asynccontextmanager
async def open_archive_client(settings: NetConfig, limiter: Limiter) -> AsyncIterator[ArchiveClient]:
    """A client whose connections all pass the guard (C-13); raises ConfigError as ``net/outbound`` does."""
    async with open_client(settings) as session:
        yield ArchiveClient(session, limiter, user_agent=settings.user_agent, answer_s=settings.answer_s)


async def _bounded(response: aiohttp.ClientResponse, most: int) -> ServiceReply:
    """The reply with at most so many bytes of its body, decompressed; a damaged one counts as cut."""
    headers: dict[str, str] = {}
    for name, value in response.headers.items():
        name = name.lower()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    decoder = Decoder(headers.get("content-encoding", ""))
    body = bytearray()
    sent = 0
    async for piece in response.content.iter_any():
        if not sent and _is_unpacked(headers, piece):
            decoder = Decoder("")
        sent += len(piece)
        body += decoder.take(piece, most + 1 - len(body))
        if len(body) > most or sent > _SLACK * most:
            response.close()
            break
    else:
        return ServiceReply(response.status, headers, bytes(body), is_cut=bool(sent) and not decoder.is_whole)
    return ServiceReply(response.status, headers, bytes(body[:most]), is_cut=True)


def _is_unpacked(headers: Mapping[str, str], begin: bytes) -> bool:
    """Returns whether a body is sent as it is though its header says packed: some copies are replayed with the header
    of their original, and some stand-ins serve what was recorded after it had been unpacked."""
    coding = headers.get("content-encoding", "").strip().lower()
    if coding in _GZIP:
        return not _GZIP_BEGIN.startswith(begin[:2])
    return bool(coding) and begin.lstrip().startswith(b"<")


def _is_copy(reply: ServiceReply) -> bool:
    """Returns whether its status is that of a copy, not the service's own."""
    return "memento-datetime" in reply.headers


def redirect_of(address: str, reply: ServiceReply) -> str | None:
    """The target of a redirect; None if the reply is none."""
    location = reply.headers.get("location", "")
    if reply.code not in REDIRECTS or not location:
        return None
    with contextlib.suppress(ValueError):
        return urljoin(address, location)
    return None


def _own_redirect(address: str, reply: ServiceReply) -> str | None:
    """The target of a redirect, if that is on the same host; from https never to http."""
    target = redirect_of(address, reply)
    with contextlib.suppress(ValueError):
        old, new = urlsplit(address), urlsplit(target or "")
        is_upgrade = (old.scheme, new.scheme) == ("http", "https") and (old.port, new.port) == (None, None)
        if new.hostname == old.hostname and (is_upgrade or (new.scheme, new.port) == (old.scheme, old.port)):
            return target
    return None


def _fault_of(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientConnectorError):
        error = error.os_error
    elif isinstance(error, aiohttp.ClientConnectorCertificateError):
        return "tls"
    fault = fault_of(error)
    return _WORDS.get(fault.reason, "network") if fault else "network"
