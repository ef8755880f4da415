"""The processes that run, each with its role, and when it was last seen (O-5): rows of the table `part`.

A process writes its row while it lives; all times are by the clock of the database.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import Enum, StrEnum
from math import isfinite
from typing import Final, NamedTuple

from weboid.core.record.reasons import Reason
from weboid.store.db.statements import Connection, fetch_all, fetch_one, fetch_value, statements

SQL: Final = statements("schedule/process")
EXPIRY_S: Final = 60.0
"""Seconds after which a process that was not seen counts as gone."""
KEPT_DAYS: Final = 30
"""Days for which the row of a process that disappeared is kept, so that one sees that it is missing."""
BUCKETS_S: Final = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
"""Bounds of the buckets for how long a check takes, in seconds; one more bucket has what takes longer."""
_MOST_LISTED: Final = 1_000
_LONGEST_TEXT: Final = 200


class ProcessRole(Enum):
    """The roles of processes, by their commands' words. Of an exclusive one no two are seen within `EXPIRY_S`."""

    CRAWL = "crawl"
    FEED = "feed"
    EVENTS = "events"
    ARCHIVE = "archive"
    ROBOT = "robot"
    MAINTAIN = "maintain"
    WEB = "web"
    UP = "up"

    @property
    def is_exclusive(self) -> bool:
        """Returns whether a second one would only do the same work again."""
        return self not in (ProcessRole.CRAWL, ProcessRole.ARCHIVE, ProcessRole.WEB)


@dataclass(frozen=True, slots=True)
class RunningProcess:
    """A process with a role. `name` is its own among all of the role, also of other hosts and of earlier ones.

    `machine` says within which kernel and namespace `pid` means this process.
    """

    role: ProcessRole
    name: str
    host: str
    machine: str
    pid: int
    version: str

    @property
    def columns(self) -> dict[str, object]:
        """As parameters of a statement."""
        return asdict(self) | {"role": self.role.value, "exclusive": self.role.is_exclusive}


class SeenProcess(NamedTuple):
    """A process according to its row; `role` is a text, since another version may have others.

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
        """Returns whether it was seen lately."""
        return self.silent_s <= EXPIRY_S


class CrawlerFigure(StrEnum):
    """Figures that crawlers write with their sign of life, besides those by reason and by bucket.

    ``crawl/figures`` counts, ``web/health`` shows them. A name keeps its meaning, as crawlers and webservices of
    different versions share a store.
    """

    SECONDS = "check_seconds"
    OPEN = "checks_open"
    NOT_ASKED = "not_asked"
    POSTPONED = "postponed"
    HELD = "held"
    INFERRED = "inferred"
    OWN_FAULTS = "own_faults"
    SEATS = "seats"
    SEATS_USED = "seats_used"
    LOOP_LAG = "loop_lag_seconds"
    IDLE = "idle_seconds"
    NAME_QUERIES = "name_queries"
    NAME_FAILURES = "name_failures"


def reason_figure(reason: Reason) -> str:
    """The figure that counts checks with a reason."""
    return f"checks:{reason.word}"


def bucket_figure(place: int) -> str:
    """The figure that counts checks in one bucket alone, by its place."""
    return f"check_seconds:{place}"


async def take_role(
    conn: Connection,
    process: RunningProcess,
    is_gone: Callable[[SeenProcess], bool] = lambda _: False,
    *,
    expiry_s: float = EXPIRY_S,
    beginning: str = "",
) -> SeenProcess | None:
    """Writes the process's row; of an exclusive role only if no other has been seen within `expiry_s` seconds.

    Returns that other process, and has written nothing then. `is_gone` may know better that it has ended. Where several
    may run, the process takes the place of one that is gone, first of one of which that is known, and whose name has
    this `beginning`.
    """
    row = process.columns | {"expiry": expiry_s, "kept": KEPT_DAYS, "before": None, "beginning": beginning}
    if process.role.is_exclusive:
        await conn.execute(SQL["lock_role"], row)
        other = await fetch_one(conn, SeenProcess, SQL["find_other"], row)
        if other and not is_gone(other):
            return other
    else:
        others = await fetch_all(conn, SeenProcess, SQL["list_others_here"], row)
        row["before"] = next((other.name for other in others if is_gone(other)), None)
    await conn.execute(SQL["delete_expired"], row)
    await conn.execute(SQL["record_process"], row)
    return None


async def record_seen(conn: Connection, process: RunningProcess, activity: str, figures: Mapping[str, float]) -> bool:
    """Notes that the process lives, and its activity; False if its row is gone: then take the role again."""
    text = "".join(letter if letter.isprintable() else " " for letter in activity[:_LONGEST_TEXT])
    finite = json.dumps({name: value for name, value in figures.items() if isfinite(value)})
    row = process.columns | {"doing": text, "figures": finite}
    return await (await conn.execute(SQL["record_seen"], row)).fetchone() is not None


async def count_named(conn: Connection, beginning: str) -> int:
    """The number of processes whose names begin so."""
    return await fetch_value(conn, SQL["count_named"], {"beginning": beginning}) or 0


async def delete_process(conn: Connection, process: RunningProcess, beginning: str = "") -> None:
    """Deletes the row of a process that ends, and that of the one whose place it had, if its name begins so."""
    await conn.execute(SQL["delete_process"], process.columns | {"expiry": EXPIRY_S, "beginning": beginning})


async def list_processes(conn: Connection) -> list[SeenProcess]:
    """All processes that run, and those of the last days that disappeared, by role and name."""
    return await fetch_all(conn, SeenProcess, SQL["list_processes"], {"limit": _MOST_LISTED})
