"""Records visits of copies that pages cite and of the snapshots that came from them: one request for both (A-3)."""

from weboid.core.archive.replay import Replayed
from weboid.core.archive.visits import cited_observation, quarter
from weboid.core.observe.observation import Observation
from weboid.core.record.moment import Moment
from weboid.core.record.policy import Policy
from weboid.core.record.reasons import Outcome
from weboid.core.url.archives import snapshot_of
from weboid.core.url.keys import key_of
from weboid.core.url.urls import Url
from weboid.core.verdict.judge import judge
from weboid.core.verdict.verdict import Verdict, finding_of
from weboid.store.archives.cited_copy import CitedCopy, find_cited, spellings
from weboid.store.archives.snapshot import StoredSnapshot, list_snapshots
from weboid.store.db.pool import Connection, Pool
from weboid.store.db.rows import KnownUrl
from weboid.store.results.record import record_copy_check
from weboid.store.urls.url import find_urls


async def record_cited_visit(
    pool: Pool, known: KnownUrl, seen: Observation, moment: Moment, policy: Policy
) -> Verdict | None:
    """Judges what a visit saw of a cited copy, and writes that; what works is visited again in a quarter.

    Returns its verdict now, None if its record was not the known one any more.
    """
    day = moment.day
    after = judge(known.record, seen, day, policy, known.host, host_key=known.key.host_key)
    due = day + quarter(day, known.key.url_key) if seen.outcome is Outcome.WORKING else after.due
    async with pool.connection() as conn:
        is_written = await record_copy_check(conn, known, after.record, day=day, due=due, policy=policy)
    return finding_of(after.record, known.host, policy).verdict if is_written else None


async def record_cited_of(
    pool: Pool, snapshot: StoredSnapshot, url: Url, replayed: Replayed, moment: Moment, policy: Policy
) -> None:
    """Records that the cited copies play from which a snapshot of `url` came, which was just visited and plays."""
    seen = cited_observation(replayed, replayed.status)
    if seen is None or seen.outcome is not Outcome.WORKING:
        return
    async with pool.connection() as conn:
        cited = (await find_cited(conn, [url])).get(snapshot.key, [])
        same = [copy.key for copy, _ in cited if (copy.archive, copy.stamp) == (snapshot.archive, snapshot.stamp)]
        known = await find_urls(conn, same) if same else {}
    for each in known.values():
        if each.record.checked != moment.day:
            await record_cited_visit(pool, each, seen, moment, policy)


async def list_snapshots_from(conn: Connection, copy: CitedCopy, cited: Url) -> list[tuple[StoredSnapshot, Url]]:
    """The snapshots, each with its URL, that are this very copy."""
    found = snapshot_of(str(cited))
    if found is None or found.original is None or copy.stamp is None:
        return []
    originals = {key_of(url): url for url in spellings(found.original)}
    stored = await list_snapshots(conn, list(originals))
    return [
        (snapshot, originals[key])
        for key, snapshots in stored.items()
        for snapshot in snapshots
        if (snapshot.archive, snapshot.stamp) == (copy.archive, copy.stamp)
    ]
