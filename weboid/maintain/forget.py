"""Forgetting a wiki that is not watched any more: counting what would go, and deleting it.

Each step is one transaction, so that a run that was killed is continued by the next one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from weboid.maintain.transaction import in_transaction
from weboid.mechanism.patience import Again, at_once
from weboid.store.db.pool import Connection, Pool
from weboid.store.pages.page import PageChanges, record_intake
from weboid.store.pages.wiki import StoredWiki
from weboid.store.people.audit import NOBODY, Action, record_audit
from weboid.store.upkeep.forget import STRETCHES, count_pages, count_urls, delete_changes, delete_wiki, list_pages

_BATCH: Final = 500
_MOST_USES: Final = 20_000
"""Uses that are deleted in one transaction, but for a single page that has more."""
_COMMAND: Final = "weboid forget"


@dataclass(slots=True)
class WikiContent:
    """The number of a wiki's pages, of uses on them, of `urls` that they use, and of those that it uses `alone`."""

    pages: int = 0
    uses: int = 0
    urls: int = 0
    alone: int = 0


async def content_of(
    pool: Pool, wiki: int, *, show: Callable[[int], None] = lambda stretches: None, again: Again = at_once
) -> WikiContent:
    """Counts what the store has of a wiki; `show` gets how many of the `STRETCHES` are counted."""
    pages, uses = await again(in_transaction(pool, count_pages, wiki))
    found = WikiContent(pages, uses)
    for stretch in range(STRETCHES):
        urls, alone = await again(in_transaction(pool, count_urls, wiki, stretch))
        found.urls += urls
        found.alone += alone
        show(stretch + 1)
    return found


async def forget(
    pool: Pool,
    wiki: StoredWiki,
    name: str,
    day: int,
    *,
    show: Callable[[int, int], None] = lambda gone, pages: None,
    again: Again = at_once,
) -> int:
    """Deletes a wiki with its pages, uses and all else that is about it; returns how many pages that were.

    `name` as ``dewiki@WMF``. URLs that no other wiki uses are orphans since `day` (U-8). `show` gets how many of the
    pages are gone. The audit log has when it began and ended.
    """
    pages, uses = await again(in_transaction(pool, count_pages, wiki.wiki))
    await again(
        in_transaction(pool, record_audit, Action.FORGET, NOBODY, _COMMAND, name, f"{pages} pages, {uses} uses")
    )
    gone, last = 0, False
    while not last:
        while released := await again(in_transaction(pool, _release, wiki.wiki, day)):
            gone += released
            show(gone, pages)
        after: int | None = 0
        while after is not None:
            after = await again(in_transaction(pool, delete_changes, wiki.wiki, after))
        last = await again(in_transaction(pool, _end, wiki, name))
    return gone


async def _release(conn: Connection, wiki: int, day: int) -> int:
    pages = await list_pages(conn, wiki, limit=_BATCH, most_uses=_MOST_USES)
    if pages:
        await record_intake(conn, {wiki: PageChanges(gone=pages)}, day)
    return len(pages)


async def _end(conn: Connection, wiki: StoredWiki, name: str) -> bool:
    if not await delete_wiki(conn, wiki, name):
        return False
    await record_audit(conn, Action.FORGET, NOBODY, _COMMAND, name, "done")
    return True
