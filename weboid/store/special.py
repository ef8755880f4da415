"""What hosts need, as checks have found (C-6)."""

from collections.abc import Mapping
from typing import Final

from weboid.core.specials import NEEDS_GET_DAYS, Special
from weboid.store.pool import Connection
from weboid.store.rows import HostKey, host_key_columns
from weboid.store.statements import statements

SQL: Final = statements("special")


async def record_needs_get(conn: Connection, days: Mapping[HostKey, int]) -> None:
    """Hosts for which HEAD was not enough, each with the day on which that was seen (C-1)."""
    if days:
        keys = sorted(days)
        columns = {**host_key_columns(keys), "day": [days[key] for key in keys]}
        await conn.execute(SQL["record_specials"], {**columns, "kind": Special.NEEDS_GET.value, "days": NEEDS_GET_DAYS})
