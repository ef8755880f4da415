"""The remote crawler's side of what crawlers need of the store, over HTTP (O-1).

Its methods are those of ``crawl/core`` as they are declared there. One law: what has failed and is tried again with
the same arguments is the same request, so that it is done once.
"""

import logging
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Final

from weboid.errors import StoreRefuses
from weboid.remote.crawl.core import MOST_HOSTS, MOST_SLOTS, CrawlCore, CrawlerCalls, Paces, SlotCalls, Work
from weboid.remote.http.rpc import Calling, Remote, connected, remote
from weboid.store.db.rows import HostKey, StoredUrl
from weboid.store.results.record import Checked, Tally
from weboid.store.schedule.lease import Held
from weboid.store.schedule.turn import SlotNote, SlotState, WantedSlot

log = logging.getLogger(__name__)

_PACES_S: Final = 60.0


def remote_core(caller: Calling) -> CrawlCore:
    """All that a remote crawler needs."""
    return remote(CrawlCore, caller, RemoteWork, RemoteSlots)


def crawler_calls(caller: Calling) -> CrawlerCalls:
    """The calls of this process to the server."""
    calls: CrawlerCalls = connected(CrawlerCalls, caller)
    return calls


class RemoteWork(Remote, Work):
    """The work of one worker."""

    def __init__(self, caller: Calling) -> None:
        super().__init__(caller)
        self._paces: tuple[float, Paces] | None = None

    async def list_urls(self, hosts: Sequence[HostKey], day: int) -> Mapping[HostKey, list[StoredUrl]]:
        """Makes a call for each part that a message can have."""
        found: dict[HostKey, list[StoredUrl]] = {}
        for start in range(0, len(hosts), MOST_HOSTS):
            found |= await Work.list_urls(self, hosts[start : start + MOST_HOSTS], day)
        return found

    async def record(self, checks: Sequence[Checked], held: Held) -> Tally:
        """Sends the epochs of the buckets of these checks alone."""
        buckets = sorted({checked.url.key.bucket for checked in checks} & held.keys())
        return await Work.record(self, checks, {bucket: held[bucket] for bucket in buckets})

    async def find_paces(self) -> Paces:
        """Those that were found a minute ago at the most."""
        if self._paces is None or monotonic() - self._paces[0] > _PACES_S:
            self._paces = monotonic(), await Work.find_paces(self)
        return self._paces[1]


class RemoteSlots(Remote, SlotCalls):
    """Turns at hosts, held until it is known that their requests were sent."""

    is_far = True

    async def exchange(
        self, notes: Mapping[HostKey, SlotNote], wanted: Mapping[HostKey, WantedSlot]
    ) -> dict[HostKey, SlotState]:
        """Makes as many calls as it takes."""
        noted, asked = list(notes.items()), list(wanted.items())
        states: dict[HostKey, SlotState] = {}
        for start in range(0, max(len(noted), len(asked)), MOST_SLOTS):
            part = slice(start, start + MOST_SLOTS)
            states |= await SlotCalls.exchange(self, dict(noted[part]), dict(asked[part]))
        return states

    async def rest(self, host: HostKey, seconds: float) -> None:
        """Keeps the pause here alone where the server refuses it."""
        try:
            await SlotCalls.rest(self, host, seconds)
        except StoreRefuses as error:
            # Such as a canary's, whose bucket is another's.
            log.debug("other workers do not know of a pause: %s", error)
