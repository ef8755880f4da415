"""Writing what a visit of a cited copy found: its record, the verdict log and dead links (A-3, U-10).

No lease of its bucket is needed: the link checker writes no URL whose due day is `NEVER_DUE`, and a cited copy is leased
by ``store/archives/cited_copy``.
"""

from weboid.core.record.policy import DEFAULT, Policy
from weboid.core.record.record import UrlRecord
from weboid.store.db.pool import Connection
from weboid.store.db.rows import KnownUrl


async def record_copy_check(
    conn: Connection, known: KnownUrl, record: UrlRecord, *, day: int, due: int, policy: Policy = DEFAULT
) -> bool:
    """Writes the record judged on `day` of a leased cited copy, with its change of verdict and its dead links, and the day
    `due` of its next visit.

    Returns False, and writes nothing, if its record is not the one that was judged any more. Its host's record stays.
    """
    raise NotImplementedError
