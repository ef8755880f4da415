"""Plays copies: raw, in one request, where the service has a raw form; otherwise as their URL is given (A-3).

Replies are judged in ``core/archive``; ``client`` sends the requests. No service is asked to which nobody may be sent.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from weboid.archive.service.client import ArchiveClient, redirect_of
from weboid.core.archive.addresses import reader_address, replay_address, stamp_of
from weboid.core.archive.captures import Capture, ServiceReply
from weboid.core.archive.gist import preview_of
from weboid.core.archive.replay import Replayed, ReplayResult, capture_named, replay_of
from weboid.core.archive.rows.fitness import GOOD
from weboid.core.archive.services import SERVICES, ArchiveService, Dialect
from weboid.core.archive.visits import cited_observation, is_within
from weboid.core.observe.observation import Observation, RawResponse
from weboid.core.observe.observe import observation_of
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.status import status_of
from weboid.core.url.archives import BY_NUMBER, snapshot_of
from weboid.core.url.urls import Url
from weboid.store.archives.service_limit import RequestKind
from weboid.store.archives.snapshot import StoredSnapshot

_NEVER: Final = frozenset({"loc"})
"""Services that do not want to be asked by programs."""
_PER_MINUTE: Final = 12
"""Replays of a service whose limits are not known."""
_HOPS: Final = 2
_OTHER_PAGE: Final = "other-page"
_THROTTLED: Final = 429
_NO_STAMP: Final = 19960101000000
"""Stands for the stamp of a copy whose URL has none: where it is used, no moment is compared."""


@dataclass(frozen=True, slots=True)
class CitedPlay:
    """The result of a visit to a copy that pages cite: an observation of its URL, None if nothing is proven; and the
    replay of the snapshot with this very stamp, None if the copy has no such stamp.

    `named`: the capture of which the archive says that a short address shows it.
    """

    seen: Observation | None
    replayed: Replayed | None = None
    named: Capture | None = None


class Replays:
    """Plays copies at the services of `configured`, and at those that nobody has configured as they usually are."""

    def __init__(self, client: ArchiveClient, configured: Iterable[ArchiveService]) -> None:
        self._client = client
        self._services = {service.archive.number: service for service in (*SERVICES.values(), *configured)}

    def service_of(self, archive: int) -> ArchiveService | None:
        """The service with this number; None if it is not to be contacted."""
        named = BY_NUMBER.get(archive)
        if named is None or not named.is_offered or named.name in _NEVER:
            return None
        # Copies of a service of which nothing more is known are played as they are given.
        usual = ArchiveService(named, Dialect.WIKIWIX, "", "", _PER_MINUTE, _PER_MINUTE)
        return self._services.setdefault(archive, usual)

    @property
    def archives(self) -> list[int]:
        """The numbers of all services that may be contacted."""
        return [number for number in BY_NUMBER if self.service_of(number) is not None]

    async def play(self, snapshot: StoredSnapshot, url: Url) -> Replayed | None:
        """Plays a snapshot of `url`; None if its service is not to be contacted. Raises Resting."""
        service = self.service_of(snapshot.archive)
        if service is None or not service.base:
            return None
        address = replay_address(service, snapshot.stamp, url, snapshot.address)
        if service.is_raw:
            return await self._judged(service, await self._client.replay(service, address), snapshot.stamp, url)
        seen, _ = await self._seen(service, address, url)
        if seen is None:
            return Replayed(ReplayResult.NOTHING, "as-given")
        if seen.outcome is Outcome.WORKING:
            return Replayed(ReplayResult.PLAYS, status=seen.http)
        result = ReplayResult.WITHDRAWN if seen.reason is Reason.GONE else ReplayResult.ABSENT
        return Replayed(result, seen.reason.word)

    async def play_cited(self, cited: Url) -> CitedPlay | None:
        """Plays the copy at an archive's URL; None if it is not to be requested. Raises Resting.

        The URL as given is played where the service has no raw form, or where the URL does not say which copy it means.
        """
        found = snapshot_of(str(cited))
        service = self.service_of(found.archive.number) if found else None
        if found is None or service is None:
            return None
        if not service.is_raw or found.original is None or found.taken is None:
            address = _as_asked(service, str(cited))
            seen, named = await self._seen(service, address, found.original or cited)
            result = ReplayResult.PLAYS if seen and seen.outcome is Outcome.WORKING else ReplayResult.ABSENT
            is_short = result is ReplayResult.PLAYS and found.original is None
            return CitedPlay(seen, Replayed(result, "as-given"), named if is_short else None)
        stamp, original = stamp_of(found.taken), found.original
        reply = await self._client.replay(service, replay_address(service, stamp, original))
        replayed = await self._judged(service, reply, stamp, original)
        if replayed.result is ReplayResult.MOVED_FAR and is_within(replayed.taken, str(cited)):
            # The URL names a period, and the archive has led to a copy of that.
            replayed = replayed._replace(result=ReplayResult.MOVED)
        target = None
        if replayed.taken and replayed.why != _OTHER_PAGE and (shown := stamp_of(replayed.taken)) != stamp:
            target = reader_address(service, shown, original)
        return CitedPlay(cited_observation(replayed, reply.code, target), replayed)

    async def _judged(self, service: ArchiveService, reply: ServiceReply, stamp: int, url: Url) -> Replayed:
        """Reads a reply; one that proves nothing although it looks like an answer counts as a failure."""
        replayed = replay_of(reply, stamp=stamp, url=url, service=service)
        if replayed.result is ReplayResult.NOTHING and reply.code is not None and reply.code < _THROTTLED:
            await self._client.failed(service, RequestKind.REPLAY, replayed.why)
        is_shown = replayed.result is ReplayResult.PLAYS and replayed.status == GOOD
        return replayed._replace(preview=preview_of(reply, str(url))) if is_shown else replayed

    async def _seen(
        self, service: ArchiveService, address: str, original: Url
    ) -> tuple[Observation | None, Capture | None]:
        """Judges an ordinary request by Memento-Datetime where the service sends it, else by status and text.

        With it the capture of which the service says that the address shows it.
        """
        hops, asked, named = 0, address, None
        while True:
            reply = await self._client.replay(service, address)
            named = named or capture_named(reply, asked)
            if reply.code is not None and "memento-datetime" in reply.headers:
                return Observation(status_of(200), Reason.OK, http=reply.code), named
            target = redirect_of(address, reply)
            if target is None:
                break
            led = snapshot_of(target)
            if (
                led is not None
                and led.archive is service.archive
                and led.original is not None
                and led.taken is not None
            ):
                moved = Observation(status_of(reply.code or 302), Reason.MOVED, target, http=reply.code)
                return moved, named or Capture(led.taken, str(led.original), address=asked)
            if not target.startswith(f"{service.base}/") and not (led and led.archive is service.archive):
                return None, None
            if hops == _HOPS:
                break
            hops, address = hops + 1, target
        as_given = replace(service, dialect=Dialect.WIKIWIX)
        replayed = await self._judged(as_given, reply, _NO_STAMP, original)
        if replayed.result is not ReplayResult.PLAYS:
            return cited_observation(replayed, reply.code), None
        shown = RawResponse(address, address, "GET", reply.code, headers=reply.headers, body=reply.body)
        seen = observation_of(shown)
        return (seen, named) if seen.outcome in (Outcome.WORKING, Outcome.DOUBTFUL) else (None, None)


def _as_asked(service: ArchiveService, address: str) -> str:
    """A reader's address at the place where the service is asked."""
    is_moved = service.public != service.base and address.startswith(f"{service.public}/")
    return service.base + address.removeprefix(service.public) if is_moved else address
