"""Classifiers and filters by name (R-2): those of `weboid/robot`, and those of installed packages.

A package offers its own as entry points of the group ``weboid.robot``. Each is made anew for a task, from the argument
after the colon of its name, so that it can count.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from importlib.metadata import entry_points
from typing import Any, Final, TypeAlias

from weboid.core.url.urls import Url
from weboid.errors import ConfigError
from weboid.robot import traps

_GROUP: Final = "weboid.robot"


@dataclass(slots=True)
class RobotPage:
    """A document as classifiers and filters of a task see it."""

    url: str
    distance: int
    source: str = ""
    """Where the task needs it, unless the document was loaded before."""
    attributes: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class RobotLink:
    """A link of a page as classifiers and filters of a task see it."""

    page: RobotPage
    url: Url
    text: str = ""
    rel: str = ""
    attributes: dict[str, str] = field(default_factory=dict)


Plugin: TypeAlias = Callable[[Any], bool | None]
"""Takes a page or a link; a filter returns False for what is not to be followed."""


def plugin(name: str) -> Plugin:
    """The function of that name; raises ConfigError if there is none."""
    word, _, argument = name.partition(":")
    make = _BUILT_IN.get(word)
    if make is None:
        found = entry_points(group=_GROUP, name=word)
        if not found:
            raise ConfigError(f"No classifier or filter of the robot is named {word!r}; there are {sorted(_BUILT_IN)}.")
        make = next(iter(found)).load()
    return make(argument)


def _include(patterns: str) -> Plugin:
    """One of several patterns, each in a line of its own, is enough."""
    wholes = [pattern if set(pattern) & set("*?[") else f"*{pattern}*" for pattern in patterns.split("\n")]
    return lambda link: any(fnmatchcase(str(link.url), whole) for whole in wholes)


def _exclude(patterns: str) -> Plugin:
    is_included = _include(patterns)
    return lambda link: not is_included(link)


def _nofollow(_argument: str) -> Plugin:
    return lambda link: "nofollow" not in link.rel.lower().split()


def _trap(make: Callable[[], traps.IsTrap]) -> Callable[[str], Plugin]:
    def made(_argument: str) -> Plugin:
        is_trap = make()
        return lambda link: not is_trap(link)

    return made


_BUILT_IN: Final[Mapping[str, Callable[[str], Plugin]]] = {
    "include": _include,
    "exclude": _exclude,
    "nofollow": _nofollow,
    **{name: _trap(make) for name, make in traps.TRAPS.items()},
}
