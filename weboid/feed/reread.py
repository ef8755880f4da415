"""Re-reads: reading again the pages that were handed in between two passes (P-6, P-8), and applying the criteria (P-4).

A page is read only once the source has come past the moment for which it was handed in; until then it waits. A
category that is new in a tree brings its pages, and what is below it (P-6).
"""

from collections.abc import Sequence
from contextlib import aclosing
from datetime import datetime, timedelta
from typing import Final

from weboid.core.wikitext.titles import CATEGORY
from weboid.feed.effects import FollowedWiki
from weboid.feed.intake import Judge, judged, page_urls
from weboid.remote.feed.batches import JudgedPages
from weboid.remote.feed.calls import FeedStore
from weboid.store.pages.page import Intake
from weboid.store.pages.pending import BRANCH, Pending
from weboid.wiki.criteria.categories import members_of
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
        for each in waiting:
            if _is_branch(each):
                await _extend(core, source, wiki, each, day)
        total += await _read(core, source, wiki, waiting, day, until)


def _is_branch(each: Pending) -> bool:
    return not each.page and each.matched and each.title.startswith(BRANCH)


async def _extend(core: FeedStore, source: WikiSource, wiki: FollowedWiki, branch: Pending, day: int) -> None:
    """Brings categories that are new in one of a tree into the tree, and hands in their pages.

    What is below them waits as such a branch, so that cycles end and work that is broken off goes on.
    """
    parent = branch.title.removeprefix(BRANCH)
    depth = (await core.waiting.list_trees(wiki.wiki, [parent])).get(parent)
    if depth is None or depth >= wiki.tree_depth:
        return
    async with aclosing(source.walk(members_of(parent, "subcat"))) as stretches:
        async for stretch in stretches:
            titles = {state.title for state in stretch.pages if state.namespace == CATEGORY}
            known = await core.waiting.list_trees(wiki.wiki, titles)
            for title in sorted(titles - known.keys()):
                await _hand_in(core, source, wiki, title, branch, day)
                below = branch._replace(title=BRANCH + title)
                await core.waiting.extend(wiki.wiki, {title: depth + 1}, [below], day)


async def _hand_in(
    core: FeedStore, source: WikiSource, wiki: FollowedWiki, title: str, branch: Pending, day: int
) -> None:
    """Hands in the pages of a category."""
    async with aclosing(source.walk(members_of(title, "page"))) as stretches:
        async for stretch in stretches:
            pages = [Pending(state.page, "", branch.seen, True) for state in stretch.pages if state.is_watchable]
            await core.waiting.extend(wiki.wiki, {}, pages, day)


async def _read(
    core: FeedStore, source: WikiSource, wiki: FollowedWiki, waiting: Sequence[Pending], day: int, as_of: datetime
) -> Intake:
    by_title = {each.title: each for each in waiting if not each.page and not _is_branch(each)}
    named = await source.find_pages(titles=sorted(by_title)) if by_title else []
    matched = {each.page for each in waiting if each.page and each.matched}
    matched |= {page.page for page in named if page.namespace != CATEGORY and _names(by_title, page)}
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
