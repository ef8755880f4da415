"""Remote procedure calls over HTTP, derived from annotated methods (O-1): each is declared once, with ``@call``.

From the signature follow the message with the arguments and how the server reads it. On the server the method does the
work; on a `Remote` object of the same class it sends the call. One law: an argument without a bound in its type is
refused when its class is imported (``test_an_argument_without_a_bound_is_refused``).
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import wraps
from inspect import Signature, signature
from math import inf
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar, get_type_hints

from msgspec import Struct, defstruct, inspect

from weboid.mechanism.disturbance import Disturbance
from weboid.store.db.pool import Connection, Pool

_Method = TypeVar("_Method", bound=Callable[..., Awaitable[Any]])
_Interface = TypeVar("_Interface")
_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")
_KIND: Final = "kind"


class Nothing(Struct, frozen=True):
    """No arguments, or no result."""


@dataclass(frozen=True, slots=True)
class Wire:
    """The form in which an argument, or a result, is sent if its own type is not enough: its type on the wire and the
    conversions. A dictionary of types stands for several fields of the message.

    A server first runs `validate` on all arguments, which raises BadMessage; an argument that has it needs no bounds
    below its own length. Then, one argument after the other: `check` names a method of the server's `here`, which
    raises CallRefused; `decode` converts; `resolve` converts by `here` and the arguments before it.
    """

    kind: Any = None
    encode: Callable[[Any], Any] | None = None
    decode: Callable[[Any], Any] | None = None
    validate: Callable[[Any], None] | None = None
    check: str = ""
    resolve: Callable[[Any, Any, Mapping[str, Any]], Awaitable[Any]] | None = None


@dataclass(frozen=True, slots=True)
class CallKind:
    """A call: its word in the address, the method that does it, the message of its arguments, the type of its result.

    `is_once`: it is not idempotent, and so is noted with its answer (``store/schedule/done_request``). After `fresh_s`
    seconds it is another call, even if it was not answered: its answer would be worth nothing. A method whose one
    argument is a Struct takes the message as it is.
    """

    name: str
    method: str
    given: type[Struct]
    result: Any
    is_once: bool
    fresh_s: float
    signature: Signature
    arguments: Mapping[str, Wire]
    answer: Wire

    def message(self, *args: Any, **named: Any) -> Struct:
        """The arguments as they are sent."""
        values = self.signature.bind(None, *args, **named).arguments
        fields: dict[str, Any] = {}
        for argument, wire in self.arguments.items():
            value = wire.encode(values[argument]) if wire.encode else values[argument]
            if isinstance(value, Struct) and self.given is type(value):
                return value
            fields |= value if isinstance(wire.kind, dict) else {argument: value}
        return self.given(**fields)

    def received(self, result: Any) -> Any:
        """The result as the caller gets it."""
        return self.answer.decode(result) if self.answer.decode else None if self.result is Nothing else result

    async def do(self, on: object, given: Struct, here: object) -> Any:
        """The result of the method of an object, as it is sent; raises BadMessage, CallRefused."""
        values: dict[str, Any] = {}
        for argument, wire in self.arguments.items():
            if isinstance(wire.kind, dict):
                values[argument] = {field: getattr(given, field) for field in wire.kind}
            else:
                values[argument] = given if wire.kind is self.given else getattr(given, argument)
            if wire.validate:
                wire.validate(values[argument])
        for argument, wire in self.arguments.items():
            value = values[argument]
            if wire.check:
                await getattr(here, wire.check)(value)
            if wire.decode:
                value = wire.decode(value)
            if wire.resolve:
                value = await wire.resolve(value, here, values)
            values[argument] = value
        result = await getattr(on, self.method)(**values)
        return self.answer.encode(result) if self.answer.encode else Nothing() if self.result is Nothing else result


Table = Mapping[str, tuple[CallKind, type]]
"""Calls and the interfaces that have them, by their words."""


class Transport(Protocol):
    """Sends calls to a server; `away`: whether they are answered now."""

    @property
    def away(self) -> Disturbance: ...

    async def call(self, kind: CallKind, given: Struct) -> Any:
        """The result of a call. Raises StoreError, StoreAway."""


@dataclass(frozen=True, slots=True)
class OneTransaction:
    """Gives one connection again and again: all that is done with it is one transaction."""

    conn: Connection

    def connection(self) -> AbstractAsyncContextManager[Connection]:
        """The connection."""
        return nullcontext(self.conn)


Connections = Pool | OneTransaction


class OnStore:
    """The server's side of an interface, whose calls are done on the store."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    async def _run(
        self,
        statement: Callable[Concatenate[Connection, _Given], Awaitable[_Result]],
        *given: _Given.args,
        **named: _Given.kwargs,
    ) -> _Result:
        """The result of a statement, in a transaction of its own."""
        async with self._connections.connection() as conn:
            return await statement(conn, *given, **named)


