"""The vendors of bot walls with their distinctive marks, from ``wall_vendors.toml``; ``core/signs/botwall`` judges by
them.
"""

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from weboid.assets import toml_next_to


class Vendor(NamedTuple):
    """How one vendor's walls are recognised; any one of these is enough.

    `headers` are (name, part of the value in lower case) that only a wall has; `guarding` ones are in all answers of
    a guarded host, so they count only with a refusal code. `ends` are parts of the URL to which a visitor is
    redirected. All others are bytes of the body in lower case. `unique` ones are the beginning of an element with its
    quotation marks, which neither a text nor JSON can hold: no other document has them, however long it is. `marks`
    stand in tags and scripts, `sayings` in the text; both count in short documents only. `refusals` count only with a
    refusal code, for living pages of guarded hosts have them, too.
    """

    name: str
    headers: tuple[tuple[str, str], ...] = ()
    guarding: tuple[tuple[str, str], ...] = ()
    ends: tuple[str, ...] = ()
    unique: tuple[bytes, ...] = ()
    marks: tuple[bytes, ...] = ()
    sayings: tuple[bytes, ...] = ()
    refusals: tuple[bytes, ...] = ()


class Walls(NamedTuple):
    """The table: titles and demands of walls of all vendors, as they are written, and the vendors; the last entry is
    of captchas that may stand in any form.
    """

    titles: tuple[str, ...]
    demands: tuple[str, ...]
    vendors: tuple[Vendor, ...]


@cache
def walls() -> Walls:
    """The table."""
    table = toml_next_to(__file__)
    return Walls(tuple(table["titles"]), tuple(table["demands"]), tuple(_vendor(**row) for row in table["vendor"]))


def _vendor(
    name: str,
    headers: Iterable[tuple[str, str]] = (),
    guarding: Iterable[tuple[str, str]] = (),
    ends: Iterable[str] = (),
    **marks: Iterable[str],
) -> Vendor:
    as_bytes = {kind: tuple(mark.encode() for mark in listed) for kind, listed in marks.items()}
    return Vendor(name=name, headers=_pairs(headers), guarding=_pairs(guarding), ends=tuple(ends), **as_bytes)


def _pairs(listed: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple((name, part) for name, part in listed)
