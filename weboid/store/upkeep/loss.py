"""Partial losses in the store: the contacts of all workers with groups of hosts by day, and the lost groups (C-16).

When a group is lost is decided in ``core/verdict/partial_loss``; a lost group is an alarm, and recorded nowhere else.
"""

from collections.abc import Collection, Mapping
from typing import Final

from weboid.core.verdict.partial_loss import NAMES, SHARE_DAYS, SUSPECTED, WINDOW_DAYS, Contacts, HostGroup, group_of
from weboid.store.db.pool import Connection
from weboid.store.db.statements import statements
from weboid.store.upkeep.alarm import AlarmKind, lower_alarm

SQL: Final = statements("upkeep/loss")

ContactsByDay = dict[HostGroup, dict[int, Contacts]]
"""The contacts of groups, by group and day."""


async def lock_losses(conn: Connection) -> None:
    """Lets one worker at a time add its part and decide, until its transaction ends."""
    await conn.execute(SQL["lock_losses"])


async def record_contacts(conn: Connection, contacts: Mapping[tuple[HostGroup, int], Contacts]) -> None:
    """Adds contacts to those of all workers."""
    rows = [(group.subject, day, seen) for (group, day), seen in contacts.items()]
    columns = {
        "subject": [subject for subject, _, _ in rows],
        "day": [day for _, day, _ in rows],
        "answered": [seen.answered for _, _, seen in rows],
        "more": [seen.more for _, _, seen in rows],
        "still": [seen.still for _, _, seen in rows],
        "back": [seen.back for _, _, seen in rows],
        "failed": [" ".join(map(str, sorted(seen.failed))) for _, _, seen in rows],
    }
    await conn.execute(SQL["record_contacts"], columns)


async def list_contacts(conn: Connection, day: int, lost: Collection[HostGroup]) -> ContactsByDay:
    """The contacts of all workers within the window, of groups that are lost or in which several domains fail.

    Those of names go back as far as their share is judged by.
    """
    least = {"least": SUSPECTED, "lost": [group.subject for group in lost]}
    row = {**_days_kept(day), "day": day, **least}
    found: ContactsByDay = {}
    async for subject, seen_on, answered, more, still, back, failed in await conn.execute(SQL["list_contacts"], row):
        contacts = Contacts(answered, frozenset(failed), more, still, back)
        found.setdefault(group_of(subject), {})[seen_on] = contacts
    return found


async def delete_past_contacts(conn: Connection, day: int) -> None:
    """Deletes what is older than the window."""
    await conn.execute(SQL["delete_past"], _days_kept(day))


def _days_kept(day: int) -> dict[str, int | str]:
    return {"first": day - WINDOW_DAYS + 1, "names": NAMES.subject, "names_first": day - SHARE_DAYS}


async def list_losses(conn: Connection) -> dict[HostGroup, int]:
    """The groups that are lost, each with the day since when."""
    rows = await conn.execute(SQL["list_losses"], {"kind": AlarmKind.PARTIAL_LOSS})
    return {group_of(subject): since async for subject, since in rows}


async def delete_loss(conn: Connection, group: HostGroup) -> None:
    """Ends a loss: lowers its alarm and forgets the contacts that led to it."""
    await lower_alarm(conn, AlarmKind.PARTIAL_LOSS, group.subject)
    await conn.execute(SQL["delete_contacts"], {"subject": group.subject})
