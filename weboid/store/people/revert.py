"""Reverts: "a person has undone our repair", as operators of bots state it, and the links frozen by that (B-6).

Answers get what is frozen from `find_urls` and `find_linked`. The caller notes who did what in the audit log, in the
same transaction; deleting and moving reverts goes with their URLs.
One law: a revert changes no verdict; its link is frozen on its wiki for as long as it is open or kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, NamedTuple

from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.store.archives.with_url import list_plain_urls, lock_kept
from weboid.store.db.pool import Connection
from weboid.store.db.statements import statements

SQL: Final = statements("people/revert")
NEWEST: Final = 2**63 - 1
"""As the number before which reverts are listed: all of them."""


class RevertState(IntEnum):
    """What has become of a revert. The values are stored, the names in lower case are the words of interfaces."""

    OPEN = 0
    """Nobody has reviewed it: the link is frozen."""
    KEPT = 1
    """An administrator has decided that the link stays frozen."""
    RELEASED = 2

    @property
    def word(self) -> str:
        """Its stable word."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class StatedRevert:
    """What the trusted client `client` says: the person `reverter` has undone the bot's revision of a page.

    `why` is the probable reason, a stable word of ours; the name of the person is text from outside.
    """

    key: UrlKey
    wiki: int
    page: int
    revision: int
    why: str
    reverter: str
    client: str


@dataclass(frozen=True, slots=True)
class Revert:
    """The same as it is stored since `day`; `reviewer` is the name of the administrator who has decided, if one has."""

    revert: int
    stated: StatedRevert
    day: int
    state: RevertState
    reviewer: str | None


class RevertedPage(NamedTuple):
    """The page of a revert: its wiki by name, the address of that wiki's API; and its title without its namespace, None
    where the page is not watched."""

    wiki: str
    api: str | None
    title: str | None


class ListedRevert(NamedTuple):
    """A revert with its link and its page."""

    revert: Revert
    url: Url
    page: RevertedPage


async def record_revert(conn: Connection, stated: StatedRevert, day: int) -> tuple[Revert, bool] | None:
    """The revert of that link by that revision, and whether it is new; None if no page of the wiki uses the link.

    A known one stays as it is, whatever is said now. Raises StoreError if the keys are being moved (O-10, D-262).
    """
    row = {
        **stated.key._asdict(),
        "wiki": stated.wiki,
        "page": stated.page,
        "revision": stated.revision,
        "day": day,
        "why": stated.why,
        "reverter": stated.reverter,
        "client": stated.client,
    }
    # Held against its deletion, so that no revert outlives its URL.
    if not await lock_kept(conn, [stated.key], waits=True):
        return None
    if new := await (await conn.execute(SQL["record_revert"], row)).fetchone():
        return _revert(new), True
    known = await (await conn.execute(SQL["find_revert"], row)).fetchone()
    return (_revert(known), False) if known else None


async def record_reviewed(conn: Connection, revert: int, state: RevertState, reviewer: str) -> ListedRevert | None:
    """Records what an administrator has decided; None if nothing changes by that: what is released stays released."""
    row = {"revert": revert, "state": state.value, "reviewer": reviewer, "released": RevertState.RELEASED.value}
    changed = await (await conn.execute(SQL["record_state"], row)).fetchone()
    listed = await _listed(conn, [_revert(changed)] if changed else [])
    return listed[0] if listed else None


async def list_reverts(
    conn: Connection, state: RevertState, *, key: UrlKey | None = None, before: int = NEWEST, limit: int = 50
) -> list[ListedRevert]:
    """At most `limit` reverts that are open, or kept, before a number, newest first: of all links, or of one."""
    row = {**({} if key is None else key._asdict()), "state": state.value, "before": before, "limit": limit}
    rows = await conn.execute(SQL["list_newest" if key is None else "list_of_url"], row)
    return await _listed(conn, [_revert(columns) async for columns in rows])


async def _listed(conn: Connection, reverts: Sequence[Revert]) -> list[ListedRevert]:
    """With their links and pages; those whose URLs are deleted meanwhile are left out."""
    if not reverts:
        return []
    columns = {name: [getattr(each.stated, name) for each in reverts] for name in ("wiki", "page")}
    rows = await (await conn.execute(SQL["list_pages"], columns)).fetchall()
    pages = {(wiki, page): RevertedPage(*about) for wiki, page, *about in rows}
    urls = await list_plain_urls(conn, [each.stated.key for each in reverts])
    return [
        ListedRevert(each, urls[each.stated.key], pages[each.stated.wiki, each.stated.page])
        for each in reverts
        if each.stated.key in urls
    ]


def _revert(row: Sequence[Any]) -> Revert:
    revert, bucket, host_key, url_key, wiki, page, revision, day, state, why, reverter, client, reviewer = row
    stated = StatedRevert(UrlKey(bucket, host_key, url_key), wiki, page, revision, why, reverter, client)
    return Revert(revert, stated, day, RevertState(state), reviewer)
