"""The calls of parts elsewhere, done on the store, whatever they are (O-1).

One law: a call that `is_once` is done in one transaction with the note that it was, so that however often it comes, and
however late, it is done once and answered as the first time (D-386).
"""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping
from time import monotonic
from typing import Any, ClassVar, Final, Generic, TypeVar

from weboid.central.http.kinds import Call, CallKind
from weboid.central.http.messages import MOST_INFLATED, BadMessage, compressed, decoded, encoded, inflated
from weboid.central.lending import Lender, OneTransaction
from weboid.mechanism.bounded import BoundedMap
from weboid.store.db.anew import begun_anew
from weboid.store.db.pool import Pool
from weboid.store.db.refused import RefusedValues, refused_values
from weboid.store.schedule.done_request import RequestKey, begin_request, delete_past_requests, record_answer

_FORGETTING_S: Final = 600.0
_WORKERS: Final = 1_000

_Core = TypeVar("_Core")
Do = Callable[[Any, str, Any, Any], Awaitable[Any]]
"""Does a call: whoever answers it, the client's name, the core, and what the call takes."""
Table = Mapping[str, tuple[CallKind[Any, Any], Do]]


class NoSuchCall(Exception):
    """A call that this version does not know."""


class OtherScheme(Exception):
    """The part elsewhere computes other keys than the store has (O-10)."""


class CallRefused(Exception):
    """A call that is understood and is not done; the text says why, to whoever runs the part elsewhere."""


class NotAllowed(CallRefused):
    """A call for what no token may do, by a stable word; nothing was written."""

    def __init__(self, key: str, words: str) -> None:
        super().__init__(f"{words} ({key})")
        self.key = key


def table_of(calls: Iterable[tuple[CallKind[Any, Any], Do]]) -> Table:
    """The calls by their names."""
    return {kind.name: (kind, do) for kind, do in calls}


class Answering(ABC, Generic[_Core]):
    """Does the calls of one kind of parts elsewhere, in one web process."""

    calls: ClassVar[Table]
    most_given: ClassVar[int] = MOST_INFLATED
    """Bytes of a call before it was compressed."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._forgotten = monotonic()
        self._cores: BoundedMap[str, _Core] = BoundedMap(_WORKERS)

    @abstractmethod
    def core_by(self, lender: Lender, worker: str) -> _Core:
        """What calls use, with connections of that lender, for a worker of that name."""

    async def finish(self, core: _Core) -> None:
        """What is to be done at the end of the transaction of a call that `is_once`."""

    async def answer(self, client: str, name: str, sent: bytes) -> bytes:
        """The answer to a call of a client, both compressed.

        Raises NoSuchCall, BadMessage, TooLong, OtherScheme, CallRefused, StoreError, and StoreAway.
        """
        if (known := self.calls.get(name)) is None:
            raise NoSuchCall(name)
        kind, do = known
        call = decoded(inflated(sent, self.most_given), Call)
        given = decoded(call.arguments, kind.given)
        try:
            with refused_values():
                if kind.is_once:
                    return compressed(await self._done_once(client, call, given, do))
                core = self._usual(f"{client}:{call.worker}")
                return compressed(encoded(await do(self, client, core, given)))
        except RefusedValues as error:
            raise BadMessage(f"the store takes no such values: {error}") from error

    def _usual(self, worker: str) -> _Core:
        """What the calls of a worker use that are not in one transaction: kept, for it remembers some minutes."""
        if (core := self._cores.use(worker)) is None:
            core = self._cores[worker] = self.core_by(self._pool, worker)
        return core

    @begun_anew
    async def _done_once(self, client: str, call: Call, given: Any, do: Do) -> bytes:
        await self._forget()
        key = RequestKey(client, call.request)
        async with self._pool.connection() as conn:
            if (before := await begin_request(conn, key)) is not None:
                return before
            core = self.core_by(OneTransaction(conn), f"{client}:{call.worker}")
            answer = encoded(await do(self, client, core, given))
            await self.finish(core)
            await record_answer(conn, key, answer)
        return answer

    async def _forget(self) -> None:
        if monotonic() - self._forgotten > _FORGETTING_S:
            self._forgotten = monotonic()
            async with self._pool.connection() as conn:
                await delete_past_requests(conn)
