"""For tests: copies in web archives as rounds would have left them in the store."""

from collections.abc import Sequence
from datetime import date

from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.record.days import days_from_epoch
from weboid.core.url.archives import ARCHIVES
from weboid.core.url.keys import key_of
from weboid.core.url.urls import parse
from weboid.store.archives.lookup import StoredLookup, record_lookups
from weboid.store.archives.snapshot import Origin, StoredSnapshot, record_snapshots
from weboid.store.db.pool import Pool

NUMBERS = {archive.name: archive.number for archive in ARCHIVES}
WANTED = days_from_epoch(date(2016, 5, 5))


async def keep_copies(
    pool: Pool, url: str, *, day: int, snapshots: Sequence[str] = (), note: int = 0, **outcomes: LookupOutcome | str
) -> None:
    """Keeps a snapshot of 3 May 2016 at each of these services, and what others said, by service; a text is what was
    passed over by a look-up that found nothing suitable."""
    key = key_of(parse(url))
    stamp = 20160503120000
    async with pool.connection() as conn:
        await record_snapshots(
            conn,
            [
                StoredSnapshot(key, NUMBERS[name], stamp, Origin.CHOSEN, day + 91, day, 0, WANTED, note)
                for name in snapshots
            ],
        )
        await record_lookups(
            conn,
            [
                StoredLookup(
                    key,
                    NUMBERS[name],
                    LookupOutcome.UNSUITABLE if isinstance(said, str) else said,
                    day,
                    day + 7,
                    passed=said if isinstance(said, str) else None,
                )
                for name, said in outcomes.items()
            ],
        )
