"""Specials: what hosts need, as checks have found (C-6). What each kind means belongs to ``core/record/specials``."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from weboid.core.record.specials import INHERITED, KEPT_DAYS, Sight, Special
from weboid.core.url.hosts import parent_names
from weboid.core.url.keys import host_key
from weboid.store.db.pool import Connection
from weboid.store.db.rows import HostKey, host_key_columns
from weboid.store.db.statements import statements

SQL: Final = statements("urls/special")


class HostSpecial(NamedTuple):
    """One special of one host."""

    host: HostKey
    kind: Special


async def list_specials(conn: Connection, names: Mapping[HostKey, str]) -> dict[HostKey, dict[Special, Sight]]:
    """The specials of the hosts with these names, and those of the hosts above them that are inherited (C-0)."""
    above = {key: [HostKey(key.bucket, host_key(name)) for name in parent_names(names[key])] for key in names}
    wanted = {*names, *(parent for parents in above.values() for parent in parents)}
    seen: dict[HostKey, dict[Special, Sight]] = {}
    async for bucket, host, kind, since, until in await conn.execute(SQL["list_specials"], host_key_columns(wanted)):
        seen.setdefault(HostKey(bucket, host), {})[Special(kind)] = Sight(since, until)
    found: dict[HostKey, dict[Special, Sight]] = {}
    for key, parents in above.items():
        sights = {kind: sight for up in reversed(parents) for kind, sight in seen.get(up, {}).items()}
        found[key] = {kind: sight for kind, sight in sights.items() if kind in INHERITED} | seen.get(key, {})
    return found


async def record_specials(conn: Connection, days: Mapping[HostSpecial, int]) -> None:
    """Records specials that checks have shown, each with the day on which it was seen."""
    if days:
        ordered = sorted(days)
        row = {**_columns(ordered), "day": [days[special] for special in ordered], "kept_days": KEPT_DAYS}
        await conn.execute(SQL["record_specials"], row)


async def delete_specials(conn: Connection, gone: Collection[HostSpecial]) -> None:
    """Deletes specials that were tested again and did not show any more."""
    if gone:
        await conn.execute(SQL["delete_specials"], _columns(sorted(gone)))


def _columns(specials: Sequence[HostSpecial]) -> dict[str, list[int]]:
    return {**host_key_columns(each.host for each in specials), "kind": [each.kind.value for each in specials]}
