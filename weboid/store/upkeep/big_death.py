"""Deaths of hosts on which much hangs: the longer span, an alarm a week before, an administrator's word (C-5, D-491).

All of it is decided when a host is read for a visit, so that the visit and what is written of it go by one record. The
alarm and the word are alarms, and recorded nowhere else.
"""

from collections.abc import Collection, Mapping
from typing import Final

from msgspec import structs

from weboid.core.record.days import iso
from weboid.core.record.policy import MANY_USES, Policy, is_near, proven
from weboid.core.record.record import HostRecord
from weboid.store.db.rows import HostKey
from weboid.store.db.statements import Connection, statements
from weboid.store.upkeep.alarm import AlarmKind, lower_before, raise_alarm
from weboid.store.urls.url import list_much_used

SQL: Final = statements("upkeep/big_death")
WORDS: Final = (AlarmKind.HOST_DYING, AlarmKind.HOST_HELD, AlarmKind.HOST_CONFIRMED)
"""What is said of such a host: at most one of them at a time."""
WORD_DAYS: Final = 90
"""Days after which a word is forgotten: the rule goes on."""
COUNTED_DAYS: Final = 21
"""Days of evidence from which on it is counted how much hangs on a host."""


async def weighed(
    conn: Connection, hosts: Mapping[HostKey, tuple[str, HostRecord]], day: int, policy: Policy
) -> dict[HostKey, HostRecord]:
    """The records of hosts, given with names, by which the next visit judges; raises the alarm where it is due."""
    records = {key: record for key, (_, record) in hosts.items()}
    failing = {
        key: name
        for key, (name, record) in hosts.items()
        if record.streak.evidence.width >= COUNTED_DAYS and not proven(record.streak, policy)
    }
    if not failing:
        return records
    words = await list_words(conn, failing.values())
    counted = [
        key
        for key, name in failing.items()
        if name not in words and (not records[key].streak.evidence.longer or is_near(records[key].streak, policy))
    ]
    for key in await list_much_used(conn, counted, uses=MANY_USES):
        records[key] = _weighing(records[key])
        if is_near(records[key].streak, policy):
            await raise_alarm(conn, AlarmKind.HOST_DYING, failing[key], day, _detail(records[key], day, policy))
    for key, name in failing.items():
        if name in words:
            records[key] = _as_said(records[key], words[name], policy)
    return records


def _weighing(record: HostRecord, *, longer: bool = True, width: int | None = None) -> HostRecord:
    """The record with the longer span or without it, and with so many days of evidence at most."""
    known = record.streak.evidence
    known = known._replace(longer=longer, width=known.width if width is None else min(known.width, width))
    return structs.replace(record, streak=structs.replace(record.streak, evidence=known))


def _as_said(record: HostRecord, word: AlarmKind, policy: Policy) -> HostRecord:
    """A confirmed host dies at the next failure, if it has failed as long as any other must; a held one never does."""
    if word is AlarmKind.HOST_CONFIRMED:
        shorter = _weighing(record, longer=False)
        return _weighing(shorter, longer=False, width=policy.span_of_all(shorter.streak.evidence) - 1)
    longer = _weighing(record)
    if word is AlarmKind.HOST_HELD:
        return _weighing(longer, width=policy.span_of_all(longer.streak.evidence) - policy.gap - 1)
    return longer


def _detail(record: HostRecord, day: int, policy: Policy) -> str:
    streak = record.streak
    dead = day + policy.span_of_all(streak.evidence) - streak.evidence.width
    return (
        f"over {MANY_USES} uses hang on this host, and it has not answered since {iso(streak.since or day)}: its links "
        f"are called dead from about {iso(dead)} on, unless it answers. An administrator may confirm or hold that at "
        "/admin"
    )


async def list_words(conn: Connection, names: Collection[str] | None = None) -> dict[str, AlarmKind]:
    """The words that stand of these hosts, or of all, by their names."""
    row = {"kinds": list(WORDS), "names": None if names is None else list(names)}
    return {name: AlarmKind(kind) async for name, kind in await conn.execute(SQL["list_words"], row)}


async def record_word(conn: Connection, name: str, word: AlarmKind | None, day: int) -> bool:
    """Records what an administrator says of a host of which something is said already; None = nothing any more. Returns
    whether that has changed anything."""
    said = (await list_words(conn, [name])).get(name)
    if said is None or said is word:
        return False
    await delete_words(conn, [name])
    if word is not None:
        await raise_alarm(conn, word, name, day, _SAID[word])
    return True


def is_settled(before: HostRecord, after: HostRecord, policy: Policy) -> bool:
    """True if nobody has to say any more whether a host dies: it has died by this check, or answers."""
    if before.streak.evidence.width < COUNTED_DAYS or proven(before.streak, policy):
        return False
    return not after.streak.strikes or proven(after.streak, policy)


async def delete_words(conn: Connection, names: Collection[str]) -> None:
    """Forgets what is said of these hosts."""
    if names:
        await conn.execute(SQL["delete_words"], {"kinds": list(WORDS), "names": sorted(names)})


async def delete_past_words(conn: Connection, day: int) -> None:
    """Forgets what was said long ago."""
    for kind in WORDS:
        await lower_before(conn, kind, day - WORD_DAYS)


_SAID: Final = {
    AlarmKind.HOST_HELD: f"an administrator holds the death of this host, for {WORD_DAYS} days at most",
    AlarmKind.HOST_CONFIRMED: "an administrator has confirmed the death of this host: it counts at its next failure",
}
