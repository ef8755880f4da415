"""The not-found faces of hosts, one row a host (C-11). What a face means belongs to ``core/document/face``."""

from collections.abc import Mapping, Sequence
from typing import Final

from weboid.core.document.face import Face, packed_face, unpacked_face
from weboid.store.db.pool import Connection
from weboid.store.db.rows import HostKey, host_key_columns
from weboid.store.db.statements import statements

SQL: Final = statements("urls/face")


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
        columns = {
            **host_key_columns(known),
            "learned": [face.learned for face in known.values()],
            "face": [packed_face(face) for face in known.values()],
        }
        await conn.execute(SQL["record_faces"], columns)
