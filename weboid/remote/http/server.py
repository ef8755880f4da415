"""The server of remote processes: does their calls on the store (O-1).

A call that `is_once` is done in one transaction with the note that it was, so that however often it comes, and however
late, it is done once and answered as the first time (D-386).
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from time import monotonic
from typing import Any, ClassVar, Final, NamedTuple

from weboid.mechanism.bounded import BoundedMap
from weboid.remote.http import messages
from weboid.remote.http.rpc import Connections, OneTransaction, Table
from weboid.store.db.pool import Pool
from weboid.store.db.transactions import RefusedValues, refused_values, repeated
from weboid.store.schedule.done_request import RequestKey, begin_request, delete_past_requests, record_answer

_DELETE_S: Final = 600.0
_WORKERS: Final = 1_000
_VERSION: Final = re.compile(r"; *version=([0-9]{1,4})\Z")


class Handlers(NamedTuple):
    """The objects that do the calls of one worker, by interface; and `here`, which checks the arguments."""

    here: Any
    by: Mapping[type, Any]


class CallRefused(Exception):
    """A call that is understood and is not done; the text says why, to the operator of the remote process."""


class NotAllowed(CallRefused):
    """A call for what no token may do, by a stable word; nothing was written."""

    def __init__(self, key: str, words: str) -> None:
        super().__init__(f"{words} ({key})")
        self.key = key


def require_version(endpoint: messages.Endpoint, media_type: str) -> None:
    """Raises CallRefused for calls of another version, in words that say what to update."""
    match = _VERSION.search(media_type)
    version = int(match[1]) if match else 1
    if version != endpoint.version:
        raise CallRefused(
            f"it takes version {endpoint.version} of these calls, and this is version {version}: update Weboid "
            + ("here" if version < endpoint.version else "on the server")
        )


class CallServer(ABC):
    """Does the calls of one kind of remote processes, in one web process."""

    calls: ClassVar[Table]
    most_inflated: ClassVar[int] = messages.MOST_INFLATED
    """Bytes of a call before it was compressed."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._deleted_at = monotonic()
        self._handlers: BoundedMap[tuple[str, str], Handlers] = BoundedMap(_WORKERS)

    @abstractmethod
    def handlers(self, connections: Connections, client: str, worker: str) -> Handlers:
        """The objects for a worker, with these connections; a client is the name of a token."""

    async def answer(self, client: str, name: str, sent: bytes) -> bytes:
        """The answer to a call of a client, both compressed.

        Raises BadMessage, also of a status of its own, CallRefused, StoreError, and StoreAway.
        """
        if (known := self.calls.get(name)) is None:
            raise messages.BadMessage("this version knows no such call", 404)
        kind, interface = known
        call = messages.decoded(messages.inflated(sent, self.most_inflated), messages.Call)
        given = messages.decoded(call.arguments, kind.given)

        async def done(handlers: Handlers) -> bytes:
            return messages.encoded(await kind.do(handlers.by[interface], given, handlers.here))

        try:
            with refused_values():
                if kind.is_once:
                    return messages.compressed(await self._done_once(client, call, done))
                return messages.compressed(await done(self._usual(client, call.worker)))
        except RefusedValues as error:
            raise messages.BadMessage(f"the store takes no such values: {error}") from error

    def _usual(self, client: str, worker: str) -> Handlers:
        """The objects for calls that are not in one transaction: kept, for they remember some minutes."""
        if (handlers := self._handlers.use((client, worker))) is None:
            handlers = self._handlers[client, worker] = self.handlers(self._pool, client, worker)
        return handlers

    @repeated
    async def _done_once(self, client: str, call: messages.Call, done: Callable[[Handlers], Awaitable[bytes]]) -> bytes:
        if monotonic() - self._deleted_at > _DELETE_S:
            self._deleted_at = monotonic()
            async with self._pool.connection() as conn:
                await delete_past_requests(conn)
        key = RequestKey(client, call.request)
        async with self._pool.connection() as conn:
            if (before := await begin_request(conn, key)) is not None:
                return before
            answer = await done(self.handlers(OneTransaction(conn), client, call.worker))
            await record_answer(conn, key, answer)
        return answer
