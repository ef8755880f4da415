"""Traits of hosts, as checks have found them: specials (C-6), and not-found faces, one row a host (C-11).

Their meaning belongs to ``core/record/specials`` and ``core/document/face``.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, NamedTuple

from weboid.core.document.face import Face, packed_face, unpacked_face
from weboid.core.record.record import HostRecord
from weboid.core.record.specials import INHERITED, KEPT_DAYS, Sight, Special
from weboid.core.url.hosts import parent_names
from weboid.core.url.keys import host_key
from weboid.store.db.rows import HostKey, columns_of, host_key_columns, host_record
from weboid.store.db.statements import Connection, statements

SQL: Final = statements("urls/host_traits")


class HostSpecial(NamedTuple):
    """One special of one host."""

    host: HostKey
    kind: Special


async def list_specials(conn: Connection, names: Mapping[HostKey, str]) -> dict[HostKey, dict[Special, Sight]]:
    """The specials of the hosts with these names, and those of the hosts above them that are inherited (C-0)."""
    above = {key: [HostKey(key.bucket, host_key(name)) for name in parent_names(names[key])] for key in names}
    keys = {*names, *(parent for parents in above.values() for parent in parents)}
    seen: dict[HostKey, dict[Special, Sight]] = {}
    async for bucket, host, kind, since, until in await conn.execute(SQL["list_specials"], host_key_columns(keys)):
        seen.setdefault(HostKey(bucket, host), {})[Special(kind)] = Sight(since, until)
    found = {key: seen.get(key, {}) for key in names}
    for key, parents in above.items():
        if sights := [item for up in parents[::-1] if up in seen for item in seen[up].items() if item[0] in INHERITED]:
            found[key] = {**dict(sights), **found[key]}
    return found


async def list_failing(conn: Connection, hosts: Sequence[HostKey]) -> dict[HostKey, HostRecord]:
    """The records of those of the hosts that fail."""
    rows = await conn.execute(SQL["list_failing"], host_key_columns(hosts))
    return {HostKey(bucket, host): host_record(record) async for bucket, host, *record in rows}


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


async def list_faces(conn: Connection, hosts: Sequence[HostKey]) -> dict[HostKey, Face]:
    """The faces of these hosts; those of which nothing is known are missing."""
    rows = await conn.execute(SQL["list_faces"], host_key_columns(hosts))
    return {HostKey(bucket, host): unpacked_face(face) async for bucket, host, face in rows}


async def record_faces(conn: Connection, faces: Mapping[HostKey, Face]) -> None:
    """Records what is known now of hosts' faces; an empty face is deleted."""
    known = {host: faces[host] for host in sorted(faces) if faces[host]}
    if gone := sorted(faces.keys() - known.keys()):
        await conn.execute(SQL["delete_faces"], host_key_columns(gone))
    if known:
        columns = columns_of(known.values(), "learned") | {"face": [packed_face(face) for face in known.values()]}
        await conn.execute(SQL["record_faces"], host_key_columns(known) | columns)
