"""Looks a URL up: asks one archive service after another for a copy that shows what was cited (A-1, A-2).

The capture is chosen, and replies are read, in ``core/archive``; requests are sent by ``service/client``.
One law: NONE takes two voices of every service that was asked, and a service that did not answer never counts as NONE
(`test_none_takes_two_voices_and_is_asked_again_after_ninety_days`).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from weboid.archive.lookups.look_up_result import FoundCopy, GivenCopy, LookUpResult, ServiceTry
from weboid.archive.service.client import REDIRECTS, ArchiveClient, Resting
from weboid.archive.service.limits import gap_s
from weboid.core.archive import choice
from weboid.core.archive.addresses import index_request, reader_address, replay_address, second_request, stamp_of
from weboid.core.archive.captures import Capture, Listing, ServiceReply
from weboid.core.archive.dialects.link_format import memento_at
from weboid.core.archive.gist import Gist, gist_of, is_better, preview_of
from weboid.core.archive.listings import combined, listing_of, second_listing_of
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.archive.redirect_copies import MOST_HOPS, StoredHop, follow, lands
from weboid.core.archive.replay import TURNED_AWAY, Replayed, ReplayResult, is_just_before, replay_of
from weboid.core.archive.rows.fitness import GOOD, REVISIT, PassedOver, Wish
from weboid.core.archive.services import ArchiveService, services_for
from weboid.core.archive.verification import verified
from weboid.core.url.spellings import archived, similar_url
from weboid.core.url.urls import Url
from weboid.store.archives.service_limit import RequestKind

LONGEST_LINE_S: Final = 60.0
"""So long a line there may be at a service that is not the first: a slow one must not hold all look-ups."""
_NO_LISTING: Final = frozenset({GOOD, 401, 403, *REDIRECTS})
"""Codes with which services in trouble, or those that turn us away, send anything but a listing, for each URL alike."""
RESTING: Final = "resting"
"""The reason of a service that was not asked, for it rests."""


async def look_up(
    client: ArchiveClient,
    available: Sequence[ArchiveService],
    wish: Wish,
    *,
    given: Iterable[GivenCopy] = (),
    known: Collection[int] = (),
    languages: Collection[str] = (),
    is_lifted: bool = False,
    waits: bool = False,
    lines: Counter[int] | None = None,
) -> LookUpResult:
    """Looks for a copy: first those that are `given`, each played once, then service by service until there is one.

    `known` are the numbers of archives that need not be asked, `languages` those of the wikis that cite the URL;
    `is_lifted`: a copy is chosen also of a page that always changes; `waits`: while the first of all services rests, no
    other is asked instead. `lines` counts, over several look-ups, those at each archive: another one than the first is
    passed by while its line is longer than `LONGEST_LINE_S`, as if it rested.
    """
    work = _LookUp(client, wish, is_lifted=is_lifted)
    lines = Counter() if lines is None else lines
    for copy in given:
        if await work.play_given(copy):
            return work.result
    asked = [one for one in services_for(wish.url, available, languages=languages) if one.archive.number not in known]
    for service in asked:
        number = service.archive.number
        if service is not available[0] and lines[number] * gap_s(service, RequestKind.INDEX) > LONGEST_LINE_S:
            work.pass_by(service)
            continue
        lines[number] += 1
        try:
            is_found = await work.ask(service, wish)
        finally:
            lines[number] -= 1
        if is_found or (waits and service is available[0] and work.result.rest_s is not None):
            return work.result
    if asked and work.result.has_none_of_it and (similar := similar_url(wish.url)) is not None:
        await work.ask_similar(asked[0], similar)
    return work.result


class _Unproven(Exception):
    """A replay proved nothing; its text is the stable word why."""


@dataclass(frozen=True, slots=True)
class _Played:
    """A capture as it was played, with the moment of the copy that was really shown."""

    capture: Capture
    reply: ServiceReply
    replayed: Replayed


class _LookUp:
    """One look-up under way."""

    def __init__(self, client: ArchiveClient, wish: Wish, *, is_lifted: bool) -> None:
        self.result = LookUpResult()
        self._client = client
        self._wish = wish
        self._is_lifted = is_lifted

    def pass_by(self, service: ArchiveService) -> None:
        """Leaves a service for later: others wait for it already."""
        self.result.tries.append(ServiceTry(service, LookupOutcome.ERROR, RESTING, rest_s=LONGEST_LINE_S))

    async def play_given(self, copy: GivenCopy) -> bool:
        """Takes a given copy if it plays and shows the page."""
        service = copy.service
        capture = Capture(copy.taken, str(copy.original), status=200)
        try:
            played = await self._play(service, capture)
            why = _unplayable(played.replayed) or self._fault_of(played, self._wish)
            if _redirects(played.replayed):
                _, end, why = await self._follow(service, played.capture, self._wish)
                outcome = _outcome_of([end])
            else:
                outcome = _outcome_of([played.replayed])
        except Resting as rests:
            self.result.tries.append(
                ServiceTry(service, LookupOutcome.ERROR, RESTING, rest_s=rests.seconds, is_given=True)
            )
            return False
        except _Unproven as unproven:
            outcome, why = LookupOutcome.ERROR, str(unproven)
        else:
            if why is None:
                note = (
                    choice.Note.REDIRECTS if _redirects(played.replayed) else choice.note_of(played.capture, self._wish)
                )
                self._find(service, played.capture, note, played, is_given=True)
                return True
        rest_s = self._rest_s(service, outcome)
        passed = (PassedOver(stamp_of(copy.taken), why),)
        self.result.tries.append(ServiceTry(service, outcome, why, passed, rest_s, is_given=True))
        return False

    async def ask(self, service: ArchiveService, wish: Wish) -> bool:
        """Asks one service for its captures and plays the best; returns whether one was chosen."""
        try:
            listing = await self._list(service, wish)
            if listing.outcome is not LookupOutcome.FOUND:
                self.result.tries.append(
                    ServiceTry(service, listing.outcome, listing.why, rest_s=self._rest_s(service, listing.outcome))
                )
                return False
            return await self._choose(service, listing.captures, wish)
        except Resting as rests:
            self.result.tries.append(ServiceTry(service, LookupOutcome.ERROR, RESTING, rest_s=rests.seconds))
        except _Unproven as unproven:
            rest_s = self._client.rest_s(service)
            self.result.tries.append(ServiceTry(service, LookupOutcome.ERROR, str(unproven), rest_s=rest_s))
        return False

    async def ask_similar(self, service: ArchiveService, similar: Url) -> None:
        """Asks for the URL without what identifies a session or a reader."""
        tries = len(self.result.tries)
        if not await self.ask(service, replace(self._wish, url=similar)) or self.result.found is None:
            del self.result.tries[tries:]
            return
        found = self.result.found
        self.result.found = replace(found, note=choice.Note.SIMILAR, own_address=found.address)

    async def _list(self, service: ArchiveService, wish: Wish) -> Listing:
        reply = await self._index(service, index_request(service, wish.url, wish.cited))
        first = listing_of(service, reply, wish.url)
        if first.outcome is LookupOutcome.ERROR and reply.code in _NO_LISTING:
            await self._client.failed(service, RequestKind.INDEX, first.why)
        address = second_request(service, wish.url)
        is_missing = first.outcome is LookupOutcome.ERROR and reply.code == 404
        if address is None or not (is_missing or first.outcome in (LookupOutcome.NONE, LookupOutcome.UNKNOWN)):
            return combined(first, None)
        second = second_listing_of(service, await self._index(service, address), wish.url)
        if is_missing:
            # Some archives have closed this door only; behind the other one there may be a copy, but no NONE.
            return second if second.outcome is LookupOutcome.FOUND else first
        return combined(first, second)

    async def _choose(self, service: ArchiveService, captures: Sequence[Capture], wish: Wish) -> bool:
        ranked = choice.candidates(captures, wish)
        if ranked.changing and not self._is_lifted:
            self.result.tries.append(ServiceTry(service, LookupOutcome.UNSUITABLE, choice.CHANGING, ranked.passed))
            return False
        failed: list[tuple[Capture, Replayed, str]] = []
        if (shown := await self._play_best(service, ranked, wish, failed)) is not None:
            self._find(service, shown.capture, choice.note_of(shown.capture, wish), shown)
            return True
        led = [capture for capture, replayed, _ in failed if _redirects(replayed)]
        for capture in (*led, *ranked.redirects)[: 1 if len(failed) < choice.MOST_TRIES else 0]:
            first, end, why = await self._follow(service, capture, wish)
            if why is None:
                self._find(service, first, choice.Note.REDIRECTS)
                return True
            failed.append((capture, end, why))
        passed = (*(PassedOver(stamp_of(capture.taken), why) for capture, _, why in failed), *ranked.passed)
        why = failed[0][2] if failed else ranked.why
        self.result.tries.append(ServiceTry(service, _outcome_of([replayed for _, replayed, _ in failed]), why, passed))
        return False

    async def _play_best(
        self, service: ArchiveService, ranked: choice.Ranked, wish: Wish, failed: list[tuple[Capture, Replayed, str]]
    ) -> _Played | None:
        """Plays the best in order until one is good; what may be a front page or a beginning is compared with others.

        Those that show nothing of what was cited are added to `failed`.
        """
        tried: list[choice.Tried] = []
        kept: _Played | None = None
        known: Gist | None = None
        while (capture := choice.next_try(ranked, tried)) is not None:
            try:
                shown = await self._play(service, capture)
            except (_Unproven, Resting):
                if kept is None:
                    raise
                break
            if why := _unplayable(shown.replayed) or self._fault_of(shown, wish):
                failed.append((capture, shown.replayed, why))
                is_played = shown.replayed.result is ReplayResult.PLAYS
                tried.append(choice.Tried(capture, why if is_played else shown.replayed.result.value))
                if shown.replayed.result is ReplayResult.WITHDRAWN:
                    break
                continue
            gist = gist_of(shown.capture, shown.reply, wish)
            is_last = gist is None or (known is not None and (not known.looks_front or gist.title == known.title))
            if kept is None or (gist and known and is_better(gist, known)):
                kept, known = shown, gist
            if is_last or known is None or known.is_settled:
                break
            tried.append(choice.Tried(capture, choice.UNSETTLED))
        return kept

    async def _follow(
        self, service: ArchiveService, capture: Capture, wish: Wish
    ) -> tuple[Capture, Replayed, str | None]:
        """Follows the redirect of a copy within the service; returns that copy as it was played, where it ends, and why
        that is not what was cited."""
        hops: list[StoredHop] = []
        first: Capture | None = None
        while True:
            shown = await self._play(service, capture)
            first = first or shown.capture
            if why := _unplayable(shown.replayed):
                return first, shown.replayed, why
            url, taken = archived(shown.capture.original), shown.capture.taken
            if url is None:
                return first, shown.replayed, "other-page"
            location = shown.replayed.location
            if shown.replayed.status not in REDIRECTS or location is None or len(hops) > MOST_HOPS:
                why = lands(tuple(hops), wish, url=url, taken=taken)
                return first, shown.replayed, why or self._fault_of(shown, replace(wish, url=url))
            hops.append(StoredHop(url, taken, location))
            step = follow(tuple(hops), wish)
            if step.url is None:
                return first, shown.replayed, step.why
            capture = Capture(taken, str(step.url), status=200)

    async def _play(self, service: ArchiveService, capture: Capture) -> _Played:
        """Plays a capture; where the archive leads to another of that day or the days before, that with its own moment.

        Raises _Unproven (D-137).
        """
        moves = 0
        while True:
            stamp = stamp_of(capture.taken)
            address = replay_address(service, stamp, capture.original, capture.address)
            reply = await self._client.replay(service, address, may_lack=capture.mime == REVISIT)
            self.result.requests += 1
            if reply.code == GOOD and reply.is_cut and not reply.body and service.is_raw:
                # It was captured in a coding that we do not read; rewritten, as for a frame, it is in one that we do.
                reply = await self._client.replay(service, address.replace("id_/", "if_/", 1))
                self.result.requests += 1
            replayed = replay_of(reply, stamp=stamp, url=archived(capture.original) or self._wish.url, service=service)
            if reply.code == 503 and capture.mime == REVISIT:
                replayed = Replayed(ReplayResult.ABSENT, "revisit")
            if replayed.result is ReplayResult.NOTHING:
                if replayed.why in TURNED_AWAY:
                    await self._client.failed(service, RequestKind.REPLAY, replayed.why)
                raise _Unproven(replayed.why)
            is_near = replayed.result is ReplayResult.MOVED or is_just_before(replayed, capture.taken)
            if not is_near or replayed.taken is None:
                break
            capture = capture._replace(taken=replayed.taken, address=None)
            if replayed.status is not None:
                # The near one was played without a word.
                replayed = replayed._replace(result=ReplayResult.PLAYS, why="")
                break
            # The archive may play the page under another spelling than that which it lists.
            led = memento_at(replayed.location or "", capture.original)
            capture = capture._replace(original=led.original if led else capture.original)
            if (moves := moves + 1) > 1:
                break
        return _Played(capture, reply, replayed)

    async def _index(self, service: ArchiveService, address: str) -> ServiceReply:
        reply = await self._client.index(service, address)
        self.result.requests += 1
        return reply

    def _rest_s(self, service: ArchiveService, outcome: LookupOutcome) -> float | None:
        """The seconds for which the service rests if it did not answer and rests for that."""
        return self._client.rest_s(service) if outcome is LookupOutcome.ERROR else None

    def _fault_of(self, shown: _Played, wish: Wish) -> str | None:
        status, taken = shown.replayed.status, shown.replayed.taken
        return verified(shown.capture, shown.reply, wish, status=status, taken=taken)

    def _find(
        self,
        service: ArchiveService,
        capture: Capture,
        note: choice.Note,
        shown: _Played | None = None,
        *,
        is_given: bool = False,
    ) -> None:
        stamp = stamp_of(capture.taken)
        address = reader_address(service, stamp, capture.original, capture.address)
        own = address if capture.address is not None and not service.is_raw else None
        preview = preview_of(shown.reply, capture.original) if shown else ""
        self.result.found = FoundCopy(
            service, stamp, capture.original, capture.taken, address, note, own, is_given=is_given, preview=preview
        )
        self.result.tries.append(ServiceTry(service, LookupOutcome.FOUND, is_given=is_given))


def _unplayable(replayed: Replayed) -> str | None:
    """The reason why a replay showed no copy; None if it did."""
    return None if replayed.result is ReplayResult.PLAYS else replayed.why or replayed.result.value


def _redirects(replayed: Replayed) -> bool:
    return replayed.result is ReplayResult.PLAYS and replayed.status in REDIRECTS


def _outcome_of(played: Sequence[Replayed]) -> LookupOutcome:
    """The outcome if none of the captures is good: of what is withdrawn or not played nothing else is proven."""
    results = {replayed.result for replayed in played}
    if ReplayResult.WITHDRAWN in results:
        return LookupOutcome.EXCLUDED
    if results & {ReplayResult.ABSENT, ReplayResult.MOVED, ReplayResult.MOVED_FAR}:
        return LookupOutcome.UNKNOWN
    return LookupOutcome.UNSUITABLE
