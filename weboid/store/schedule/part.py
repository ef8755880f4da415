"""The parts that run: which process does what since when, and when it was last seen (O-5).

A part writes its row while it lives; all times are by the clock of the database. One law: of an exclusive role no two
rows have been seen within `EXPIRY_S`.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import Enum
from math import isfinite
from typing import Final, NamedTuple

from weboid.store.db.pool import Connection
from weboid.store.db.statements import statements

SQL: Final = statements("schedule/part")
EXPIRY_S: Final = 60.0
"""Seconds after which a part that was not seen counts as gone."""
KEPT_DAYS: Final = 30
"""How long the row of a part that ended without a word is kept, so that one sees that it is missing."""
_MOST_LISTED: Final = 1_000
_LONGEST_TEXT: Final = 200


class PartRole(Enum):
    """The roles of parts, by their commands' words. Of an exclusive one a store has one part at a time."""

    CRAWL = "crawl"
    FEED = "feed"
    EVENTS = "events"
    ARCHIVE = "archive"
    MAINTAIN = "maintain"
    WEB = "web"
    UP = "up"

    @property
    def is_exclusive(self) -> bool:
        """Whether a second one would only do the same work again."""
        return self in (PartRole.FEED, PartRole.EVENTS, PartRole.MAINTAIN, PartRole.UP)


@dataclass(frozen=True, slots=True)
class PartProcess:
    """A process with a role. `name` is its own among all of the role, also of other hosts and of earlier ones.

    `machine` says within which kernel and namespace `pid` means this process.
    """

    role: PartRole
    name: str
    host: str
    machine: str
    pid: int
    version: str

    @property
    def columns(self) -> dict[str, object]:
        """As parameters of a statement."""
        return asdict(self) | {"role": self.role.value, "exclusive": self.role.is_exclusive}


class SeenPart(NamedTuple):
    """A part as its row tells; `role` is a text, since another version may have others.

    `silent_s`: the seconds since it was `seen`.
    """

    role: str
    name: str
    host: str
    machine: str
    pid: int
    version: str
    since: datetime
    seen: datetime
    silent_s: float
    doing: str
    figures: Mapping[str, float]

    @property
    def is_running(self) -> bool:
        """Whether it was seen lately."""
        return self.silent_s <= EXPIRY_S


async def take_role(
    conn: Connection,
    part: PartProcess,
    is_gone: Callable[[SeenPart], bool] = lambda _: False,
    *,
    expiry_s: float = EXPIRY_S,
) -> SeenPart | None:
    """Writes the part's row; of an exclusive role only if no other part has been seen within `expiry_s` seconds.

    Returns that other part, and has written nothing then. `is_gone` may know better that it has ended. Where several
    may run, the part takes the place of one that is gone, first of one of which that is known.
    """
    row = part.columns | {"expiry": expiry_s, "kept": KEPT_DAYS, "before": None}
    if part.role.is_exclusive:
        await conn.execute(SQL["lock_role"], row)
        found = await (await conn.execute(SQL["find_other"], row)).fetchone()
        if found and not is_gone(other := SeenPart(*found)):
            return other
    else:
        others = [SeenPart(*found) async for found in await conn.execute(SQL["list_others_here"], row)]
        row["before"] = next((other.name for other in others if is_gone(other)), None)
    await conn.execute(SQL["delete_expired"], row)
    await conn.execute(SQL["record_part"], row)
    return None


async def record_seen(conn: Connection, part: PartProcess, doing: str, figures: Mapping[str, float]) -> bool:
    """Notes that the part lives, and what it is doing; False if its row is gone: then take the role again."""
    text = "".join(letter if letter.isprintable() else " " for letter in doing[:_LONGEST_TEXT])
    sound = json.dumps({name: value for name, value in figures.items() if isfinite(value)})
    row = part.columns | {"doing": text, "figures": sound}
    return await (await conn.execute(SQL["record_seen"], row)).fetchone() is not None


async def delete_part(conn: Connection, part: PartProcess) -> None:
    """Takes the row of a part that ends, and that of the one whose place it had."""
    await conn.execute(SQL["delete_part"], part.columns | {"expiry": EXPIRY_S})


async def list_parts(conn: Connection) -> list[SeenPart]:
    """All parts that run, and those of the last days that ended without a word, by role and name."""
    return [SeenPart(*row) async for row in await conn.execute(SQL["list_parts"], {"limit": _MOST_LISTED})]
