"""Writing checks: records, portraits, hosts, the verdict log, dead links, specials, faces (O-7, U-10).

A check is written as a whole, with its host, its change and its dead links, or not at all. The single statements belong
to ``store/urls``.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass

from msgspec import Struct

from weboid.core.observe.observation import Observation
from weboid.core.record.days import NEVER_DUE
from weboid.core.record.policy import DEFAULT, LOOSEST, STRICTEST, Policy, proven
from weboid.core.record.reasons import Outcome
from weboid.core.record.record import HostEffect, HostRecord, UrlRecord
from weboid.core.record.specials import Special
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.verdict import Change, Verdict, change_of, finding_of
from weboid.store.archives.cited_copy import record_cited_due, spelled_keys
from weboid.store.db.key_scheme import require_scheme
from weboid.store.db.rows import KnownUrl, StoredHost, StoredUrl
from weboid.store.db.statements import Connection
from weboid.store.people.report import delete_reports
from weboid.store.schedule.lease import Held, list_held
from weboid.store.urls.check import (
    CheckedUrl,
    list_silent_urls,
    record_changes,
    record_checks,
    record_due,
    record_hosts,
)
from weboid.store.urls.host_traits import HostSpecial, delete_specials, record_faces, record_specials
from weboid.store.urls.lock import hosts_of, list_there, lock_hosts, lock_urls
from weboid.store.urls.repaired import record_repaired
from weboid.store.urls.url import find_urls
from weboid.store.urls.wiki_dead import list_waiting, record_for_wikis


class Checked(Struct, frozen=True):
    """One URL of a visit, judged on `day`: its record and its host's, before and after. `due` is its next_check.

    `seen` is None where nothing can be concluded (a fault of ours): the record stays, the URL is due another day.
    """

    url: StoredUrl
    host: StoredHost
    day: int
    seen: Observation | None
    record: UrlRecord
    due: int
    host_before: HostRecord
    host_after: HostRecord
    disproved: frozenset[Special] = frozenset()
    """Specials of the host that were tried anew and are so no longer (C-6)."""
    effect: HostEffect = HostEffect.NONE


@dataclass(slots=True)
class Tally:
    """The work of a round so far. `lost` checks belonged to buckets that another worker had taken over."""

    written: int = 0
    inferred: int = 0
    postponed: int = 0
    lost: int = 0
    changes: int = 0


async def record_batch(conn: Connection, worker: str, batch: Sequence[Checked], held: Held, policy: Policy) -> Tally:
    """Writes a batch in the caller's transaction, without checks of buckets that are not the worker's, or no longer."""
    buckets = {checked.url.key.bucket for checked in batch}
    ours = await list_held(conn, worker, {bucket: held[bucket] for bucket in buckets if bucket in held})
    mine = [checked for checked in batch if checked.url.key.bucket in ours]
    is_locked = any(checked.seen is None or _turns_host(checked, policy) for checked in mine)
    if is_locked:
        mine = await _locked(conn, mine, policy)
    tally = Tally(lost=len(batch) - len(mine))
    # A host that dies or comes back changes the verdict on URLs outside the batch, so the batch is split at such checks
    # and written in order.
    start = 0
    for end, checked in enumerate(mine, start=1):
        if end == len(mine) or _turns_host(checked, policy):
            await _record_part(conn, mine[start:end], tally, policy, is_locked=is_locked)
            start = end
    # A check that finds the URL working ends a person's report on it (H-1).
    await delete_reports(conn, [checked.url.key for checked in mine if _works_again(checked)])
    return tally


async def _locked(conn: Connection, mine: list[Checked], policy: Policy) -> list[Checked]:
    """Locks all that the batch will write, in several statements; returns the checks of URLs that still exist.

    A host that comes back makes its other silent URLs due, so these are locked, too.
    """
    back = [each.host.key for each in mine if _turns_host(each, policy) and not proven(each.host_after.streak, policy)]
    keys = {checked.url.key for checked in mine}
    if await lock_urls(conn, keys, silent_of=back) < len(keys):
        there = await list_there(conn, keys)
        mine = [checked for checked in mine if checked.url.key in there]
    await lock_hosts(conn, {checked.host.key for checked in mine})
    return mine


async def _record_part(
    conn: Connection, part: Sequence[Checked], tally: Tally, policy: Policy, *, is_locked: bool
) -> None:
    """Writes a part of a batch in which at most the last check makes its host dead or alive.

    A batch that has only one part, and only records to write, need not be locked before: one statement writes all URLs,
    in the order of keys; then come the hosts.
    """
    done = [checked for checked in part if checked.seen is not None]
    postponed = [checked for checked in part if checked.seen is None]
    if done:
        due = await _due(conn, done, policy)
        records = [
            CheckedUrl(checked.url.key, checked.record, day, checked.seen.portrait, checked.seen.meant)
            for checked, day in zip(done, due, strict=True)
            if checked.seen
        ]
        if await record_checks(conn, records) < len(records):
            # A URL that was meanwhile found to be a cited copy is visited by others.
            there = await list_there(conn, [checked.url.key for checked in done], cited=False)
            done = [checked for checked in done if checked.url.key in there]
    if postponed:
        await record_due(conn, {checked.url.key: checked.due for checked in postponed})
    if not is_locked:
        await lock_hosts(conn, {checked.host.key for checked in part})
    await record_hosts(conn, {checked.host.key: checked.host_after for checked in part})
    await _record_specials(conn, done)
    changes = [change for checked in done if (change := _change(checked, checked.url, checked.record, policy))]
    await record_changes(conn, changes)
    await record_for_wikis(conn, _dead_for_some(done, {change.key for change in changes}), part[-1].day)
    tally.changes += len(changes)
    if _turns_host(part[-1], policy):
        tally.changes += await _record_host_turn(conn, part[-1], policy)
    tally.written += len(done)
    tally.postponed += len(postponed)
    tally.inferred += sum(1 for checked in done if checked.seen and checked.seen.inferred)


async def _due(conn: Connection, done: Sequence[Checked], policy: Policy) -> list[int]:
    """The days of the next checks: a URL that is dead, but not yet for a wiki that uses it, is checked like a failing
    one (U-11)."""
    dead = {
        checked.url.key: (checked.record, checked.host_after)
        for checked in done
        if _is_dead(checked.record, checked.host_after, policy)
        and not _is_dead(checked.record, checked.host_after, STRICTEST)
    }
    waiting = await list_waiting(conn, dead) if dead else set[UrlKey]()
    return [
        min(checked.due, checked.day + policy.failing_interval) if checked.url.key in waiting else checked.due
        for checked in done
    ]


def _dead_for_some(done: Sequence[Checked], changed: Container[UrlKey]) -> list[UrlKey]:
    """The URLs, besides those of which the verdict by the rule of all has changed, on which wikis may differ, or may
    have differed."""
    return [
        checked.url.key
        for checked in done
        if checked.url.key not in changed
        and (_may_differ(checked.record, checked.host_after) or _may_differ(checked.url.record, checked.host_before))
    ]


def _may_differ(record: UrlRecord, host: HostRecord) -> bool:
    """True if a URL is dead by the lowest thresholds that a wiki may have, and not by the highest."""
    return _is_dead(record, host, LOOSEST) and not _is_dead(record, host, STRICTEST)


def _is_dead(record: UrlRecord, host: HostRecord, policy: Policy) -> bool:
    fails = record.reason is not None and record.reason.outcome is Outcome.FAILING
    return fails and finding_of(record, host, policy).verdict is Verdict.DEAD


async def _record_specials(conn: Connection, done: Sequence[Checked]) -> None:
    """Writes the specials and faces of hosts that checks have found."""
    shown: dict[HostSpecial, int] = {}
    gone: set[HostSpecial] = set()
    for checked in done:
        if checked.seen:
            shown |= {HostSpecial(checked.host.key, kind): checked.day for kind in checked.seen.needs}
            gone |= {HostSpecial(checked.host.key, kind) for kind in checked.disproved}
    await delete_specials(conn, gone - shown.keys())
    await record_specials(conn, shown)
    # The checks of one host come in order, so that its newest face is the last.
    faces = {each.host.key: each.seen.face for each in done if each.seen and each.seen.face is not None}
    await record_faces(conn, faces)


async def _record_host_turn(conn: Connection, checked: Checked, policy: Policy) -> int:
    """Writes the effects on its other silent URLs when a host has been proven dead, or is so no longer (C-5).

    Returns the number of their changes of verdict.
    """
    count = 0
    async for urls in list_silent_urls(conn, checked.host.key):
        others = [url for url in urls if url.key != checked.url.key]
        changes = [change for url in others if (change := _change(checked, url, url.record, policy))]
        await record_changes(conn, changes)
        if not proven(checked.host_after.streak, policy):
            await record_due(conn, {url.key: checked.day for url in others})
        count += len(changes)
    await record_hosts(conn, {checked.host.key: checked.host_after})
    return count


def _works_again(checked: Checked) -> bool:
    """Returns whether there may be a report to delete: not on a URL that worked before or was never checked."""
    before = checked.url.record.reason
    is_regular = checked.seen is not None and checked.seen.outcome is Outcome.WORKING
    return is_regular and before is not None and before.outcome is not Outcome.WORKING


def _turns_host(checked: Checked, policy: Policy) -> bool:
    """Returns whether the host has been proven dead by this check, or is so no longer."""
    return proven(checked.host_before.streak, policy) != proven(checked.host_after.streak, policy)


def _change(checked: Checked, url: StoredUrl, record: UrlRecord, policy: Policy) -> Change | None:
    """The change of verdict that a new record of the URL, or a new one of its host, amounts to."""
    before = finding_of(url.record, checked.host_before, policy)
    return change_of(url.key, checked.day, before, finding_of(record, checked.host_after, policy))


async def record_copy_check(
    conn: Connection, known: KnownUrl, record: UrlRecord, *, day: int, due: int, policy: Policy = DEFAULT
) -> bool:
    """Writes the record judged on `day` of a leased cited copy, with its change of verdict and its dead links (A-3).

    `due` is the day of its next visit. Returns False, and writes nothing, if its record is another one by now, or it is
    no cited copy any more. Its host's record stays as it is. Raises StoreError if the keys are being moved (O-10).
    No lease of its bucket is needed: the link checker writes no record of a URL that is never due, and two workers
    cannot have leased one cited copy (``store/archives/cited_copy``).
    """
    await require_scheme(conn)
    originals = spelled_keys(known.url)
    await lock_urls(conn, [known.key, *originals])
    await lock_hosts(conn, hosts_of([known.key]))
    now = (await find_urls(conn, [known.key])).get(known.key)
    if now is None or now.due != NEVER_DUE or now.record != known.record:
        return False
    await record_checks(conn, [CheckedUrl(known.key, record, NEVER_DUE)], cited=True)
    before, after = finding_of(now.record, now.host, policy), finding_of(record, now.host, policy)
    if change := change_of(known.key, day, before, after):
        await record_changes(conn, [change])
    judged = [] if change else await record_for_wikis(conn, [known.key], day)
    if change or any(each.is_dead is not each.was_dead for each in judged):
        await record_repaired(conn, originals)
    if after.verdict is Verdict.WORKING is not before.verdict:
        await delete_reports(conn, [known.key])
    await record_cited_due(conn, {known.key: due})
    return True
