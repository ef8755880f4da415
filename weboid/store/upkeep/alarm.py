"""Alarms for operators, raised once and lowered when they are over (P-7, U-8); one raised again keeps its first day."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from weboid.store.db.pool import Connection
from weboid.store.db.rows import storable
from weboid.store.db.statements import fetch_value, statements

SQL: Final = statements("upkeep/alarm")


class AlarmKind(StrEnum):
    """The kinds of alarms, by stable words that status page and metrics name.

    EXPIRY_STOPPED is raised and lowered by ``maintain/expiry`` (U-8), STORE by ``maintain/consistency`` (subject: which
    share of a large store), BACKUP_OLD by ``maintain/backup`` (O-9), WAL_BEHIND by ``maintain/wal``, PARTIAL_LOSS,
    CLOCK, LOOP_LAG, OFFLINE (C-16) and OWN_FAULT by crawlers, ARCHIVE_RESTS by requests to archives (A-2; subject: the
    service), ARCHIVE_SAVING by savings there (it refuses our keys), ARCHIVE_DOWN and SNAPSHOTS by the visits to
    kept copies (A-3; subject: the service), WATCHED by ``feed/watch_list``, ONE_CRAWLER by ``remote/crawl/alone``
    (subject: the host), HOST_DYING, HOST_HELD and HOST_CONFIRMED (the same) by ``store/upkeep/big_death``. PASS_SLOW,
    NO_PASS, ROUND_SLOW, NO_CRAWLER, PART_GONE (subject: the role), STREAM_BEHIND,
    SPAM_LINES and CONFLICTS are not stored: they follow from the state as ``store/lists/alarms`` computes it when it is
    asked, and so does BACKUP_OLD when no process is there to raise it. STANDBY is what the webservice itself sees.
    """

    PASS_SLOW = "pass-slow"
    NO_PASS = "no-pass"
    ROUND_SLOW = "round-slow"
    NO_CRAWLER = "no-crawler"
    PART_GONE = "part-gone"
    EXPIRY_STOPPED = "expiry-stopped"
    STREAM_BEHIND = "stream-behind"
    SPAM_LINES = "spam-lines"
    PARTIAL_LOSS = "partial-loss"
    CLOCK = "clock"
    LOOP_LAG = "loop-lag"
    OFFLINE = "offline"
    OWN_FAULT = "own-fault"
    STORE = "store"
    ARCHIVE_RESTS = "archive-rests"
    ARCHIVE_SAVING = "archive-saving"
    ARCHIVE_DOWN = "archive-down"
    SNAPSHOTS = "snapshots"
    BACKUP_OLD = "backup"
    WAL_BEHIND = "wal"
    WATCHED = "watched"
    CONFLICTS = "conflicts"
    STANDBY = "standby"
    ONE_CRAWLER = "one-crawler"
    HOST_DYING = "host-dying"
    HOST_HELD = "host-held"
    HOST_CONFIRMED = "host-confirmed"


@dataclass(frozen=True, slots=True)
class Alarm:
    """A problem with `subject` (a wiki, a list of streams, … or "") since a day; `kind` is a stable word."""

    kind: str
    subject: str
    since: int
    detail: str


async def raise_alarm(conn: Connection, kind: str, subject: str, day: int, detail: str) -> None:
    """Raises an alarm, or updates the detail of one that is raised already."""
    await conn.execute(SQL["record_alarm"], {"kind": kind, "subject": subject, "day": day, "detail": storable(detail)})


async def lower_alarm(conn: Connection, kind: str, subject: str) -> None:
    """Lowers an alarm; does nothing if it is not raised."""
    await conn.execute(SQL["delete_alarm"], {"kind": kind, "subject": subject})


async def find_since(conn: Connection, kind: str, subject: str) -> int | None:
    """The day since when an alarm is raised; None if it is not."""
    since: int | None = await fetch_value(conn, SQL["find_since"], {"kind": kind, "subject": subject})
    return since


async def lower_before(conn: Connection, kind: str, day: int) -> None:
    """Lowers the alarms of a kind that have been raised since before a day."""
    await conn.execute(SQL["delete_before"], {"kind": kind, "day": day})


async def record_alarms(conn: Connection, kind: str, details: Mapping[str, str], day: int) -> None:
    """Makes these, with their details by subject, the only alarms of a kind."""
    await conn.execute(SQL["delete_others"], {"kind": kind, "subjects": list(details)})
    for subject, detail in sorted(details.items()):
        await raise_alarm(conn, kind, subject, day, detail)


async def list_alarms(conn: Connection) -> list[Alarm]:
    """All alarms by kind and subject."""
    return [Alarm(*row) async for row in await conn.execute(SQL["list_alarms"])]


async def find_overdue(conn: Connection, day: int, *, days: int) -> int | None:
    """The day since when a URL has been due, if one is due for more than so many days; not always the oldest one."""
    row = await (await conn.execute(SQL["find_oldest_due"], {"day": day, "days": days})).fetchone()
    return row[0] if row else None
