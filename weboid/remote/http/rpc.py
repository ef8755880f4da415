"""Calls over HTTP, derived from annotated interfaces (O-1): each is declared once, as a method with ``@call``.

From its signature follow the message with its arguments and how the server does it; the decorated method itself makes
the call, for a remote process. One law: an argument without a bound in its type is refused when the interface is
imported (``test_an_argument_without_a_bound_is_refused``).
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from inspect import Signature, signature
from math import inf
from typing import Any, Final, Protocol, TypeVar, get_type_hints

from msgspec import Struct, defstruct, inspect

from weboid.mechanism.disturbance import Disturbance

_Method = TypeVar("_Method", bound=Callable[..., Awaitable[Any]])
_Core = TypeVar("_Core")
_KIND: Final = "kind"


class Nothing(Struct, frozen=True):
    """No arguments, or no result."""


@dataclass(frozen=True, slots=True)
class Sent:
    """The form in which an argument, or a result, is sent if its own type is not enough: the type of the wire, and the
    way there and back. A dictionary of types: several fields, which `put` gives and `read` and `take` get as one.

    A server first asks `sound` of all arguments, which raises BadMessage for what is not; an argument that has it needs
    no bounds below its own length. Then, one argument after the other: `check` names a method of the server's own
    `here`, which raises CallRefused for what is not allowed; `read` converts; `take` does by `here` and the arguments
    before it.
    """

    kind: Any = None
    put: Callable[[Any], Any] | None = None
    read: Callable[[Any], Any] | None = None
    sound: Callable[[Any], None] | None = None
    check: str = ""
    take: Callable[[Any, Any, Mapping[str, Any]], Awaitable[Any]] | None = None

    def fields(self, argument: str) -> dict[str, Any]:
        """The fields of the message that an argument of this name has, with their types."""
        return self.kind if isinstance(self.kind, dict) else {argument: self.kind}


@dataclass(frozen=True, slots=True)
class CallKind:
    """A call: its word in the address, the method that does it, the message of its arguments, the type of its result.

    `is_once`: it is not the same when it is done twice, and so is noted with its answer (``store/schedule/
    done_request``). After `fresh_s` seconds it is another call, even if it was not answered: its answer would be worth
    nothing. A method whose one argument is a Struct takes the message as it is.
    """

    name: str
    method: str
    given: type[Struct]
    result: Any
    is_once: bool
    fresh_s: float
    signature: Signature
    arguments: Mapping[str, Sent]
    answer: Sent

    def message(self, *args: Any, **named: Any) -> Struct:
        """The arguments as they are sent."""
        values = self.signature.bind(None, *args, **named).arguments
        fields: dict[str, Any] = {}
        for argument, how in self.arguments.items():
            value = how.put(values[argument]) if how.put else values[argument]
            if isinstance(value, Struct) and self.given is type(value):
                return value
            fields |= value if isinstance(how.kind, dict) else {argument: value}
        return self.given(**fields)

    def received(self, result: Any) -> Any:
        """The result as the caller gets it."""
        return self.answer.read(result) if self.answer.read else None if self.result is Nothing else result

    async def do(self, on: object, given: Struct, here: object) -> Any:
        """The result of the method of an object, as it is sent; raises BadMessage, CallRefused."""
        values = {argument: self._sent(given, argument) for argument in self.arguments}
        for argument, how in self.arguments.items():
            if how.sound:
                how.sound(values[argument])
        for argument, how in self.arguments.items():
            value = values[argument]
            if how.check:
                await getattr(here, how.check)(value)
            if how.read:
                value = how.read(value)
            if how.take:
                value = await how.take(value, here, values)
            values[argument] = value
        result = await getattr(on, self.method)(**values)
        return self.answer.put(result) if self.answer.put else Nothing() if self.result is Nothing else result

    def _sent(self, given: Struct, argument: str) -> Any:
        kind = self.arguments[argument].kind
        if isinstance(kind, dict):
            return {field: getattr(given, field) for field in kind}
        return given if kind is self.given else getattr(given, argument)


Table = Mapping[str, tuple[CallKind, type]]
"""Calls and the interfaces that have them, by their words."""


class Calling(Protocol):
    """Makes calls; `away`: whether they are answered now."""

    @property
    def away(self) -> Disturbance: ...

    async def call(self, kind: CallKind, given: Struct) -> Any:
        """The result of a call. Raises StoreError, StoreAway."""


class Remote:
    """A remote process's side of an interface: its calls, and what a subclass does otherwise."""

    def __init__(self, caller: Calling) -> None:
        self._caller = caller


def connected(interface: type, caller: Calling) -> Any:
    """An interface, or a subclass of `Remote` that implements it, whose calls go to the server."""
    kind = interface if issubclass(interface, Remote) else type(interface.__name__, (Remote, interface), {})
    return kind(caller)


def remote(core: type[_Core], caller: Calling, *own: type[Remote]) -> _Core:
    """A dataclass of interfaces, and `away`, whose calls go to the server: by one of our `own` if there is one."""
    fields: dict[str, Any] = {"away": caller.away}
    for field, kind in _interfaces(core).items():
        fields[field] = connected(next((each for each in own if kind in each.__mro__), kind), caller)
    return core(**fields)


def parts_of(core: object) -> dict[type, Any]:
    """The implementations of the interfaces of a dataclass."""
    return {kind: getattr(core, field) for field, kind in _interfaces(type(core)).items()}


def _interfaces(core: type) -> dict[str, type]:
    return {field: kind for field, kind in get_type_hints(core).items() if _calls(kind)}


def call(name: str, *, is_once: bool = False, fresh_s: float = inf) -> Callable[[_Method], _Method]:
    """Declares a method of an interface as a call of this name. Raises TypeError for arguments without bounds."""

    def declared(method: _Method) -> _Method:
        kind = _derived(method, name, is_once, fresh_s)

        @wraps(method)
        async def made(self: Remote, *args: Any, **named: Any) -> Any:
            return kind.received(await self._caller.call(kind, kind.message(*args, **named)))

        vars(made)[_KIND] = kind
        return made  # type: ignore[return-value] # of the same signature

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
    for argument, how in arguments.items():
        for field, kind in how.fields(argument).items():
            wire = inspect.type_info(kind)
            _require_bounds(wire, f"{name}: {field}", is_deep=how.sound is None)
            fields[field] = kind
            # Any collection may be given, also one that would be sent as another kind: a dictionary for its keys.
            if plain := {inspect.ListType: list, inspect.DictType: dict}.get(type(wire)):
                arguments[argument] = replace(how, put=how.put or plain)
    [only] = fields.values() if len(fields) == 1 else [None]
    is_whole = isinstance(only, type) and issubclass(only, Struct)
    given: Any = only if is_whole else defstruct(name, fields.items()) if fields else Nothing
    result = Nothing if answer.kind is type(None) else answer.kind
    return CallKind(name, method.__name__, given, result, is_once, fresh_s, signature(method), arguments, answer)


def _sent(hint: Any) -> Sent:
    """The form in which a value of this type is sent."""
    how = next((mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Sent)), Sent())
    return how if how.kind is not None else replace(how, kind=hint)


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
        raise TypeError(f"{where} has no bound: give its type a Meta, or a Sent with what is sound")
    for each in below if is_deep else ():
        _require_bounds(each, where, is_deep=True, is_number_bounded=is_number_bounded)
