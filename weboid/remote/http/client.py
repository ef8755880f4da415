"""The client of a remote process: its calls over HTTP to the server (O-1).

A call is either answered or raises StoreAway; made again with the same arguments it has the same number, by which the
server knows it. The token is sent to the server alone, never shown, and never sent unencrypted to another host.
"""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import blake2b
from io import BytesIO
from ipaddress import ip_address
from pathlib import Path
from time import monotonic
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import aiohttp
from aiohttp import hdrs
from msgspec import Raw, Struct

from weboid.errors import ConfigError, StoreAway, StoreError, StoreRefuses, ValuesRefused
from weboid.mechanism.bounded import BoundedMap
from weboid.mechanism.disturbance import Disturbance
from weboid.remote.http import messages
from weboid.remote.http.messages import CRAWLERS, BadMessage, Endpoint, TooLong, read_whole
from weboid.remote.http.rpc import CallKind

log = logging.getLogger(__name__)

_CALL_S: Final = 20.0
"""Longer than the server waits for its database."""
_CONNECT_S: Final = 5.0
_TRIES: Final = 3
"""A connection that was kept open may just have been closed by the other side, or an answer damaged on the way: that
alone is no reason to pause, as a call that is sent again has its number."""
_OF_PROXIES: Final = frozenset({502, 504})
"""Statuses that a proxy answers by itself."""
_UNANSWERED: Final = 1_000
_CONNECTIONS: Final = 16
_REFUSED: Final = 422
_LONGEST_TEXT: Final = 10_000


class _DamagedAnswer(Exception):
    """An answer that is not the server's, or not as the server gave it."""


class ServerClient:
    """Makes the calls of one worker. `away`: the server does not answer."""

    def __init__(
        self, session: aiohttp.ClientSession, server: str, token: str, worker: str, endpoint: Endpoint = CRAWLERS
    ) -> None:
        self.away = Disturbance(log, "the server is away")
        self._session = session
        self._endpoint = endpoint
        self._address = server.rstrip("/") + endpoint.path
        self._headers = {hdrs.AUTHORIZATION: f"{endpoint.scheme} {token}", hdrs.CONTENT_TYPE: endpoint.sent_kind}
        self._worker = worker
        self._unanswered: BoundedMap[bytes, tuple[UUID, float]] = BoundedMap(_UNANSWERED)
        """Numbers of requests that were not answered yet, with the moment of the first attempt."""
        self._is_given_up = False
        self._limits: set[asyncio.Timeout] = set()

    async def call(self, kind: CallKind, given: Struct) -> Any:
        """The result of a call. Raises StoreAway, and StoreError if the server refuses it."""
        arguments = messages.encoded(given)
        same = blake2b(kind.name.encode() + b" " + arguments, digest_size=16).digest()
        number, begun = self._unanswered.get(same) or (uuid4(), monotonic())
        if monotonic() - begun > kind.fresh_s:
            number, begun = uuid4(), monotonic()
        if kind.is_once:
            self._unanswered[same] = number, begun
        sent = messages.compressed(messages.encoded(messages.Call(self._worker, number, Raw(arguments))))
        try:
            result = messages.decoded(await self._answered(kind.name, sent), kind.result)
        except BadMessage as error:
            raise StoreError(f"this program does not understand the answer of the server: {error}") from None
        except StoreAway as error:
            self.away.met(error)
            raise
        self._unanswered.take(same)
        self.away.passed()
        return result

    def give_up(self) -> None:
        """Ends all waiting for the server, now and from now on, with StoreAway: for a program that has to end."""
        self._is_given_up = True
        now = asyncio.get_running_loop().time()
        for limit in self._limits:
            limit.reschedule(now)

    async def _answered(self, name: str, sent: bytes) -> bytes:
        why = "the server is not waited for: the program is ending"
        for _ in range(_TRIES):
            if self._is_given_up:
                break
            try:
                async with asyncio.timeout(_CALL_S) as limit:
                    self._limits.add(limit)
                    try:
                        return await self._sent(name, sent)
                    finally:
                        self._limits.discard(limit)
            except TimeoutError:
                raise StoreAway(f"the server has not answered within {_CALL_S:.0f} s") from None
            except _DamagedAnswer as error:
                why = str(error)
            except (aiohttp.ClientError, OSError) as error:
                why = f"the server cannot be reached: {type(error).__name__}: {error}"
        raise StoreAway(why)

    async def _sent(self, name: str, sent: bytes) -> bytes:
        async with self._session.post(
            self._address + name, data=BytesIO(sent), headers=self._headers, allow_redirects=False
        ) as response:
            chunks = response.content.iter_any()
            if response.status == _REFUSED and response.content_type == self._endpoint.kind:
                text = messages.decoded(messages.inflated(await read_whole(chunks), _LONGEST_TEXT), str)
                raise StoreRefuses("the server refuses: " + "".join(c if c.isprintable() else "\ufffd" for c in text))
            if response.status in _OF_PROXIES:
                raise _DamagedAnswer(f"a proxy answers with status {response.status} instead of the server")
            if response.status != 200:
                raise _refusal(response.status, self._endpoint)
            if response.content_type != self._endpoint.kind:
                raise _DamagedAnswer(f"something else answers instead of the server ({response.content_type})")
            answer = await read_whole(chunks)
        try:
            return messages.inflated(answer)
        except TooLong:
            raise
        except BadMessage as error:
            raise _DamagedAnswer(f"the answer of the server is damaged: {error}") from None


