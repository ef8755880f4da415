"""The options of ``weboid_reverts`` besides those of all scripts."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from weboid_scripts.common.options import OptionRefused

_DAYS: Final = 30
_MOST_DAYS: Final = 36_500


@dataclass(frozen=True, slots=True)
class RevertOptions:
    """`limit` is None for no limit; `release` the revision that may be done again, `is_resuming` counts anew."""

    days: int = _DAYS
    limit: int | None = None
    release: int | None = None
    is_resuming: bool = False


def read_revert_options(arguments: Iterable[str]) -> RevertOptions:
    """The options of the script. Raises OptionRefused for what is none of them."""
    given: dict[str, int] = {}
    is_resuming = False
    for argument in arguments:
        name, _, value = argument.partition(":")
        if argument == "-resume":
            is_resuming = True
        elif name in ("-days", "-limit", "-release"):
            given[name[1:]] = _number(name, value)
        else:
            raise OptionRefused(f"There is no option {argument}. See: pwb weboid_reverts -help")
    if is_resuming and "release" in given:
        raise OptionRefused("-release: and -resume do different things. Give one of them.")
    days = given.get("days", _DAYS)
    if days > _MOST_DAYS:
        raise OptionRefused(f"-days: takes {_MOST_DAYS} at most.")
    return RevertOptions(days, given.get("limit"), given.get("release"), is_resuming)


def _number(name: str, value: str) -> int:
    if value.isascii() and value.isdigit() and len(value) <= 18 and int(value) > 0:
        return int(value)
    raise OptionRefused(f"{name} needs a number above 0: write {name}:30.")
