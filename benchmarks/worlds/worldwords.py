"""The words of a world's file: behaviours, plain values, each read at a place that errors can name.

Lives are read by `worldlives`; what stands where in a file is the business of `worldfile`; how it is written for
people, of ``docs/worlds.md``.
One law: whatever is not one of these words is an error.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Final, NoReturn, TypeVar

from benchmarks.worlds.stockpages import STOCK
from weboid.demo.world import (
    Behaviour,
    BotWall,
    ByMethod,
    Chain,
    Code,
    Drip,
    HostBehaviour,
    HostState,
    Loop,
    NoHead,
    Page,
    Redirect,
    Slow,
    Trouble,
)

B = TypeVar("B")
E = TypeVar("E", bound=Enum)

_DEEPEST: Final = 8
"""Behaviours inside of behaviours and names behind names; a name that leads to itself is found by it."""
_SIMPLE: Final[Mapping[str, Behaviour]] = {
    "page": Page(),
    "loop": Loop(),
    "drip": Drip(),
    "tarpit": Drip(5.0, tarpit=True),
    **{trouble.value: trouble for trouble in Trouble},
}
_STATES: Final = {state.value: state for state in HostState}


class WorldError(ValueError):
    """A file of a world that cannot be read; its text names the place in the file."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the file, with what holds everywhere in it: the raw `named` parts and the number of days."""

    path: str = ""
    named: Mapping[str, Any] = field(default_factory=dict)
    days: int = 0
    depth: int = 0

    def at(self, key: str | int) -> "Place":
        """The place of one member."""
        if isinstance(key, int):
            step = f"[{key}]"
        else:
            plain = key.replace("-", "").replace("_", "").isalnum() and key.isascii()
            step = f"{'.' if self.path else ''}{key}" if plain else f'["{key}"]'
        return replace(self, path=f"{self.path}{step}")

    def fail(self, text: str) -> NoReturn:
        raise WorldError(f"{self.path or 'the file'}: {text}")

    def deeper(self) -> "Place":
        """One behaviour further in."""
        if self.depth >= _DEEPEST:
            self.fail(f"more than {_DEEPEST} behaviours or names inside of one another")
        return replace(self, depth=self.depth + 1)

    def resolved(self, value: Any) -> tuple[Any, "Place"]:
        """A value, or what the name ``@name`` stands for and where."""
        place = self
        while isinstance(value, str) and value.startswith("@"):
            name = value[1:]
            if name not in self.named:
                place.fail(f"{value!r} is not among the named: {_listed(self.named)}")
            value, place = self.named[name], replace(place.deeper(), path=f'{place.path} → named["{name}"]')
        return value, place


def _listed(words: Any) -> str:
    return ", ".join(sorted(words)) or "there are none"


def table(value: Any, place: Place, known: frozenset[str], required: tuple[str, ...] = ()) -> Mapping[str, Any]:
    """An object with known keys only."""
    if not isinstance(value, dict):
        place.fail(f"this must be an object with {_listed(known)}")
    for key in value:
        if key not in known:
            place.fail(f"unknown key {key!r}; known are {_listed(known)}")
    for key in required:
        if key not in value:
            place.fail(f"{key!r} is missing")
    return value


