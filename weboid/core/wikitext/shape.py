"""Reads JSON into frozen dataclasses by their types: bool, text with a `Form`, int with a `NumberForm`, Literal, tuple,
Mapping, dataclasses, and each of them or None. ``tools/build_settings_schema.py`` writes the JSON Schema of the same.

One law: every text gives a value or a `Misfit`, and no other exception (`test_no_text_raises_anything_else`).
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

MOST_CHARACTERS: Final = 200_000
"""A page with more is not read."""
_MOST_FAULTS: Final = 20
MOST_ITEMS: Final = 1_000
COMMENT: Final = "_"
"""Keys that begin with it are comments, whatever they hold."""
_HALVES: Final = re.compile("[\ud800-\udfff]")

_T = TypeVar("_T")


class Misfit(Exception):
    """A text that does not fit; `faults` are all that were found, up to twenty, each with its path."""

    def __init__(self, faults: list[str]) -> None:
        self.faults: Final = tuple(faults[:_MOST_FAULTS])
        more = f"; and {len(faults) - _MOST_FAULTS} more" if len(faults) > _MOST_FAULTS else ""
        super().__init__("; ".join(self.faults) + more)


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a text: `words` name it ("the name of a template"), `pattern` matches it as a whole.

    `refuse` gives the reason against a text that the pattern lets through, "" for none; the schema cannot say it.
    """

    words: str
    pattern: str
    most: int = 500
    refuse: Callable[[str], str] = lambda text: ""


@dataclass(frozen=True, slots=True)
class NumberForm:
    """The least and the greatest whole number; `words` name it."""

    words: str
    least: int
    most: int


def read(kind: type[_T], text: str) -> _T:
    """The value of a dataclass in a JSON text. Raises Misfit."""
    if len(text) > MOST_CHARACTERS:
        raise Misfit([f"longer than {MOST_CHARACTERS:,} characters"])
    if _HALVES.search(text):
        raise Misfit(["holds half a character, which no page of a wiki can"])
    try:
        given = json.loads(text, object_pairs_hook=_table, parse_constant=_no_number)
    except _Twice as twice:
        raise Misfit([f"{_shown(twice.args[0])}: stands twice in one table"]) from None
    except json.JSONDecodeError as error:
        raise Misfit([f"no JSON: {error.msg} in line {error.lineno}, column {error.colno}"]) from None
    except (ValueError, RecursionError):
        raise Misfit(["no JSON that can be read: too deep, or a number without end"]) from None
    faults: list[str] = []
    value = _value(kind, given, "", faults)
    if faults:
        raise Misfit(faults)
    assert isinstance(value, kind), "without a fault there is a value"
    return value


class _Twice(Exception):
    """A key that stands twice in one table."""


def _table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table: dict[str, Any] = {}
    for key, value in pairs:
        if key in table:
            raise _Twice(key)
        table[key] = value
    return table


def _no_number(word: str) -> None:
    raise ValueError(word)


class _Wrong(Exception):
    """The fault of the value at one path."""


def _value(kind: Any, given: Any, path: str, faults: list[str]) -> Any:
    """The value of a type; None after a fault, which is appended."""
    try:
        return _of_kind(kind, given, path, faults)
    except _Wrong as wrong:
        faults.append(f"{path}: {wrong}" if path else str(wrong))
        return None


def _of_kind(kind: Any, given: Any, path: str, faults: list[str]) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return None if given is None else _value(arguments[0], given, path, faults)
    if origin is Annotated:
        form = arguments[1]
        return _number(form, given) if isinstance(form, NumberForm) else _text(form, given)
    if origin is Literal:
        if given not in arguments:
            raise _Wrong("must be " + " or ".join(repr(word) for word in arguments))
        return given
    if origin is tuple:
        return _list(arguments[0], given, path, faults)
    if is_dataclass(kind):
        return _filled(kind, given, path, faults)
    if origin is not None:
        return _mapping(arguments, given, path, faults)
    if not isinstance(given, bool):
        raise _Wrong("must be true or false")
    return given


def _number(form: NumberForm, given: Any) -> int:
    if not isinstance(given, int) or isinstance(given, bool) or not form.least <= given <= form.most:
        raise _Wrong(f"must be a whole number from {form.least} to {form.most}: {form.words}")
    return given


def _text(form: Form, given: Any) -> str:
    if not isinstance(given, str):
        raise _Wrong(f"must be a text: {form.words}")
    if len(given) > form.most:
        raise _Wrong(f"longer than {form.most} characters")
    if _HALVES.search(given) or not re.fullmatch(form.pattern, given):
        raise _Wrong(f"{_shown(given)} is not {form.words}")
    if reason := form.refuse(given):
        raise _Wrong(f"{_shown(given)}: {reason}")
    return given


def _list(kind: Any, given: Any, path: str, faults: list[str]) -> tuple[Any, ...]:
    if not isinstance(given, list) or len(given) > MOST_ITEMS:
        raise _Wrong(f"must be a list of at most {MOST_ITEMS}")
    return tuple(_value(kind, each, f"{path}[{place}]", faults) for place, each in enumerate(given))


def _mapping(arguments: tuple[Any, ...], given: Any, path: str, faults: list[str]) -> dict[str, Any]:
    if not isinstance(given, dict) or len(given) > MOST_ITEMS:
        raise _Wrong(f"must be a table of at most {MOST_ITEMS}")
    own = {key: value for key, value in given.items() if not key.startswith(COMMENT)}
    return {
        _value(arguments[0], key, _below(path, key), faults): _value(arguments[1], value, _below(path, key), faults)
        for key, value in own.items()
    }


def _filled(kind: Any, given: Any, path: str, faults: list[str]) -> Any:
    if not isinstance(given, dict):
        raise _Wrong("must be a table")
    known = {field.name: field for field in fields(kind)}
    before = len(faults)
    faults += [
        f"{_below(path, key)}: unknown key; known are {', '.join(known)}"
        for key in given
        if key not in known and not key.startswith(COMMENT)
    ]
    faults += [
        f"{_below(path, name)}: is missing" for name, field in known.items() if name not in given and _is_needed(field)
    ]
    hints = _hints(kind)
    values = {name: _value(hints[name], given[name], _below(path, name), faults) for name in known if name in given}
    return None if len(faults) > before else kind(**values)


def _below(path: str, key: str) -> str:
    name = key if re.fullmatch(r"[\w-]{1,60}", key) else _shown(key)
    return f"{path}.{name}" if path else name


def _shown(text: str) -> str:
    """A hostile text in a message: short, quoted, on one line, and nothing that cannot be encoded."""
    return ascii(text[:60]) if _HALVES.search(text[:60]) else repr(text[:60])


@cache
def _hints(kind: Any) -> Mapping[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _is_needed(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING
