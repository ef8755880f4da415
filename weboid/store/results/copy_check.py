"""Writing what a visit of a cited copy found: its record, the verdict log and dead links (A-3, U-10).

No lease of its bucket is needed: the link checker writes no record of a URL that is never due, and two workers cannot
have leased one cited copy (``store/archives/cited_copy``).
One law: a visit is written as a whole, and only onto the record that it was judged by.
"""

from weboid.core.record.days import NEVER_DUE
from weboid.core.record.policy import DEFAULT, Policy
from weboid.core.record.record import UrlRecord
from weboid.core.verdict.change_of import change_of
from weboid.core.verdict.verdict import Verdict, finding_of
from weboid.store.archives.cited_copy import record_cited_due
from weboid.store.db.key_scheme import require_scheme
from weboid.store.db.pool import Connection
from weboid.store.db.rows import KnownUrl
from weboid.store.people.report import delete_reports
from weboid.store.urls.check import CheckedUrl, record_changes, record_checks
from weboid.store.urls.lock import lock_urls_and_hosts
from weboid.store.urls.url import find_urls


async def record_copy_check(
    conn: Connection, known: KnownUrl, record: UrlRecord, *, day: int, due: int, policy: Policy = DEFAULT
) -> bool:
    """Writes the record judged on `day` of a leased cited copy, with its change of verdict and its dead links.

    `due` is the day of its next visit. Returns False, and writes nothing, if its record is another one by now, or it is
    no cited copy any more. Its host's record stays as it is. Raises StoreError if the keys are being moved (O-10).
    """
    await require_scheme(conn)
    await lock_urls_and_hosts(conn, [known.key])
    now = (await find_urls(conn, [known.key])).get(known.key)
    if now is None or now.due != NEVER_DUE or now.record != known.record:
        return False
    await record_checks(conn, [CheckedUrl(known.key, record, NEVER_DUE)], cited=True)
    before, after = finding_of(now.record, now.host, policy), finding_of(record, now.host, policy)
    if change := change_of(known.key, day, before, after):
        await record_changes(conn, [change])
    if after.verdict is Verdict.WORKING is not before.verdict:
        await delete_reports(conn, [known.key])
    await record_cited_due(conn, {known.key: due})
    return True