class Remote:
    """A remote process's side of an interface, whose calls go to the server; subclasses override what they add."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport


def connected(interface: type[_Interface], transport: Transport) -> _Interface:
    """An interface, or a subclass of it that is a `Remote`, whose calls go to the server."""
    is_remote = issubclass(interface, Remote)
    kind: Any = interface if is_remote else type(interface.__name__, (Remote, interface), {})
    connection: _Interface = kind(transport)
    return connection


def remote(store: type[_Interface], transport: Transport, *own: type[Remote]) -> _Interface:
    """A dataclass of interfaces, and `away`, whose calls go to the server: by one of our `own` if there is one."""
    fields: dict[str, Any] = {"away": transport.away}
    for field, kind in _interfaces(store).items():
        fields[field] = connected(next((each for each in own if kind in each.__mro__), kind), transport)
    return store(**fields)


def implementations(store: object) -> dict[type, Any]:
    """The objects in a dataclass of interfaces, by interface."""
    return {kind: getattr(store, field) for field, kind in _interfaces(type(store)).items()}


def _interfaces(store: type) -> dict[str, type]:
    return {field: kind for field, kind in get_type_hints(store).items() if _calls(kind)}


def call(name: str, *, is_once: bool = False, fresh_s: float = inf) -> Callable[[_Method], _Method]:
    """Declares a method as a call of this name, which a `Remote` sends. Raises TypeError for arguments without bounds.

    The method needs no body in a Protocol.
    """

    def declared(method: _Method) -> _Method:
        kind = _derived(method, name, is_once, fresh_s)

        @wraps(method)
        async def done(self: Any, *args: Any, **named: Any) -> Any:
            if isinstance(self, Remote):
                return kind.received(await self._transport.call(kind, kind.message(*args, **named)))
            return await method(self, *args, **named)

        vars(done)[_KIND] = kind
        return done  # type: ignore[return-value] # of the same signature

    return declared


def table_of(*kinds: type) -> Table:
    """The calls of interfaces, and of the interfaces that a dataclass has."""
    interfaces = [each for kind in kinds for each in _interfaces(kind).values() or [kind]]
    return {call.name: (call, interface) for interface in interfaces for call in _calls(interface)}


def _calls(interface: type) -> list[CallKind]:
    methods = (getattr(method, _KIND, None) for each in interface.__mro__ for method in vars(each).values())
    return [kind for kind in methods if isinstance(kind, CallKind)]


def _derived(method: Callable[..., Any], name: str, is_once: bool, fresh_s: float) -> CallKind:
    hints = get_type_hints(method, include_extras=True)
    answer = _sent(hints.pop("return"))
    arguments = {argument: _sent(hint) for argument, hint in hints.items()}
    fields: dict[str, Any] = {}
    for argument, wire in arguments.items():
        for field, kind in (wire.kind if isinstance(wire.kind, dict) else {argument: wire.kind}).items():
            sent = inspect.type_info(kind)
            _require_bounds(sent, f"{name}: {field}", is_deep=wire.validate is None)
            fields[field] = kind
            # Any collection may be given, also one that would be sent as another kind: a dictionary for its keys.
            if plain := {inspect.ListType: list, inspect.DictType: dict}.get(type(sent)):
                arguments[argument] = replace(wire, encode=wire.encode or plain)
    [only] = fields.values() if len(fields) == 1 else [None]
    is_whole = isinstance(only, type) and issubclass(only, Struct)
    given: Any = only if is_whole else defstruct(name, fields.items()) if fields else Nothing
    result = Nothing if answer.kind is type(None) else answer.kind
    return CallKind(name, method.__name__, given, result, is_once, fresh_s, signature(method), arguments, answer)


def _sent(hint: Any) -> Wire:
    """The form in which a value of this type is sent."""
    wire = next((mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Wire)), Wire())
    return wire if wire.kind is not None else replace(wire, kind=hint)


def _require_bounds(kind: inspect.Type, where: str, *, is_deep: bool, is_number_bounded: bool = False) -> None:
    """Raises TypeError for a type of a message that leaves a length or a number open.

    Numbers of the store's own records are bounded by MessagePack, and by the columns that they are for.
    """
    below: Iterable[inspect.Type] = ()
    is_bounded = True
    match kind:
        case inspect.IntType():
            is_bounded = is_number_bounded or (kind.ge is not None and kind.le is not None)
        case inspect.StrType():
            is_bounded = kind.max_length is not None or kind.pattern is not None
        case inspect.BytesType() | inspect.ByteArrayType() | inspect.MemoryViewType():
            is_bounded = kind.max_length is not None
        case inspect.ListType() | inspect.SetType() | inspect.FrozenSetType() | inspect.VarTupleType():
            is_bounded, below = kind.max_length is not None, [kind.item_type]
        case inspect.DictType():
            is_bounded, below = kind.max_length is not None, [kind.key_type, kind.value_type]
        case inspect.TupleType():
            below = kind.item_types
        case inspect.UnionType():
            below = kind.types
        case inspect.StructType():
            below = [field.type for field in kind.fields]
        case inspect.NamedTupleType() | inspect.DataclassType():
            below, is_number_bounded = [field.type for field in kind.fields], True
        case inspect.AnyType() | inspect.RawType() | inspect.ExtType() | inspect.TypedDictType():
            is_bounded = False
        case _:
            pass  # as long as it always is
    if not is_bounded:
        raise TypeError(f"{where} has no bound: give its type a Meta, or a Wire that validates it")
    for each in below if is_deep else ():
        _require_bounds(each, where, is_deep=True, is_number_bounded=is_number_bounded)
