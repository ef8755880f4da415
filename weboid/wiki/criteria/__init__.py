"""The protocol of criteria for watching pages (P-4), and the registry that finds the criteria in this folder's modules.

A module here has ``KEYS``, the keys it reads in ``[wiki."…"]`` and in ``[wiki."…".without]``, and
``criteria_of(values)``, which makes criteria of those that are set and raises ConfigError naming the key it can't use.
One law: adding a criterion takes one module; nothing else lists them (`test_adding_a_criterion_takes_one_file`).
"""

import json
import re
from abc import abstractmethod
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence, Set
from contextlib import aclosing, suppress
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Final, Protocol

from weboid.errors import ConfigError
from weboid.wiki.source import PageState, Selection, WalkBatch, WikiSource

_SPACES: Final = re.compile("[ _]+")
Values = Mapping[str, object]
"""The keys of one wiki as TOML gives them."""


class Criterion(Protocol):
    """One reason to watch pages, or not to; `key` is its key in the configuration. `tree_depth`: down to which depth
    categories belong to its `trees`."""

    key: str
    tree_depth: int = 0

    @abstractmethod
    def walk(self, source: WikiSource, place: str = "") -> AsyncGenerator[WalkBatch, None]:
        """All pages that match, whatever their kind, each at least once, beginning after `place`.

        A place of another criterion is ignored. Raises SourceError when the source cannot answer.
        """

    def covers(self, page: PageState) -> bool | None:
        """Returns whether the page matches, as far as the page itself shows it; None = only a walk can decide."""
        return None

    @property
    def trees(self) -> Mapping[str, int]:
        """The categories, by title without prefix, whose new members match, as the last walk found them, with the depth
        of each; its categories belong to them, too, unless it is at `tree_depth`."""
        return {}


@dataclass(frozen=True, slots=True)
class Criteria:
    """The watched pages of a wiki: those that are included, except those that are excluded.

    `plan` shows whether a walk that was broken off can be resumed: it is the same as long as the criteria are.
    """

    included: tuple[Criterion, ...]
    excluded: tuple[Criterion, ...]
    plan: str

    @property
    def tree_depth(self) -> int:
        """The depth down to which categories belong to the trees of what is included."""
        return max((criterion.tree_depth for criterion in self.included), default=0)

    def covers(self, page: PageState) -> bool | None:
        """Returns whether such a page is watched, as far as the page itself shows it; None = only walks can decide.

        An exclusion that only a walk can decide counts as none here: the next pass corrects that (P-4).
        """
        if not page.is_watchable or _any(self.excluded, page):
            return False
        return _any(self.included, page)


def read_criteria(matching: Values, without: Values) -> Criteria:
    """The criteria of a wiki; where `matching` names no namespaces, its main namespace is watched.

    Raises ConfigError for a value that can't be used and for a key that no criterion knows.
    """
    matching = {"namespaces": [0], **matching}
    plan = json.dumps([matching, without], sort_keys=True, default=str)
    return Criteria(tuple(build(matching)), tuple(build(without)), plan)


def build(values: Values) -> list[Criterion]:
    """The criteria of one table, by module name and not as in the table; errors as in `read_criteria`."""
    modules: list[Any] = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    known = {key for module in modules for key in module.KEYS}
    if unknown := sorted(values.keys() - known):
        raise ConfigError(f"unknown key {unknown[0]!r}; criteria are {', '.join(sorted(known))}")
    return [criterion for module in modules for criterion in module.criteria_of(values)]


def _any(criteria: Iterable[Criterion], page: PageState) -> bool | None:
    found = {criterion.covers(page) for criterion in criteria}
    return True if True in found else None if None in found else False


async def walk_each(
    source: WikiSource, selections: Mapping[str, Selection], place: str
) -> AsyncGenerator[WalkBatch, None]:
    """The walks of some selections one after the other; each place has the selection's name."""
    name, inner = _place(place)
    names = list(selections)
    for following in names[names.index(name) :] if name in selections else names:
        async with aclosing(source.walk(selections[following], inner if following == name else "")) as stretches:
            async for stretch in stretches:
                yield WalkBatch(stretch.pages, json.dumps([following, stretch.place]))


def texts(values: Values, key: str, prefix: str = "") -> tuple[str, ...]:
    """The value of a key as titles, spaces for underscores, without the prefix, each once; () if it is not set.

    Raises ConfigError.
    """
    given = values.get(key, ())
    if not isinstance(given, Sequence) or isinstance(given, str) or not all(isinstance(one, str) for one in given):
        raise ConfigError(f'{key}: this must be a list of texts, like ["…", "…"]')
    titles = [_SPACES.sub(" ", str(one).removeprefix(prefix)).strip(" ") for one in given]
    if any(not title or not title.isprintable() or "|" in title for title in titles):
        raise ConfigError(f"{key}: a title must not be empty or contain '|' or control characters")
    return tuple(dict.fromkeys(titles))


def numbers(values: Values, key: str) -> tuple[int, ...]:
    """The value of a key as whole numbers in order, each once; () if it is not set. Raises ConfigError."""
    given = values.get(key, ())
    if not isinstance(given, Sequence | Set) or isinstance(given, str):
        raise ConfigError(f"{key}: this must be a list of whole numbers, like [0, 100]")
    return tuple(sorted({whole(number, key) for number in given}))


def whole(value: object, key: str, most: int = 2**31 - 1) -> int:
    """The value as a whole number from 0 to `most`. Raises ConfigError."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise ConfigError(f"{key}: {value!r} must be a whole number from 0 to {most}")
    return value


def _place(place: str) -> tuple[str, str]:
    with suppress(ValueError):
        match json.loads(place or "null"):
            case [str(name), str(inner)]:
                return name, inner
            case _:
                pass
    return "", ""
