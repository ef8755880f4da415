"""One visit to one host: its due URLs asked one after the other, judged at once (C-3, C-5).

Writing what was found is `recorder`'s business.
One law: once the host itself is found failing, nothing more is asked of it in this visit, and nothing of that strikes.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from weboid.core.judge import is_host_failure, judge, judge_host
from weboid.core.observation import Observation
from weboid.core.policy import Policy
from weboid.core.record import HostRecord, UrlRecord
from weboid.core.status import HOST_FAILURES, Status
from weboid.store.rows import StoredHost, StoredUrl

Ask = Callable[[str, bool], Awaitable[Observation | None]]
"""One check of a URL in normal form, by GET only or not; None where nothing can be said, for the fault is ours."""

_ASKED: Final = ("http", "https")

_CONTACTS: Final = 2
"""Network failures of different URLs, none having answered, before the rest is taken over; DNS needs one (C-5)."""
_POSTPONED: Final = 1
"""Days until a URL is tried again that could not be asked at all."""


@dataclass(frozen=True, slots=True)
class Checked:
    """One URL of a visit, judged on `day`: its record and its host's, before and after. `due` is its next day.

    `seen` is None where nothing can be said (a fault of ours): the record stays, the URL is due another day.
    """

    url: StoredUrl
    host: StoredHost
    day: int
    seen: Observation | None
    record: UrlRecord
    due: int
    host_before: HostRecord
    host_after: HostRecord


async def visit(
    host: StoredHost,
    urls: Sequence[StoredUrl],
    *,
    ask: Ask,
    report: Callable[[Checked], Awaitable[None]],
    today: Callable[[], int],
    policy: Policy,
    stopping: Callable[[], bool],
) -> None:
    """Asks the URLs in turn, the next when `report` has the last safe. What `stopping` leaves unasked stays due.

    URLs that answered the last time come first: one that does so again shows that the host is up, whatever its other
    URLs do. A URL that hung before, on a host that answered, hangs by itself and is no evidence either (C-5).
    """
    state = host.record
    is_up = False
    needs_get = host.needs_get
    failures = 0
    queue = sorted(urls, key=_hung)
    for position, url in enumerate(queue, start=1):
        if stopping():
            return
        seen = await ask(str(url.url), needs_get) if url.url.scheme in _ASKED else None
        day = today()
        if seen is None and stopping():
            return
        if seen is None:
            await report(Checked(url, host, day, None, url.record, day + _POSTPONED, state, state))
            continue
        needs_get = needs_get or seen.needed_get
        is_up = is_up or not is_host_failure(seen)
        before, state = state, state if is_up and is_host_failure(seen) else judge_host(state, seen, day)
        await report(_checked(url, host, seen, day, policy, before, state))
        failures += not is_up and (not _hung(url) or host.record.row.strikes > 0)
        if failures >= _CONTACTS or (failures and seen.status in (Status.DNS_ERROR, Status.DNS_GONE)):
            hearsay = Observation(seen.status, seen.reason, inferred=True)
            rest = [_checked(url, host, hearsay, day, policy, state, state) for url in queue[position:]]
            await asyncio.gather(*map(report, rest))
            return


def _hung(url: StoredUrl) -> bool:
    """Whether the newest check of a URL found its host failing."""
    return bool(url.record.history) and url.record.history[0].status in HOST_FAILURES


def _checked(
    url: StoredUrl, host: StoredHost, seen: Observation, day: int, policy: Policy, before: HostRecord, after: HostRecord
) -> Checked:
    record, due = judge(url.record, seen, day, policy)
    return Checked(url, host, day, seen, record, due, before, after)
