"""Re-reads: reading again the pages that were handed in between two passes (P-6, P-8), and applying the criteria (P-4).

A page is read only once the source has come past the moment for which it was handed in; until then it waits.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from weboid.feed.effects import FollowedWiki
from weboid.feed.intake import Judge, judged, page_urls
from weboid.remote.feed.batches import JudgedPages
from weboid.remote.feed.calls import FeedStore
from weboid.store.pages.page import Intake
from weboid.store.pages.pending import Pending
from weboid.wiki.source import WIKITEXT, PageLinks, WikiSource

BATCH: Final = 500
MARGIN_S: Final = 10.0
"""Added to the lag that a source reports: its own servers do not all answer from one copy (D-37)."""


async def reread(
    core: FeedStore,
    source: WikiSource,
    wiki: FollowedWiki,
    *,
    day: int,
    now: datetime,
    margin_s: float = MARGIN_S,
    batch: int = BATCH,
) -> Intake:
    """Reads the pending pages of a wiki whose moment the source has passed, at most `batch` at a time.

    Then watched are those known to match, those that the criteria cover, and those that were watched, unless they are
    excluded. Deleted pages, and those that are no wikitext any more, are released, others are dropped. Raises
    SourceError if the wiki cannot be read, StoreError.
    """
    total = Intake()
    until = now - timedelta(seconds=margin_s + await source.find_lag_s())
    while True:
        waiting = await core.waiting.list_waiting(wiki.wiki, until, batch)
        if not waiting:
            return total
        total += await _read(core, source, wiki, waiting, day, until)


async def _read(
    core: FeedStore, source: WikiSource, wiki: FollowedWiki, waiting: Sequence[Pending], day: int, as_of: datetime
) -> Intake:
    by_title = {each.title: each for each in waiting if not each.page}
    named = await source.find_pages(titles=sorted(by_title)) if by_title else []
    matched = {each.page for each in waiting if each.page and each.matched}
    matched |= {page.page for page in named if _names(by_title, page)}
    ids = {each.page for each in waiting if each.page}
    states = await source.find_states(sorted(ids.union(page.page for page in named)))
    gone = sorted(ids - {state.page for state in states if state.model == WIKITEXT})
    watched = await core.waiting.list_watched(wiki.wiki, [state.page for state in states])
    wanted = [
        state.page
        for state in states
        if state.model == WIKITEXT
        and not wiki.excludes(state)
        and (state.page in watched or (not state.redirect and (state.page in matched or wiki.covers(state))))
    ]
    links = await source.find_pages(ids=wanted) if wanted else []

    async def record(judge: Judge) -> Intake | None:
        read = [page_urls(page, wiki.farm, judge.spam) for page in links]
        pages = JudgedPages(read, gone, judge.stamp, as_of)
        return await core.waiting.record(wiki.wiki, pages, waiting, day)

    return await judged(wiki.spam, record)


def _names(by_title: dict[str, Pending], page: PageLinks) -> bool:
    """Returns whether the page itself is known to match, and is not one that such a title redirects to."""
    return any(
        each.matched and (title == page.title or (page.namespace != 0 and title.endswith(f":{page.title}")))
        for title, each in by_title.items()
    )
