"""Once a day: how often working URLs are checked from now on, and which hosts have more URLs than fit (C-3, C-4).

A host that is too big for its delay changes the interval of its own URLs only.
"""

from weboid.core.record.pace import WIDEST_INTERVAL, Pace, paced, turn_of_host
from weboid.core.record.policy import Policy
from weboid.store.db.pool import Connection
from weboid.store.schedule.days import delete_past_totals
from weboid.store.schedule.pace import (
    BigHost,
    delete_past_checked,
    find_load,
    find_pace,
    list_largest_hosts,
    record_big_hosts,
    record_pace,
)


async def keep_pace(conn: Connection, day: int, policy: Policy, *, delay_s: float) -> Pace:
    """Finds the hosts that are too big, then the pace of the crawl without them; a second call changes nothing."""
    await delete_past_checked(conn, day)
    await delete_past_totals(conn, day)
    load = await find_load(conn, day)
    fits = _most_urls(delay_s)
    largest = await list_largest_hosts(conn, least=fits, urls=load.urls)
    await record_big_hosts(conn, [BigHost(key, "", urls, turn_of_host(urls, delay_s)) for key, urls in largest.items()])
    pace = await find_pace(conn) or Pace(policy.working_interval, changed=day, day=day - 1)
    pace = paced(pace, await find_load(conn, day), day, narrowest=policy.working_interval)
    await record_pace(conn, pace)
    return pace


def _most_urls(delay_s: float) -> int:
    """The URLs of one host that can be checked within the widest interval."""
    low, high = 0, 1 << 31
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if turn_of_host(middle, delay_s) <= WIDEST_INTERVAL else (low, middle - 1)
    return low
