"""Calls over HTTP from a remote process to its server (O-1).

One law: a call is either answered or raises StoreAway; made again with the same arguments it has the same number, by
which the core knows it. The token is sent to the core alone, never shown, and never sent unencrypted to another host.
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
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit
from uuid import UUID, uuid4

import aiohttp
from aiohttp import hdrs
from msgspec import Raw, Struct

from weboid.errors import ConfigError, StoreAway, StoreError, StoreRefuses, ValuesRefused
from weboid.mechanism.bounded import BoundedMap
from weboid.mechanism.disturbance import Disturbance
from weboid.remote.http.entrance import CRAWLERS, Entrance
from weboid.remote.http.messages import (
    MOST_ANSWERED,
    BadMessage,
    Call,
    TooLong,
    compressed,
    decoded,
    encoded,
    inflated,
)
from weboid.remote.http.rpc import CallKind

log = logging.getLogger(__name__)

_CALL_S: Final = 20.0
"""Longer than the core waits for its database."""
_CONNECT_S: Final = 5.0
_TRIES: Final = 3
"""A connection that was kept open may have been closed by the other side just then, or an answer spoiled on the way:
that alone is no reason to pause, as what is asked again has its number."""
_BY_OTHERS: Final = frozenset({502, 504})
"""Statuses that a proxy answers by itself."""
_UNANSWERED: Final = 1_000
_CONNECTIONS: Final = 16
_IN_WORDS: Final = 422
_MOST_WORDS: Final = 10_000


class _Spoiled(Exception):
    """An answer that is not the core's, or not as the core gave it."""


class _Numbered(NamedTuple):
    """The number of a request that was not answered yet, and since when it has it."""

    request: UUID
    since: float


class Caller:
    """Makes the calls of one worker. `away` knows when the server does not answer."""

    def __init__(
        self, client: aiohttp.ClientSession, core: str, token: str, worker: str, entrance: Entrance = CRAWLERS
    ) -> None:
        self.away = Disturbance(log, "the core is away")
        self._client = client
        self._entrance = entrance
        self._address = core.rstrip("/") + entrance.path
        self._headers = {hdrs.AUTHORIZATION: f"{entrance.scheme} {token}", hdrs.CONTENT_TYPE: entrance.kind}
        self._worker = worker
        self._unanswered: BoundedMap[bytes, _Numbered] = BoundedMap(_UNANSWERED)
        self._is_given_up = False
        self._limits: set[asyncio.Timeout] = set()

    async def call(self, kind: CallKind, given: Struct) -> Any:
        """The result of a call. Raises StoreAway, and StoreError if the core refuses us."""
        arguments = encoded(given)
        same = blake2b(kind.name.encode() + b" " + arguments, digest_size=16).digest()
        numbered = self._unanswered.get(same)
        if numbered is None or monotonic() - numbered.since > kind.fresh_s:
            numbered = _Numbered(uuid4(), monotonic())
        if kind.is_once:
            self._unanswered[same] = numbered
        sent = compressed(encoded(Call(self._worker, numbered.request, Raw(arguments))))
        try:
            result = decoded(await self._answered(kind.name, sent), kind.result)
        except BadMessage as error:
            raise StoreError(f"the core answers what this program does not understand: {error}") from None
        except StoreAway as error:
            self.away.met(error)
            raise
        self._unanswered.take(same)
        self.away.passed()
        return result

    def give_up(self) -> None:
        """Ends all waiting for the core, now and from now on, with StoreAway: for a program that has to end."""
        self._is_given_up = True
        now = asyncio.get_running_loop().time()
        for limit in self._limits:
            limit.reschedule(now)

    async def _answered(self, name: str, sent: bytes) -> bytes:
        why = "the core is not waited for: the program is ending"
        for _ in range(_TRIES):
            if self._is_given_up:
                break
            try:
                async with asyncio.timeout(_CALL_S) as limit:
                    self._limits.add(limit)
                    try:
                        return _received(await self._sent(name, sent))
                    finally:
                        self._limits.discard(limit)
            except TimeoutError:
                raise StoreAway(f"the core has not answered within {_CALL_S:.0f} s") from None
            except _Spoiled as error:
                why = str(error)
            except (aiohttp.ClientError, OSError) as error:
                why = f"the core cannot be reached: {type(error).__name__}: {error}"
        raise StoreAway(why)

    async def _sent(self, name: str, sent: bytes) -> bytes:
        async with self._client.post(
            self._address + name, data=BytesIO(sent), headers=self._headers, allow_redirects=False
        ) as response:
            if response.status == _IN_WORDS and response.content_type == self._entrance.kind:
                words = decoded(inflated(await _whole(response), _MOST_WORDS), str)
                raise StoreRefuses("the core refuses: " + "".join(c if c.isprintable() else "\ufffd" for c in words))
            if response.status in _BY_OTHERS:
                raise _Spoiled(f"a proxy answers with status {response.status} in the place of the core")
            if response.status != 200:
                raise _refusal(response.status, self._entrance)
            if response.content_type != self._entrance.kind:
                raise _Spoiled(f"something else answers in the place of the core ({response.content_type})")
            return await _whole(response)


