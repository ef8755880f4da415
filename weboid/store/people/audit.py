"""The audit log of people's actions, their limits and blocks, and undoing all claims of one person (H-2, H-4).

Claims about URLs belong to `report` and `replacement`, identities to ``web/identity``. A caller calls `find_refusal`
before anything else, and `record_audit` in the same transaction: between the two no other action is recorded, in any
process, so that the limits are exact.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time
from enum import StrEnum
from typing import Final

from weboid.core.record.days import date_of
from weboid.core.url.hosts import registrable_domain
from weboid.store.db.rows import HostKey, host_key_columns
from weboid.store.db.statements import Connection, fetch_all, fetch_one, fetch_value, statements
from weboid.store.people.report import delete_unfounded

SQL: Final = statements("people/audit")
NEWEST: Final = 2**63 - 1
"""A number greater than that of every entry of the audit log."""
AUDIT_DAYS: Final = 365
"""Days for which the audit log is kept."""
NOBODY: Final = ""
"""The subject of people who have not signed in."""


class Action(StrEnum):
    """The actions of people. The values are stored. The object of an action on a person is a subject, of others a URL,
    a domain or a wiki."""

    REPORT = "report"
    REPORT_DOMAIN = "report-domain"
    REMOVE_REPORT = "remove-report"
    REMOVE_DOMAIN_REPORT = "remove-domain-report"
    REPLACE = "replace"
    REMOVE_REPLACEMENT = "remove-replacement"
    DROP_REPLACEMENT = "drop-replacement"
    """Done by the program itself: the replacement did not work."""
    CHECK_REPLACEMENT = "check-replacement"
    """Done by the program itself: the replacement is shown from now on, or not for the time being."""
    CHECK = "check"
    UNDO = "undo"
    BLOCK = "block"
    UNBLOCK = "unblock"
    LIFT = "lift"
    """Of an always-changing page: copies of it may be chosen."""
    UNLIFT = "unlift"
    REVERT = "revert"
    """Stated by a trusted client: a repair was reverted; the link is frozen for bots (B-6)."""
    REPORT_REPAIR = "report-repair"
    """The same by a person: a repair that somebody has saved was wrong."""
    RELEASE = "release"
    """Of a frozen link: bots may repair it again."""
    KEEP_FROZEN = "keep-frozen"
    CONFIRM_DEATH = "confirm-death"
    """Of a host on which much hangs and that is about to be called dead; so are the next two (C-5)."""
    HOLD_DEATH = "hold-death"
    RELEASE_DEATH = "release-death"
    START_TASK = "start-task"
    STOP_TASK = "stop-task"
    """Of the robot; the object of both is the first start."""
    FORGET = "forget"
    """By an operator's command: all about a wiki was deleted."""


class Refusal(StrEnum):
    """The reason that a person may not do something now."""

    BLOCKED = "blocked"
    MINUTE = "minute"
    DAY = "day"


_REPORTS: Final = frozenset({Action.REPORT, Action.REPORT_DOMAIN, Action.REPORT_REPAIR})
_REMOVALS: Final = frozenset({Action.REMOVE_REPORT, Action.REMOVE_DOMAIN_REPORT, Action.REMOVE_REPLACEMENT})
_CLAIMS: Final = _REPORTS | {Action.REPLACE}

# By action: the actions that share a person's limit of one a minute, and those that share the daily limit of all people
# (H-2). Administrators have no limit.
_PAUSED: Final[Mapping[Action, frozenset[Action]]] = {
    **dict.fromkeys(_REPORTS, _REPORTS),
    **dict.fromkeys(_REMOVALS, _REMOVALS),
    Action.REPLACE: frozenset({Action.REPLACE}),
    Action.CHECK: frozenset({Action.CHECK}),
}
_COUNTED: Final[Mapping[Action, frozenset[Action]]] = {
    **dict.fromkeys(_CLAIMS, _CLAIMS),
    **dict.fromkeys(_REMOVALS, _REMOVALS),
    Action.CHECK: frozenset({Action.CHECK}),
}


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """An action of a person. `audit` counts up; `name` is the person's name at that time."""

    audit: int
    moment: datetime
    action: str
    subject: str
    name: str
    object: str
    detail: str


