"""Follows changes in the store, and drops the kept answers that they concern (W-10).

It follows the log of verdict changes and the audit log of people's actions. Other data in answers have no log, and may
be as old as a kept answer: ``docs/api.md`` names them.
One law: every line of a log takes effect, in whatever order lines are committed
(`test_changes_that_are_committed_out_of_order_are_all_seen`); one that is not understood drops everything.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.keys import UrlKey, key_of
from weboid.core.url.keys import bucket as bucket_of
from weboid.core.url.urls import parse
from weboid.errors import StoreError
from weboid.mechanism.disturbance import Disturbance
from weboid.mechanism.tasks import in_background
from weboid.store.db.pool import Pool
from weboid.store.lists.logs import LogEnds, LoggedAction, LogPlace, NewLines, find_ends, list_new_lines
from weboid.store.people.audit import Action
from weboid.web.http.cache import AnswerCache

log = logging.getLogger(__name__)

_PAUSE_S: Final = 1.0
_IDLE_S: Final = 5.0
"""While nothing is kept."""
_FIRST_S: Final = 2.0
_MOST: Final = 5_000
"""Lines of a log; if it has more, all is dropped."""

_OF_URLS: Final = frozenset(
    {
        Action.REPORT,
        Action.REMOVE_REPORT,
        Action.REPLACE,
        Action.REMOVE_REPLACEMENT,
        Action.DROP_REPLACEMENT,
        Action.CHECK_REPLACEMENT,
        Action.CHECK,
        Action.LIFT,
        Action.UNLIFT,
        Action.REVERT,
        Action.REPORT_REPAIR,
        Action.RELEASE,
        Action.KEEP_FROZEN,
    }
)
_OF_DOMAINS: Final = frozenset({Action.REPORT_DOMAIN, Action.REMOVE_DOMAIN_REPORT})
_OF_NO_LINK: Final = frozenset(
    {
        *(Action.BLOCK, Action.UNBLOCK, Action.CONFIRM_DEATH, Action.HOLD_DEATH, Action.RELEASE_DEATH),
        *(Action.START_TASK, Action.STOP_TASK),
    }
)
"""They do not change answers about links, those on hosts not before the next check."""


class ChangeWatch:
    """Follows both logs in one process; drops from its kept answers."""

    def __init__(self, pool: Pool, kept: AnswerCache) -> None:
        self._pool = pool
        self._kept = kept
        self._settled: LogPlace | None = None
        """All lines up to there have taken effect; None = not known yet."""
        self._ends: LogEnds | None = None
        """Ends that were seen before and become settled as soon as their writers have ended."""

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Follows in the background until the block ends, every second while there are kept answers."""
        with suppress(StoreError, TimeoutError):
            async with asyncio.timeout(_FIRST_S):
                await self.follow()
        async with in_background(self._follow_on()):
            yield

    async def _follow_on(self) -> None:
        lost = Disturbance(log, "changes cannot be followed, kept answers may be ten minutes old", calm_s=0)
        while True:
            await asyncio.sleep(_PAUSE_S if len(self._kept) else _IDLE_S)
            self._kept.tidy()
            try:
                await self.follow()
            except StoreError as error:
                lost.met(error)
            else:
                lost.passed()

    async def follow(self) -> None:
        """Drops what has changed since the last call, or since the first. Raises StoreError."""
        async with self._pool.viewing() as conn:
            ends = await find_ends(conn)
            if self._settled is not None and (
                ends.place.change < self._settled.change or ends.place.audit < self._settled.audit
            ):
                # Another store, such as a restored one.
                self._settled = self._ends = None
            lines = None if self._settled is None else await list_new_lines(conn, self._settled, limit=_MOST)
        await self._drop(lines)
        self._go_on(ends)

    async def _drop(self, lines: NewLines | None) -> None:
        if lines is None or lines.is_more:
            self._kept.drop_all()
            return
        urls, buckets = set(lines.urls), set[int]()
        for deed in lines.actions:
            if (changed := _changed_by(deed)) is None:
                self._kept.drop_all()
                return
            urls |= changed[0]
            buckets |= changed[1]
        await self._kept.drop(urls, buckets)

    def _go_on(self, ends: LogEnds) -> None:
        """Settles the ends seen before if their writers have ended by now, and those seen now if there are no writers
        (D-179)."""
        if self._ends is not None and not self._ends.writers & ends.writers:
            self._settled, self._ends = self._ends.place, None
        if not ends.writers:
            self._settled, self._ends = ends.place, None
        elif self._ends is None:
            self._ends = ends


def _changed_by(deed: LoggedAction) -> tuple[set[UrlKey], set[int]] | None:
    """The URLs, and the buckets of the domains, whose answers change; None = any may."""
    if deed.action in _OF_NO_LINK:
        return set(), set()
    if deed.action in _OF_DOMAINS:
        return set(), {bucket_of(deed.object)}
    if deed.action not in _OF_URLS:
        return None
    try:
        urls = {key_of(parse(deed.object))}
    except InvalidUrl:
        return None
    # A report may let its whole domain count as reachable (H-3).
    is_half = deed.action == Action.REPORT and bool(deed.detail)
    return urls, {bucket_of(deed.detail)} if is_half else set()