def whole(value: Any, place: Place, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        place.fail(f"{_shown(value)} must be a whole number from {least} to {most}")
    return value


def number(value: Any, place: Place, most: float) -> float:
    if type(value) not in (int, float) or not 0 <= value <= most:
        place.fail(f"{_shown(value)} must be a number from 0 to {most:g}")
    return float(value)


def text(value: Any, place: Place) -> str:
    """A text; lone surrogates, which no server can send, are none."""
    if not isinstance(value, str):
        place.fail(f"{_shown(value)} must be a text")
    if not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
        place.fail("a lone surrogate is no text")
    return value


def yes(value: Any, place: Place) -> bool:
    if not isinstance(value, bool):
        place.fail(f"{_shown(value)} must be true or false")
    return value


def one_of(value: Any, place: Place, words: Mapping[str, B]) -> B:
    """What one of some words stands for."""
    if not isinstance(value, str) or value not in words:
        place.fail(f"{_shown(value)} must be one of {_listed(words)}")
    return words[value]


def words_of(kind: type[E]) -> Mapping[str, E]:
    return {str(each.value): each for each in kind}


def _shown(value: Any) -> str:
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def host_behaviour(value: Any, place: Place) -> HostBehaviour:
    """A state of a host, or a behaviour of all its addresses."""
    value, place = place.resolved(value)
    if isinstance(value, str) and value in _STATES:
        return _STATES[value]
    if isinstance(value, str) and value not in _SIMPLE:
        place.fail(f"{_shown(value)} is no behaviour of a host; words are {_listed({*_STATES, *_SIMPLE})}")
    return behaviour(value, place)


def behaviour(value: Any, place: Place) -> Behaviour:
    """What one address does: a word, or an object with one key."""
    value, place = place.resolved(value)
    if isinstance(value, str):
        return one_of(value, place, _SIMPLE)
    if not isinstance(value, dict) or len(value) != 1:
        place.fail(f"a behaviour is a word ({_listed(_SIMPLE)}) or an object with one of {_listed(_ALL)}")
    ((key, inner),) = value.items()
    if key not in _ALL:
        place.fail(f"unknown behaviour {key!r}; known are {_listed(_ALL)}")
    place = place.at(key).deeper()
    if key in STOCK:
        return one_of(inner, place, STOCK[key])
    return _READERS[key](inner, place)


def _page(value: Any, place: Place) -> Page:
    known = frozenset({"title", "text", "html", "lang", "kind", "size_kib", "shows"})
    given = table(value, place, known)
    if given.get("text") and given.get("html"):
        place.fail("a page has text or html, not both")
    usual = Page()
    return Page(
        kind=text(given.get("kind", usual.kind), place.at("kind")),
        size_kib=whole(given.get("size_kib", usual.size_kib), place.at("size_kib"), 0, 4096),
        title=text(given.get("title", usual.title), place.at("title")),
        text=text(given.get("text", ""), place.at("text")),
        html=text(given.get("html", ""), place.at("html")),
        lang=text(given.get("lang", usual.lang), place.at("lang")),
        shows=yes(given.get("shows", True), place.at("shows")),
    )


def _page_in(given: Mapping[str, Any], place: Place) -> Page | None:
    """The page under a code or on a wall: an object as for `page`, or a behaviour that is one."""
    if "page" not in given:
        return None
    value, place = place.at("page").resolved(given["page"])
    if isinstance(value, str) or (isinstance(value, dict) and len(value) == 1 and next(iter(value)) in _ALL):
        page = behaviour(value, place)
        if not isinstance(page, Page):
            place.fail("this behaviour is no page")
        return page
    return _page(value, place)


def _inside(given: Mapping[str, Any], place: Place) -> Behaviour | None:
    return behaviour(given["inside"], place.at("inside")) if "inside" in given else None


def _status(value: Any, place: Place) -> Code:
    if not isinstance(value, dict):
        return Code(whole(value, place, 200, 999))
    given = table(value, place, frozenset({"code", "retry_after_s", "kind", "size_kib", "page"}), ("code",))
    rest = given.get("retry_after_s")
    return Code(
        whole(given["code"], place.at("code"), 200, 999),
        None if rest is None else whole(rest, place.at("retry_after_s"), 0, 10**9),
        text(given.get("kind", "text/html"), place.at("kind")),
        whole(given.get("size_kib", 1), place.at("size_kib"), 0, 4096),
        _page_in(given, place),
    )


def _redirect(value: Any, place: Place) -> Redirect:
    if isinstance(value, str):
        return Redirect(text(value, place))
    given = table(value, place, frozenset({"to", "code"}), ("to",))
    return Redirect(text(given["to"], place.at("to")), _redirect_code(given, 301, place))


def _redirect_code(given: Mapping[str, Any], usual: int, place: Place) -> int:
    return whole(given.get("code", usual), place.at("code"), 300, 399)


def _chain(value: Any, place: Place) -> Chain:
    if not isinstance(value, dict):
        return Chain(whole(value, place, 1, 100))
    given = table(value, place, frozenset({"hops", "code"}), ("hops",))
    return Chain(whole(given["hops"], place.at("hops"), 1, 100), _redirect_code(given, 302, place))


def _no_head(value: Any, place: Place) -> NoHead:
    if not isinstance(value, dict):
        return NoHead(_refusal(value, place))
    given = table(value, place, frozenset({"code", "inside"}))
    return NoHead(_refusal(given.get("code", 405), place.at("code")), inside=_inside(given, place))


def _refusal(value: Any, place: Place) -> int:
    """A code; 0 = the connection is closed without a word."""
    return 0 if value == 0 and type(value) is int else whole(value, place, 200, 999)


def _wall(value: Any, place: Place) -> BotWall:
    if not isinstance(value, dict):
        return BotWall(whole(value, place, 200, 999))
    known = frozenset({"code", "challenge", "how", "page", "referrer", "inside"})
    given = table(value, place, known)
    return BotWall(
        whole(given.get("code", 403), place.at("code"), 200, 999),
        yes(given.get("challenge", False), place.at("challenge")),
        inside=_inside(given, place),
        how=one_of(given["how"], place.at("how"), words_of(Trouble)) if "how" in given else None,
        page=_page_in(given, place),
        referrer=yes(given.get("referrer", False), place.at("referrer")),
    )


def _slow(value: Any, place: Place) -> Slow:
    if not isinstance(value, dict):
        return Slow(number(value, place, 3600))
    given = table(value, place, frozenset({"seconds", "inside"}), ("seconds",))
    return Slow(number(given["seconds"], place.at("seconds"), 3600), _inside(given, place))


def _drip(value: Any, place: Place) -> Drip:
    given = table(value, place, frozenset({"pause_s", "tarpit"}))
    pause_s = number(given.get("pause_s", 0.05), place.at("pause_s"), 3600)
    return Drip(pause_s, yes(given.get("tarpit", False), place.at("tarpit")))


def _by_method(value: Any, place: Place) -> ByMethod:
    given = table(value, place, frozenset({"head", "get"}), ("head", "get"))
    return ByMethod(behaviour(given["head"], place.at("head")), behaviour(given["get"], place.at("get")))


_READERS: Final[Mapping[str, Callable[[Any, Place], Behaviour]]] = {
    "page": _page,
    "status": _status,
    "redirect": _redirect,
    "chain": _chain,
    "no-head": _no_head,
    "wall": _wall,
    "slow": _slow,
    "drip": _drip,
    "by-method": _by_method,
}
_ALL: Final = _READERS.keys() | STOCK.keys()