@dataclass(frozen=True, slots=True)
class Block:
    """A person who may not do anything any more, since a day; `blocker` is the administrator's subject."""

    subject: str
    name: str
    day: int
    blocker: str
    reason: str


@dataclass(frozen=True, slots=True)
class Undone:
    """The claims of a person that were deleted; `assumptions` = domains that counted as reachable by them (H-3),
    `repairs` = errors of repairs that nobody had reviewed."""

    reports: int
    domains: int
    replacements: int
    assumptions: int
    repairs: int


async def find_refusal(conn: Connection, action: Action, subject: str, *, daily: int) -> Refusal | None:
    """The reason that this person may not do this now, if any: one a minute, and `daily` a day over all people (H-2).

    The day is in UTC, by the clock of the database. To be called before any row is locked; others wait until the
    caller's transaction ends, in which `record_audit` records the action.
    """
    await conn.execute(SQL["lock_audit"])
    if action not in _COUNTED:
        return None
    actions = {"paused": [each.value for each in _PAUSED[action]], "counted": [each.value for each in _COUNTED[action]]}
    row = {"subject": subject, "daily": daily, **actions}
    found = await (await conn.execute(SQL["find_refusal"], row)).fetchone()
    return next((refusal for refusal, is_so in zip(Refusal, found or (), strict=True) if is_so), None)


async def record_audit(conn: Connection, action: Action, subject: str, name: str, about: str, detail: str = "") -> int:
    """Records that a person did something about a URL, a domain or a person; returns the number of the entry."""
    row = {"action": action.value, "subject": subject, "name": name, "object": about, "detail": detail}
    return await fetch_value(conn, SQL["record_audit"], row) or 0


async def list_audit(
    conn: Connection, *, subject: str | None = None, before: int = NEWEST, limit: int = 100
) -> list[AuditEntry]:
    """At most `limit` entries before a number, newest first: of all people, or of one."""
    row = {"subject": subject, "before": before, "limit": limit}
    return await fetch_all(conn, AuditEntry, SQL["list_audit" if subject is None else "list_audit_of"], row)


async def expire_audit(conn: Connection, day: int, *, limit: int) -> int:
    """Deletes at most `limit` entries that are over a year old on `day`; returns how many."""
    until = datetime.combine(date_of(day - AUDIT_DAYS), time(), UTC)
    return (await conn.execute(SQL["delete_old_audit"], {"until": until, "limit": limit})).rowcount


async def record_block(conn: Connection, subject: str, name: str, day: int, *, blocker: str, reason: str) -> None:
    """Blocks a person, or records a new reason for the block."""
    row = {"subject": subject, "name": name, "day": day, "blocker": blocker, "reason": reason}
    await conn.execute(SQL["record_block"], row)


async def delete_block(conn: Connection, subject: str) -> bool:
    """Unblocks a person; returns whether they were blocked."""
    return (await conn.execute(SQL["delete_block"], {"subject": subject})).rowcount > 0


async def find_block(conn: Connection, subject: str) -> Block | None:
    """The block of a person; None if they are not blocked."""
    return await fetch_one(conn, Block, SQL["find_block"], {"subject": subject})


async def list_blocks(conn: Connection, *, limit: int = 100) -> list[Block]:
    """At most `limit` people who are blocked, newest first."""
    return await fetch_all(conn, Block, SQL["list_blocks"], {"limit": limit})


async def delete_claims(conn: Connection, subject: str, day: int) -> Undone:
    """Deletes all reports and replacements of one person, and the assumptions that followed from them (H-4). Links
    that were frozen by such a report alone are so no longer.

    To be called after `find_refusal`, so that no report is written at the same time.
    """
    row = {"subject": subject}
    hosts = await fetch_all(conn, HostKey, SQL["delete_reports_of"], row)
    names = await conn.execute(SQL["list_host_names"], host_key_columns(sorted(set(hosts))))
    reported = {registrable_domain(name) async for (name,) in names}
    domains = (await conn.execute(SQL["delete_domain_reports_of"], row)).rowcount
    replacements = (await conn.execute(SQL["delete_replacements_of"], row)).rowcount
    assumptions = 0
    for domain in sorted(reported):
        assumptions += await delete_unfounded(conn, domain, day)
    repairs = (await conn.execute(SQL["delete_open_reverts_of"], row)).rowcount
    return Undone(len(hosts), domains, replacements, assumptions, repairs)
