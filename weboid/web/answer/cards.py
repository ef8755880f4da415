"""Texts of link cards: those that are kept, else by one look at the URL that all callers share (R-8, R-12).

Nothing is looked at when a page is shown, only when a card is opened; no caller waits longer than `WAIT_S`.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from typing import Final, NamedTuple

from weboid.checking.looks import AT_ONCE, Look
from weboid.checking.turns import NotAsked
from weboid.core.url.spellings import file_extension
from weboid.core.verdict.link_report import LinkReport
from weboid.core.verdict.verdict import Verdict
from weboid.mechanism.fair_slots import aside
from weboid.mechanism.single_flight import SingleFlight
from weboid.store.db.pool import Pool
from weboid.store.urls.card import KEPT_DAYS, KeptLook, StoredCard, claim_look, find_card, give_back, record_card

log = logging.getLogger(__name__)

WAIT_S: Final = 3.0
_POLL_S: Final = 0.3
"""Between two questions whether another process has ended its look."""
_SCHEMES: Final = ("http:", "https:")


class CardState(StrEnum):
    """The knowledge of a document: by a look, none yet, or none at all since no look is made."""

    KNOWN = "known"
    PENDING = "pending"
    NONE = "none"


class FoundCard(NamedTuple):
    """A card, and the day of its look; without a look nothing but defaults."""

    state: CardState
    card: StoredCard = StoredCard()
    looked: int | None = None


class Cards:
    """The cards of URLs; without `look` those that are kept. At most `most` are kept."""

    def __init__(self, pool: Pool, look: Look | None, most: int, today: Callable[[], int]) -> None:
        self._pool = pool
        self._look = look
        self._most = most
        self._today = today
        self._flights: SingleFlight[None] = SingleFlight()

    async def find(self, link: LinkReport) -> FoundCard:
        """The card of a watched link; raises StoreError."""
        url = str(link.normal)
        kept = await self._kept(url)
        is_due = self._is_looked_at(link) and (kept is None or kept.looked <= self._today() - KEPT_DAYS)
        if (kept and kept.is_open) or (is_due and len(self._flights) < AT_ONCE):
            with suppress(TimeoutError):
                async with aside():
                    await self._flights.result(url, lambda: self._looked(link, url), WAIT_S)
            kept = await self._kept(url)
        if kept is None or kept.card is None:
            return FoundCard(CardState.PENDING if is_due or kept else CardState.NONE)
        return FoundCard(CardState.KNOWN, kept.card, kept.looked)

    async def close(self) -> None:
        """Cancels the looks that are being made."""
        await self._flights.close()

    def _is_looked_at(self, link: LinkReport) -> bool:
        """True of what evaluated pages have (U-9), unless it is dead or spam, or a copy: archives have their limits."""
        is_living = link.finding.verdict not in (Verdict.DEAD, Verdict.SPAM) and link.cited_copy is None
        is_stored = link.due is not None and str(link.normal).startswith(_SCHEMES)
        return self._look is not None and is_stored and is_living and self._most > 0

    async def _looked(self, link: LinkReport, url: str) -> None:
        """Looks at a URL, or waits until another process has."""
        async with self._pool.connection() as conn:
            is_ours = self._look is not None and await claim_look(conn, url, self._today(), self._most)
        if not is_ours or self._look is None:
            for _ in range(round(WAIT_S / _POLL_S)):
                await asyncio.sleep(_POLL_S)
                if (kept := await self._kept(url)) is None or not kept.is_open:
                    return
            return
        card = None
        try:
            is_file = link.record.mime is not None or (link.url is not None and file_extension(link.url) is not None)
            card = await self._look(url, is_file)
        except NotAsked:
            pass
        except Exception as error:
            log.error("a look at %r has ended by an error of our own", url, exc_info=error)
        async with self._pool.connection() as conn:
            await (give_back(conn, url) if card is None else record_card(conn, url, card))

    async def _kept(self, url: str) -> KeptLook | None:
        async with self._pool.reading() as conn:
            return await find_card(conn, url)
