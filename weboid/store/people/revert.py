"""Reverts: "a person has undone our repair", as operators of bots state it, and the links frozen by that (B-6).

A revert changes no verdict; its link is frozen on its wiki for as long as it is open or kept, as `find_urls` and
`find_linked` say. The caller notes the deed in the audit log, in the same transaction; deleting and moving reverts goes
with their URLs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, NamedTuple

from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.store.archives.with_url import list_plain_urls, lock_kept
from weboid.store.db.rows import columns_of
from weboid.store.db.statements import Connection, fetch_all, fetch_one, statements

SQL: Final = statements("people/revert")
NEWEST: Final = 2**63 - 1
"""As the number before which reverts are listed: all of them."""


class RevertState(IntEnum):
    """The state of a revert. The values are stored, the names in lower case are the words of interfaces."""

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
    """The statement of a trusted client: the person `reverter` has undone the bot's revision of a page; or that of
    the person `subject` themselves, that the repair in that revision was wrong (then `client` is "").

    `why` is the probable reason, a stable word of ours; the name of the person is text from outside.
    """

    key: UrlKey
    wiki: int
    page: int
    revision: int
    why: str
    reverter: str
    client: str
    subject: str = ""


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

    A known one stays as it is. Raises StoreError if the keys are being moved (O-10, D-262).
    """
    fields = {
        name: getattr(stated, name) for name in ("wiki", "page", "revision", "why", "reverter", "client", "subject")
    }
    row = {**stated.key._asdict(), **fields, "day": day}
    # Held against its deletion, so that no revert outlives its URL.
    if not await lock_kept(conn, [stated.key], waits=True):
        return None
    if new := await fetch_one(conn, _revert, SQL["record_revert"], row):
        return new, True
    known = await fetch_one(conn, _revert, SQL["find_revert"], row)
    return (known, False) if known else None


async def record_reviewed(conn: Connection, revert: int, state: RevertState, reviewer: str) -> ListedRevert | None:
    """Records an administrator's decision; None if nothing changes by that: what is released stays released."""
    row = {"revert": revert, "state": state.value, "reviewer": reviewer, "released": RevertState.RELEASED.value}
    return next(iter(await _listed(conn, await fetch_all(conn, _revert, SQL["record_state"], row))), None)


async def list_reverts(
    conn: Connection, state: RevertState, *, key: UrlKey | None = None, before: int = NEWEST, limit: int = 50
) -> list[ListedRevert]:
    """At most `limit` reverts that are open, or kept, before a number, newest first: of all links, or of one."""
    row = {**({} if key is None else key._asdict()), "state": state.value, "before": before, "limit": limit}
    statement = SQL["list_newest" if key is None else "list_of_url"]
    return await _listed(conn, await fetch_all(conn, _revert, statement, row))


async def _listed(conn: Connection, reverts: Sequence[Revert]) -> list[ListedRevert]:
    """With their links and pages; those whose URLs are deleted meanwhile are left out."""
    if not reverts:
        return []
    columns = columns_of((each.stated for each in reverts), "wiki page")
    rows = await conn.execute(SQL["list_pages"], columns)
    pages = {(wiki, page): RevertedPage(*about) async for wiki, page, *about in rows}
    urls = await list_plain_urls(conn, [each.stated.key for each in reverts])
    return [
        ListedRevert(each, urls[each.stated.key], pages[each.stated.wiki, each.stated.page])
        for each in reverts
        if each.stated.key in urls
    ]


def _revert(*row: Any) -> Revert:
    revert, bucket, host_key, url_key, wiki, page, revision, day, state, why, reverter, client, reviewer, subject = row
    key = UrlKey(bucket, host_key, url_key)
    stated = StatedRevert(key, wiki, page, revision, why, reverter, client, subject)
    return Revert(revert, stated, day, RevertState(state), reviewer)
