"""Deaths that a remote crawler alone reports, of hosts on which much hangs: they wait for another crawler (D-456).

A token may fall into other hands, and one call of it could turn thousands of links dead. So the death of such a host,
and those of its URLs beyond `MANY_DEAD` a week, count only when crawlers of other places have found the same, or
`ALONE_DAYS` after an alarm was raised; until then such a failure is held, as one that may be ours (C-16).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final
from uuid import uuid4

from weboid.core.record.policy import Policy, proven
from weboid.core.record.reasons import Outcome
from weboid.core.record.record import HostRecord, UrlRecord
from weboid.core.url.keys import UrlKey
from weboid.store.db.rows import HostKey
from weboid.store.db.statements import Connection
from weboid.store.results.record import Checked
from weboid.store.schedule.second_look import list_looks, record_look
from weboid.store.upkeep.alarm import AlarmKind, find_since, lower_alarm, lower_before, raise_alarm
from weboid.store.urls.check import count_died
from weboid.store.urls.url import list_much_used, list_some

MANY_USES: Final = 1_000
"""Uses on pages above which a host is one on which much hangs."""
MANY_DEAD: Final = 100
"""URLs of such a host that one crawler alone may call dead within a week."""
ALONE_DAYS: Final = 14
_WEEK: Final = 7
KEPT_DAYS: Final = 21
"""Days after which an alarm is over, so that later deaths wait anew."""
_LOOKED_AT: Final = 3
"""URLs of a host at which others look before it is called dead: the first by key, so that no crawler chooses them."""
_MOST_LOOKS: Final = 200
"""Looks that one batch asks for."""
_LOOK_S: Final = 2 * 86_400.0
"""Seconds for which a look is wanted, and its outcome kept: until the next check of what fails."""


async def unconfirmed(
    conn: Connection, place: str, checks: Sequence[Checked], policy_of: Callable[[HostKey], Policy], day: int
) -> tuple[set[HostKey], set[UrlKey]]:
    """Hosts and URLs whose deaths among these checks have to wait, since this place alone has seen them."""
    hosts = {each.host.key for each in checks if _has_died(each.host_before, each.host_after, policy_of(each.host.key))}
    urls: dict[HostKey, list[UrlKey]] = {}
    for each in checks:
        if _has_died(each.url.record, each.record, policy_of(each.host.key)):
            urls.setdefault(each.host.key, []).append(each.url.key)
    names = {each.host.key: each.host.host for each in checks if each.host.key in hosts or each.host.key in urls}
    waiting: tuple[set[HostKey], set[UrlKey]] = set(), set()
    if not names:
        return waiting
    for host in sorted(await list_much_used(conn, list(names), uses=MANY_USES)):
        died = len(urls.get(host, ())) and await count_died(conn, host, day - _WEEK, limit=MANY_DEAD)
        beyond = urls.get(host, [])[MANY_DEAD - died :]
        asked = await list_some(conn, host, _LOOKED_AT) if host in hosts else []
        looks = await list_looks(conn, place, [*asked, *beyond])
        since = await find_since(conn, AlarmKind.ONE_CRAWLER, names[host])
        if since is not None and since <= day - KEPT_DAYS:
            await lower_before(conn, AlarmKind.ONE_CRAWLER, day - KEPT_DAYS + 1)
            since = None
        is_over = since is not None and since <= day - ALONE_DAYS
        open_urls = {key for key in beyond if not _holds([key], looks, is_over=is_over)}
        if asked and not _holds(asked, looks, is_over=is_over):
            waiting[0].add(host)
            open_urls |= set(asked)
        if open_urls:
            waiting[1].update(open_urls.intersection(beyond))
            await _wait(conn, place, names[host], sorted(open_urls - looks.keys()), day)
        elif since is not None:
            await lower_alarm(conn, AlarmKind.ONE_CRAWLER, names[host])
    return waiting


def _has_died(before: HostRecord | UrlRecord, after: HostRecord | UrlRecord, policy: Policy) -> bool:
    return proven(after.streak, policy) and not proven(before.streak, policy)


def _holds(keys: Sequence[UrlKey], looks: Mapping[UrlKey, set[Outcome | None]], *, is_over: bool) -> bool:
    """True if others have found all of these URLs failing; or if the time is over, and nobody found one otherwise."""
    found = [looks.get(key, set()) - {None} for key in keys]
    return all(each <= {Outcome.FAILING} for each in found) and (is_over or all(found))


async def _wait(conn: Connection, place: str, host: str, keys: Sequence[UrlKey], day: int) -> None:
    """Raises the alarm, and asks crawlers of other places to look at these URLs."""
    detail = (
        f"crawlers of {place} alone say that this host, or more than {MANY_DEAD} of its links within a week, are dead, "
        f"and more than {MANY_USES} uses hang on it: that counts when a crawler of another place has found the same, "
        f"or after {ALONE_DAYS} days. Look at some of them; if they work, end the token {place}"
    )
    await raise_alarm(conn, AlarmKind.ONE_CRAWLER, host, day, detail)
    for key in keys[:_MOST_LOOKS]:
        await record_look(conn, place, uuid4(), key, wait_s=_LOOK_S)