def _refusal(status: int, endpoint: Endpoint) -> StoreError:
    refusals = {
        400: "it does not understand this program: use the same version on both sides",
        401: f"it does not know the token: set {endpoint.token} here, and its hash in {endpoint.tokens} there",
        403: f"it refuses the token: set {endpoint.token}",
        404: f"no {endpoint.plural} are allowed there ({endpoint.tokens}), or it is of another version, or the address "
        "is wrong",
        405: "the address is wrong",
        409: "its database has keys of another URL form or suffix list than this program: use the same version",
        413: "it takes no message of this length: use the same version on both sides",
    }
    if why := refusals.get(status):
        kind = ValuesRefused if status == 400 else StoreError
        return kind(f"the server refuses ({status}): {why}")
    if status < 500 and status != 429:
        return StoreError(f"the server answers with status {status}: is its address right ({endpoint.server})?")
    return StoreAway(f"the server answers with status {status}")


def require_safe(server: str, endpoint: Endpoint = CRAWLERS) -> None:
    """Raises ConfigError for an address to which a token may not be sent: it is https, or on this machine."""
    try:
        parts = urlsplit(server)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        raise ConfigError(f"{endpoint.server} (or --core) is not an address") from None
    is_plain = not (parts.username or parts.password or parts.query or parts.fragment)
    if not (host and is_plain and (parts.scheme == "https" or (parts.scheme == "http" and _is_here(host)))):
        raise ConfigError(
            f"{endpoint.server} (or --core) must be https://host/…, without user, password or query: otherwise others "
            "could read the token"
        )


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@asynccontextmanager
async def open_client(
    server: str, token: str, worker: str, *, ca: Path | None = None, endpoint: Endpoint = CRAWLERS
) -> AsyncIterator[ServerClient]:
    """A client of the server at this address until the block ends. Raises ConfigError."""
    require_safe(server, endpoint)
    if not token:
        raise ConfigError(f"{endpoint.token} is missing: the token of this process, whose hash the server has")
    tls = ssl.create_default_context()
    if ca is not None:
        tls.load_verify_locations(ca)
    connector = aiohttp.TCPConnector(ssl=tls, limit=_CONNECTIONS)
    timeout = aiohttp.ClientTimeout(total=None, connect=_CONNECT_S)
    headers = {hdrs.ACCEPT_ENCODING: "identity"}
    async with aiohttp.ClientSession(
        connector=connector, timeout=timeout, headers=headers, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False
    ) as session:
        client = ServerClient(session, server, token, worker, endpoint)
        try:
            yield client
        finally:
            client.away.close()
