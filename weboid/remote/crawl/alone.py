"""Deaths that a remote crawler alone reports, of hosts on which much hangs: others look, too (D-456).

A token may fall into other hands, and one call of it could turn thousands of links dead. So the deaths of a host's URLs
beyond `MANY_DEAD` a week count only when crawlers of other places have found the same, or `ALONE_DAYS` after an alarm
was raised. The death of the host itself has an alarm anyway (``store/upkeep/big_death``): meanwhile others are asked to
look, and it does not count if one finds it otherwise. What waits is held, as what may be ours (C-16).
"""

from collections.abc import Callable, Sequence, Set
from typing import Final
from uuid import uuid4

from weboid.core.record.policy import MANY_USES, Policy, is_near, proven
from weboid.core.record.reasons import Outcome
from weboid.core.url.keys import UrlKey
from weboid.store.db.rows import HostKey
from weboid.store.db.statements import Connection
from weboid.store.results.record import Checked
from weboid.store.schedule.second_look import list_looks, record_look
from weboid.store.upkeep.alarm import AlarmKind, find_since, lower_alarm, lower_before, raise_alarm
from weboid.store.urls.check import count_died
from weboid.store.urls.url import list_much_used, list_some

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
    """Hosts and URLs whose deaths among these checks have to wait, or do not count, since others have not seen them."""
    near = {each.host.key for each in checks if is_near(each.host_before.streak, policy_of(each.host.key))}
    urls: dict[HostKey, list[UrlKey]] = {}
    for each in checks:
        policy = policy_of(each.host.key)
        if proven(each.record.streak, policy) and not proven(each.url.record.streak, policy):
            urls.setdefault(each.host.key, []).append(each.url.key)
    names = {each.host.key: each.host.host for each in checks if each.host.key in near or each.host.key in urls}
    waiting: tuple[set[HostKey], set[UrlKey]] = set(), set()
    if not names:
        return waiting
    for host in sorted(await list_much_used(conn, list(names), uses=MANY_USES)):
        if host in near and not await _is_found_by_all(conn, place, host):
            waiting[0].add(host)
        died = len(urls.get(host, ())) and await count_died(conn, host, day - _WEEK, limit=MANY_DEAD)
        beyond = urls.get(host, [])[MANY_DEAD - died :]
        looks = await list_looks(conn, place, beyond)
        await lower_before(conn, AlarmKind.ONE_CRAWLER, day - KEPT_DAYS + 1)
        since = await find_since(conn, AlarmKind.ONE_CRAWLER, names[host])
        is_over = since is not None and since <= day - ALONE_DAYS
        if open_urls := {key for key in beyond if not _holds(looks.get(key, set()) - {None}, is_over=is_over)}:
            waiting[1].update(open_urls)
            await _wait(conn, place, names[host], sorted(open_urls - looks.keys()), day)
        elif since is not None:
            await lower_alarm(conn, AlarmKind.ONE_CRAWLER, names[host])
    return waiting


async def _is_found_by_all(conn: Connection, place: str, host: HostKey) -> bool:
    """True if no crawler of another place has found a host that is about to die otherwise; asks them to look."""
    asked = await list_some(conn, host, _LOOKED_AT)
    looks = await list_looks(conn, place, asked)
    for key in asked:
        if key not in looks:
            await record_look(conn, place, uuid4(), key, wait_s=_LOOK_S)
    return all(_holds(each - {None}, is_over=True) for each in looks.values())


def _holds(found: Set[Outcome | None], *, is_over: bool) -> bool:
    """True if others have found a URL failing; or if the time is over, and nobody has found it otherwise."""
    return found <= {Outcome.FAILING} and (is_over or bool(found))


async def _wait(conn: Connection, place: str, host: str, keys: Sequence[UrlKey], day: int) -> None:
    """Raises the alarm, and asks crawlers of other places to look at these URLs."""
    detail = (
        f"crawlers of {place} alone say that more than {MANY_DEAD} links of this host are dead within a week, "
        f"and more than {MANY_USES} uses hang on it: that counts when a crawler of another place has found the same, "
        f"or after {ALONE_DAYS} days. Look at some of them; if they work, end the token {place}"
    )
    await raise_alarm(conn, AlarmKind.ONE_CRAWLER, host, day, detail)
    for key in keys[:_MOST_LOOKS]:
        await record_look(conn, place, uuid4(), key, wait_s=_LOOK_S)
