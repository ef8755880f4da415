"""Results of checks as crawlers without a database send them, judged where they are stored (O-1).

Nothing that is judged is sent: records, days of next checks and hosts' records follow here from what was seen and
from what is stored, by the same functions as in a visit next to the database (D-391).
"""

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from weboid.core.observe.observation import Observation
from weboid.core.record.days import NEVER_DUE
from weboid.core.record.policy import Policy
from weboid.core.record.record import HostEffect, HostRecord
from weboid.core.record.specials import Special
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.judge import is_host_failure, judge, judge_host
from weboid.remote.crawl.alone import unconfirmed
from weboid.store.db.rows import HostKey, KnownUrl, StoredHost, StoredUrl
from weboid.store.db.statements import Connection
from weboid.store.results.record import Checked
from weboid.store.upkeep.big_death import weighed
from weboid.store.urls.url import find_records


class Sighting(Struct, frozen=True):
    """One URL of a visit: what was seen on a day, and the effect on its host.

    `seen` is None where nothing can be concluded: the URL is put off for so many `days`.
    """

    key: UrlKey
    day: int
    seen: Observation | None
    effect: HostEffect
    days: int
    disproved: frozenset[Special]


def sighting_of(checked: Checked) -> Sighting:
    """A check without what was judged; the target of a redirect is text."""
    seen, days = checked.seen, 0
    if seen is None:
        days = checked.due - checked.day
    elif seen.target:
        seen = replace(seen, target=str(seen.target))
    return Sighting(checked.url.key, checked.day, seen, checked.effect, days, checked.disproved)


async def judged(
    conn: Connection, place: str, sightings: Sequence[Sighting], policy_of: Callable[[HostKey], Policy], day: int
) -> Sequence[Checked]:
    """The checks, in their order; failures that would be deaths and have to wait for another crawler, or that another
    has not found, are held.

    What is not stored is left out, and so are cited copies, which others visit. A URL is put off for the longest
    interval of its host at most.
    """
    found = await find_records(conn, [each.key for each in sightings])
    named = {HostKey(*key[:2]): (known.url.host, known.host) for key, known in found.items()}
    records = await weighed(conn, named, day, policy_of(next(iter(named)))) if named else {}
    found = {key: known._replace(host=records[HostKey(*key[:2])]) for key, known in found.items()}
    checks = _all_judged(sightings, found, policy_of)
    hosts, urls = await unconfirmed(conn, place, checks, policy_of, day)
    if not (hosts or urls):
        return checks
    held = [
        replace(each, seen=replace(each.seen, held=True))
        if each.seen and (each.key in urls or (HostKey(*each.key[:2]) in hosts and is_host_failure(each.seen)))
        else each
        for each in sightings
    ]
    return _all_judged(held, found, policy_of)


def _all_judged(
    sightings: Sequence[Sighting], found: Mapping[UrlKey, KnownUrl], policy_of: Callable[[HostKey], Policy]
) -> list[Checked]:
    """The checks: a host's record goes from each to the next."""
    hosts: dict[HostKey, HostRecord] = {}
    checks = []
    for each in sightings:
        known = found.get(each.key)
        if known and known.due != NEVER_DUE:
            host = HostKey(*each.key[:2])
            checks.append(_judged(each, known, host, hosts.get(host, known.host), policy_of(host)))
            hosts[host] = checks[-1].host_after
    return checks


def _judged(each: Sighting, known: KnownUrl, key: HostKey, before: HostRecord, policy: Policy) -> Checked:
    url, host = StoredUrl(known.key, known.url, known.record), StoredHost(key, known.url.host, before)
    if (seen := each.seen) is None:
        due = each.day + min(each.days, policy.longest_interval)
        return Checked(url, host, each.day, None, known.record, due, before, before)
    after = judge_host(before, seen, each.day, policy, each.effect)
    record, due = judge(known.record, seen, each.day, policy, after, host_key=key.host_key)
    return Checked(url, host, each.day, seen, record, due, before, after, each.disproved, each.effect)