async def _whole(response: aiohttp.ClientResponse) -> bytes:
    answer = bytearray()
    async for chunk in response.content.iter_any():
        answer += chunk
        if len(answer) > MOST_ANSWERED:
            raise BadMessage("the answer is too long")
    return bytes(answer)


def _received(answer: bytes) -> bytes:
    """The message in an answer; raises _Spoiled, TooLong."""
    try:
        return inflated(answer)
    except TooLong:
        raise
    except BadMessage as error:
        raise _Spoiled(f"the answer of the core is spoiled: {error}") from None


def _refusal(status: int, entrance: Entrance) -> StoreError:
    refusals = {
        400: "it does not understand this program: use the same version on both sides",
        401: f"it does not know the token: set {entrance.token} here, and its hash in {entrance.tokens} there",
        403: f"it refuses the token: set {entrance.token}",
        404: f"no {entrance.parts} are allowed there ({entrance.tokens}), or it is of another version, or the address "
        "is wrong",
        405: "the address is wrong",
        409: "its database has keys of another URL form or suffix list than this program: use the same version",
        413: "it takes no message of this length: use the same version on both sides",
    }
    if why := refusals.get(status):
        kind = ValuesRefused if status == 400 else StoreError
        return kind(f"the core refuses ({status}): {why}")
    if status < 500 and status != 429:
        return StoreError(f"the core answers with status {status}: is its address right ({entrance.core})?")
    return StoreAway(f"the core answers with status {status}")


def require_safe(core: str, entrance: Entrance = CRAWLERS) -> None:
    """Raises ConfigError for an address to which a token may not be sent: it is https, or on this machine."""
    try:
        parts = urlsplit(core)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        raise ConfigError(f"{entrance.core} (or --core) is not an address") from None
    is_plain = not (parts.username or parts.password or parts.query or parts.fragment)
    if not (host and is_plain and (parts.scheme == "https" or (parts.scheme == "http" and _is_here(host)))):
        raise ConfigError(
            f"{entrance.core} (or --core) must be https://host/…, without user, password or query: the token would be "
            "readable by others"
        )


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@asynccontextmanager
async def open_caller(
    core: str, token: str, worker: str, *, ca: Path | None = None, entrance: Entrance = CRAWLERS
) -> AsyncIterator[Caller]:
    """Calls to the core at this address until the block ends. Raises ConfigError."""
    require_safe(core, entrance)
    if not token:
        raise ConfigError(f"{entrance.token} is missing: the token of this part, whose hash the core has")
    tls = ssl.create_default_context()
    if ca is not None:
        tls.load_verify_locations(ca)
    connector = aiohttp.TCPConnector(ssl=tls, limit=_CONNECTIONS)
    timeout = aiohttp.ClientTimeout(total=None, connect=_CONNECT_S)
    headers = {hdrs.ACCEPT_ENCODING: "identity"}
    async with aiohttp.ClientSession(
        connector=connector, timeout=timeout, headers=headers, cookie_jar=aiohttp.DummyCookieJar(), trust_env=False
    ) as client:
        caller = Caller(client, core, token, worker, entrance)
        try:
            yield caller
        finally:
            caller.away.close()
